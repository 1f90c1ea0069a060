// What the eight workloads of bench-suites/panwar must compute: the host's own, simple computation of each.
//
// Integers must be equal, and so must the Walsh transform (sums and differences only, in a fixed order) and the
// transpose. Matrix products and n-body forces are compared with a result in double precision; the bound is the error
// that summing n terms in single precision may have: see each function in references.cpp.
#pragma once

#include <cstddef>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace kernelcast::suites {

using Buffers = std::map<std::string, std::vector<std::byte>, std::less<>>;  // by their name in the launch file

// Throws std::out_of_range for a missing buffer.
template <class T>
std::vector<T> elements(Buffers const& buffers, std::string_view name) {
  auto const found = buffers.find(name);
  if (found == buffers.end()) throw std::out_of_range("no buffer '" + std::string(name) + "'");
  std::vector<T> values(found->second.size() / sizeof(T));
  std::memcpy(values.data(), found->second.data(), values.size() * sizeof(T));
  return values;
}

struct Verdict {
  bool equal = true;
  double worst = 0;      // largest difference over what is allowed for that element; 0 where equality is asked
  std::string mismatch;  // the first element that differs: "distance[7]: 3, expected 4"
  void note_mismatch(std::string_view name, std::size_t index, double got, double expected);
};

// Judges the buffers after the run of a workload ("aes", "matmul_gmem", ... as the launch files are called) by the
// buffers before it. Sizes follow from the buffers, so any size of the same kernel will do. Throws std::out_of_range
// for an unknown workload or a missing buffer.
Verdict judge(std::string_view workload, Buffers const& before, Buffers const& after);

}  // namespace kernelcast::suites
