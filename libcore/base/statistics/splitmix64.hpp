// SplitMix64 (Steele, Lea, Flood 2014): every host draws the same numbers.
#pragma once

#include <cstdint>

namespace kernelcast {

inline constexpr std::uint64_t splitmix64_step = 0x9e3779b97f4a7c15u;

// The number after state x; the next state is x + splitmix64_step.
constexpr std::uint64_t splitmix64(std::uint64_t x) {
  x += splitmix64_step;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// The next number of a sequence.
constexpr std::uint64_t next_splitmix64(std::uint64_t& state) {
  auto const number = splitmix64(state);
  state += splitmix64_step;
  return number;
}

}  // namespace kernelcast
