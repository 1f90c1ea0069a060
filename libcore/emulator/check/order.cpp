#include "emulator/check/order.hpp"

#include <bit>

namespace kernelcast::emu {

void Order::begin_launch(Facts const& facts, std::uint8_t space, Time now) {
  facts_ = &facts;
  space_ = space;
  now_ = std::max(now_, now);
  launch_start_ = ++now_;
  groups_.clear();
  released_by_.clear();
}

void Order::rewind() {
  now_ = launch_start_ = 1;  // cleared records have time 0: before the launch
  groups_.clear();
  released_by_.clear();
  read_floor_ = 0;
  unordered_ = plain_fence_ = {};
  begin_group(group_);
}

void Order::begin_group(std::uint64_t group) {
  group_ = group;
  group_start_ = floor_ = ++now_;
  groups_.emplace_back(now_, group);
  plain_ = true;
  partial_ = false;
  acquired_ = false;
  if (!facts_->any_points && !facts_->any_release) return;
  seen_ = {};
  fenced_ = {};
  block_ = applied_ = {};
  released_.clear();
}

void Order::enter_block(std::uint32_t block, Lanes const& lanes) {
  if (!facts_->any_points) return;
  for (std::uint32_t w = 0; w < lanes.warps; ++w) {
    if (!lanes.masks[w]) continue;
    std::uint32_t const warp = lanes.first_warp + w;
    auto const& points = facts_->points[block_[warp]];
    for (; applied_[warp] < points.size(); ++applied_[warp]) apply(points[applied_[warp]], warp);
    block_[warp] = block;
    applied_[warp] = 0;
  }
}

void Order::catch_up(std::uint32_t count, Lanes const& lanes) {
  for (std::uint32_t w = 0; w < lanes.warps; ++w) {
    if (!lanes.masks[w]) continue;
    std::uint32_t const warp = lanes.first_warp + w;
    auto const& points = facts_->points[block_[warp]];
    for (; applied_[warp] < std::min<std::size_t>(count, points.size()); ++applied_[warp])
      apply(points[applied_[warp]], warp);
  }
}

void Order::apply(Facts::Point const& point, std::uint32_t warp) {
  ++now_;
  switch (point.kind) {
    case SyncPoint::warp:
      if (!(point.orders & space_)) {
        unordered_[warp] = {now_, point.instruction};
        break;
      }
      seen_[warp][warp] = now_;
      plain_ = false;
      break;
    case SyncPoint::fence:
      fenced_[warp] = now_;
      if (!point.of_atomic) plain_fence_[warp] = {now_, point.instruction};
      break;
    case SyncPoint::group:
      floor_ = now_;
      plain_ = true;
      partial_ = false;
      break;
  }
}

void Order::meet(Meeting const& m) {
  ++now_;
  if (m.everyone) {
    floor_ = now_;
    plain_ = true;
    partial_ = false;
    return;
  }
  plain_ = false;
  partial_ = true;
  Row all{};
  std::uint32_t members = 0;
  for (std::uint32_t w = 0; w < m.warps; ++w) {
    if (!m.waiting[w] && !m.arrived[w]) continue;
    members |= 1u << w;
    for (std::uint32_t v = 0; v < max_warps; ++v) all[v] = std::max(all[v], seen_[w][v]);
  }
  for (std::uint32_t rest = members; rest; rest &= rest - 1) all[std::countr_zero(rest)] = now_;
  for (std::uint32_t w = 0; w < m.warps; ++w)
    if (m.waiting[w]) seen_[w] = all;
}

void Order::meet_unordered(Meeting const& m, bool orders_loads, std::uint32_t instruction) {
  ++now_;
  if (m.everyone && orders_loads) read_floor_ = now_;
  for (std::uint32_t w = 0; w < m.warps; ++w)
    if (m.waiting[w]) unordered_[w] = {now_, instruction};
  if (!facts_->any_points) return;
  for (std::uint32_t v = 0; v < m.warps; ++v) {
    if (!m.waiting[v] || fenced_[v] <= floor_) continue;
    plain_ = false;
    partial_ = true;
    for (std::uint32_t w = 0; w < m.warps; ++w)
      if (m.waiting[w]) seen_[w][v] = std::max(seen_[w][v], fenced_[v]);
  }
}

void Order::strong_access(std::uint32_t warp, std::uint64_t address, bool global, Facts::Site const& site) {
  if (!facts_->any_release) return;
  Row& at = released_[address];
  if (site.reads) {
    for (std::uint32_t v = 0; v < max_warps; ++v) {
      if (at[v] <= seen_[warp][v] || at[v] <= floor_) continue;
      seen_[warp][v] = at[v];
      plain_ = false;
      partial_ = true;
    }
    if (global) acquired_ = true;
  }
  if (!site.writes) return;
  Time const until = site.releases ? ++now_ : fenced_[warp];
  if (until == 0) return;
  for (std::uint32_t v = 0; v < max_warps; ++v) at[v] = std::max(at[v], seen_[warp][v]);
  at[warp] = std::max(at[warp], until);
  if (global) {
    Time& released = released_by_[group_];
    // Others' accesses before the last barrier were handed on to this work-item.
    released = std::max({released, until, floor_});
  }
}

std::uint64_t Order::group_at(Time then) const {
  auto const after = std::upper_bound(groups_.begin(), groups_.end(), then,
                                      [](Time t, std::pair<Time, std::uint64_t> const& g) { return t < g.first; });
  return after == groups_.begin() ? 0 : std::prev(after)->second;
}

bool Order::group_before(Time then) const {
  if (!acquired_) return false;
  auto const found = released_by_.find(group_at(then));
  return found != released_by_.end() && then < found->second;
}

}  // namespace kernelcast::emu
