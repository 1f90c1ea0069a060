// Catch2 2 (Debian 12) and 3 (Debian 13) under one include, and where tests find their files.
#pragma once

#if KERNELCAST_CATCH2 == 2
#include <catch2/catch.hpp>
using Catch::Matchers::Contains;
#else
#include <catch2/catch_all.hpp>
using Catch::Approx;
inline auto Contains(std::string const& text) {
  return Catch::Matchers::ContainsSubstring(text);
}
#endif

// SKIP_BECAUSE("no CUDA toolkit"): ends the test case; ctest reports it as skipped (SKIP_REGULAR_EXPRESSION).
#define SKIP_BECAUSE(reason)                                \
  do {                                                      \
    std::fputs("kernelcast-skipped: " reason "\n", stdout); \
    return;                                                 \
  } while (false)
