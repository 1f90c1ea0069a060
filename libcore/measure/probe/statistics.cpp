#include "measure/probe/statistics.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "base/statistics/median.hpp"

namespace kernelcast::probe {

namespace {

constexpr std::size_t resamples = 300;

// Involuntary context switches of all threads of this program.
long preemptions() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

double own_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  auto const seconds = [](timeval const& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

double Statistics::relative_width() const {
  return median == 0 ? 0 : (ci_high - ci_low) / std::abs(median);
}

Statistics summarise(std::span<double const> samples, std::uint64_t seed) {
  Statistics out;
  out.samples = samples.size();
  std::vector<double> work(samples.begin(), samples.end());
  out.median = kernelcast::median(work);
  for (std::size_t i = 0; i < work.size(); ++i) work[i] = std::abs(samples[i] - out.median);
  out.mad = kernelcast::median(work);
  for (double const x : samples)
    if (std::abs(x - out.median) > 5 * out.mad) ++out.outliers;
  std::mt19937_64 random(seed);
  std::vector<double> medians(resamples);
  for (auto& m : medians) {
    // The high part of a product: without bias worth speaking of, and the same on every platform.
    for (auto& x : work) x = samples[static_cast<std::size_t>((random() >> 32) * samples.size() >> 32)];
    m = kernelcast::median(work);
  }
  std::sort(medians.begin(), medians.end());
  out.ci_low = medians[static_cast<std::size_t>(0.025 * resamples)];
  out.ci_high = medians[static_cast<std::size_t>(0.975 * resamples)];
  return out;
}

std::uint64_t iterations_for(std::function<double(std::uint64_t)> const& seconds, double aim_s) {
  constexpr std::uint64_t least = 8, first = 16, most = std::uint64_t{1} << 30;  // kernels count in 32 bits
  constexpr int runs = 5;
  for (std::uint64_t iterations = first;; iterations *= 4) {
    double shortest = seconds(iterations);
    for (int run = 1; run < runs && shortest > aim_s / 8; ++run) shortest = std::min(shortest, seconds(iterations));
    if (shortest <= aim_s / 8 && iterations <= most / 4) continue;
    double const wanted = static_cast<double>(iterations) * aim_s / std::max(shortest, 1e-9);
    return static_cast<std::uint64_t>(std::clamp(wanted, static_cast<double>(least), static_cast<double>(most)));
  }
}

Sampled sample(std::function<double()> const& measure, Budget const& budget, std::uint64_t seed) {
  using Clock = std::chrono::steady_clock;
  HostLoad load;
  measure();
  auto const start = Clock::now();
  std::vector<double> clean, disturbed;
  Sampled out;
  std::size_t next_check = budget.least;
  for (;;) {
    long const before = preemptions();
    double const value = measure();
    (preemptions() == before ? clean : disturbed).push_back(value);
    double const spent = std::chrono::duration<double>(Clock::now() - start).count();
    std::size_t const all = clean.size() + disturbed.size();
    if (clean.size() >= next_check) {
      out.statistics = summarise(clean, seed);
      out.narrow = out.statistics.relative_width() <= budget.enough;
      if (out.narrow) break;
      next_check = clean.size() + std::max<std::size_t>(3, clean.size() / 4);
    }
    if (all >= budget.most) break;
    if (spent >= budget.seconds && clean.size() >= budget.least) break;
    if (spent >= 2 * budget.seconds && all >= std::min<std::size_t>(budget.least, 3)) break;
  }
  out.disturbed = disturbed.size();
  if (clean.size() < std::min<std::size_t>(budget.least, 3) && !disturbed.empty()) {
    out.disturbed_used = true;
    clean.insert(clean.end(), disturbed.begin(), disturbed.end());
  }
  out.statistics = summarise(clean, seed);
  out.narrow = out.statistics.relative_width() <= budget.enough;
  out.other_load_pct = load.others_pct();
  return out;
}

namespace {

struct HostTimes {
  double busy_s = 0, total_s = 0;
};

HostTimes host_times() {
  std::ifstream file("/proc/stat");
  std::string word;
  HostTimes out;
  if (!(file >> word) || word != "cpu") return out;
  double const tick = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
  // user nice system idle iowait irq softirq steal
  double value = 0;
  for (int i = 0; i < 8 && file >> value; ++i) {
    out.total_s += value * tick;
    if (i != 3 && i != 4) out.busy_s += value * tick;
  }
  return out;
}

}  // namespace

void HostLoad::mark() {
  auto const now = host_times();
  busy_s_ = now.busy_s;
  total_s_ = now.total_s;
  own_s_ = own_seconds();
}

double HostLoad::others_pct() const {
  auto const now = host_times();
  double const total = now.total_s - total_s_;
  if (!(total > 0)) return 0;
  double const others = (now.busy_s - busy_s_) - (own_seconds() - own_s_);
  return std::clamp(100 * others / total, 0.0, 100.0);
}

}  // namespace kernelcast::probe
