// What the launches, copies and fills of a program have touched, for the second-level cache that a launch finds.
//
// Problem: a launch does not fetch from memory what earlier ones have left in the cache. How large the cache is, is a
// matter of the device; a row says for each size how much of a launch's memory it would hold.
// Method: stack distances, launch by launch. Every range of memory keeps the event (launch, copy or fill) that touched
// it last. Of what event E touched last a launch L finds at a distance of
//   half of what E touched last of all + all that was touched last since E
//   + half of what L touches, but for what was touched last since E
// distinct bytes: those between the middle of E and the middle of L, which is exact at each byte's mean place where
// both go through memory in the same order (a vector of X bytes that is read again: X).
// Limits: only the sizes of events, no order within them; a range of which a part is touched is taken as touched
// alike all over. At most max_intervals ranges are kept (some 25 MB); beyond, the older half counts as never touched.
// Reads of textures are left out, as in the footprint.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "emulator/emu.hpp"
#include "emulator/observe/footprint.hpp"
#include "records/table/histogram.hpp"

namespace kernelcast::launch {

// Of the bytes from `begin` to `end` this part, 0 to 1.
struct TouchedRange {
  std::uint64_t begin = 0, end = 0;
  double part = 1;
  double bytes() const { return part * static_cast<double>(end - begin); }
};

class TouchHistory {
 public:
  struct Found {
    record::Powers bytes{};  // that were touched before, by distance; what never was is in none
    double all_bytes = 0;    // that this event touches
    // As parts of what it touches, times `footprint_bytes`.
    record::Powers scaled(double footprint_bytes) const;
  };
  // The next event. Ranges do not overlap.
  Found touch(std::span<TouchedRange const>);
  // As if it had never been touched: it is freed. What it took of the cache it still does.
  void forget(std::uint64_t begin, std::uint64_t bytes);

 private:
  struct Interval {
    std::uint64_t end = 0, event = 0;
    double part = 1;
  };
  // Events one after the other; those that nothing is left of are joined to the next, and beyond max_events more.
  struct Event {
    std::uint64_t last = 0;
    double bytes = 0;  // touched last by it, freed memory included
  };
  using At = std::map<std::uint64_t, Interval>::iterator;

  At split(std::uint64_t address);  // the first interval that begins there or behind
  std::size_t index_of(std::uint64_t event) const;
  void note(TouchedRange const&);
  void join_events();
  void forget_half();

  static constexpr std::size_t max_intervals = std::size_t{1} << 18, max_events = 256;
  std::map<std::uint64_t, Interval> intervals_;  // by where they begin
  std::vector<Event> events_;                    // ascending
  std::uint64_t now_ = 0;
};

// What a launch has touched. Others of its configuration touch the same, moved with the pointers that they are given.
class Touched {
 public:
  Touched() = default;
  // `footprint` of some groups; of all groups it is `growth` times as large: then a buffer is touched alike from the
  // first place to the last. 256 ranges at most, else buffers are taken so, too.
  Touched(emu::Launch const&, emu::Footprint const& footprint, emu::Memory const&, double growth);
  // By another launch, whose pointers may be others.
  std::vector<TouchedRange> by(emu::Launch const&, emu::Memory const&) const;

 private:
  struct Buffer {
    std::uint64_t address = 0, bytes = 0;
    std::vector<TouchedRange> ranges;
  };
  std::vector<std::byte> parameters_;
  std::vector<Buffer> buffers_;
};

}  // namespace kernelcast::launch
