// The options of flux-count.
#pragma once

#include <string>
#include <vector>

#include "emulator/launch/options.hpp"
#include "measure/flux/run.hpp"
#include "records/cli/cli.hpp"

struct Options {
  kernelcast::launch::Options launch;
  std::string emit = "counts", sample, backend = "emulator", placement = "minimal", definition = "suite";
  int device = 0;
  bool attach = false;
  std::vector<std::string> application;  // its arguments
};

void declare_options(CLI::App& app, Options& options);
kernelcast::launch::Plan plan_of(Options const& options);
kernelcast::launch::RunOptions run_options(Options const& options, kernelcast::cli::Streams& io);
kernelcast::flux::Sample sample_of(Options const& options, kernelcast::cli::Streams const& io);
