// Rows of features in, projections of forests out: what mangrove predict does.
#pragma once

#include <string>
#include <vector>

#include "records/cli/cli.hpp"

namespace kernelcast::forest {

// The options of mangrove(1), by their names.
struct PredictRows {
  std::string model, devices_file, devdb;
  std::vector<std::string> devices, stack;
};

// By the named model, or by shipped forests of the devices. Throws Error(usage, bad_data, unavailable).
void predict_rows(PredictRows const&, cli::Streams&);

}  // namespace kernelcast::forest
