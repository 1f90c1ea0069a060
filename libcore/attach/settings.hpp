// The settings of miniemu --attach, handed to the application's process in its environment.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emu/emu.hpp"
#include "launch/launch.hpp"

namespace kernelcast::attach {

// KERNELCAST_EVERY and KERNELCAST_COMMANDS as for the OpenCL layer; KERNELCAST_DEVDB as everywhere;
// KERNELCAST_CUDA_SPOOL: where rows go; KERNELCAST_CUDA_AS: ids of devices, separated by commas; and
// KERNELCAST_CUDA_{GROUPS,BUDGET,THREADS,MEMORY,STEPS,TIMEOUT,STACK,HEAP,ORDER,KEEP}.
struct Settings {
  std::string spool;  // empty: no rows
  std::string every;
  bool keep = false;                 // launch files, too
  bool commands = false;             // what the application's graph is made of is noted in the spool, too
  std::string database;              // the device database's folder; empty: where it is found
  std::vector<std::string> devices;  // at least one
  launch::GroupChoice groups;
  std::uint64_t budget = 0;  // warp instructions that launches may execute whole; 0: all run whole
  unsigned threads = 1;
  std::uint64_t memory_bytes = std::uint64_t{16} << 30;  // the most that a device has
  std::uint32_t stack_bytes = 64 * 1024;
  std::uint64_t heap_bytes = std::uint64_t{8} << 20;
  emu::Limits limits;
};
inline constexpr char const* default_device = "a100";

Settings settings_of_environment();
// The same as variables, "NAME=value", without KERNELCAST_EVERY and KERNELCAST_COMMANDS. `database` and `devices` may
// be empty.
std::vector<std::string> environment_of(Settings const&);

}  // namespace kernelcast::attach
