// Repeating a kernel until its time, and the power of its device, are known. [braun] section 5.3
//
// Method: one run to warm up and one to see how long it takes; then batches of about 20 ms, each between two events,
// until at least so many seconds have passed. The time is the median over the batches.
#pragma once

#include <cstdint>
#include <functional>

namespace kernelcast::attach::collect {

struct Repeated {
  double time_s = 0, mad_s = 0;  // median and median absolute deviation of the batches, for one run
  std::uint64_t runs = 0;        // 0: a run failed before the batches, and there is no time
  bool failed = false;
};

// `timed` makes so many runs one after the other and gives their time in seconds, below 0 when they failed.
// `begin` is called before the first batch: after the warming up, when the meter may start.
Repeated repeat(std::function<double(std::uint64_t runs)> const& timed, double at_least_s,
                std::function<void()> const& begin);

}  // namespace kernelcast::attach::collect
