// Works of a system's processors read, bounds of their partitions written: what perdome does.
#pragma once

#include <string>
#include <vector>

#include "records/cli/cli.hpp"

namespace kernelcast::model::perdome {

// The options of perdome(1), by their names.
struct PartitionWork {
  std::vector<std::string> systems, intensities, flop_rates, byte_rates;
  std::string devdb, shard, resume, grid = "0.0625:64:41";
  bool sweep = false, best = false, peaks = false, roof = false;
  double link_bandwidth = 0;
};

// Rows of work or of the options' own in, partitions out. Throws Error(usage, bad_data, unavailable).
void partition_rows(PartitionWork const&, cli::Streams&);

}  // namespace kernelcast::model::perdome
