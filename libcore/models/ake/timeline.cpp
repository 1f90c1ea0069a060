#include "models/ake/timeline.hpp"

#include <fmt/format.h>

#include "base/diag/diag.hpp"

namespace kernelcast::model::ake {

namespace {

constexpr double long_wait_cycles = 4;  // shorter ones cannot be seen
constexpr std::array<char const*, stall_count> stall_names{"dependency wait", "memory wait", "barrier wait",
                                                           "waits for issue"};

}  // namespace

void Timeline::begin(Launch const& launch, device::Device const& device, Ticks cycle) {
  flush();
  auto const [at, fresh] = processes_.emplace(device.device, processes_.size());
  process_ = at->second;
  drawn_ = !fresh;
  if (drawn_) return;
  cycle_ = static_cast<double>(cycle);
  warps_per_group_ = launch.warps_per_group();
  trace_.name_process(
      process_, fmt::format("{}: {} {} (cycles as us)", device.device, launch.head.kernel, launch.head.case_name));
}

std::function<void(Issue const&)> Timeline::observer() {
  if (drawn_) return {};
  return [this](Issue const& issue) { add(issue); };
}

void Timeline::add(Issue const& i) {
  std::uint64_t const thread = i.slot * warps_per_group_ + i.warp;
  auto const [at, fresh] = warps_.try_emplace(thread);
  Warp& warp = at->second;
  if (fresh) trace_.name_thread(process_, thread, fmt::format("group {} warp {}", i.slot, i.warp));
  if (warp.open && (warp.block != i.block || i.pc == 0)) close(thread, warp);
  if (double const wait = static_cast<double>(i.issue - i.from) / cycle_; wait > long_wait_cycles)
    trace_.span(process_, thread, stall_names[static_cast<std::size_t>(i.stall)], static_cast<double>(i.from) / cycle_,
                wait, {{"then", fmt::format("instruction {} of block {}", i.pc, i.block)}});
  if (!warp.open) warp = {true, i.block, i.issue, i.issue, i.done, 0};
  warp.last = i.issue;
  ++warp.instructions;
}

void Timeline::close(std::uint64_t thread, Warp& warp) {
  if (!warp.open) return;
  trace_.span(process_, thread, fmt::format("block {}", warp.block), static_cast<double>(warp.from) / cycle_,
              static_cast<double>(warp.last - warp.from) / cycle_ + 1,
              {{"instructions", std::to_string(warp.instructions)}});
  warp.open = false;
}

void Timeline::flush() {
  for (auto& [thread, warp] : warps_) close(thread, warp);
  warps_.clear();
}

void Timeline::finish() {
  flush();
  trace_.finish();
}

// ----------------------------------------------------------------

TimelineFile::TimelineFile(std::string path) : path_(std::move(path)) {
  if (path_.empty()) return;
  file_.open(path_, std::ios::binary);
  if (!file_) throw Error(Status::io, Where{path_}, "cannot write this file");
  timeline_.emplace(file_);
}

void TimelineFile::finish() {
  if (!timeline_) return;
  timeline_->finish();
  file_.close();
  if (!file_) throw Error(Status::io, Where{path_}, "cannot write this file");
}

}  // namespace kernelcast::model::ake
