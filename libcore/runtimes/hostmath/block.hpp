// The innermost part of a product of matrices, with the vectors that the processor has.
#pragma once

#include <cstdint>
#include <functional>

namespace kernelcast::hostmath {

inline constexpr std::int64_t block_rows = 64, block_columns = 256, block_depth = 64;

// sums(i, j) += a(i, p) b(p, j) for each p below `depth` in its order, so that the result depends on no vector length.
// `a` and `sums` in columns of block_rows, `b` in rows of block_columns of which `width` are there. float or double.
template <class T>
void add_products(T const* a, T const* b, std::int64_t depth, std::int64_t width, T* sums);

// work(0) ... work(count - 1), in any order: on all processors, where so many operations are worth it.
void for_each_block(std::int64_t count, double operations, std::function<void(std::int64_t)> const& work);

}  // namespace kernelcast::hostmath
