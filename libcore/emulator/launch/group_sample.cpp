#include "emulator/launch/group_sample.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <map>
#include <ranges>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "emulator/cluster.hpp"
#include "emulator/passed_over.hpp"

namespace kernelcast::launch {

namespace {

std::string text_of(emu::Requests const& requests) {
  std::string out;
  for (auto const& [shape, count] : requests)
    fmt::format_to(std::back_inserter(out), "{}{}/{}/{}:{}", out.empty() ? "" : ";", shape.lines, shape.sectors,
                   shape.degree, count);
  return out;
}

// "1:4;2:8"
std::string text_of(std::map<std::uint16_t, std::uint64_t> const& counts) {
  return fmt::format("{}", fmt::join(counts | std::views::transform([](auto const& one) {
                                       return fmt::format("{}:{}", one.first, one.second);
                                     }),
                                     ";"));
}

// "0:4;1:8"
std::string text_of(std::vector<double> const& unions) {
  std::string out;
  for (std::size_t k = 0; k < unions.size(); ++k)
    fmt::format_to(std::back_inserter(out), "{}{}:{:.0f}", k == 0 ? "" : ";", k, unions[k]);
  return out;
}

std::uint64_t middle_of(std::uint64_t size) {
  return size >= 8 ? size / 8 * 4 : size >= 4 ? size / 4 * 2 : (size - 1) / 2;
}

}  // namespace

std::uint64_t middle_group(emu::Dim3 grid) {
  return middle_of(grid.x) + grid.x * (middle_of(grid.y) + grid.y * middle_of(grid.z));
}

bool has_next_neighbours(emu::Dim3 grid, std::uint64_t group) {
  std::array<std::uint64_t, 3> const size{grid.x, grid.y, grid.z},
      at{group % grid.x, group / grid.x % grid.y, group / (std::uint64_t{grid.x} * grid.y)};
  for (std::size_t i = 0; i < 3; ++i)
    if (size[i] > 1 && at[i] + 1 == size[i]) return false;
  return true;
}

Likeness::Likeness(emu::Dim3 grid, std::span<std::uint64_t const> counted, emu::KernelObserver const& counts)
    : grid_(grid), counted_(counted), counts_(counts) {
  for (auto const group : counted) {
    auto const of_group = counts.counts_of(group);
    for (std::size_t i = 0; i < sum_.size(); ++i) {
      auto const n = static_cast<double>(of_group[i]);
      sum_[i] += n;
      squares_[i] += n * n;
    }
  }
}

// By what factor a group is apart, as a power of 2: of the counter that is the farthest.
double Likeness::apart(std::uint64_t group) const {
  auto const of_group = counts_.counts_of(group);
  double most = 0;
  for (std::size_t i = 0; i < sum_.size(); ++i) {
    if (sum_[i] == 0) continue;
    most = std::max(most, of_group[i] == 0
                              ? std::numeric_limits<double>::infinity()
                              : std::abs(std::log2(static_cast<double>(of_group[i]) * sum_[i] / squares_[i])));
  }
  return most;
}

bool Likeness::middle_is_typical() const {
  auto const next = std::ranges::lower_bound(counted_, middle_group(grid_));
  return apart(next == counted_.end() ? counted_.back() : *next) <= 1;
}

double Likeness::distance(std::uint64_t group) const {
  if (!has_next_neighbours(grid_, group)) return std::numeric_limits<double>::infinity();
  return apart(group) + (grid_.x >= 8 && group % grid_.x % 4 == 3 ? 1 : 0);
}

std::uint64_t typical_group(emu::Dim3 grid, std::span<std::uint64_t const> counted, emu::KernelObserver const& counts) {
  Likeness const likeness(grid, counted, counts);
  auto const middle = middle_group(grid);
  if (likeness.middle_is_typical()) return middle;
  auto const best = std::ranges::min_element(counted, {}, [&](auto group) { return likeness.distance(group); });
  return std::isfinite(likeness.distance(*best)) ? *best : middle;
}

GroupSample::GroupSample(emu::Program const& program, emu::Dim3 grid, std::uint64_t group)
    : grid_(grid), middle_(group), observer_(program, middle_) {
  std::array<std::uint64_t, 3> const size{grid.x, grid.y, grid.z}, step{1, grid.x, std::uint64_t{grid.x} * grid.y};
  for (unsigned i = 0; i < 3; ++i) {
    if (size[i] > 1) axes_ |= 1u << i;
  }
  for (Axes s = 0; s <= axes_; ++s) {
    if (!within(s, axes_)) continue;
    corner_[s] = middle_;
    for (unsigned i = 0; i < 3; ++i)
      if (s >> i & 1) corner_[s] += step[i];
    groups_.push_back(corner_[s]);
  }
  std::array<std::uint64_t, 3> const middle{middle_ % grid.x, middle_ / grid.x % grid.y, middle_ / step[2]};
  for (unsigned i = 0; i < 3; ++i) {
    if (middle[i] > 0) before_[i] = middle_ - step[i], groups_.push_back(*before_[i]);
  }
  std::ranges::sort(groups_);
  observer_.watch(groups_);
}

void GroupSample::leave_out_neighbours() {
  groups_.assign(1, middle_);
  observer_.watch(groups_);
}

ByAxes GroupSample::parts(Of of, In in) const {
  ByAxes unions{};
  for (Axes s = 0; s <= axes_; ++s) {
    emu::Footprint all;
    for (Axes t = 0; t <= s; ++t)
      if (within(s, axes_) && within(t, s)) add(all, of, corner_[t]);
    unions[s] = static_cast<double>(in == In::lines ? all.lines() : all.sectors());
  }
  return parts_of(unions, axes_);
}

void GroupSample::add(emu::Footprint& sum, Of of, std::uint64_t group) const {
  auto const& touched = observer_.of(group);
  if (of == Of::loads || of == Of::both) sum.add(touched.loaded);
  if (of == Of::stores || of == Of::both) sum.add(touched.stored);
  if (of == Of::updates) sum.add(touched.updated);
}

GroupUnion GroupSample::of_groups(Of of, emu::Memory const& memory) const {
  GroupUnion::Touched touched;
  for (Axes s = 0; s <= axes_; ++s)
    if (within(s, axes_)) add(touched.after[s], of, corner_[s]);
  for (std::size_t i = 0; i < before_.size(); ++i)
    if (before_[i]) add(touched.before[i].emplace(), of, *before_[i]);
  return {grid_, axes_, touched, memory};
}

FootprintGrowth GroupSample::growth(std::span<std::uint64_t const> emulated, emu::Memory const& memory) const {
  FootprintGrowth growth;
  growth.middle = middle_;
  emu::Footprint middle;
  add(middle, Of::both, middle_);
  growth.middle_bytes = 32 * middle.sectors();
  if (growth.middle_bytes == 0) return growth;
  auto const groups = of_groups(Of::both, memory);
  growth.factor = std::max(1.0, groups.of(static_cast<double>(grid_.count())) / groups.of(emulated));
  return growth;
}

void GroupSample::fill(record::GroupColumns& row, emu::Memory const& memory) const {
  emu::GroupProfile const* const p = observer_.profile();
  if (!p) return;
  auto const number = [](auto value) { return static_cast<double>(value); };
  row.slots = p->slots;
  row.load_requests = text_of(p->loads);
  row.store_requests = text_of(p->stores);
  auto const by_axes = [&](Of of, In in) {
    if (has_neighbours()) return record::text_of(parts(of, in));
    auto const& touched = observer_.of(middle_);
    emu::Footprint const& footprint = of == Of::loads ? touched.loaded : touched.stored;
    ByAxes alone{};
    alone[axes_] = number(in == In::lines ? footprint.lines() : footprint.sectors());
    return record::text_of(alone);
  };
  row.load_sectors = by_axes(Of::loads, In::sectors);
  row.store_sectors = by_axes(Of::stores, In::sectors);
  row.load_lines = by_axes(Of::loads, In::lines);
  row.store_lines = by_axes(Of::stores, In::lines);
  if (has_neighbours()) {
    row.load_unions = text_of(of_groups(Of::loads, memory).doubling());
    row.store_unions = text_of(of_groups(Of::stores, memory).doubling());
    if (p->global_atomics.requests > 0) row.atomic_unions = text_of(of_groups(Of::updates, memory).doubling());
  }
  for (std::size_t k = 0; k < p->reuse.size(); ++k)
    if (p->reuse[k] > 0)
      fmt::format_to(std::back_inserter(row.reuse), "{}{}:{}", row.reuse.empty() ? "" : ";", k, p->reuse[k]);
  row.shared_requests = number(p->shared_requests);
  if (p->shared_engine_bytes > 0) row.shared_engine_bytes = number(p->shared_engine_bytes);
  row.constant_requests = number(p->constant_requests);
  row.local_requests = text_of(p->locals);
  row.local_lines = number(p->local_lines);
  row.texture_requests = number(p->texture_requests);
  row.atomic_requests = number(p->global_atomics.requests);
  row.atomic_serial = number(p->global_atomics.serial);
  row.atomic_sectors = number(p->global_atomics.parts);
  row.atomic_lines = number(p->global_atomics.lines);
  row.atomic_wide_lanes = number(p->global_atomics.wide_lanes);
  row.shared_atomic_requests = number(p->shared_atomics.requests);
  row.shared_atomic_serial = number(p->shared_atomics.serial);
  row.shared_atomic_passes = number(p->shared_atomics.parts);
  for (auto const step : record::values_of<record::Step>) row.path[step] = number(p->path.steps[step]);
  row.shared_loads = text_of(p->shared_loads);
  row.shared_stores = text_of(p->shared_stores);
  row.phases = record::text_of(p->phases);
  row.local_stores = text_of(p->local_stores);
}

double GroupSample::slots() const {
  auto const* const profile = observer_.profile();
  return profile ? static_cast<double>(profile->slots) : 0;
}

Worth worth_sampling(emu::Dim3 grid, std::uint64_t per_group) {
  auto const axes = (grid.x > 1) + (grid.y > 1) + (grid.z > 1);
  if (per_group << axes <= max_instructions_for_footprint) return Worth::all;
  return per_group <= max_instructions_for_middle ? Worth::middle : Worth::nothing;
}

PartedRun::PartedRun(emu::Program const& program, emu::Launch const& launch, emu::Memory& memory,
                     emu::Limits const& limits, unsigned threads)
    : program_(program), launch_(launch), memory_(memory), limits_(limits), threads_(threads) {}

bool PartedRun::run(std::span<std::uint64_t const> groups, std::span<emu::Observer* const> observers) {
  emu::Limits left = limits_;
  auto const steps = outcome_.warp_instructions;
  std::chrono::duration<double> const spent = std::chrono::steady_clock::now() - begin_;
  if (left.timeout_s > 0) left.timeout_s = std::max(1e-9, left.timeout_s - spent.count());
  if (left.max_steps > 0) left.max_steps = left.max_steps > steps ? left.max_steps - steps : 1;
  outcome_ = emu::run(program_, launch_, memory_, groups, observers, left, threads_);
  outcome_.warp_instructions += steps;
  return outcome_.ending == emu::Ending::done;
}

bool PartedRun::run(std::span<std::uint64_t const> groups, std::span<emu::Observer* const> observers,
                    GroupSample* sample) {
  if (!sample) return run(groups, observers);
  std::vector<emu::Observer*> both(observers.begin(), observers.end());
  both.push_back(&sample->observer());
  if (emu::runs_together(program_, launch_) || limits_.in_order || program_.order_dependent()) return run(groups, both);
  for (auto const group : sample->groups()) {
    auto const at = std::ranges::lower_bound(groups, group);
    if (at == groups.end() || *at != group) continue;
    auto const before = static_cast<std::size_t>(at - groups.begin());
    if (before > 0 && !run(groups.first(before), observers)) return false;
    if (!run(groups.subspan(before, 1), both)) return false;
    groups = groups.subspan(before + 1);
  }
  return groups.empty() || run(groups, observers);
}

bool run_sample(GroupSample& sample, emu::Program const& program, emu::Launch launch, emu::Memory& memory,
                std::uint64_t max_steps, bool goes_on) {
  launch.print = nullptr;
  std::array<emu::Observer*, 1> const observers{&sample.observer()};
  emu::Limits limits;
  limits.max_steps = max_steps;
  emu::PassedOver known;  // from when the groups ran first
  if (goes_on) limits.passed_over = &known;
  return emu::run(program, launch, memory, sample.groups(), observers, limits).ending == emu::Ending::done;
}

}  // namespace kernelcast::launch
