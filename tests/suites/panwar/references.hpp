// What the eight workloads of bench-suites/panwar must compute: the host's own, simple computation of each.
//
// Integers must be equal, and so must the Walsh transform (sums and differences only, in a fixed order) and the
// transpose. Matrix products and n-body forces are compared with a result in double precision; the bound is the error
// that summing n terms in single precision may have: see each function in references.cpp.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace kernelcast::suites {

using Buffers = std::map<std::string, std::vector<std::byte>, std::less<>>;  // by their name in the launch file

struct Verdict {
  bool equal = true;
  double worst = 0;      // largest difference over what is allowed for that element; 0 where equality is asked
  std::string mismatch;  // the first element that differs: "distance[7]: 3, expected 4"
};

// Judges the buffers after the run of a workload ("aes", "matmul_gmem", ... as the launch files are called) by the
// buffers before it. Sizes follow from the buffers, so any size of the same kernel will do. Throws std::out_of_range
// for an unknown workload or a missing buffer.
Verdict judge(std::string_view workload, Buffers const& before, Buffers const& after);

}  // namespace kernelcast::suites
