// Neighbours on a grid: 2dconv, 3dconv, jacobi1d, jacobi2d, fdtd2d, adi.
#include <array>

#include "scenario.hpp"

namespace kernelcast::suites {
namespace {

Expected conv2d(Scenario const& s) {
  constexpr float weights[3][3] = {{0.2f, 0.5f, -0.8f}, {-0.3f, 0.6f, -0.9f}, {0.4f, 0.7f, 0.1f}};
  Matrix const in = s.matrix("in", s.integer("conv2d", 1));
  Matrix out = s.matrix("out", in.columns());
  for (std::size_t i = 1; i + 1 < in.rows(); ++i)
    for (std::size_t j = 1; j + 1 < in.columns(); ++j) {
      Sum sum;
      for (std::size_t y = 0; y < 3; ++y)
        for (std::size_t x = 0; x < 3; ++x) sum += Rounded(weights[y][x]) * in(i + y - 1, j + x - 1);
      out(i, j) = sum.total();
    }
  return {{"out", out.elements()}};
}

// PolyBench's fifteen products, as in its loop: weight and offsets (depth, row, column).
struct Tap {
  float weight;
  std::array<int, 3> offset;
};
constexpr Tap taps[] = {
    {2, {-1, -1, -1}}, {4, {1, -1, -1}}, {5, {-1, -1, -1}}, {7, {1, -1, -1}}, {-8, {-1, -1, -1}},
    {10, {1, -1, -1}}, {-3, {0, -1, 0}}, {6, {0, 0, 0}},    {-9, {0, 1, 0}},  {2, {-1, -1, 1}},
    {4, {1, -1, 1}},   {5, {-1, 0, 1}},  {7, {1, 0, 1}},    {-8, {-1, 1, 1}}, {10, {1, 1, 1}},
};

Expected conv3d(Scenario const& s) {
  std::size_t const depth = s.integer("conv3d", 0), rows = s.integer("conv3d", 1), columns = s.integer("conv3d", 2);
  auto const in = s.vector("in");
  auto out = s.vector("out");
  for (std::size_t z = 1; z + 1 < depth; ++z)
    for (std::size_t y = 1; y + 1 < rows; ++y)
      for (std::size_t x = 1; x + 1 < columns; ++x) {
        Sum sum;
        for (auto const& [weight, offset] : taps) {
          auto const at = [](std::size_t i, int by) { return i + static_cast<std::size_t>(by + 1) - 1; };
          std::size_t const there = (at(z, offset[0]) * rows + at(y, offset[1])) * columns + at(x, offset[2]);
          sum += Rounded(weight) * in[there];
        }
        out[(z * rows + y) * columns + x] = sum.total();
      }
  return {{"out", out}};
}

Expected jacobi1d(Scenario const& s) {
  auto now = s.vector("now"), next = s.vector("next");
  for (std::size_t step = 0; step < s.launches("jacobi1d_step"); ++step) {
    for (std::size_t i = 1; i + 1 < now.size(); ++i) {
      Sum sum;
      for (std::size_t there : {i - 1, i, i + 1}) sum += now[there];
      next[i] = Rounded(0.33333f) * sum.total();
    }
    for (std::size_t i = 1; i + 1 < now.size(); ++i) now[i] = next[i];
  }
  return {{"now", now}, {"next", next}};
}

Expected jacobi2d(Scenario const& s) {
  std::size_t const n = s.integer("jacobi2d_step", 0);
  Matrix now = s.matrix("now", n), next = s.matrix("next", n);
  for (std::size_t step = 0; step < s.launches("jacobi2d_step"); ++step) {
    for (std::size_t i = 1; i + 1 < n; ++i)
      for (std::size_t j = 1; j + 1 < n; ++j) {
        Sum sum;
        for (Rounded const term : {now(i, j), now(i, j - 1), now(i, j + 1), now(i - 1, j), now(i + 1, j)}) sum += term;
        next(i, j) = Rounded(0.2f) * sum.total();
      }
    for (std::size_t i = 1; i + 1 < n; ++i)
      for (std::size_t j = 1; j + 1 < n; ++j) now(i, j) = next(i, j);
  }
  return {{"now", now.elements()}, {"next", next.elements()}};
}

Expected fdtd2d(Scenario const& s) {
  std::size_t const columns = s.integer("fdtd_ex", 1);
  Matrix ex = s.matrix("ex", columns), ey = s.matrix("ey", columns), hz = s.matrix("hz", columns);
  auto const source = s.vector("source");
  std::size_t const rows = ex.rows();
  for (std::size_t t = 0; t < s.launches("fdtd_ey"); ++t) {
    for (std::size_t j = 0; j < columns; ++j) {
      ey(0, j) = source.at(t);
      for (std::size_t i = 1; i < rows; ++i) ey(i, j) -= Rounded(0.5f) * (hz(i, j) - hz(i - 1, j));
    }
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t j = 1; j < columns; ++j) ex(i, j) -= Rounded(0.5f) * (hz(i, j) - hz(i, j - 1));
    for (std::size_t i = 0; i + 1 < rows; ++i)
      for (std::size_t j = 0; j + 1 < columns; ++j) {
        Sum turn;
        for (Rounded const term : {ex(i, j + 1), Rounded() - ex(i, j), ey(i + 1, j), Rounded() - ey(i, j)})
          turn += term;
        hz(i, j) -= Rounded(0.7f) * turn.total();
      }
  }
  return {{"ex", ex.elements()}, {"ey", ey.elements()}, {"hz", hz.elements()}};
}

// Elements first, first + stride, … of one row or column. PolyBench's back substitution differs between the two sweeps
// in the diagonal that it divides by: `back` elements before the unknown.
void sweep(std::vector<Rounded>& x, std::vector<Rounded> const& a, std::vector<Rounded>& b, std::size_t first,
           std::size_t stride, std::size_t n, std::size_t back) {
  auto const at = [=](std::size_t i) { return first + i * stride; };
  for (std::size_t i = 1; i < n; ++i) {
    Rounded const factor = a[at(i)] / b[at(i - 1)];
    x[at(i)] -= x[at(i - 1)] * factor;
    b[at(i)] -= a[at(i)] * factor;
  }
  x[at(n - 1)] /= b[at(n - 1)];
  for (std::size_t i = n - 2; i > 0; --i) x[at(i)] = (x[at(i)] - x[at(i - 1)] * a[at(i - 1)]) / b[at(i - back)];
}

Expected adi(Scenario const& s) {
  std::size_t const n = s.integer("adi_rows", 0);
  auto x = s.vector("x"), b = s.vector("b");
  auto const a = s.vector("a");
  for (auto& diagonal : b) diagonal += Rounded(s.number("adi_prepare", 0));
  for (std::size_t step = 0; step < s.launches("adi_rows"); ++step) {
    for (std::size_t row = 0; row < n; ++row) sweep(x, a, b, row * n, 1, n, 1);
    for (std::size_t column = 0; column < n; ++column) sweep(x, a, b, column, n, n, 0);
  }
  return {{"x", x}, {"b", b}};
}

}  // namespace

Expected expect_stencil(std::string_view workload, Scenario const& s) {
  if (workload == "2dconv") return conv2d(s);
  if (workload == "3dconv") return conv3d(s);
  if (workload == "jacobi1d") return jacobi1d(s);
  if (workload == "jacobi2d") return jacobi2d(s);
  if (workload == "fdtd2d") return fdtd2d(s);
  if (workload == "adi") return adi(s);
  return {};
}

}  // namespace kernelcast::suites
