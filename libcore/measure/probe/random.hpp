// What buffers hold: random bits, never zeros, which memories compress and arithmetic finishes early; and random orders
// for chains of loads that no prefetcher foresees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kernelcast::probe {

// Fast, and no two pages alike.
void fill_randomly(std::span<std::byte>, std::uint64_t seed);
std::vector<std::uint32_t> random_words(std::size_t count, std::uint64_t seed);

// 0 to count - 1 in random order; every order is as likely.
std::vector<std::uint32_t> random_order(std::size_t count, std::uint64_t seed);

}  // namespace kernelcast::probe
