// Pseudo-random numbers that are the same everywhere: xoroshiro128+ [blackman], seeded by splitmix64.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/statistics/splitmix64.hpp"

namespace kernelcast::forest {

class Random {
 public:
  // Streams of one seed are independent of each other.
  explicit Random(std::uint64_t seed, std::uint64_t stream = 0) {
    std::uint64_t state = seed;
    state = next_splitmix64(state) ^ (stream * 0xd1342543de82ef95u);
    a_ = next_splitmix64(state);
    b_ = next_splitmix64(state);
  }
  std::uint64_t next() {
    std::uint64_t const sum = a_ + b_;
    std::uint64_t const c = b_ ^ a_;
    a_ = std::rotl(a_, 24) ^ c ^ (c << 16);
    b_ = std::rotl(c, 37);
    return sum;
  }
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }  // [0, 1)
  std::size_t below(std::size_t n) {                                        // n < 2^32
    return static_cast<std::size_t>(((next() >> 32) * n) >> 32);
  }
  template <class T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
  }

 private:
  std::uint64_t a_ = 1, b_ = 2;
};

}  // namespace kernelcast::forest
