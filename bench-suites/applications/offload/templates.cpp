// OpenMP target in C++: regions within templates and lambdas, classes that are mapped.
#include <cstdio>
#include <vector>

struct Grid {
  int columns;
  double* cells;
#pragma omp declare target
  double& at(int r, int c) const { return cells[r * columns + c]; }
#pragma omp end declare target
};

namespace math {
template <class T>
T dot(T const* x, T const* y, int n) {
  T total = 0;
#pragma omp target teams distribute parallel for reduction(+ : total) map(to : x[0 : n], y[0 : n])  // region math::dot
  for (int i = 0; i < n; ++i) total += x[i] * y[i];
  return total;
}
}  // namespace math

int main() {
  int const n = 1000;
  std::vector<double> x(n, 0.5), y(n, 4);
  std::vector<int> a(n, 3), b(n, 7);
  double const real = math::dot(x.data(), y.data(), n);
  int const whole = math::dot(a.data(), b.data(), n);
  int const rows = 20, columns = 30;
  std::vector<double> cells(rows * columns);
  double* const p = cells.data();
#pragma omp target teams distribute parallel for collapse(2) map(from : p[0 : rows * columns])  // region main
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) Grid{columns, p}.at(r, c) = r - c;
  double sum = 0;
  for (double const cell : cells) sum += cell;
  std::printf("dot %g %d, grid %g\n", real, whole, sum);
  return real != 2000 || whole != 21000 || sum != (19 * 10 * 30 - 29 * 15 * 20);
}
