#include "seq/distance.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string_view>

namespace kernelcast::seq {

namespace base {
std::unique_ptr<DistanceEngine> make();
}
#ifdef KERNELCAST_SEQ_V4
namespace v4 {
std::unique_ptr<DistanceEngine> make();
}
#endif

std::unique_ptr<DistanceEngine> make_distance_engine(char const* level) {
#ifdef KERNELCAST_SEQ_V4
  if (std::string_view(level) == "v4")
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") &&
                   __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
                   __builtin_cpu_supports("avx512dq")
               ? v4::make()
               : nullptr;
#endif
  return std::string_view(level) == "base" ? base::make() : nullptr;
}

std::unique_ptr<DistanceEngine> make_distance_engine() {
  auto engine = make_distance_engine("v4");
  return engine ? std::move(engine) : make_distance_engine("base");
}

void BlockNumbers::find(std::uint64_t region) {
  auto const at = std::find(known_.begin(), known_.end(), region);
  auto const index = static_cast<std::uint64_t>(at - known_.begin());
  // The last number is left for the fillers of DistanceCounter::finish().
  if ((index + 2) << (30 - shift_) > std::uint64_t{1} << 32)
    throw std::length_error("the references spread over too many regions of 1 GiB");
  if (at == known_.end()) known_.push_back(region);
  last_ = region;
  base_ = static_cast<std::uint32_t>(index << (30 - shift_));
}

DistanceCounter::DistanceCounter(unsigned granularity_shift)
    : shift_(granularity_shift), numbers_(granularity_shift), engine_(make_distance_engine()) {}

void DistanceCounter::drain() {
  std::size_t i = 0;
  alignas(64) std::uint32_t distances[chunk];
  for (; i + chunk <= filled_; i += chunk) {
    engine_->take(&blocks_[i], distances);
    for (std::size_t k = 0; k < chunk; ++k) histogram_.add(distances[k], times_[i + k]);
  }
  std::copy(&blocks_[i], &blocks_[filled_], blocks_.data());
  std::copy(&times_[i], &times_[filled_], times_.data());
  filled_ -= i;
}

void DistanceCounter::finish() {
  drain();
  if (filled_ == 0) return;
  // Blocks that nobody else references, counted 0 times, fill the last chunk.
  for (std::uint32_t i = 0; filled_ < chunk; ++i) add(~std::uint32_t{0} - i, 0);
  drain();
}

}  // namespace kernelcast::seq
