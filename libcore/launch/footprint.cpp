#include "launch/footprint.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <set>
#include <vector>

#include <fmt/format.h>

namespace kernelcast::launch {

namespace {

using Axes = unsigned;  // bit i: axis i of x, y, z
constexpr Axes all_axes = 7;
using Sizes = std::array<double, all_axes + 1>;  // by set of axes

std::array<std::uint64_t, 3> coordinates(emu::Dim3 const& grid, std::uint64_t group) {
  return {group % grid.x, group / grid.x % grid.y, group / grid.x / grid.y};
}

bool within(Axes part, Axes whole) {
  return (part & ~whole) == 0;
}

// What depends on the coordinates of exactly these axes. `unions` has, for each set S of axes, the sectors of all
// groups that differ from the middle along S alone: unions[S] = sum over A of parts[A] * 2^|A and S|.
Sizes parts_of(Sizes const& unions, Axes axes) {
  auto const sign = [](Axes a, Axes b) { return std::popcount(a ^ b) % 2 ? -1.0 : 1.0; };
  Sizes differences{}, parts{};  // differences[T] = sum of parts[A] over A that hold T
  for (Axes t = 0; t <= axes; ++t)
    for (Axes s = 0; s <= t; ++s)
      if (within(t, axes) && within(s, t)) differences[t] += sign(t, s) * unions[s];
  for (Axes a = 0; a <= axes; ++a)
    for (Axes t = a; t <= axes; ++t)
      if (within(t, axes) && within(a, t)) parts[a] += sign(t, a) * differences[t];
  for (double& part : parts) part = std::max(part, 0.0);
  return parts;
}

// "all:12;x:3;xy:4"
std::string text_of(Sizes const& parts) {
  std::string out;
  for (Axes a = 0; a <= all_axes; ++a) {
    if (parts[a] <= 0) continue;
    std::string axes;
    for (unsigned i = 0; i < 3; ++i)
      if (a >> i & 1) axes += "xyz"[i];
    fmt::format_to(std::back_inserter(out), "{}{}:{}", out.empty() ? "" : ";", axes.empty() ? "all" : axes, parts[a]);
  }
  return out;
}

std::string text_of(emu::Requests const& requests) {
  std::string out;
  for (auto const& [shape, count] : requests)
    fmt::format_to(std::back_inserter(out), "{}{}/{}/{}:{}", out.empty() ? "" : ";", shape.lines, shape.sectors,
                   shape.degree, count);
  return out;
}

std::uint64_t middle_of(std::uint64_t size) {
  return size >= 8 ? size / 8 * 4 : size >= 4 ? size / 4 * 2 : (size - 1) / 2;
}

}  // namespace

std::uint64_t middle_group(emu::Dim3 grid) {
  return middle_of(grid.x) + grid.x * (middle_of(grid.y) + grid.y * middle_of(grid.z));
}

GroupSample::GroupSample(emu::Program const& program, emu::Dim3 grid)
    : grid_(grid), middle_(middle_group(grid)), observer_(program, middle_) {
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
  observer_.watch(groups_);
}

void GroupSample::leave_out_neighbours() {
  groups_.assign(1, middle_);
  observer_.watch(groups_);
}

std::array<double, 8> GroupSample::parts(Of of, In in) const {
  Sizes unions{};
  for (Axes s = 0; s <= axes_; ++s) {
    emu::Footprint all;
    for (Axes t = 0; t <= s; ++t) {
      if (!within(s, axes_) || !within(t, s)) continue;
      auto const& touched = observer_.of(corner_[t]);
      if (of != Of::stores) all.add(touched.loaded);
      if (of != Of::loads) all.add(touched.stored);
    }
    unions[s] = static_cast<double>(in == In::lines ? all.lines() : all.sectors());
  }
  auto parts = parts_of(unions, axes_);
  // Where neighbours do not touch as much as the middle, the parts are shares of what that touches.
  double sum = 0;
  for (double const part : parts) sum += part;
  if (sum > 0 && unions[0] > 0)
    for (double& part : parts) part *= unions[0] / sum;
  return parts;
}

FootprintGrowth GroupSample::growth(std::span<std::uint64_t const> emulated) const {
  FootprintGrowth growth;
  growth.middle = middle_;
  emu::Footprint middle = {};
  middle.add(observer_.of(middle_).loaded);
  middle.add(observer_.of(middle_).stored);
  growth.middle_bytes = 32 * middle.sectors();
  if (growth.middle_bytes == 0) return growth;

  std::array<std::uint64_t, 3> const size{grid_.x, grid_.y, grid_.z};
  auto const by_axes = parts(Of::both);
  double of_all = 0, of_emulated = 0;
  for (Axes a = 0; a <= axes_; ++a) {
    if (!within(a, axes_)) continue;
    double combinations = 1;
    std::set<std::array<std::uint64_t, 3>> met;
    for (unsigned i = 0; i < 3; ++i)
      if (a >> i & 1) combinations *= static_cast<double>(size[i]);
    for (auto const group : emulated) {
      auto at = coordinates(grid_, group);
      for (unsigned i = 0; i < 3; ++i)
        if (!(a >> i & 1)) at[i] = 0;
      met.insert(at);
    }
    of_all += by_axes[a] * combinations;
    of_emulated += by_axes[a] * static_cast<double>(met.size());
  }
  growth.factor = std::max(1.0, of_all / of_emulated);
  return growth;
}

void GroupSample::fill(record::GroupColumns& row) const {
  emu::GroupProfile const* const p = observer_.profile();
  if (!p) return;
  auto const number = [](auto value) { return static_cast<double>(value); };
  row.slots = p->slots;
  row.load_requests = text_of(p->loads);
  row.store_requests = text_of(p->stores);
  auto const by_axes = [&](Of of, In in) {
    if (has_neighbours()) return text_of(parts(of, in));
    auto const& touched = observer_.of(middle_);
    emu::Footprint const& footprint = of == Of::loads ? touched.loaded : touched.stored;
    Sizes alone{};
    alone[axes_] = number(in == In::lines ? footprint.lines() : footprint.sectors());
    return text_of(alone);
  };
  row.load_sectors = by_axes(Of::loads, In::sectors);
  row.store_sectors = by_axes(Of::stores, In::sectors);
  row.load_lines = by_axes(Of::loads, In::lines);
  row.store_lines = by_axes(Of::stores, In::lines);
  for (std::size_t k = 0; k < p->reuse.size(); ++k)
    if (p->reuse[k] > 0)
      fmt::format_to(std::back_inserter(row.reuse), "{}{}:{}", row.reuse.empty() ? "" : ";", k, p->reuse[k]);
  row.shared_requests = number(p->shared_requests);
  row.constant_requests = number(p->constant_requests);
  row.local_requests = text_of(p->locals);
  row.local_lines = number(p->local_lines);
  row.texture_requests = number(p->texture_requests);
  row.atomic_requests = number(p->global_atomics.requests);
  row.atomic_serial = number(p->global_atomics.serial);
  row.atomic_sectors = number(p->global_atomics.parts);
  row.shared_atomic_requests = number(p->shared_atomics.requests);
  row.shared_atomic_serial = number(p->shared_atomics.serial);
  row.shared_atomic_passes = number(p->shared_atomics.parts);
  for (auto const step : record::values_of<record::Step>) row.path[step] = number(p->path.steps[step]);
}

Worth worth_sampling(emu::Dim3 grid, std::uint64_t per_group) {
  auto const axes = (grid.x > 1) + (grid.y > 1) + (grid.z > 1);
  if (per_group << axes <= max_instructions_for_footprint) return Worth::all;
  return per_group <= max_instructions_for_footprint ? Worth::middle : Worth::nothing;
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
  if (launch_.cooperative || limits_.in_order || program_.order_dependent()) return run(groups, both);
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
                std::uint64_t max_steps) {
  launch.print = nullptr;
  std::array<emu::Observer*, 1> const observers{&sample.observer()};
  emu::Limits limits;
  limits.max_steps = max_steps;
  return emu::run(program, launch, memory, sample.groups(), observers, limits).ending == emu::Ending::done;
}

}  // namespace kernelcast::launch
