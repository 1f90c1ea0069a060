// Repetitions in a stream of references: what a time step, a transform or an inner loop does once more.
//
// Problem: most programs repeat themselves, and the tree of the distance engine is what measuring costs.
// Method: a tape keeps the references of the past with the bins of their distances. Where a hash of three references is
// found on it, what follows is compared with it. As long as they agree, the stream repeats the tape from there.
// - A reference whose block occurs in the repetition before has the distance that it had on the tape, since all between
//   the two is the same. It is counted, and does not go through the engine.
// - The first reference to each block does go through the engine: the blocks above its own in the order of last
//   references are those referenced since, the firsts of the repetition included, in whatever order.
// - Then that order is put right: the blocks of the repetition in the order of their last references, counted 0 times.
// - Where a repetition reaches its own beginning, the stream has a period. Its second repetition has the distances of
//   the first, and leaves the order as it was: it is counted and that is all, and so are those that follow.
// A repetition with few references to each block is not worth it and goes through the engine like everything else.
// What comes after one repetition of a period is left out of the tape: between two references it adds no block that was
// not there. No comparison crosses the place where a period begins, since its bins become those of its repetition, nor
// the end of a full tape, where other repetitions are left out.
// Limits: periods up to the length of the tape, which is begun anew when it is full, and is short while nothing
// repeats.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "sequential/distance.hpp"
#include "sequential/pages.hpp"
#include "sequential/row_blocks.hpp"

namespace kernelcast::seq {

class Repetition {
 public:
  std::uint16_t* bins() const { return bins_.data(); }
  // n references, each `times` (null: once), counted now or later by way of `queue`. Room for two blocks more is behind
  // them.
  void take(std::uint32_t const* blocks, std::uint32_t const* times, std::uint32_t n, DistanceQueue& queue);
  std::uint64_t repeated() const { return repeated_; }  // references that were counted without the engine
  // All that is put off goes to `queue`.
  void finish(DistanceQueue& queue) { break_off(queue); }

 private:
  static constexpr std::uint32_t first_try = 1U << 20, longest = 1U << 23;             // tapes
  static constexpr std::uint64_t shortest_pause = 1U << 24, longest_pause = 1U << 28;  // references without a tape
  static constexpr std::uint32_t worth_a_look = 256;                                   // references of a repetition
  static constexpr std::uint32_t index_bits = 18;
  static constexpr auto no_place = DistanceQueue::no_place;

  std::uint32_t agree(std::uint32_t const* blocks, std::uint32_t const* times, std::uint32_t at, std::uint32_t n) const;
  void append(std::uint32_t const* blocks, std::uint32_t const* times, std::uint32_t n, DistanceQueue& queue);
  void begin_anew();
  void clear();
  void begin(std::uint32_t source, std::uint32_t period);
  bool repeat(std::uint32_t n, std::uint32_t place, DistanceQueue& queue);
  void count_passes(DistanceQueue& queue);
  void end_pass(DistanceQueue& queue);
  void break_off(DistanceQueue& queue);
  void forbid_crossing(std::uint32_t place);
  std::uint32_t* times_at(std::uint32_t place) const { return weighted_ ? times_.data() + place : nullptr; }

  RowBlocks wide_ = row_blocks();
  Pages<std::uint32_t> blocks_{longest, PageAccess::random}, times_{longest, PageAccess::random};
  Pages<std::uint16_t> bins_{longest, PageAccess::random};
  bool weighted_ = false;  // times_ is in use
  std::uint32_t end_ = 0;  // of the tape
  std::uint32_t room_ = first_try;
  std::uint64_t repeated_ = 0;
  std::uint64_t saved_ = 0;  // references since the tape was begun that did not go through the engine
  std::uint64_t pause_ = 0, next_pause_ = shortest_pause;
  std::vector<std::uint32_t> index_ = std::vector<std::uint32_t>(std::size_t{1} << index_bits);
  std::vector<std::uint32_t> anchors_;

  std::vector<std::uint32_t> borders_;  // places that no comparison crosses, in order

  bool repeats_ = false;
  std::uint32_t source_ = 0, period_ = 0;            // what is compared with
  std::uint32_t limit_ = 0;                          // references of it, until a border at most
  std::uint32_t same_ = 0;                           // of this pass, that agree
  bool settled_ = false;                             // a pass has been counted, and its bins are on the tape
  std::uint64_t passes_ = 0;                         // after that one
  std::uint32_t last_source_ = 0, last_length_ = 0;  // of the last repetition, if nothing has followed

  Pages<std::uint32_t> seen_{std::size_t{1} << 32, PageAccess::random};  // of each block: the last scan that met it
  std::uint32_t scan_ = 0;
  // What a repetition does, without its scans: a few are kept, since the same ones come again and again.
  struct Summary {
    std::uint32_t source = 0, n = 0;
    std::vector<std::uint32_t> firsts, lasts;                   // places of blocks, from the source on
    std::vector<std::pair<std::uint16_t, std::uint64_t>> bins;  // of all others, and how often
  };
  Summary const* summary_of(std::uint32_t n, DistanceQueue& queue);
  std::array<Summary, 4> summaries_;
  std::size_t next_summary_ = 0;
  std::vector<std::uint64_t> counted_ = std::vector<std::uint64_t>(DistanceHistogram::bins + 1);
  std::vector<std::uint32_t> firsts_, lasts_, times_of_, places_of_;
};

}  // namespace kernelcast::seq
