#include "runtimes/hostmath/block.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace kernelcast::hostmath {

namespace {

// Four steps of the sum at once: one load and one store of it for each.
template <class T>
[[gnu::always_inline]] inline void add(T const* a, T const* b, std::int64_t depth, std::int64_t width, T* sums) {
  for (std::int64_t j = 0; j < width; ++j) {
    T* const sum = sums + j * block_rows;
    std::int64_t p = 0;
    for (; p + 4 <= depth; p += 4) {
      T const *a0 = a + p * block_rows, *a1 = a0 + block_rows, *a2 = a1 + block_rows, *a3 = a2 + block_rows;
      T const b0 = b[p * block_columns + j], b1 = b[(p + 1) * block_columns + j], b2 = b[(p + 2) * block_columns + j],
              b3 = b[(p + 3) * block_columns + j];
      for (std::int64_t i = 0; i < block_rows; ++i)
        sum[i] = (((sum[i] + a0[i] * b0) + a1[i] * b1) + a2[i] * b2) + a3[i] * b3;
    }
    for (; p < depth; ++p)
      for (std::int64_t i = 0; i < block_rows; ++i) sum[i] += a[p * block_rows + i] * b[p * block_columns + j];
  }
}

#if defined(__x86_64__)
template <class T>
[[gnu::target("avx512f")]] void add_v4(T const* a, T const* b, std::int64_t depth, std::int64_t width, T* sums) {
  add(a, b, depth, width, sums);
}
template <class T>
[[gnu::target("avx2")]] void add_v3(T const* a, T const* b, std::int64_t depth, std::int64_t width, T* sums) {
  add(a, b, depth, width, sums);
}
#endif

}  // namespace

template <class T>
void add_products(T const* a, T const* b, std::int64_t depth, std::int64_t width, T* sums) {
#if defined(__x86_64__)
  static bool const has_v4 = __builtin_cpu_supports("avx512f"), has_v3 = __builtin_cpu_supports("avx2");
  if (has_v4) return add_v4(a, b, depth, width, sums);
  if (has_v3) return add_v3(a, b, depth, width, sums);
#endif
  add(a, b, depth, width, sums);
}
template void add_products(float const*, float const*, std::int64_t, std::int64_t, float*);
template void add_products(double const*, double const*, std::int64_t, std::int64_t, double*);

void for_each_block(std::int64_t count, double operations, std::function<void(std::int64_t)> const& work) {
  constexpr double worth_threads = 1e7;
  std::int64_t const threads =
      operations < worth_threads ? 1 : std::min<std::int64_t>(count, std::thread::hardware_concurrency());
  std::atomic<std::int64_t> next = 0;
  auto const some = [&] {
    for (std::int64_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> others;
  for (std::int64_t t = 1; t < threads; ++t) others.emplace_back(some);
  some();
}

}  // namespace kernelcast::hostmath
