#include "models/ake/cache.hpp"

#include <algorithm>

#include "models/ake/machine.hpp"

namespace kernelcast::model::ake {

Cache::Cache(std::uint64_t bytes, unsigned ways) : ways_(std::max(1u, ways)) {
  std::uint64_t const lines = bytes / line_bytes;
  if (lines > 0 && lines < ways_) ways_ = static_cast<unsigned>(lines);
  sets_ = static_cast<std::size_t>(lines / ways_);
  lines_.assign(sets_ * ways_, ~std::uint64_t{0});
  ways_of_.resize(sets_ * ways_);
}

std::size_t Cache::set_of(std::uint64_t line) const {
  std::uint64_t const mixed = (line ^ (line >> 20)) * 0x9e3779b97f4a7c15u;
  return static_cast<std::size_t>(((mixed >> 32) * sets_) >> 32) * ways_;
}

Cache::Way* Cache::find(std::uint64_t line) {
  std::size_t const set = set_of(line);
  std::uint64_t const* const lines = lines_.data() + set;
  for (unsigned w = 0; w < ways_; ++w)
    if (lines[w] == line) return ways_of_.data() + set + w;
  return nullptr;
}

Cache::Way& Cache::claim(std::uint64_t line, std::uint32_t who) {
  ++clock_;
  if (Way* const way = find(line)) {
    way->used = clock_;
    way->shared = way->shared || way->who != who;
    last_is_shared_ = way->shared;
    return *way;
  }
  std::size_t const set = set_of(line);
  Way* const all = ways_of_.data() + set;
  unsigned oldest = 0;
  for (unsigned w = 1; w < ways_; ++w) oldest = clock_ - all[w].used > clock_ - all[oldest].used ? w : oldest;
  lines_[set + oldest] = line;
  all[oldest] = {clock_, who, false, 0, 0};
  last_is_shared_ = false;
  return all[oldest];
}

std::uint8_t Cache::read(std::uint64_t line, std::uint8_t sectors, std::uint8_t fill, std::uint32_t who) {
  if (sets_ == 0) return 0;
  Way& way = claim(line, who);
  std::uint8_t const hit = way.valid & sectors;
  way.valid |= sectors | fill;
  return hit;
}

std::uint8_t Cache::write(std::uint64_t line, std::uint8_t sectors, std::uint32_t who) {
  if (sets_ == 0) return 0;
  Way& way = claim(line, who);
  std::uint8_t const before = way.dirty & sectors;
  way.valid |= sectors;
  way.dirty |= sectors;
  return before;
}

void Cache::evict(std::uint64_t line) {
  if (sets_ == 0) return;
  if (Way* const way = find(line)) {
    lines_[static_cast<std::size_t>(way - ways_of_.data())] = ~std::uint64_t{0};
    *way = Way{};
  }
}

}  // namespace kernelcast::model::ake
