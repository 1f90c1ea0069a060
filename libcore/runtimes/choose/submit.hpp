// Which partition of a Slurm cluster ends a program first: kernelcast choose says how long it takes on each partition's
// device, sbatch --test-only when it would start.
#pragma once

#include <string>
#include <vector>

#include "records/cli/cli.hpp"

namespace kernelcast::choose {

// The options of kernelcast-submit(1), by their names.
struct Submit {
  std::string devdb, partitions;
  std::vector<std::string> application;  // what follows --
  bool run = false;
  CLI::App const* app = nullptr;
};

// Writes the partitions in the order of the end, or submits to the first. Throws Error(usage, unavailable, bad_data).
Status run(Submit const&, cli::Streams&);

}  // namespace kernelcast::choose
