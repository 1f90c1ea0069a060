#include "sequential/distance.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "sequential/repetition.hpp"

namespace kernelcast::seq {

#define KERNELCAST_SEQ_DECLARE(level)     \
  namespace level {                       \
  std::unique_ptr<DistanceEngine> make(); \
  RowBlocks row_blocks();                 \
  }
#ifdef KERNELCAST_SEQ_X86
KERNELCAST_SEQ_DECLARE(v2)
KERNELCAST_SEQ_DECLARE(v3)
KERNELCAST_SEQ_DECLARE(v4)
#else
KERNELCAST_SEQ_DECLARE(base)
#endif

namespace {

struct Level {
  char const* name;
  bool (*runs)();
  std::unique_ptr<DistanceEngine> (*make)();
  RowBlocks (*row_blocks)();
};

// In rising order.
constexpr Level all_levels[] = {
#ifdef KERNELCAST_SEQ_X86
    {"v2", [] { return true; }, v2::make, v2::row_blocks},
    {"v3",
     [] {
       return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
              __builtin_cpu_supports("popcnt");
     },
     v3::make, v3::row_blocks},
    {"v4",
     [] {
       return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
              __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
              __builtin_cpu_supports("avx512dq");
     },
     v4::make, v4::row_blocks},
#else
    {"base", [] { return true; }, base::make, base::row_blocks},
#endif
};

Level const* find(std::string_view name) {
  for (auto const& level : all_levels)
    if (name == level.name && level.runs()) return &level;
  return nullptr;
}

Level const*& used() {
  static Level const* level = [] {
    auto const* best = &all_levels[0];
    for (auto const& each : all_levels)
      if (each.runs()) best = &each;
    return best;
  }();
  return level;
}

}  // namespace

std::vector<std::string> distance_levels() {
  std::vector<std::string> names;
  for (auto const& level : all_levels)
    if (level.runs()) names.emplace_back(level.name);
  return names;
}

bool use_distance_level(std::string const& name) {
  auto const* const level = find(name);
  if (level) used() = level;
  return level != nullptr;
}

RowBlocks row_blocks() {
  return used()->row_blocks();
}

std::unique_ptr<DistanceEngine> make_distance_engine() {
  return used()->make();
}

void BlockNumbers::find(std::uint64_t region) {
  // The last number is left for the fillers of DistanceCounter::finish().
  if ((known_ + 2) << (30 - shift_) > std::uint64_t{1} << 32)
    throw std::length_error("the references spread over too many regions of 1 GiB");
  if (known_ == 0) first_ = other_ = region;
  if (known_ == 1) other_ = region;
  bases_[region] = static_cast<std::uint32_t>(known_++ << (30 - shift_));
}

void DistanceQueue::add(std::uint32_t const* blocks, std::uint32_t const* times, std::uint32_t n, std::uint32_t place) {
  std::uint32_t i = 0;
  auto const wait = [&] {
    blocks_[filled_] = blocks[i];
    times_[filled_] = times ? times[i] : 1;
    places_[filled_++] = place == no_place ? no_place : place + i;
    ++i;
  };
  while (filled_ > 0 && i < n) {
    wait();
    if (filled_ == chunk) take_waiting();
  }
  alignas(64) std::uint32_t distances[chunk];
  for (; i + chunk <= n; i += chunk) {
    engine_->take(blocks + i, distances, n - i - chunk);
    if (times || !groups_.empty()) {
      for (std::uint32_t k = 0; k < chunk; ++k)
        count(blocks[i + k], distances[k], times ? times[i + k] : 1, place == no_place ? no_place : place + i + k);
      continue;
    }
    // The most frequent case without what it does not need.
    std::uint16_t bins[chunk];
    for (std::size_t k = 0; k < chunk; ++k) {
      auto const bin = DistanceHistogram::bin_of(distances[k]);
      histogram_.add_to_bin(bin, 1);
      bins[k] = static_cast<std::uint16_t>(bin);
    }
    if (place != no_place) std::copy_n(bins, chunk, &bins_[place + i]);
  }
  while (i < n) wait();
}

// The distance of a reference.
void DistanceQueue::count(std::uint32_t block, std::uint32_t distance, std::uint32_t times, std::uint32_t place) {
  auto const bin = DistanceHistogram::bin_of(distance);
  histogram_.add_to_bin(bin, times);
  if (place != no_place) bins_[place] = static_cast<std::uint16_t>(bin);
  if (!groups_.empty()) groups_[hash_of(block) % groups].add_to_bin(bin, times);
}

// A whole chunk.
void DistanceQueue::take_waiting() {
  alignas(64) std::uint32_t distances[chunk];
  engine_->take(blocks_.data(), distances);
  for (std::size_t k = 0; k < chunk; ++k) count(blocks_[k], distances[k], times_[k], places_[k]);
  filled_ = 0;
}

void DistanceQueue::flush() {
  if (filled_ == 0) return;
  // The last block once more, as often as it takes, counted 0 times: that changes no distance.
  for (; filled_ < chunk; ++filled_) {
    blocks_[filled_] = blocks_[filled_ - 1];
    times_[filled_] = 0;
    places_[filled_] = no_place;
  }
  take_waiting();
}

void DistanceQueue::reorder(std::vector<std::uint32_t> const& blocks, std::vector<std::uint32_t> const& times,
                            std::vector<std::uint32_t> const& order, std::uint32_t const* places) {
  flush();
  auto const n = static_cast<std::uint32_t>(blocks.size());
  distances_.resize(n);
  engine_->leave(blocks.data(), n, distances_.data());
  engine_->enter(order.data(), n);
  for (std::uint32_t i = 0; i < n; ++i) count(blocks[i], distances_[i], times[i], places[i]);
}

DistanceCounter::DistanceCounter(unsigned granularity_shift, bool is_sample)
    : shift_(granularity_shift), numbers_(granularity_shift), blocks_(buffered + 2), times_(buffered, 1) {
  if (is_sample) {
    queue_ = std::make_unique<DistanceQueue>(nullptr);
    queue_->divide();
  } else {
    repetition_ = std::make_unique<Repetition>();
    queue_ = std::make_unique<DistanceQueue>(repetition_->bins());
  }
}
DistanceCounter::~DistanceCounter() = default;
DistanceCounter::DistanceCounter(DistanceCounter&&) noexcept = default;

std::uint64_t DistanceCounter::repeated() const {
  return repetition_ ? repetition_->repeated() : 0;
}

void DistanceCounter::add(std::uint32_t const* blocks, std::uint32_t n) {
  while (n > 0) {
    auto const now = std::min<std::uint32_t>(n, static_cast<std::uint32_t>(buffered - filled_));
    std::copy_n(blocks, now, &blocks_[filled_]);
    filled_ += now;
    blocks += now;
    n -= now;
    if (filled_ == buffered) drain();
  }
}

void DistanceCounter::add(std::uint32_t const* blocks, std::uint32_t n, std::uint32_t times) {
  while (n > 0) {
    auto const now = std::min<std::uint32_t>(n, static_cast<std::uint32_t>(buffered - filled_));
    std::fill_n(&times_[filled_], now, times);
    weighted_ = true;
    add(blocks, now);
    blocks += now;
    n -= now;
  }
}

void DistanceCounter::drain() {
  auto const n = static_cast<std::uint32_t>(filled_);
  auto const* const times = weighted_ ? times_.data() : nullptr;
  if (repetition_)
    repetition_->take(blocks_.data(), times, n, *queue_);
  else
    queue_->add(blocks_.data(), times, n, DistanceQueue::no_place);
  if (weighted_) std::fill_n(times_.begin(), filled_, 1U);
  weighted_ = false;
  filled_ = 0;
}

void DistanceCounter::settle() {
  drain();
  if (repetition_) repetition_->finish(*queue_);
  queue_->flush();
}

void DistanceCounter::mark() {
  settle();
  if (!marked_) marked_ = std::make_unique<DistanceHistogram>();
  auto& part = parts_.emplace_back();
  auto const& histogram = queue_->histogram();
  for (std::size_t bin = 0; bin < DistanceHistogram::bins; ++bin)
    if (auto const n = histogram.count(bin) - marked_->count(bin); n > 0)
      part.bins.emplace_back(static_cast<std::uint32_t>(bin), n);
  part.cold = histogram.cold_count() - marked_->cold_count();
  *marked_ = histogram;
}

}  // namespace kernelcast::seq
