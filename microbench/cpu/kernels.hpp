// The CPU's micro-benchmark kernels, as templates over the type that a register holds.
//
// Each is compiled once for every instruction set (level.cpp). What each counts is in kernels.toml; a test runs
// them on numbers that count their own operations and compares.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kernelcast::microbench {

// `chains` dependent chains side by side, `unroll` steps of each per iteration. state[chains] is read and written.
template <int chains, int unroll, class V>
inline void multiply_add(V* state, V const& a, V const& b, std::uint64_t iterations) {
  V v[chains];
  for (int c = 0; c < chains; ++c) v[c] = state[c];
  for (std::uint64_t i = 0; i < iterations; ++i)
    for (int u = 0; u < unroll; ++u)
      for (int c = 0; c < chains; ++c) v[c] = v[c] * a + b;
  for (int c = 0; c < chains; ++c) state[c] = v[c];
}

// As many additions as multiplications, in chains of their own so that they cannot be fused.
template <int chains, int unroll, class V>
inline void add_or_multiply(V* state, V const& a, V const& b, std::uint64_t iterations) {
  V v[chains];
  for (int c = 0; c < chains; ++c) v[c] = state[c];
  for (std::uint64_t i = 0; i < iterations; ++i)
    for (int u = 0; u < unroll; ++u)
      for (int c = 0; c < chains; ++c)
        if (c % 2 == 0)
          v[c] = v[c] + b;
        else
          v[c] = v[c] * a;
  for (int c = 0; c < chains; ++c) state[c] = v[c];
}

// Additions only; of integers x += y, y += x, which has no shorter form.
template <int chains, int unroll, class V>
inline void add(V* state, V const& b, std::uint64_t iterations) {
  V v[chains];
  V w = b;
  for (int c = 0; c < chains; ++c) v[c] = state[c];
  for (std::uint64_t i = 0; i < iterations; ++i)
    for (int u = 0; u < unroll; ++u) {
      if constexpr (chains == 1) {
        v[0] = v[0] + w;
        w = w + v[0];
      } else {
        for (int c = 0; c + 1 < chains; c += 2) {
          v[c] = v[c] + v[c + 1];
          v[c + 1] = v[c + 1] + v[c];
        }
      }
    }
  for (int c = 0; c < chains; ++c) state[c] = v[c] + w;
}

// Squares: each needs the one before.
template <int chains, int unroll, class V>
inline void multiply(V* state, std::uint64_t iterations) {
  V v[chains];
  for (int c = 0; c < chains; ++c) v[c] = state[c];
  for (std::uint64_t i = 0; i < iterations; ++i)
    for (int u = 0; u < unroll; ++u)
      for (int c = 0; c < chains; ++c) v[c] = v[c] * v[c];
  for (int c = 0; c < chains; ++c) state[c] = v[c];
}

template <int chains, int unroll, class V>
inline void divide(V* state, V const& a, std::uint64_t iterations) {
  V v[chains];
  for (int c = 0; c < chains; ++c) v[c] = state[c];
  for (std::uint64_t i = 0; i < iterations; ++i)
    for (int u = 0; u < unroll; ++u)
      for (int c = 0; c < chains; ++c) v[c] = a / v[c];
  for (int c = 0; c < chains; ++c) state[c] = v[c];
}

// Where the i-th access of a pattern goes, in words of a working set of 2^bits words: every 2^shift-th word, and the
// words left out in the rounds after it.
inline std::uint64_t strided(std::uint64_t i, unsigned bits, unsigned shift) {
  std::uint64_t const mask = (std::uint64_t{1} << bits) - 1;
  return ((i << shift) & mask) + (i >> (bits - shift));
}

// A permutation of [0, 2^bits) without pattern: each step can be undone within `bits` bits.
inline std::uint64_t scattered(std::uint64_t i, unsigned bits) {
  std::uint64_t const mask = (std::uint64_t{1} << bits) - 1;
  std::uint64_t h = (i * 0x9E3779B1u) & mask;
  h ^= h >> (bits / 2);
  return (h * 0x85EBCA6Bu) & mask;
}

// A cycle through memory: every element holds the address of the next. `steps` is a multiple of 16.
inline void* chase(void* p, std::uint64_t steps) {
  for (std::uint64_t i = 0; i < steps; i += 16)
    for (int u = 0; u < 16; ++u) p = *static_cast<void**>(p);
  return p;
}

}  // namespace kernelcast::microbench
