#include "runtimes/attach/collect/repeat.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "measure/probe/statistics.hpp"

namespace kernelcast::attach::collect {

Repeated repeat(std::function<double(std::uint64_t runs)> const& timed, double at_least_s,
                std::function<void()> const& begin) {
  constexpr double batch_s = 0.02;
  constexpr double max_runs = 100000;  // of a batch
  Repeated out;
  auto const failed = [&] {
    out.failed = true;
    return out;
  };
  if (timed(1) < 0) return failed();
  double const once = timed(1);
  if (once < 0) return failed();
  auto const batch = static_cast<std::uint64_t>(std::clamp(std::ceil(batch_s / std::max(once, 1e-9)), 1.0, max_runs));
  begin();
  std::vector<double> times;
  for (double passed = 0; passed < at_least_s;) {
    double const time = timed(batch);
    if (time < 0) return failed();
    times.push_back(time / static_cast<double>(batch));
    out.runs += batch;
    passed += std::max(time, 1e-6);
  }
  auto const statistics = probe::summarise(times, 0);
  out.time_s = statistics.median;
  out.mad_s = statistics.mad;
  return out;
}

}  // namespace kernelcast::attach::collect
