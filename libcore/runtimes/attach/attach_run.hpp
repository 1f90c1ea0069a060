// miniemu --attach: a running application instead of a launch file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emulator/launch/launch.hpp"
#include "emulator/launch/sweep_runs.hpp"
#include "records/cli/cli.hpp"

namespace kernelcast::attach {

struct AttachCommand {
  bool given = false, with_gpu = false, summary = false;
  bool graph = false;  // the application's graph in place of kernel rows
  std::string every, keep, database;
  std::string commands;  // a file
  std::optional<std::uint64_t> read_back_bytes;
  std::string budget;                    // warp instructions, or seconds with an s behind
  std::string execute;                   // all or needed
  std::vector<std::string> kernels;      // of a trace
  std::vector<std::string> as;           // devices that CUDA applications see
  std::vector<std::string> vary;         // NAME=VALUE,VALUE: variables of its environment
  std::vector<std::string> application;  // and its arguments
};

void declare_attach(CLI::App&, AttachCommand&);

// Returns the application's exit status. With `vary` it runs once for each combination of the values, which is the case
// of its rows, and the variables are columns; an exit status other than 0 ends the runs. Of the sweep --shard and
// --resume count.
Status run_attached(AttachCommand const&, launch::SweepCommand const&, launch::RunOptions const&, bool cache,
                    std::vector<std::string> const& registers, cli::Streams&);

}  // namespace kernelcast::attach
