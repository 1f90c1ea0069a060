// LRU stack distances of a stream of references, exact.
//
// Problem: for each reference, how many distinct blocks were referenced since the last reference to the same block.
// Method: references go through a window of the last 16 to 32, where distances are counted by comparing positions
// (SIMD); what leaves the window has a slot in a tree of bit counts, appended at its end: a distance is the number of
// used slots behind its own. Slots are closed up when they run out. O(log n) per reference in theory; in practice two
// or three cache lines.
// Limits: 2^31 distinct blocks. A block's number has 32 bits; BlockNumbers makes it from 64-bit addresses.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sequential/row_blocks.hpp"

namespace kernelcast::seq {

inline constexpr std::uint32_t cold = ~std::uint32_t{0};  // the distance of a first reference
inline constexpr std::size_t chunk = 16;                  // references that are taken at once

class DistanceEngine {
 public:
  virtual ~DistanceEngine() = default;
  // The distances of 16 references; behind them stand as many that will come next, to be fetched ahead.
  virtual void take(std::uint32_t const* blocks, std::uint32_t* distances, std::size_t following) = 0;
  void take(std::uint32_t const* blocks, std::uint32_t* distances) { take(blocks, distances, 0); }
  // In parts what take() does for references to different blocks: leave() gives their distances, as if each were
  // referenced after those before it, and takes the blocks out; enter() puts blocks that are out on top, in this order.
  // Between the two no reference is taken.
  virtual void leave(std::uint32_t const* blocks, std::uint32_t n, std::uint32_t* distances) = 0;
  virtual void enter(std::uint32_t const* blocks, std::uint32_t n) = 0;
  virtual std::uint64_t distinct() const = 0;  // blocks seen so far
  virtual std::size_t memory_bytes() const = 0;
};

// The engine and the preparation of rows (row_blocks.hpp) of the highest instruction-set level that this processor
// runs, or of the one that was chosen. All levels give the same distances.
std::unique_ptr<DistanceEngine> make_distance_engine();
std::vector<std::string> distance_levels();        // that run here, in rising order: v2, v3, v4 on x86, else base
bool use_distance_level(std::string const& name);  // false where that does not run here

// How often each distance occurred: exact below 64, above in 64 bins per octave.
class DistanceHistogram {
 public:
  static constexpr std::size_t bins = 1727;
  static std::size_t bin_of(std::uint32_t distance) {
    auto const shift = static_cast<unsigned>(std::max(0, 25 - __builtin_clz(distance | 1)));
    return shift * std::size_t{64} + (distance >> shift);
  }
  static std::uint64_t low_of(std::size_t bin) {
    return bin < 128 ? bin : std::uint64_t{64 + bin % 64} << (bin / 64 - 1);
  }

  void add(std::uint32_t distance, std::uint64_t times) { counts_[bin_of(distance)] += times; }
  void add_to_bin(std::size_t bin, std::uint64_t times) { counts_[bin] += times; }
  std::uint64_t count(std::size_t bin) const { return counts_[bin]; }
  std::uint64_t cold_count() const { return counts_[bin_of(cold)]; }

 private:
  std::array<std::uint64_t, bins + 1> counts_{};  // the last one: first references
};

// Numbers blocks of 2^shift bytes with 32 bits: regions of 1 GiB are numbered in the order of their first reference.
class BlockNumbers {
 public:
  explicit BlockNumbers(unsigned shift) : shift_(shift), bases_(regions, no_base) {}
  // The number of the block at a folded address. Throws std::length_error after 2^(2 + shift) regions.
  std::uint32_t operator()(std::uint64_t address) {
    auto const region = address >> 30;
    if (bases_[region] == no_base) find(region);
    return bases_[region] | static_cast<std::uint32_t>((address & ((std::uint64_t{1} << 30) - 1)) >> shift_);
  }
  Numbering numbering() const { return {bases_.data(), first_, other_, shift_}; }

 private:
  static constexpr std::size_t regions = std::size_t{1} << 14;
  void find(std::uint64_t region);

  unsigned shift_;
  std::vector<std::uint32_t> bases_;  // of each region
  std::uint64_t first_ = 0, other_ = 0, known_ = 0;
};

// The part of a histogram that came in between two marks.
struct DistancePart {
  std::vector<std::pair<std::uint32_t, std::uint64_t>> bins;  // bin, references
  std::uint64_t cold = 0;
};

// References on their way through an engine; their distances go into a histogram.
class DistanceQueue {
 public:
  explicit DistanceQueue(std::uint16_t* bins) : bins_(bins), engine_(make_distance_engine()) {}
  static constexpr std::uint32_t no_place = ~std::uint32_t{0};
  // n references to blocks; each counts `times` (null: once). The bins of their distances are written to bins[place]
  // and behind; not at no_place.
  void add(std::uint32_t const* blocks, std::uint32_t const* times, std::uint32_t n, std::uint32_t place);
  // All have gone through the engine.
  void flush();
  // One reference to each of n different blocks, as by add(), that leaves them in another order: as if those of
  // `order`, the same blocks, had been referenced in that order. Flushes before.
  void reorder(std::vector<std::uint32_t> const& blocks, std::vector<std::uint32_t> const& times,
               std::vector<std::uint32_t> const& order, std::uint32_t const* places);
  // Also counts by sixteenths of the blocks, chosen by hash: what they differ by tells how far a sample may be off.
  static constexpr std::size_t groups = 16;
  void divide() { groups_.resize(groups); }
  std::vector<DistanceHistogram> const& divided() const { return groups_; }
  DistanceHistogram& histogram() { return histogram_; }
  std::size_t memory_bytes() const { return engine_->memory_bytes(); }

 private:
  void take_waiting();
  void count(std::uint32_t block, std::uint32_t distance, std::uint32_t times, std::uint32_t place);

  std::uint16_t* bins_;
  std::unique_ptr<DistanceEngine> engine_;
  DistanceHistogram histogram_;
  std::vector<DistanceHistogram> groups_;
  // What does not fill a chunk yet.
  alignas(64) std::array<std::uint32_t, chunk> blocks_{}, times_{}, places_{};
  std::uint32_t filled_ = 0;
  std::vector<std::uint32_t> distances_;
};

class Repetition;  // repetition.hpp

// A stream of references with multiplicities, and its histogram.
class DistanceCounter {
 public:
  // Of a sample no repetitions are looked for, and the histogram is also divided.
  explicit DistanceCounter(unsigned granularity_shift, bool is_sample = false);
  ~DistanceCounter();
  DistanceCounter(DistanceCounter&&) noexcept;

  // One reference to each block.
  void add(std::uint32_t const* blocks, std::uint32_t n);
  void add(std::uint32_t block) { add(&block, 1); }
  // References that all have the distance of one, `times` to each block.
  void add(std::uint32_t const* blocks, std::uint32_t n, std::uint32_t times);
  // What has been added so far belongs to one part, what follows to the next.
  void mark();
  std::vector<DistancePart> const& parts() const { return parts_; }  // as many as marks
  std::vector<DistanceHistogram> const& divided() const { return queue_->divided(); }
  BlockNumbers& numbers() { return numbers_; }
  unsigned shift() const { return shift_; }
  void finish() { settle(); }  // what was added is in the histogram
  DistanceHistogram& histogram() { return queue_->histogram(); }
  std::uint64_t distinct() { return histogram().cold_count(); }
  std::uint64_t repeated() const;  // references that were counted without the engine, as repetitions
  std::size_t memory_bytes() const { return queue_->memory_bytes(); }

 private:
  static constexpr std::size_t buffered = 4096;
  void drain();
  void settle();

  unsigned shift_;
  BlockNumbers numbers_;
  std::unique_ptr<Repetition> repetition_;  // null of a sample
  std::unique_ptr<DistanceQueue> queue_;
  std::vector<std::uint32_t> blocks_, times_;
  std::size_t filled_ = 0;
  bool weighted_ = false;                      // some of times_ are not 1
  std::unique_ptr<DistanceHistogram> marked_;  // the histogram at the last mark
  std::vector<DistancePart> parts_;
};

}  // namespace kernelcast::seq
