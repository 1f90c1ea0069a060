// Running a user's application and emulating, beside it, the kernels that it launches.
//
// Problem: users have applications, not launch files; [panwar] is an online technique.
// Method: the application runs as it is, with a layer in its OpenCL loader (opencl/layer.cpp) that leaves a launch file
// for each new launch in a folder, the spool. This side emulates them while the application runs, in a process of its
// own: a failure here does not affect the application. A CUDA application gets a runtime of ours
// (runtimes/cudart), which runs its kernels on the emulator and counts them itself.
// Limits: what cannot be described (built-in kernels, pipes, …) is named, not hidden.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/launch/launch.hpp"
#include "models/graph/recording.hpp"
#include "records/command.hpp"
#include "records/device/device.hpp"
#include "records/kernel.hpp"
#include "runtimes/attach/settings.hpp"
#include "runtimes/attach/usage.hpp"

namespace kernelcast::attach {

// Ids of the devices that an application on the emulator sees, of which CUDA has NVIDIA's. None: CUDA's are as
// settings.def has them, OpenCL's those that there are, if any.
struct SeenDevices {
  std::vector<std::string> devices;

  // Without an OpenCL driver and with a database, OpenCL's are those of CUDA.
  void put_into(Settings&, bool has_database) const;
};
// Those that --as names. Throws Error(unavailable) for one that the database lacks.
SeenDevices devices_named(std::vector<std::string> const& names, device::DeviceDatabase const&);

struct AttachOptions {
  std::vector<std::string> command;                            // the application and its arguments
  std::vector<std::pair<std::string, std::string>> variables;  // of its environment, in place of what is there
  std::string every;                 // "launch", "kernel", a number N (every Nth launch of a kernel), or empty: each
                                     // configuration once
  std::string keep;                  // a folder that the spool stays in; empty: it is removed
  launch::RunOptions run;            // how each launch is emulated; with Emit::trace it is traced, and has no row
  std::vector<std::string> kernels;  // of a trace: these alone, as is_among() has it; empty: all
  std::uint64_t budget = 0;          // warp instructions that CUDA launches may execute whole; 0: all run whole
  double budget_seconds = 0;         // the same in seconds from the first call on
  std::string execute;               // launches of a CUDA application to run: "needed" (also if empty) or "all"
  std::optional<std::uint64_t> read_back_bytes;  // of the buffers of one launch; 0: all; empty: the layer's own bound
  bool cache = true;
  std::vector<std::string> registers = frontend::register_targets();
  bool graph = false;                                // Attached::recording too
  bool commands = false;                             // Attached::commands too, of CUDA applications on the emulator
  std::string database;                              // the folder of the device database, for CUDA applications
  SeenDevices as;                                    // of applications on the emulator
  bool with_gpu = false;                             // CUDA applications run on the GPU that there is, and are observed
  std::function<void(std::string_view)> report;      // called with messages about launches that were skipped or failed
  std::function<void(record::Kernel const&)> known;  // may be empty; gets each row as soon as there is one, with one
                                                     // launch: how many there are is known in the end
  std::function<void(std::string_view)> progress;    // may be empty; gets a line about twice a second
};

struct Attached {
  int status = 0;                    // the application's exit status; 128 + signal where a signal ended it
  std::vector<record::Kernel> rows;  // in the order of first launch; totals over the launches that were counted
  std::uint64_t skipped = 0;         // configurations that have no row
  bool found = false;                // by launches that go on after findings, or are checked (AttachOptions::run)
  graph::Recording recording;        // with AttachOptions::graph
  std::vector<record::Command> commands;
  std::optional<Usage> usage;  // of a CUDA application on the emulator; empty where it never called CUDA
  std::string running;         // the kernel that ran at its end, where that is known; of others "a kernel"
};

// Runs the application to its end. Throws Error: usage (an empty command), io (it cannot be started, the spool cannot
// be made), unavailable (the layer is not installed).
Attached run(AttachOptions const&);

}  // namespace kernelcast::attach
