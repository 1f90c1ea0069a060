#include "sequential/repetition.hpp"

#include <algorithm>

namespace kernelcast::seq {

std::uint32_t Repetition::agree(std::uint32_t const* blocks, std::uint32_t const* times, std::uint32_t at,
                                std::uint32_t n) const {
  auto same = wide_.agree(blocks, &blocks_[at], n);
  if (!weighted_) return same;
  if (times) return wide_.agree(times, &times_[at], same);
  auto const* const first = &times_[at];
  return static_cast<std::uint32_t>(std::find_if(first, first + same, [](auto x) { return x != 1; }) - first);
}

void Repetition::take(std::uint32_t const* blocks, std::uint32_t const* times, std::uint32_t n, DistanceQueue& queue) {
  if (times && !weighted_) {
    std::fill_n(times_.data(), end_, 1U);
    weighted_ = true;
  }
  if (pause_ > 0) {
    break_off(queue);
    queue.add(blocks, times, n, no_place);
    pause_ -= std::min<std::uint64_t>(pause_, n);
    return clear();
  }
  auto const at = [&](std::uint32_t i) { return times ? times + i : nullptr; };
  std::uint32_t found = 0, next = 0;  // anchors; which have not been passed
  bool searched = false;
  for (std::uint32_t i = 0; i < n;) {
    if (repeats_) {
      auto const most = std::min(n - i, limit_ - same_);
      auto const same = agree(blocks + i, at(i), source_ + same_, most);
      same_ += same;
      i += same;
      if (same_ == period_)
        end_pass(queue);
      else if (same < most || same_ == limit_)
        break_off(queue);
      continue;
    }
    if (last_length_ > 0) {  // once more?
      auto const enough = std::min({std::uint32_t{16}, n - i, last_length_});
      if (agree(blocks + i, at(i), last_source_, enough) == enough) {
        begin(last_source_, last_length_);
        continue;
      }
    }
    if (!searched && n > 2) {
      anchors_.resize(n);
      found = wide_.anchors(blocks, n - 2, anchors_.data());
    }
    searched = true;
    // What comes before the next anchor that is known on the tape.
    auto to = n;
    std::uint32_t known = 0;
    for (; next < found; ++next) {
      auto const anchor = anchors_[next];
      if (anchor < i) continue;
      auto& entry = index_[hash_of_three(blocks + anchor) * 0x85EBCA77U >> (32 - index_bits)];
      known = entry;
      auto const enough = std::min<std::uint32_t>(16, n - anchor);
      if (known + enough <= end_ && agree(blocks + anchor, at(anchor), known, enough) == enough) {
        auto const border = std::upper_bound(borders_.begin(), borders_.end(), known);
        auto const back = std::min(anchor - i, known - (border == borders_.begin() ? 0 : border[-1]));
        to = anchor;
        for (auto const least = anchor - back; to > least; --to, --known)
          if (agree(blocks + to - 1, at(to - 1), known - 1, 1) == 0) break;
        break;
      }
      entry = end_ + (anchor - i);
    }
    auto const before = end_;
    append(blocks + i, at(i), to - i, queue);
    i = to;
    if (to == n || end_ < before) continue;  // the tape may have been begun anew
    ++next;
    begin(known, end_ - known);
  }
}

void Repetition::begin(std::uint32_t source, std::uint32_t period) {
  repeats_ = true;
  source_ = source;
  limit_ = period_ = period;
  if (auto const border = std::upper_bound(borders_.begin(), borders_.end(), source); border != borders_.end())
    limit_ = std::min(limit_, *border - source);
  same_ = 0;
  settled_ = false;
}

void Repetition::forbid_crossing(std::uint32_t place) {
  auto const at = std::lower_bound(borders_.begin(), borders_.end(), place);
  if (at == borders_.end() || *at != place) borders_.insert(at, place);
}

// To the tape, and through the engine.
void Repetition::append(std::uint32_t const* blocks, std::uint32_t const* times, std::uint32_t n,
                        DistanceQueue& queue) {
  if (end_ + n > room_) begin_anew();
  last_length_ = 0;
  std::copy_n(blocks, n, &blocks_[end_]);
  if (weighted_) {
    if (times)
      std::copy_n(times, n, &times_[end_]);
    else
      std::fill_n(&times_[end_], n, 1U);
  }
  queue.add(blocks, times, n, end_);
  end_ += n;
}

// References of the old tape that are still on their way write their bins before new ones do.
void Repetition::begin_anew() {
  bool const fruitless = saved_ <= end_ / 8;
  if (!fruitless) {
    next_pause_ = shortest_pause;
  } else if (room_ < longest) {
    room_ = longest;
  } else {
    pause_ = next_pause_;
    next_pause_ = std::min(2 * next_pause_, longest_pause);
  }
  clear();
}

void Repetition::clear() {
  end_ = 0;
  saved_ = 0;
  borders_.clear();
  last_length_ = 0;
  for (auto& summary : summaries_) summary.n = 0;
}

// Of the first n references from source_ on; null where it is not worth it to repeat them.
Repetition::Summary const* Repetition::summary_of(std::uint32_t n, DistanceQueue& queue) {
  for (auto const& summary : summaries_)
    if (summary.source == source_ && summary.n == n) return &summary;
  constexpr std::uint32_t step = 4096;
  auto const* const blocks = &blocks_[source_];
  if (scan_ >= ~std::uint32_t{0} - 2) return nullptr;
  auto& summary = summaries_[next_summary_];
  summary.n = 0;
  auto& firsts = summary.firsts;
  ++scan_;
  std::uint32_t m = 0;
  for (std::uint32_t begin = 0; begin < n; begin += step) {
    if (firsts.size() < m + step) firsts.resize(m + step);
    for (auto i = begin; i < std::min(n, begin + step); ++i) {
      auto& seen = seen_[blocks[i]];
      firsts[m] = i;
      m += seen != scan_;
      seen = scan_;
    }
    if (m > n / 4) return nullptr;
  }
  firsts.resize(m);
  queue.flush();  // what writes bins
  auto const* const times = times_at(source_);
  for (std::uint32_t i = 0; i < n; ++i) counted_[bins_[source_ + i]] += times ? times[i] : 1;
  for (auto const i : firsts) counted_[bins_[source_ + i]] -= times ? times[i] : 1;
  summary.bins.clear();
  for (std::size_t bin = 0; bin < counted_.size(); ++bin)
    if (counted_[bin] > 0) summary.bins.emplace_back(static_cast<std::uint16_t>(bin), std::exchange(counted_[bin], 0));
  summary.lasts.resize(m);
  ++scan_;
  for (auto i = n, left = m; left > 0;) {
    auto& seen = seen_[blocks[--i]];
    summary.lasts[left - 1] = i;
    left -= seen != scan_;
    seen = scan_;
  }
  summary.source = source_;
  summary.n = n;
  next_summary_ = (next_summary_ + 1) % summaries_.size();
  return &summary;
}

// The first n references from source_ on, once more, their bins from `place` on. False where that is not worth it.
bool Repetition::repeat(std::uint32_t n, std::uint32_t place, DistanceQueue& queue) {
  auto const* const summary = summary_of(n, queue);
  if (!summary) return false;
  for (auto const& [bin, often] : summary->bins) queue.histogram().add_to_bin(bin, often);
  auto const* const blocks = &blocks_[source_];
  auto const* const times = times_at(source_);
  if (place != source_ && place != no_place) {
    queue.flush();
    std::copy_n(blocks, n, &blocks_[place]);
    if (times) std::copy_n(times, n, &times_[place]);
    std::copy_n(&bins_[source_], n, &bins_[place]);
  }
  auto const m = summary->firsts.size();
  places_of_.resize(m);
  firsts_.resize(m);
  lasts_.resize(m);
  times_of_.assign(m, 1);
  for (std::size_t f = 0; f < m; ++f) {
    auto const i = summary->firsts[f];
    firsts_[f] = blocks[i];
    lasts_[f] = blocks[summary->lasts[f]];
    if (times) times_of_[f] = times[i];
    places_of_[f] = place == no_place ? no_place : place + i;
  }
  queue.reorder(firsts_, times_of_, lasts_, places_of_.data());
  saved_ += n - 2 * m;
  repeated_ += n - m;
  return true;
}

// The passes after the one that is on the tape.
void Repetition::count_passes(DistanceQueue& queue) {
  if (passes_ == 0) return;
  queue.flush();
  auto const* const times = times_at(source_);
  for (std::uint32_t i = 0; i < period_; ++i)
    queue.histogram().add_to_bin(bins_[source_ + i], passes_ * (times ? times[i] : 1));
  saved_ += passes_ * period_;
  repeated_ += passes_ * period_;
  passes_ = 0;
}

void Repetition::end_pass(DistanceQueue& queue) {
  same_ = 0;
  if (settled_) {
    ++passes_;
    return;
  }
  if (period_ < worth_a_look || !repeat(period_, source_, queue))
    queue.add(&blocks_[source_], times_at(source_), period_, source_);
  forbid_crossing(source_);
  settled_ = true;
}

void Repetition::break_off(DistanceQueue& queue) {
  if (!repeats_) return;
  repeats_ = false;
  count_passes(queue);
  auto const source = source_, n = same_;
  if (n == 0) return;
  bool const room = end_ + n <= room_;
  if (n >= worth_a_look && repeat(n, room ? end_ : no_place, queue)) {
    if (room)
      end_ += n;
    else
      forbid_crossing(end_);
  } else if (room) {
    append(&blocks_[source], times_at(source), n, queue);
  } else {
    queue.add(&blocks_[source], times_at(source), n, no_place);
    return begin_anew();
  }
  last_source_ = source;
  last_length_ = n;
}

}  // namespace kernelcast::seq
