// Kernels of a launch file or of an application emulated, rows of them written: what miniemu does.
#pragma once

#include <string>
#include <vector>

#include "emulator/launch/options.hpp"
#include "emulator/launch/sweep_runs.hpp"
#include "records/cli/cli.hpp"
#include "runtimes/attach/attach_run.hpp"

namespace kernelcast::emulate {

// The options of miniemu(1), by their names.
struct Emulate {
  launch::Options launch;
  attach::AttachCommand attach;
  launch::SweepCommand sweep;
  std::string emit = "kernel", groups, on_finding = "stop";
  unsigned width = 32;
  std::vector<std::string> dumps, checks, machine_targets;
  std::string only;
  emu::CheckOptions check_options;
  bool deterministic = false, timing = false, findings_given = false;
};

// Returns the application's status, or that of a finding. Throws Error(usage, finding, unavailable, limit, …) as
// launch::run() does.
Status run(Emulate const&, cli::Streams&);

}  // namespace kernelcast::emulate
