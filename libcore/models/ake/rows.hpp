// Traces read, times of emulated compute units written: what akemu does.
#pragma once

#include <string>
#include <vector>

#include "records/cli/cli.hpp"

namespace kernelcast::model::ake {

// The options of akemu(1), by their names.
struct EmulateRows {
  std::string devdb;
  std::vector<std::string> devices;
  std::string scheduler = "gto", order = "both", launch_cost;
  unsigned active_warps = 8;
  std::vector<double> hit_rates;
  bool no_cache = false, warm = false, dual_issue = false, replace = false, strict = false;
  double group_launch_cycles = 0;
  std::size_t neighbours = 4;
  std::vector<std::string> sass, slots;
  std::string timeline, calibrate, only;
};

// Rows of traces in, emulations out; or of measurements in, latencies and gaps out. Throws Error(usage, bad_data,
// unavailable).
void emulate_rows(EmulateRows const&, cli::Streams&);
void calibrate_rows(EmulateRows const&, cli::Streams&);

}  // namespace kernelcast::model::ake
