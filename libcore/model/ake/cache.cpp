#include "model/ake/cache.hpp"

#include <algorithm>

#include "model/ake/machine.hpp"

namespace kernelcast::model::ake {

Cache::Cache(std::uint64_t bytes, unsigned ways) : ways_(std::max(1u, ways)) {
  std::uint64_t const lines = bytes / line_bytes;
  if (lines > 0 && lines < ways_) ways_ = static_cast<unsigned>(lines);
  sets_ = static_cast<std::size_t>(lines / ways_);
  table_.resize(sets_ * ways_);
}

std::size_t Cache::set_of(std::uint64_t line) const {
  std::uint64_t const mixed = (line ^ (line >> 20)) * 0x9e3779b97f4a7c15u;
  return static_cast<std::size_t>(((mixed >> 32) * sets_) >> 32) * ways_;
}

Cache::Way* Cache::find(std::uint64_t line) {
  Way* const set = table_.data() + set_of(line);
  for (unsigned w = 0; w < ways_; ++w)
    if (set[w].line == line) return set + w;
  return nullptr;
}

Cache::Way& Cache::claim(std::uint64_t line, std::uint32_t who) {
  Way* const set = table_.data() + set_of(line);
  Way* oldest = set;
  ++clock_;
  for (unsigned w = 0; w < ways_; ++w) {
    if (set[w].line == line) {
      set[w].used = clock_;
      set[w].shared = set[w].shared || set[w].who != who;
      last_is_shared_ = set[w].shared;
      return set[w];
    }
    if (clock_ - set[w].used > clock_ - oldest->used) oldest = set + w;
  }
  *oldest = {line, clock_, who, false, 0, 0};
  last_is_shared_ = false;
  return *oldest;
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
  if (Way* const way = find(line)) *way = Way{};
}

}  // namespace kernelcast::model::ake
