// What the 21 workloads of bench-suites/polybench must compute: PolyBench's loops, in plain C++ on numbers that carry
// their rounding bound (rounded.hpp). Sizes, constants and numbers of steps are those of the launch file under test.
//
// In lu and gramschmidt errors grow with the condition of the matrix, and a bound on the whole is soon without worth.
// There each element is expected from those that the device computed before it, as far back as its input: a check of
// every step, each within its own rounding.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "emulator/launch/launch.hpp"
#include "plans.hpp"
#include "rounded.hpp"

namespace kernelcast::suites {

using Expected = std::map<std::string, std::vector<Rounded>, std::less<>>;

// The 21 names, as the launch files are called.
std::vector<std::string> const& polybench_workloads();

// The final contents of all buffers that the workload writes. Throws std::out_of_range for an unknown workload, a
// missing buffer or a missing argument.
Expected expect_polybench(std::string_view workload, launch::Plan const& plan, Buffers const& before,
                          Buffers const& after);

// Compares every element with its bound; buffers that are not expected to change must be those before, bit for bit.
struct Comparison {
  bool equal = true;
  double worst = 0;      // the largest difference over its bound
  double loosest = 0;    // the largest bound of a buffer over its largest value: how much the comparison can see
  std::string mismatch;  // the first element that differs: "c[7]: 3, expected 4 +- 1e-06"
};
Comparison compare(Expected const& expected, Buffers const& before, Buffers const& after);

}  // namespace kernelcast::suites
