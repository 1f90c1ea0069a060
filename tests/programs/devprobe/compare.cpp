// devprobe's figures of this machine's processor against figures that are computed here, by other code, and against
// each other. Timed, so it is not part of the tests: cmake --build build --target probe-compare
//
// Usage: probe_compare CPU.csv SECOND_CPU.csv [OPENCL.csv]: three runs of devprobe. Exit status 1 where one misses.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include "records/measurement.hpp"
#include "records/table/table.hpp"

namespace {

using kernelcast::record::Measurement;
using Rows = std::vector<Measurement>;

Rows read(char const* path) {
  std::ifstream file(path);
  return kernelcast::record::read_rows<Measurement>(file, path);
}

double value(Rows const& rows, std::string const& metric, std::function<bool(Measurement const&)> const& wanted) {
  double best = 0;
  for (auto const& row : rows)
    if (row.metric == metric && row.value && wanted(row)) best = std::max(best, *row.value);
  return best;
}

// ---------------------------------------------------------------- what is computed here

// All threads, each on its processor, several times; the best rate of all together, work per second.
double best_rate(unsigned threads, int times, std::function<double(unsigned)> const& work) {
  double best = 0;
  for (int t = 0; t < times; ++t) {
    std::vector<std::thread> team;
    std::vector<double> done(threads), seconds(threads);
    for (unsigned i = 0; i < threads; ++i)
      team.emplace_back([&, i] {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(i, &set);
        pthread_setaffinity_np(pthread_self(), sizeof set, &set);
        auto const start = std::chrono::steady_clock::now();
        done[i] = work(i);
        seconds[i] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
      });
    for (auto& thread : team) thread.join();
    double rate = 0;
    for (unsigned i = 0; i < threads; ++i) rate += done[i] / seconds[i];
    best = std::max(best, rate);
  }
  return best;
}

constexpr int width = 256;  // independent accumulators, for the compiler to put into vectors

// Multiply-adds of a plain loop; the compiler chooses the vectors.
double fma_work(unsigned) {
  alignas(64) float x[width];
  for (int i = 0; i < width; ++i) x[i] = 1 + 0.001f * static_cast<float>(i);
  constexpr int rounds = 100000;
  float a = 0.999f, b = 0.001f;
  asm volatile("" : "+m"(a), "+m"(b));
  for (int r = 0; r < rounds; ++r)
    for (float& v : x) v = std::fma(v, a, b);
  asm volatile("" : : "m"(x));
  return 2.0 * width * rounds;
}

// The four kernels of STREAM, bytes by its own count (no write-allocate).
constexpr std::size_t elements = std::size_t{1} << 23;  // 64 MiB an array

// In pages of 2 MiB where the system gives them, as devprobe's memory is.
struct Array {
  double* data = static_cast<double*>(std::aligned_alloc(2 << 20, elements * sizeof(double)));
  explicit Array(double value) {
    madvise(data, elements * sizeof(double), MADV_HUGEPAGE);
    std::fill(data, data + elements, value);
  }
  ~Array() { std::free(data); }
  Array(Array const&) = delete;
};

struct Stream {
  Array a{1.5}, b{2.5}, c{0.5};
};

double stream_work(Stream& s, int kernel) {
  double const q = 3;
  double* const a = s.a.data;
  double* const b = s.b.data;
  double* const c = s.c.data;
  switch (kernel) {
    case 0:
      for (std::size_t i = 0; i < elements; ++i) c[i] = a[i];
      break;
    case 1:
      for (std::size_t i = 0; i < elements; ++i) b[i] = q * c[i];
      break;
    case 2:
      for (std::size_t i = 0; i < elements; ++i) c[i] = a[i] + b[i];
      break;
    default:
      for (std::size_t i = 0; i < elements; ++i) a[i] = b[i] + q * c[i];
  }
  asm volatile("" : : "r"(a), "r"(b), "r"(c) : "memory");
  return (kernel < 2 ? 2.0 : 3.0) * 8 * static_cast<double>(elements);
}

// ---------------------------------------------------------------- judging

bool all_well = true;

void judge(std::string const& what, double have, double want, double least, double most) {
  double const ratio = want > 0 ? have / want : 0;
  bool const well = ratio >= least && ratio <= most;
  all_well = all_well && well;
  fmt::print("{:<52} {:>12.4g} {:>12.4g}  {:>6.3f}  {}\n", what, have, want, ratio, well ? "well" : "MISSED");
}

auto peak(char const* item_class) {
  return [=](Measurement const& r) { return r.item_class == item_class && r.variant == "fma" && r.occupancy == 1.0; };
}

auto bandwidth(char const* direction, bool one_core) {
  return [=](Measurement const& r) {
    return r.direction == direction && r.access == "coalesced" && (r.occupancy < 1.0) == one_core;
  };
}

void repeatable(Rows const& one, Rows const& two) {
  std::vector<double> differences;
  std::string worst;
  double most = 0;
  for (auto const& a : one)
    for (auto const& b : two)
      if (a.value && b.value && a.samples && a.metric == b.metric && a.access == b.access &&
          a.direction == b.direction && a.word_bytes == b.word_bytes && a.occupancy == b.occupancy &&
          a.working_set_bytes == b.working_set_bytes && a.item_class == b.item_class && a.variant == b.variant) {
        double const difference = std::abs(*b.value / *a.value - 1);
        if (difference > most) worst = a.metric + " " + a.variant, most = difference;
        differences.push_back(difference);
      }
  if (differences.empty()) return;
  std::sort(differences.begin(), differences.end());
  double const median = differences[differences.size() / 2];
  bool const well = median <= 0.05;
  all_well = all_well && well;
  fmt::print("two runs: median difference {:.2f} % of {} metrics (largest {:.0f} %: {})  {}\n", 100 * median,
             differences.size(), 100 * most, worst, well ? "well" : "MISSED");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::puts("usage: probe_compare CPU.csv SECOND_CPU.csv [OPENCL.csv]"), 2;
  auto const cpu = read(argv[1]), again = read(argv[2]);
  unsigned const cores = static_cast<unsigned>(value(cpu, "compute_units", [](auto const&) { return true; }));
  double const clock = value(cpu, "clock_hz", [](auto const&) { return true; });
  double const lanes = value(cpu, "lanes_per_cu", [](auto const&) { return true; });
  double load[1] = {};
  if (getloadavg(load, 1) == 1) fmt::print("load average {:.1f} on {} cores\n", load[0], cores);
  fmt::print("{:<52} {:>12} {:>12}  {:>6}\n", "", "devprobe", "wanted", "ratio");

  double const here = best_rate(cores, 20, fma_work);
  judge("fp32 peak, all cores, against a plain loop", value(cpu, "peak_flop_per_s", peak("fp32")), here, 0.8, 1.2);
  // Two vector pipes, a multiply-add being two operations.
  judge("fp32 peak against units x clock x width", value(cpu, "peak_flop_per_s", peak("fp32")),
        cores * clock * lanes * 4, 0.85, 1.05);

  Stream stream;
  double best = 0;
  for (int kernel = 0; kernel < 4; ++kernel)
    best = std::max(best, best_rate(1, 24, [&](unsigned) { return stream_work(stream, kernel); }));
  double one_core = 0;
  for (char const* const direction : {"read", "write", "copy"})
    one_core = std::max(one_core, value(cpu, "global_bandwidth_bytes_per_s", bandwidth(direction, true)));
  judge("memory, one core, against the best STREAM kernel", one_core, best, 0.9, 1e9);
  double const copy = best_rate(1, 24, [&](unsigned) { return stream_work(stream, 0); });
  judge("copy, one core, against STREAM copy",
        value(cpu, "global_bandwidth_bytes_per_s",
              [&](Measurement const& r) { return bandwidth("copy", true)(r) && r.variant.empty(); }),
        copy, 0.8, 1.2);
  repeatable(cpu, again);

  if (argc > 3) {
    auto const opencl = read(argv[3]);
    judge("OpenCL fp32 peak against the CPU back end", value(opencl, "peak_flop_per_s", peak("fp32")),
          value(cpu, "peak_flop_per_s", peak("fp32")), 0.8, 1.2);
    judge("OpenCL fp64 peak against the CPU back end", value(opencl, "peak_flop_per_s", peak("fp64")),
          value(cpu, "peak_flop_per_s", peak("fp64")), 0.8, 1.2);
    for (bool const one : {true, false})
      for (char const* const direction : {"read", "write", "copy"}) {
        auto const plain = [&](Measurement const& r) { return bandwidth(direction, one)(r) && r.variant.empty(); };
        judge(fmt::format("OpenCL {}, {}, against the CPU back end", direction, one ? "one core" : "all cores"),
              value(opencl, "global_bandwidth_bytes_per_s", plain), value(cpu, "global_bandwidth_bytes_per_s", plain),
              0.8, 1.2);
      }
  }
  return all_well ? 0 : 1;
}
