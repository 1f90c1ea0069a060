#include "measure/flux/run.hpp"

#include <algorithm>
#include <memory>
#include <tuple>

#include "measure/flux/watching.hpp"

namespace kernelcast::flux {

namespace {

// Counts what the emulator tells.
class Watching final : public launch::Watcher {
 public:
  Watching(Sample sample, std::string only_kernel, Receiver const& receive)
      : sample_(sample), only_kernel_(std::move(only_kernel)), receive_(receive) {}

  emu::Observer* begin(launch::LaunchView const& view) override {
    if (!only_kernel_.empty() && view.kernel != only_kernel_) return nullptr;
    observer_ = std::make_unique<CountObserver>(view.program, sample_);
    return observer_.get();
  }

  void end(launch::LaunchView const& view) override {
    auto const number = launches_++;
    if (!observer_) return;
    auto launch = counted_launch(view, number);
    auto counts = observer_->counts(view.program.module());
    auto const issues = observer_->issues();
    observer_.reset();
    if (sample_ != Sample::all) extrapolate(view, counts, launch);
    receive_({launch, view.program.module(), counts, issues});
  }

 private:
  void extrapolate(launch::LaunchView const& view, Counts& counts, record::CountedLaunch& launch) const {
    auto const items = view.launch.block.count();
    auto const warps = (items + emu::lanes_per_warp - 1) / emu::lanes_per_warp;
    auto const groups = static_cast<double>(view.launch.grid.count());
    launch.status = record::RowStatus::sampled;
    if (sample_ == Sample::one_group) {
      launch.reason = "counted on one work-group";
      counts.scale(groups, groups);
      return;
    }
    launch.reason = "counted on one wavefront";
    auto const counted = std::min<std::uint64_t>(items, emu::lanes_per_warp);
    counts.scale(groups * static_cast<double>(items) / static_cast<double>(counted),
                 groups * static_cast<double>(warps));
  }

  Sample sample_;
  std::string only_kernel_;
  Receiver const& receive_;
  std::unique_ptr<CountObserver> observer_;
  std::uint64_t launches_ = 0;
};

}  // namespace

record::CountedLaunch counted_launch(launch::LaunchView const& view, std::uint64_t number) {
  record::CountedLaunch launch;
  launch.kernel = view.kernel;
  launch.case_name = view.case_name;
  launch.launch = number;
  auto const& [grid, block] = std::tie(view.launch.grid, view.launch.block);
  std::tie(launch.grid_x, launch.grid_y, launch.grid_z) = std::tie(grid.x, grid.y, grid.z);
  std::tie(launch.block_x, launch.block_y, launch.block_z) = std::tie(block.x, block.y, block.z);
  launch.shared_bytes = view.shared_bytes;
  launch.device = "emulator";
  return launch;
}

launch::Report count(launch::Plan plan, launch::RunOptions options, Sample sample, Receiver const& receive) {
  Watching watching(sample, options.only_kernel, receive);
  options.watcher = &watching;
  options.groups = launch::parse_groups(sample == Sample::all ? "all" : "first");
  return launch::run(std::move(plan), options);
}

}  // namespace kernelcast::flux
