// Matrices and vectors in the application's memory, with any step between rows and between columns: one that is read
// transposed is a matrix whose steps are exchanged.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "runtimes/hostmath/block.hpp"
#include "runtimes/hostmath/numbers.hpp"

namespace kernelcast::hostmath {

using Index = std::int64_t;

enum class Op : std::uint8_t { none, transposed, conjugated };  // the last: transposed and conjugated

template <class T>
struct Vector {
  T* begin = nullptr;
  Index step = 1;
  T& operator[](Index i) const { return begin[i * step]; }
};

template <class T>
struct Matrix {
  T* begin = nullptr;
  Index row_step = 1, column_step = 1;
  bool conjugated = false;

  // Column by column, `leading` from one to the next; as op(A).
  static Matrix by_columns(T* begin, Index leading, Op op = Op::none) {
    if (op == Op::none) return {begin, 1, leading, false};
    return {begin, leading, 1, op == Op::conjugated};
  }
  T& at(Index row, Index column) const { return begin[row * row_step + column * column_step]; }
  std::remove_const_t<T> value(Index row, Index column) const {
    std::remove_const_t<T> const v = at(row, column);
    return conjugated ? conjugate(v) : v;
  }
  Matrix transposed() const { return {begin, column_step, row_step, conjugated}; }
};

// out(i, j) = m(row + i, column + j), in columns of `leading`. Along the shorter step.
template <class Out, class In>
void pack(Matrix<In const> const& m, Index row, Index column, Index height, Index width, Index leading, Out* out) {
  auto const put = [&](Index i, Index j) { out[j * leading + i] = converted<Out>(m.value(row + i, column + j)); };
  if (m.row_step <= m.column_step)
    for (Index j = 0; j < width; ++j)
      for (Index i = 0; i < height; ++i) put(i, j);
  else
    for (Index i = 0; i < height; ++i)
      for (Index j = 0; j < width; ++j) put(i, j);
}

// c = alpha a b + beta c, sums in Sum. Where beta is 0, c is not read; where alpha is, a and b are not.
// Blocks are packed so that the innermost loop runs over neighbours; each is one processor's.
template <class Sum, class In, class Out>
void multiply(Index m, Index n, Index k, Sum alpha, Matrix<In const> a, Matrix<In const> b, Sum beta, Matrix<Out> c) {
  constexpr Index rows = block_rows, columns = block_columns, depth = block_depth;
  if (alpha == Sum(0)) k = 0;
  Index const down = (m + rows - 1) / rows, across = (n + columns - 1) / columns;
  double const operations = static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  for_each_block(down * across, operations, [&](Index block) {
    Index const j0 = block / down * columns, i0 = block % down * rows;
    Index const width = std::min(columns, n - j0), height = std::min(rows, m - i0);
    std::vector<Sum> packed_a(rows * depth), packed_b(columns * depth), sums(rows * columns);
    for (Index p0 = 0; p0 < k; p0 += depth) {
      Index const deep = std::min(depth, k - p0);
      pack(a, i0, p0, height, deep, rows, packed_a.data());
      pack(b.transposed(), j0, p0, width, deep, columns, packed_b.data());
      if constexpr (std::is_same_v<Sum, float> || std::is_same_v<Sum, double>) {
        add_products<Sum>(packed_a.data(), packed_b.data(), deep, width, sums.data());
      } else {
        for (Index p = 0; p < deep; ++p)
          for (Index j = 0; j < width; ++j)
            for (Index i = 0; i < rows; ++i)
              sums[j * rows + i] = sums[j * rows + i] + packed_a[p * rows + i] * packed_b[p * columns + j];
      }
    }
    for (Index j = 0; j < width; ++j)
      for (Index i = 0; i < height; ++i) {
        Out& to = c.at(i0 + i, j0 + j);
        Sum value = k > 0 ? alpha * sums[j * rows + i] : Sum(0);
        if (!(beta == Sum(0))) value = value + beta * converted<Sum>(to);
        to = converted<Out>(value);
      }
  });
}

// Which part of a square matrix is there; the other is zero, its mirror image, or not touched.
enum class Part : std::uint8_t { lower, upper };

// x with op(A) x = alpha b, in the place of b; `a` is op(A), whose part is then `part`. B: columns m x n.
template <class T>
void solve_triangular(Index m, Index n, Part part, bool unit_diagonal, T alpha, Matrix<T const> a, Matrix<T> b) {
  for (Index j = 0; j < n; ++j)
    for (Index step = 0; step < m; ++step) {
      Index const i = part == Part::lower ? step : m - 1 - step;
      T value = alpha * b.at(i, j);
      for (Index q = 0; q < step; ++q) {
        Index const p = part == Part::lower ? q : m - 1 - q;
        value = value - a.value(i, p) * b.at(p, j);
      }
      b.at(i, j) = unit_diagonal ? value : value / a.value(i, i);
    }
}

// L (its diagonal is 1) and U of a square matrix in its place. With `pivots`, rows are exchanged: the k-th with that
// one, from 1. The first column whose pivot is 0, from 1; 0 where there is none.
template <class T>
int factorise(Index n, Matrix<T> a, int* pivots) {
  auto const size = [](T v) {
    if constexpr (is_complex<T>)
      return std::abs(v.re) + std::abs(v.im);
    else
      return std::abs(v);
  };
  int zero = 0;
  for (Index k = 0; k < n; ++k) {
    Index best = k;
    for (Index i = k + 1; pivots && i < n; ++i)
      if (size(a.at(i, k)) > size(a.at(best, k))) best = i;
    if (pivots) pivots[k] = static_cast<int>(best + 1);
    for (Index j = 0; best != k && j < n; ++j) std::swap(a.at(k, j), a.at(best, j));
    if (a.at(k, k) == T(0)) {
      if (zero == 0) zero = static_cast<int>(k + 1);
      continue;
    }
    for (Index i = k + 1; i < n; ++i) a.at(i, k) = a.at(i, k) / a.at(k, k);
    for (Index j = k + 1; j < n; ++j)
      for (Index i = k + 1; i < n; ++i) a.at(i, j) = a.at(i, j) - a.at(i, k) * a.at(k, j);
  }
  return zero;
}

// x with op(A) x = b in the place of b (n x columns), of what factorise() leaves; a pivot that is no row exchanges
// none.
template <class T>
void solve_factorised(Index n, Index columns, Op op, T const* factors, Index leading, int const* pivots, Matrix<T> b) {
  auto const a = Matrix<T const>::by_columns(factors, leading, op);
  auto const exchange = [&](Index k) {
    Index const other = pivots ? pivots[k] - Index{1} : k;
    if (other >= 0 && other < n && other != k)
      for (Index j = 0; j < columns; ++j) std::swap(b.at(k, j), b.at(other, j));
  };
  if (op == Op::none) {
    for (Index k = 0; k < n; ++k) exchange(k);
    solve_triangular(n, columns, Part::lower, true, T(1), a, b);
    solve_triangular(n, columns, Part::upper, false, T(1), a, b);
  } else {
    solve_triangular(n, columns, Part::lower, false, T(1), a, b);
    solve_triangular(n, columns, Part::upper, true, T(1), a, b);
    for (Index k = n; k-- > 0;) exchange(k);
  }
}

// All of a matrix of which one part is given: mirrored (conjugated where it is Hermitian), or with zeros.
enum class Rest : std::uint8_t { zero, mirrored, hermitian };
template <class T>
std::vector<T> completed(Index n, Part part, Rest rest, bool unit_diagonal, Matrix<T const> a) {
  std::vector<T> out(static_cast<std::size_t>(n * n));
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < n; ++i) {
      bool const given = i == j || (i > j) == (part == Part::lower);
      T& to = out[static_cast<std::size_t>(j * n + i)];
      if (i == j && unit_diagonal)
        to = T(1);
      else if (given)
        to = a.value(i, j);
      else if (rest != Rest::zero)
        to = rest == Rest::hermitian ? conjugate(a.value(j, i)) : a.value(j, i);
      if constexpr (is_complex<T>)
        if (i == j && rest == Rest::hermitian) to.im = 0;
    }
  return out;
}

}  // namespace kernelcast::hostmath
