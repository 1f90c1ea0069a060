// The options of flux-count.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/cli.hpp"
#include "flux/run.hpp"
#include "launch/launch.hpp"

struct Options {
  kernelcast::launch::CommandLine line;
  std::string emit = "counts", sample, backend = "emulator", placement = "minimal";
  int device = 0;
  bool attach = false;
  std::vector<std::string> application;  // its arguments
  std::vector<std::string> defines, includes;
  std::uint64_t max_steps = 0, max_memory_bytes = std::uint64_t{16} << 30;
  std::uint64_t heap_bytes = std::uint64_t{8} << 20;
  std::uint32_t stack_bytes = 64 * 1024;
  double timeout_s = 0;
  bool no_cache = false;
};

void declare_options(CLI::App& app, Options& options);
kernelcast::launch::Plan plan_of(Options const& options);
kernelcast::launch::RunOptions run_options(Options const& options, kernelcast::cli::Streams& io);
kernelcast::flux::Sample sample_of(Options const& options, kernelcast::cli::Streams const& io);
