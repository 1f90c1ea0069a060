// Counting the launches of a plan on the emulator.
//
// Limits: where only a part of a launch is counted (Sample), counts are multiplied up to the launch, which is right
// only where work-items do alike: control flow that depends on data or on the group's place is not seen. [braun]
// section 4.6 warns of the same.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "flux/counts.hpp"
#include "flux/emulated.hpp"
#include "flux/plan.hpp"
#include "launch/launch.hpp"

namespace kernelcast::flux {

// One launch. `issues` are instructions issued by wavefronts of 32, counters' own included. `counts` are empty where
// launch.status is uncounted.
struct CountedRun {
  record::CountedLaunch const& launch;
  ptx::Module const& module;
  Counts const& counts;
  std::uint64_t issues = 0;
};
using Receiver = std::function<void(CountedRun const&)>;

// Runs the plan; `receive` gets every launch of the kernels that options.only_kernel lets through, in order.
// options.emit, groups and watcher are set here. Throws what launch::run throws.
launch::Report count(launch::Plan, launch::RunOptions options, Sample, Receiver const& receive);

// The same with counters in the kernels' code, which runs on the emulator: to try the instrumenter and to see what the
// counters cost. All work-items are counted; with PlanOptions::guards off, guarded instructions as their blocks.
launch::Report count_instrumented(launch::Plan, launch::RunOptions options, PlanOptions, Receiver const& receive);

// Issue slots without counters, with the minimal placement and with one counter per block, by configuration.
std::vector<record::CountOverhead> overhead(launch::Plan const&, launch::RunOptions const& options);

// The rows of the records, from launches in any order.
std::vector<record::Count> count_rows(CountedRun const&);
std::vector<record::CountGroup> group_rows(CountedRun const&);

// Feature rows need all launches of a configuration.
class FeatureRows {
 public:
  void add(CountedRun const&);
  std::vector<record::Feature> rows() const;  // in the order of each configuration's first launch

 private:
  struct Configuration {
    record::CountedLaunch launch;
    std::vector<record::Feature> launches;
  };
  std::vector<Configuration> configurations_;
};

}  // namespace kernelcast::flux
