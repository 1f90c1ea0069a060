// How many other sectors a stream of them uses between two uses of one [Mattson 1970]; see group_profile.hpp. Internal
// to emulator/observe.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kernelcast::emu {

// Stack distances of a stream of sectors. Those whose hash is below the threshold stand for all; the threshold falls
// when there are too many, and then the distances count for more.
class StackDistance {
 public:
  // The distinct other sectors since the last use; none where it is the first, or the sector is not in the sample.
  // `weight`: uses that this one stands for.
  std::optional<double> use(std::uint64_t sector, double& weight) {
    std::uint64_t const hash = sector * 0x9e3779b97f4a7c15ull;
    if (hash >> 40 >= threshold_) return std::nullopt;
    if (++uses_ % (std::uint64_t{1} << 20) == 0 && last_.size() > most / 4) thin_out();
    weight = static_cast<double>(whole) / static_cast<double>(threshold_);
    if (time_ + 1 >= tree_.size()) renumber();
    auto const [at, is_new] = last_.try_emplace(sector, 0);
    std::optional<double> distance;
    if (!is_new) {
      distance = (static_cast<double>(last_.size()) - static_cast<double>(before(at->second))) * weight;
      add(at->second, -1);
    }
    at->second = ++time_;
    add(time_, 1);
    return distance;
  }

 private:
  static constexpr std::uint64_t whole = std::uint64_t{1} << 24;
  static constexpr std::size_t most = 1 << 14;

  void add(std::size_t at, std::int32_t n) {
    for (; at < tree_.size(); at += at & (~at + 1)) tree_[at] += n;
  }
  std::uint64_t before(std::size_t at) const {  // sectors last used at this time or earlier
    std::int64_t sum = 0;
    for (; at > 0; at &= at - 1) sum += tree_[at];
    return static_cast<std::uint64_t>(sum);
  }
  void thin_out() {
    threshold_ = std::max<std::uint64_t>(1, threshold_ / 2);
    std::erase_if(last_, [&](auto const& entry) { return entry.first * 0x9e3779b97f4a7c15ull >> 40 >= threshold_; });
    time_ = tree_.size();  // what is left has to be counted anew
  }
  void renumber() {
    if (last_.size() > most) thin_out();
    std::vector<std::pair<std::size_t, std::uint64_t>> order;
    order.reserve(last_.size());
    for (auto const& [sector, time] : last_) order.emplace_back(time, sector);
    std::sort(order.begin(), order.end());
    tree_.assign(std::max<std::size_t>(4096, std::bit_ceil(4 * order.size() + 4)), 0);
    time_ = 0;
    for (auto const& [time, sector] : order) {
      last_[sector] = ++time_;
      add(time_, 1);
    }
  }

  std::uint64_t threshold_ = whole, uses_ = 0;
  std::size_t time_ = 0;
  std::vector<std::int32_t> tree_ = std::vector<std::int32_t>(4096);  // Fenwick, by time of last use
  std::unordered_map<std::uint64_t, std::size_t> last_;
};

}  // namespace kernelcast::emu
