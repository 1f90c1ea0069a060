// flux-count --attach: count an application's kernels.
#pragma once

#include "options.hpp"

kernelcast::Status run_application(Options const& options, kernelcast::cli::Streams& io);
