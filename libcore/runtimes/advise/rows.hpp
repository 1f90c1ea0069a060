// An application run, and what is the best device for each of its launches said or written: what kernelcast-advise
// does.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "emulator/launch/options.hpp"
#include "records/cli/cli.hpp"

namespace kernelcast::advise {

// The options of kernelcast-advise(1), by their names.
struct AdviseRows {
  std::string devdb, clock = "usual", emit = "advice", groups = launch::text_of({});
  std::vector<std::string> devices, mappings, as, application;
  std::vector<std::string> registers = frontend::register_targets();
  std::optional<double> budget_pct;
  double timeout_s = 10;
  bool no_cache = false, steer = false, with_gpu = false;
};

// Returns the application's status. Throws Error(usage, unavailable).
Status advise_rows(AdviseRows const&, cli::Streams&);

}  // namespace kernelcast::advise
