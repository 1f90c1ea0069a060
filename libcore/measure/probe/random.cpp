#include "measure/probe/random.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>

namespace kernelcast::probe {

void fill_randomly(std::span<std::byte> bytes, std::uint64_t seed) {
  // As splitmix64, one multiplication less.
  std::uint64_t state = seed;
  for (std::size_t at = 0; at < bytes.size(); at += 8) {
    state += 0x9E3779B97F4A7C15u;
    std::uint64_t const z = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9u;
    std::uint64_t const word = z ^ (z >> 31);
    std::memcpy(bytes.data() + at, &word, std::min<std::size_t>(8, bytes.size() - at));
  }
}

std::vector<std::uint32_t> random_words(std::size_t count, std::uint64_t seed) {
  std::vector<std::uint32_t> out(count);
  fill_randomly(std::as_writable_bytes(std::span(out)), seed);
  return out;
}

std::vector<std::uint32_t> random_order(std::size_t count, std::uint64_t seed) {
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  std::mt19937_64 random(seed);
  for (std::size_t i = count; i-- > 1;) std::swap(order[i], order[(random() >> 32) * (i + 1) >> 32]);
  return order;
}

}  // namespace kernelcast::probe
