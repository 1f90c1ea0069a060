// The options that describe a launch: what to run, how to compile it, within which limits. The same
// for every program that takes a kernel or a launch file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emulator/launch/launch.hpp"
#include "records/cli/cli.hpp"

namespace kernelcast::launch {

struct Options {
  CommandLine line;
  std::vector<std::string> defines, includes;
  bool no_cache = false;
  std::vector<std::string> registers = frontend::register_targets();  // frontend::Request
  std::uint64_t max_steps = 0, max_memory_bytes = std::uint64_t{16} << 30;
  std::uint64_t heap_bytes = std::uint64_t{8} << 20;
  std::uint32_t stack_bytes = 64 * 1024;
  double timeout_s = 0;
};

void declare_launch(CLI::App&, Options&);    // FILE, --kernel, --set, sizes, --arg, --shared, --bind
void declare_limits(CLI::App&, Options&);    // --max-steps, --max-memory, --stack-bytes, --heap-bytes, --timeout
void declare_compiler(CLI::App&, Options&);  // -D, -I, --compiler-option, --no-cache
// --registers, --no-registers.
void declare_registers(CLI::App&, std::vector<std::string>& targets);

// Throws what plan_of(CommandLine) throws.
Plan plan_of(Options const&);
// Of a launch file with a sweep, or with a table of points. Throws as plan_of() where there is no such file.
std::optional<Sweep> sweep_of(Options const&, Points const* table = nullptr);

// Limits, seed, threads, and printf() of kernels to standard error; the rest as it is by default.
RunOptions run_options(Options const&, cli::Streams&);

// The files behind a plan, for --meta.
void note_inputs(Options const&, Plan const&, cli::Streams&);

}  // namespace kernelcast::launch
