// Times over sizes and numbers of GPUs read; fits, choices and what they lose written: what partfit does.
#pragma once

#include <string>
#include <vector>

#include "records/cli/cli.hpp"

namespace kernelcast::model::fit {

// The options of partfit(1), by their names.
struct FitRows {
  std::vector<std::string> models, sizes, gpus;
  std::string weights = "relative", alpha = "cv", assess, emit;
};

// Rows of times in, those that `emit` names out. Throws Error(usage, bad_data).
void fit_rows(FitRows const&, cli::Streams&);

}  // namespace kernelcast::model::fit
