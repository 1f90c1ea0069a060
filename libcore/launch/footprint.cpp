#include "launch/footprint.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>
#include <vector>

#include "emu/observe/footprint.hpp"

namespace kernelcast::launch {

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
  emu::Footprint const& of(std::uint64_t group) const {
    static emu::Footprint const none;
    auto const found = of_group_.find(group);
    return found == of_group_.end() ? none : found->second;
  }

 private:
  std::map<std::uint64_t, emu::Footprint> of_group_;
  emu::Footprint* current_ = nullptr;
};

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

FootprintSample::FootprintSample(emu::Dim3 grid) : grid_(grid), footprints_(std::make_unique<GroupFootprints>()) {
  std::array<std::uint64_t, 3> const size{grid.x, grid.y, grid.z}, step{1, grid.x, std::uint64_t{grid.x} * grid.y};
  for (unsigned i = 0; i < 3; ++i) {
    middle_ += (size[i] - 1) / 2 * step[i];
    if (size[i] > 1) axes_ |= 1u << i;
  }
  for (Axes s = 0; s <= axes_; ++s) {
    if (!within(s, axes_)) continue;
    corner_[s] = middle_;
    for (unsigned i = 0; i < 3; ++i)
      if (s >> i & 1) corner_[s] += step[i];
    groups_.push_back(corner_[s]);
  }
}

FootprintSample::~FootprintSample() = default;

emu::Observer& FootprintSample::observer() {
  return *footprints_;
}

FootprintGrowth FootprintSample::growth(std::span<std::uint64_t const> emulated) const {
  FootprintGrowth growth;
  growth.middle = middle_;
  Sizes unions{};
  for (Axes s = 0; s <= axes_; ++s) {
    emu::Footprint all;
    for (Axes t = 0; t <= s; ++t)
      if (within(s, axes_) && within(t, s)) all.add(footprints_->of(corner_[t]));
    unions[s] = 32.0 * static_cast<double>(all.sectors());
  }
  growth.middle_bytes = 32 * footprints_->of(middle_).sectors();
  if (growth.middle_bytes == 0) return growth;

  std::array<std::uint64_t, 3> const size{grid_.x, grid_.y, grid_.z};
  auto const parts = parts_of(unions, axes_);
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
    of_all += parts[a] * combinations;
    of_emulated += parts[a] * static_cast<double>(met.size());
  }
  growth.factor = std::max(1.0, of_all / of_emulated);
  return growth;
}

bool worth_sampling(emu::Dim3 grid, std::uint64_t per_group) {
  auto const axes = (grid.x > 1) + (grid.y > 1) + (grid.z > 1);
  return per_group << axes <= max_instructions_for_footprint;
}

std::optional<FootprintGrowth> footprint_growth(emu::Program const& program, emu::Launch launch, emu::Memory& memory,
                                                std::span<std::uint64_t const> emulated, std::uint64_t max_steps) {
  FootprintSample sample(launch.grid);
  launch.print = nullptr;
  std::array<emu::Observer*, 1> const observers{&sample.observer()};
  emu::Limits limits;
  limits.max_steps = max_steps;
  if (emu::run(program, launch, memory, sample.groups(), observers, limits).ending != emu::Ending::done)
    return std::nullopt;
  return sample.growth(emulated);
}

}  // namespace kernelcast::launch
