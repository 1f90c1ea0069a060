// What each group did, summed over launches.
//
// Problem: a large grid has many groups, and several launches of it run the same ones in the same order.
// Method: entries sorted by group; the one after the last is tried first, so that a launch costs no search.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace kernelcast::emu {

class GroupTable {
 public:
  using Counters = std::array<std::uint64_t, 4>;
  struct Entry {
    std::uint64_t group = 0;
    Counters counters{};
  };

  Counters& operator[](std::uint64_t group) {
    if (next_ >= entries_.size() || entries_[next_].group != group) find(group);
    return entries_[next_++].counters;
  }
  std::vector<Entry> const& entries() const { return entries_; }

  void add(GroupTable const& other) {
    std::vector<Entry> sum;
    sum.reserve(std::max(entries_.size(), other.entries_.size()));
    auto a = entries_.begin();
    for (Entry const& b : other.entries_) {
      while (a != entries_.end() && a->group < b.group) sum.push_back(*a++);
      sum.push_back(b);
      if (a == entries_.end() || a->group != b.group) continue;
      for (std::size_t i = 0; i < a->counters.size(); ++i) sum.back().counters[i] += a->counters[i];
      ++a;
    }
    sum.insert(sum.end(), a, entries_.end());
    entries_ = std::move(sum);
    next_ = 0;
  }

 private:
  void find(std::uint64_t group) {
    if (entries_.empty() || entries_.back().group < group) {
      next_ = entries_.size();
      entries_.push_back({group, {}});
      return;
    }
    auto const at = std::ranges::lower_bound(entries_, group, {}, &Entry::group);
    next_ = static_cast<std::size_t>(at - entries_.begin());
    if (at->group != group) entries_.insert(at, {group, {}});
  }

  std::vector<Entry> entries_;
  std::size_t next_ = 0;  // the entry after the last one looked up
};

}  // namespace kernelcast::emu
