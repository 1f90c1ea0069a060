// Counting the launches of a plan on the emulator.
//
// Limits: where only a part of a launch is counted (Sample), counts are multiplied up to the launch, which is right
// only where work-items do alike: control flow that depends on data or on the group's place is not seen. [braun]
// section 4.6 warns of the same.
#pragma once

#include <functional>
#include <vector>

#include "emulator/launch/launch.hpp"
#include "measure/flux/counts.hpp"
#include "measure/flux/emulated.hpp"
#include "measure/flux/plan.hpp"
#include "measure/flux/rows.hpp"

namespace kernelcast::flux {

using Receiver = std::function<void(CountedRun const&)>;

// Runs the plan; `receive` gets every launch of the kernels that options.only_kernel lets through, in order.
// options.emit, groups and watcher are set here. Throws what launch::run throws.
launch::Report count(launch::Plan, launch::RunOptions options, Sample, Receiver const& receive);

// The same with counters in the kernels' code, which runs on the emulator: to try the instrumenter and to see what the
// counters cost. All work-items are counted; with PlanOptions::guards off, guarded instructions as their blocks.
launch::Report count_instrumented(launch::Plan, launch::RunOptions options, PlanOptions, Receiver const& receive);

// The same on a CUDA device, by its number. Throws Error(unavailable) where there is none.
launch::Report count_on_cuda(launch::Plan const&, launch::RunOptions const& options, int device, PlanOptions,
                             Receiver const& receive);

// Issue slots without counters, with the minimal placement and with one counter per block, by configuration.
std::vector<record::CountOverhead> overhead(launch::Plan const&, launch::RunOptions const& options);

// Kernel time on a CUDA device in the same three ways: the median of eleven runs of the plan. Throws as count_on_cuda.
std::vector<record::CountOverhead> overhead_on_cuda(launch::Plan const&, launch::RunOptions const& options, int device);

}  // namespace kernelcast::flux
