// Applications and graphs simulated on systems, as rows: what partsim does.
#pragma once

#include "models/graph/run_options.hpp"

namespace kernelcast::graph {

// Reads what the options name, writes what they ask for. Throws Error(usage, unavailable, bad_data, limit, io).
void run(RunOptions const&, cli::Streams&);

}  // namespace kernelcast::graph
