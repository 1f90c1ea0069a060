#include "emulator/launch/spread.hpp"

#include <algorithm>
#include <cmath>

#include "emulator/launch/group_sample.hpp"

namespace kernelcast::launch {

namespace {

constexpr std::size_t of_issues = 1;              // of KernelObserver::counts_of()
constexpr std::uint64_t whole_groups = 1u << 16;  // of a launch that runs whole because it costs little

}  // namespace

Spread::Spread(emu::Dim3 grid, bool in_order, std::uint64_t launches)
    : grid_(grid), total_(grid.count()), launches_(launches), in_order_(in_order) {
  std::array<std::uint32_t, 3> const sizes{grid.x, grid.y, grid.z};
  auto const axes = std::ranges::count_if(sizes, [](std::uint32_t size) { return size > 1; });
  double const root = axes <= 1 ? 1.6180339887498949 : axes == 2 ? 1.3247179572447460 : 1.2207440846057596;
  double part = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    state_[i] = std::uint64_t{1} << 63;
    if (sizes[i] > 1) part /= root, step_[i] = static_cast<std::uint64_t>(part * 0x1p64);
  }
}

std::uint64_t Spread::reflected(std::uint64_t group) const {
  return total_ - 1 - group;  // every coordinate c becomes size - 1 - c
}

std::uint64_t Spread::next_of_sequence() {
  std::array<std::uint32_t, 3> const sizes{grid_.x, grid_.y, grid_.z};
  std::uint64_t group = 0, step = 1;
  for (std::size_t i = 0; i < 3; ++i) {
    state_[i] += step_[i];
    group += (((state_[i] >> 32) * sizes[i]) >> 32) * step;
    step *= sizes[i];
  }
  return group;
}

bool Spread::add(std::uint64_t group) {
  if (!known_.insert(group).second) return false;
  taken_.push_back(group);
  return true;
}

std::vector<std::uint64_t> Spread::take(std::uint64_t groups) {
  if (groups >= total_ - taken_.size()) return take_rest();
  auto const before = taken_.size();
  if (in_order_) {
    for (std::uint64_t g = before; g < before + groups; ++g) add(g);
  } else {
    while (taken_.size() < before + groups) {
      auto const group = taken_.empty() ? middle_group(grid_) : next_of_sequence();
      if (add(group)) add(reflected(group));  // where one is taken the other is
    }
  }
  std::vector<std::uint64_t> out(taken_.begin() + static_cast<std::ptrdiff_t>(before), taken_.end());
  std::ranges::sort(out);
  return out;
}

std::vector<std::uint64_t> Spread::take_rest() {
  std::vector<std::uint64_t> out;
  for (std::uint64_t g = 0; g < total_; ++g)
    if (add(g)) out.push_back(g);
  return out;
}

std::vector<std::uint64_t> Spread::groups() const {
  auto out = taken_;
  std::ranges::sort(out);
  return out;
}

bool Spread::enough(emu::KernelObserver const& counted, double instructions) const {
  auto const groups = taken_.size();
  if (groups >= (in_order_ ? spread_ordered_groups : spread_most_groups)) return true;
  if (groups >= (in_order_ ? 1 : 4) && instructions >= static_cast<double>(spread_most_instructions)) return true;
  bool const cheap = 2 * instructions <= static_cast<double>(spread_cheap_instructions);
  if (in_order_ || groups < (cheap ? spread_cheap_groups : spread_least_groups)) return false;
  return error_pct(counted).value_or(0) <= spread_error_pct;
}

std::vector<std::uint64_t> Spread::next(emu::KernelObserver const& counted) {
  auto const have = taken_.size();
  if (have == total_) return {};
  if (have == 0) return take(in_order_ && total_ <= spread_ordered_groups ? total_ : 1);
  double instructions = 0;
  for (auto const group : taken_) instructions += static_cast<double>(counted.counts_of(group)[of_issues]);
  instructions *= static_cast<double>(launches_);
  double const whole = instructions / static_cast<double>(have) * static_cast<double>(total_);
  if (have >= 4 && total_ <= whole_groups && whole <= static_cast<double>(spread_cheap_instructions))
    return take_rest();
  if (enough(counted, instructions)) return {};
  if (in_order_) return take(have);
  auto const wanted = std::max<std::uint64_t>(2 * have, 4);
  return wanted > total_ / 2 ? take_rest() : take(wanted - have);
}

std::optional<double> Spread::error_pct(emu::KernelObserver const& counted) const {
  if (taken_.size() == total_) return 0;
  if (in_order_ || taken_.empty()) return std::nullopt;
  std::array<std::vector<double>, 4> means;  // of each pair, by counter
  std::array<double, 4> sums{};
  for (std::size_t i = 0; i < taken_.size();) {
    auto const a = counted.counts_of(taken_[i]);
    bool const paired = i + 1 < taken_.size() && taken_[i + 1] == reflected(taken_[i]);
    auto const b = paired ? counted.counts_of(taken_[i + 1]) : a;
    for (std::size_t c = 0; c < means.size(); ++c) {
      means[c].push_back((static_cast<double>(a[c]) + static_cast<double>(b[c])) / 2);
      sums[c] += means[c].back();
    }
    i += paired ? 2 : 1;
  }
  auto const pairs = static_cast<double>(means[0].size());
  if (pairs < 2) return std::nullopt;
  double const unseen = 1 - static_cast<double>(taken_.size()) / static_cast<double>(total_);
  double largest = 0;
  for (std::size_t c = 0; c < means.size(); ++c) {
    if (sums[c] <= 0) continue;
    double const mean = sums[c] / pairs;
    double squares = 0;
    for (double const m : means[c]) squares += (m - mean) * (m - mean);
    largest = std::max(largest, 100 * std::sqrt(squares / (pairs - 1) / pairs * unseen) / mean);
  }
  return largest;
}

}  // namespace kernelcast::launch
