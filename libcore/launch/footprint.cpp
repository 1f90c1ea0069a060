#include "launch/footprint.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>
#include <vector>

#include "emu/observe/footprint.hpp"

namespace kernelcast::launch {

namespace {

// The sectors that each group touches.
class GroupFootprints final : public emu::Observer {
 public:
  void group_begin(std::uint64_t group) override { current_ = &of_group_[group]; }
  void memory(emu::MemoryAccess const& access) override {
    if (access.space != ptx::StateSpace::global) return;
    for (std::uint32_t w = 0; w < access.lanes.warps; ++w)
      for (std::uint32_t mask = access.lanes.masks[w]; mask; mask &= mask - 1) {
        auto const lane = emu::lanes_per_warp * w + static_cast<std::uint32_t>(std::countr_zero(mask));
        std::uint64_t const address = access.base + access.offsets[lane];
        for (std::uint64_t sector = address >> 5; sector <= (address + access.bytes_per_lane - 1) >> 5; ++sector)
          current_->mark(sector);
      }
  }
  std::unique_ptr<emu::Observer> fork() const override { return std::make_unique<GroupFootprints>(); }
  void join(emu::Observer const& other) override {
    for (auto const& [group, footprint] : dynamic_cast<GroupFootprints const&>(other).of_group_)
      of_group_[group].add(footprint);
  }
  emu::Footprint const& of(std::uint64_t group) { return of_group_[group]; }

 private:
  std::map<std::uint64_t, emu::Footprint> of_group_;
  emu::Footprint* current_ = nullptr;
};

using Axes = unsigned;  // bit i: axis i of x, y, z
constexpr Axes all_axes = 7;
using Sizes = std::array<double, all_axes + 1>;  // by set of axes

std::array<std::uint64_t, 3> coordinates(emu::Dim3 const& grid, std::uint64_t group) {
  return {group % grid.x, group / grid.x % grid.y, group / grid.x / grid.y};
}

bool within(Axes part, Axes whole) {
  return (part & ~whole) == 0;
}

// Bytes that depend on the coordinates of exactly these axes. `unions` has, for each set S of axes, the bytes of all
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

}  // namespace

std::optional<FootprintGrowth> footprint_growth(emu::Program const& program, emu::Launch launch, emu::Memory& memory,
                                                std::span<std::uint64_t const> emulated, std::uint64_t most_steps) {
  auto const grid = launch.grid;
  std::array<std::uint64_t, 3> const size{grid.x, grid.y, grid.z}, step{1, grid.x, std::uint64_t{grid.x} * grid.y};
  Axes axes = 0;
  FootprintGrowth growth;
  for (unsigned i = 0; i < 3; ++i) {
    growth.middle += (size[i] - 1) / 2 * step[i];
    if (size[i] > 1) axes |= 1u << i;
  }
  std::array<std::uint64_t, all_axes + 1> corner{};
  std::vector<std::uint64_t> groups;
  for (Axes s = 0; s <= axes; ++s) {
    if (!within(s, axes)) continue;
    corner[s] = growth.middle;
    for (unsigned i = 0; i < 3; ++i)
      if (s >> i & 1) corner[s] += step[i];
    groups.push_back(corner[s]);
  }
  launch.print = nullptr;
  GroupFootprints footprints;
  std::array<emu::Observer*, 1> const observers{&footprints};
  emu::Limits limits;
  limits.max_steps = most_steps;
  if (emu::run(program, launch, memory, groups, observers, limits).ending != emu::Ending::done) return std::nullopt;

  Sizes unions{};
  for (Axes s = 0; s <= axes; ++s) {
    emu::Footprint all;
    for (Axes t = 0; t <= s; ++t)
      if (within(s, axes) && within(t, s)) all.add(footprints.of(corner[t]));
    unions[s] = 32.0 * static_cast<double>(all.sectors());
  }
  growth.middle_bytes = 32 * footprints.of(growth.middle).sectors();
  if (growth.middle_bytes == 0) return growth;

  auto const parts = parts_of(unions, axes);
  double of_all = 0, of_emulated = 0;
  for (Axes a = 0; a <= axes; ++a) {
    if (!within(a, axes)) continue;
    double combinations = 1;
    std::set<std::array<std::uint64_t, 3>> met;
    for (unsigned i = 0; i < 3; ++i)
      if (a >> i & 1) combinations *= static_cast<double>(size[i]);
    for (auto const group : emulated) {
      auto at = coordinates(grid, group);
      for (unsigned i = 0; i < 3; ++i)
        if (!(a >> i & 1)) at[i] = 0;
      met.insert(at);
    }
    of_all += parts[a] * combinations;
    of_emulated += parts[a] * static_cast<double>(met.size());
  }
  growth.factor = std::max(1.0, of_all / of_emulated);
  return growth;
}

}  // namespace kernelcast::launch
