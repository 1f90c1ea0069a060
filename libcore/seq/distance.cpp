#include "seq/distance.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string_view>

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
  if (known_ == 0) first_ = region;
  bases_[region] = static_cast<std::uint32_t>(known_++ << (30 - shift_));
}

DistanceCounter::DistanceCounter(unsigned granularity_shift)
    : shift_(granularity_shift), numbers_(granularity_shift), engine_(make_distance_engine()) {
  times_.fill(1);
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
  std::size_t i = 0;
  alignas(64) std::uint32_t distances[chunk];
  for (; i + chunk <= filled_; i += chunk) {
    engine_->take(&blocks_[i], distances, filled_ - i - chunk);
    count(distances, i);
  }
  std::copy(&blocks_[i], &blocks_[filled_], blocks_.data());
  if (weighted_) {
    std::copy(&times_[i], &times_[filled_], times_.data());
    std::fill(times_.begin() + static_cast<std::ptrdiff_t>(filled_ - i), times_.end(), 1U);
    weighted_ = filled_ > i;
  }
  filled_ -= i;
  for (auto& place : marks_) place -= i;
}

// The distances of a chunk, which begins at `first` of the buffer.
void DistanceCounter::count(std::uint32_t const* distances, std::size_t first) {
  if (!groups_.empty())
    for (std::size_t k = 0; k < chunk; ++k)
      groups_[hash_of(blocks_[first + k]) % groups].add(distances[k], times_[first + k]);
  if (marks_.empty()) {
    if (weighted_)
      for (std::size_t k = 0; k < chunk; ++k) histogram_.add(distances[k], times_[first + k]);
    else
      for (std::size_t k = 0; k < chunk; ++k) histogram_.add(distances[k], 1);
    return;
  }
  std::size_t passed = 0;
  for (std::size_t k = 0; k < chunk; ++k) {
    for (; passed < marks_.size() && marks_[passed] <= first + k; ++passed) close_part();
    histogram_.add(distances[k], times_[first + k]);
  }
  marks_.erase(marks_.begin(), marks_.begin() + static_cast<std::ptrdiff_t>(passed));
}

void DistanceCounter::close_part() {
  if (!marked_) marked_ = std::make_unique<DistanceHistogram>();
  auto& part = parts_.emplace_back();
  for (std::size_t bin = 0; bin < DistanceHistogram::bins; ++bin)
    if (auto const n = histogram_.count(bin) - marked_->count(bin); n > 0)
      part.bins.emplace_back(static_cast<std::uint32_t>(bin), n);
  part.cold = histogram_.cold_count() - marked_->cold_count();
  *marked_ = histogram_;
}

void DistanceCounter::finish() {
  drain();
  // Blocks without other references, counted 0 times, fill the last chunk.
  if (filled_ > 0) {
    for (std::uint32_t i = 0; filled_ < chunk; ++i) {
      auto const filler = ~std::uint32_t{0} - i;
      add(&filler, 1, 0);
    }
    drain();
  }
  for (; !marks_.empty(); marks_.pop_back()) close_part();
}

}  // namespace kernelcast::seq
