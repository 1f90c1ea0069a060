#include "emulator/launch/history.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <limits>

namespace kernelcast::launch {

record::Powers TouchHistory::Found::scaled(double footprint_bytes) const {
  record::Powers out{};
  if (all_bytes > 0)
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = bytes[k] / all_bytes * footprint_bytes;
  return out;
}

TouchHistory::At TouchHistory::split(std::uint64_t address) {
  auto const after = intervals_.lower_bound(address);
  if (after == intervals_.begin()) return after;
  auto& before = std::prev(after)->second;
  if (before.end <= address) return after;
  auto const rest = intervals_.emplace_hint(after, address, before);
  before.end = address;
  return rest;
}

std::size_t TouchHistory::index_of(std::uint64_t event) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(events_, event, {}, &Event::last) - events_.begin());
}

TouchHistory::Found TouchHistory::touch(std::span<TouchedRange const> ranges) {
  Found out;
  std::vector<double> again(events_.size());  // bytes that each event touched last
  for (auto const& range : ranges) {
    out.all_bytes += range.bytes();
    auto at = intervals_.upper_bound(range.begin);
    if (at != intervals_.begin()) --at;
    for (; at != intervals_.end() && at->first < range.end; ++at) {
      auto const begin = std::max(at->first, range.begin), end = std::min(at->second.end, range.end);
      if (begin < end)
        again[index_of(at->second.event)] += std::min(range.part, at->second.part) * static_cast<double>(end - begin);
    }
  }
  double since = 0, again_since = 0;
  for (std::size_t i = events_.size(); i-- > 0;) {
    double const distance = since + (events_[i].bytes + std::max(0.0, out.all_bytes - again_since)) / 2;
    out.bytes[record::power_of(distance)] += again[i];
    since += events_[i].bytes;
    again_since += again[i];
  }
  events_.push_back({++now_, 0});
  for (auto const& range : ranges) note(range);
  join_events();
  if (intervals_.size() > max_intervals) forget_half();
  return out;
}

// What is there keeps the larger of both parts.
void TouchHistory::note(TouchedRange const& range) {
  if (range.begin >= range.end) return;
  std::vector<TouchedRange> pieces;
  auto const add = [&](std::uint64_t end, double part) {
    auto const begin = pieces.empty() ? range.begin : pieces.back().end;
    if (begin == end) return;
    if (!pieces.empty() && pieces.back().part == part)
      pieces.back().end = end;
    else
      pieces.push_back({begin, end, part});
  };
  auto const first = split(range.begin), last = split(range.end);
  for (auto at = first; at != last; ++at) {
    auto const& [end, event, part] = at->second;
    add(at->first, range.part);
    add(end, std::max(part, range.part));
    events_[index_of(event)].bytes -= part * static_cast<double>(end - at->first);
  }
  add(range.end, range.part);
  auto const hint = intervals_.erase(first, last);
  for (auto const& piece : pieces) {
    events_.back().bytes += piece.bytes();
    intervals_.emplace_hint(hint, piece.begin, Interval{piece.end, now_, piece.part});
  }
}

void TouchHistory::forget(std::uint64_t begin, std::uint64_t bytes) {
  if (bytes == 0) return;
  auto const first = split(begin), last = split(begin + bytes);
  intervals_.erase(first, last);
}

void TouchHistory::join_events() {
  std::erase_if(events_, [](Event const& event) { return event.bytes < 0.5; });
  while (events_.size() > max_events) {
    std::size_t least = 0;  // by what it changes of their distance
    double since = 1, min_change = std::numeric_limits<double>::max();
    for (std::size_t i = events_.size() - 1; i-- > 0; since += events_[i + 1].bytes) {
      double const change = (events_[i].bytes + events_[i + 1].bytes) / since;
      if (change < min_change) least = i, min_change = change;
    }
    events_[least + 1].bytes += events_[least].bytes;
    events_.erase(events_.begin() + static_cast<std::ptrdiff_t>(least));
  }
  if (events_.empty() || events_.back().last != now_) events_.push_back({now_, 0});
}

void TouchHistory::forget_half() {
  std::vector<std::uint64_t> events;
  events.reserve(intervals_.size());
  for (auto const& [begin, interval] : intervals_) events.push_back(interval.event);
  auto const middle = events.begin() + static_cast<std::ptrdiff_t>(events.size() / 2);
  std::ranges::nth_element(events, middle);
  std::erase_if(intervals_, [&](auto const& one) { return one.second.event <= *middle; });
}

Touched::Touched(emu::Launch const& launch, emu::Footprint const& footprint, emu::Memory const& memory, double growth)
    : parameters_(launch.parameters) {
  constexpr std::uint64_t sector_bytes = 32;
  constexpr std::size_t max_ranges = 256;
  std::size_t ranges = 0;
  footprint.for_each([&](std::uint64_t first, std::uint64_t bits) {
    while (bits) {  // those in one buffer
      auto const skipped = static_cast<unsigned>(std::countr_zero(bits));
      auto const address = (first + skipped) * sector_bytes;
      if (buffers_.empty() || address - buffers_.back().address >= buffers_.back().bytes) {
        auto const* const found = memory.find(address);
        if (!found) return;
        buffers_.push_back({found->address, (found->size + sector_bytes - 1) / sector_bytes * sector_bytes, {}});
      }
      auto& buffer = buffers_.back();
      auto const buffer_end = buffer.address + buffer.bytes;
      auto const sectors = (buffer_end + sector_bytes - 1) / sector_bytes - first;  // of the 64 those in it
      auto const in_it = sectors >= 64 ? bits : bits & ((std::uint64_t{1} << sectors) - 1);
      TouchedRange range{std::max(first * sector_bytes, buffer.address),
                         std::min((first + 64) * sector_bytes, buffer_end)};
      range.part = std::min(
          1.0, static_cast<double>(std::popcount(in_it)) * sector_bytes / static_cast<double>(range.end - range.begin));
      auto& last = buffer.ranges;
      if (!last.empty() && last.back().end == range.begin && last.back().part == range.part)
        last.back().end = range.end;
      else
        last.push_back(range), ++ranges;
      bits &= ~in_it;
    }
  });
  if (growth <= 1 && ranges <= max_ranges) return;
  for (auto& [address, bytes, parts] : buffers_) {
    TouchedRange whole{parts.front().begin, parts.back().end};
    double touched = 0;
    for (auto const& part : parts) touched += part.bytes();
    touched = std::min(touched * std::max(1.0, growth), static_cast<double>(bytes));
    // As long as what is touched at least, to the end of the buffer first: groups begin at its beginning.
    auto const length = static_cast<std::uint64_t>(touched);
    whole.end = std::max(whole.end, std::min(whole.begin + length, address + bytes));
    if (whole.end - whole.begin < length) whole.begin = whole.end - length;
    whole.part = touched / static_cast<double>(whole.end - whole.begin);
    parts = {whole};
  }
}

std::vector<TouchedRange> Touched::by(emu::Launch const& launch, emu::Memory const& memory) const {
  auto const word_at = [](std::vector<std::byte> const& bytes, std::size_t at) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    return word;
  };
  bool const moves = launch.parameters != parameters_ && launch.parameters.size() == parameters_.size();
  std::vector<TouchedRange> out;
  for (auto const& buffer : buffers_) {
    std::uint64_t by = 0, begin = 0, end = ~std::uint64_t{0};
    for (std::size_t at = 0; moves && at + 8 <= parameters_.size(); at += 8) {
      auto const was = word_at(parameters_, at), is = word_at(launch.parameters, at);
      if (was - buffer.address >= buffer.bytes) continue;
      auto const* const target = memory.find(is);
      if (!target) continue;
      by = is - was, begin = target->address, end = target->address + target->size;
      if (by == 0) break;  // another of its pointers stays
    }
    for (auto range : buffer.ranges) {
      range.begin = std::max(range.begin + by, begin), range.end = std::min(range.end + by, end);
      if (range.begin < range.end) out.push_back(range);
    }
  }
  return out;
}

}  // namespace kernelcast::launch
