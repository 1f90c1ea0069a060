// What a set of samples says, and when there are enough of them.
//
// Problem: a timing is noise around a value, with far outliers on one side.
// Method: median and median absolute deviation, which outliers do not move; the 95 % interval of the median by
// bootstrap (percentiles of the medians of resampled sets); sampling goes on until that interval is narrow enough or
// the time is spent. A sample during which the operating system took the processor away is set aside, and comes back
// only where too few others remain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace kernelcast::probe {

struct Statistics {
  double median = 0;
  double mad = 0;                  // median absolute deviation from the median
  double ci_low = 0, ci_high = 0;  // 95 % interval of the median
  std::size_t samples = 0;
  std::size_t outliers = 0;  // more than 5 MAD from the median; kept

  // Width of the interval over the median; 0 where the median is 0.
  double relative_width() const;
};

// Of at least one finite sample. The same samples and seed give the same result.
Statistics summarise(std::span<double const> samples, std::uint64_t seed);

struct Budget {
  double seconds = 0.5;    // stop after this long, once there are `least` samples
  std::size_t least = 7;   // samples
  std::size_t most = 400;  // samples
  double enough = 0.02;    // stop when the interval is narrower than this part of the median
};

struct Sampled {
  Statistics statistics;
  std::size_t disturbed = 0;    // samples set aside
  bool disturbed_used = false;  // too few others: they are in the statistics
  bool narrow = false;          // the interval is as narrow as requested
  double other_load_pct = 0;    // of the host's processor time, used by other programs
};

// Calls `measure`, which returns one sample, until the budget is spent. One call before the first sample warms up.
Sampled sample(std::function<double()> const& measure, Budget const&, std::uint64_t seed);

// Iterations for which `seconds(iterations)` takes about `aim_s`. On a busy machine a run may be interrupted and look
// long, and what is then chosen would measure little but the launch: the shortest of several runs counts.
std::uint64_t iterations_for(std::function<double(std::uint64_t)> const& seconds, double aim_s);

// Part of the host's processor time, in percent, that other programs used since `mark()`; where the system does not
// say, 0. The counters tick every 10 ms: intervals under a second are coarse.
class HostLoad {
 public:
  HostLoad() { mark(); }
  void mark();
  double others_pct() const;

 private:
  double busy_s_ = 0, total_s_ = 0, own_s_ = 0;
};

}  // namespace kernelcast::probe
