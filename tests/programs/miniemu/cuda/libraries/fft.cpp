// cuFFT: transforms of random lengths and layouts beside the sum that defines them.
#include <complex>
#include <numbers>
#include <string>

#include "common.hpp"

using C32 = std::complex<float>;
using C64 = std::complex<double>;
extern "C" {
int cufftPlan1d(int*, int, int, int);
int cufftPlan2d(int*, int, int, int);
int cufftPlan3d(int*, int, int, int, int);
int cufftPlanMany(int*, int, int*, int*, int, int, int*, int, int, int, int);
int cufftCreate(int*);
int cufftDestroy(int);
int cufftEstimate1d(int, int, int, std::size_t*);
int cufftGetSizeMany(int, int, int*, int*, int, int, int*, int, int, int, int, std::size_t*);
int cufftXtMakePlanMany(int, int, long long*, long long*, long long, long long, int, long long*, long long, long long,
                        int, long long, std::size_t*, int);
int cufftXtExec(int, void*, void*, int);
int cufftExecC2C(int, void*, void*, int);
int cufftExecR2C(int, void*, void*);
int cufftExecC2R(int, void*, void*);
int cufftExecZ2Z(int, void*, void*, int);
int cufftExecD2Z(int, void*, void*);
int cufftExecZ2D(int, void*, void*);
int cufftXtSetCallback(int, void**, int, void**);
}

namespace {

constexpr int c2c = 0x29, r2c = 0x2a, c2r = 0x2c, z2z = 0x69, d2z = 0x6a, z2d = 0x6c;

// Of n0 x n1 x n2 values.
std::vector<C64> transformed(std::vector<C64> const& x, int n0, int n1, int n2, int sign) {
  std::vector<C64> out(x.size());
  for (int a = 0; a < n0; ++a)
    for (int b = 0; b < n1; ++b)
      for (int c = 0; c < n2; ++c) {
        C64 sum = 0;
        for (int i = 0; i < n0; ++i)
          for (int j = 0; j < n1; ++j)
            for (int k = 0; k < n2; ++k) {
              double const turn = double(a) * i / n0 + double(b) * j / n1 + double(c) * k / n2;
              sum += x[(i * n1 + j) * n2 + k] * std::polar(1.0, sign * 2 * std::numbers::pi * turn);
            }
        out[(a * n1 + b) * n2 + c] = sum;
      }
  return out;
}

template <class To, class From>
std::vector<To> as(std::vector<From> const& from) {
  return std::vector<To>(from.begin(), from.end());
}

void lines() {
  for (int n : {1, 2, 8, 64, 7, 12, 30, 97, 100}) {
    int const batch = 3;
    auto const x = drawn<C32>(n * batch);
    OnDevice<C32> const in(x), out(std::vector<C32>(n * batch));
    int plan = 0;
    expect(cufftPlan1d(&plan, n, c2c, batch) == 0, "plan");
    expect(cufftExecC2C(plan, in, out, -1) == 0, "c2c");
    auto const found = out.values();
    for (int b = 0; b < batch; ++b) {
      auto const one = transformed(as<C64>(std::vector<C32>(x.begin() + b * n, x.begin() + (b + 1) * n)), 1, 1, n, -1);
      expect(difference(as<C64>(std::vector<C32>(found.begin() + b * n, found.begin() + (b + 1) * n)), one) < 1e-5,
             "c2c values");
    }
    expect(cufftExecC2C(plan, out, out, 1) == 0, "inverse, in place");
    auto back = out.values();
    for (auto& v : back) v /= static_cast<float>(n);
    expect(difference(back, x) < 1e-5, "back");
    expect(cufftDestroy(plan) == 0, "destroy");
  }
}

void real_lines() {
  for (int n : {2, 9, 16, 50}) {
    auto const x = drawn<double>(n);
    OnDevice<double> const in(x), back(std::vector<double>(static_cast<std::size_t>(n)));
    OnDevice<C64> const out(std::vector<C64>(n / 2 + 1));
    int forward = 0, inverse = 0;
    expect(cufftPlan1d(&forward, n, d2z, 1) == 0 && cufftPlan1d(&inverse, n, z2d, 1) == 0, "plans");
    expect(cufftExecD2Z(forward, in, out) == 0, "d2z");
    auto expected = transformed(as<C64>(x), 1, 1, n, -1);
    expected.resize(n / 2 + 1);
    expect(difference(out.values(), expected) < 1e-12, "d2z values");
    expect(cufftExecZ2D(inverse, out, back) == 0, "z2d");
    auto again = back.values();
    for (auto& v : again) v /= n;
    expect(difference(again, x) < 1e-12, "z2d values");
  }
}

void planes() {
  int const n0 = 6, n1 = 8, n2 = 5;
  auto const x = drawn<C64>(n0 * n1 * n2);
  OnDevice<C64> const in(x), out(std::vector<C64>(x.size()));
  int plan = 0;
  expect(cufftPlan3d(&plan, n0, n1, n2, z2z) == 0 && cufftExecZ2Z(plan, in, out, -1) == 0, "3d");
  expect(difference(out.values(), transformed(x, n0, n1, n2, -1)) < 1e-12, "3d values");
  // Real and in place: rows are padded.
  int const rows = 4, columns = 6, padded = 2 * (columns / 2 + 1);
  auto const y = drawn<float>(rows * columns);
  std::vector<float> lying(rows * padded);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) lying[i * padded + j] = y[i * columns + j];
  OnDevice<float> const both(lying);
  expect(cufftPlan2d(&plan, rows, columns, r2c) == 0 && cufftExecR2C(plan, both, both) == 0, "2d in place");
  auto const found = both.values();
  auto const whole = transformed(as<C64>(y), 1, rows, columns, -1);
  std::vector<C64> expected, got;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j <= columns / 2; ++j) {
      expected.push_back(whole[i * columns + j]);
      got.emplace_back(found[i * padded + 2 * j], found[i * padded + 2 * j + 1]);
    }
  expect(difference(got, expected) < 1e-5, "2d in place values");
  expect(cufftPlan2d(&plan, rows, columns, c2r) == 0 && cufftExecC2R(plan, both, both) == 0, "and back");
  auto const back = both.values();
  std::vector<float> again;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) again.push_back(back[i * padded + j] / (rows * columns));
  expect(difference(again, y) < 1e-5, "values back");
}

void layouts() {  // columns of a matrix, by PlanMany
  int const rows = 12, columns = 5;
  auto const x = drawn<C32>(rows * columns);
  OnDevice<C32> const in(x), out(std::vector<C32>(x.size()));
  int plan = 0, n[] = {rows};
  expect(cufftPlanMany(&plan, 1, n, n, columns, 1, n, 1, rows, c2c, columns) == 0, "many");
  expect(cufftExecC2C(plan, in, out, -1) == 0, "columns");
  auto const found = out.values();
  for (int j = 0; j < columns; ++j) {
    std::vector<C64> column, got;
    for (int i = 0; i < rows; ++i) column.emplace_back(x[i * columns + j]), got.emplace_back(found[j * rows + i]);
    expect(difference(got, transformed(column, 1, 1, rows, -1)) < 1e-5, "columns' values");
  }
}

void data_types() {  // the types are those of the numbers
  constexpr int r32 = 0, c32 = 4, c64 = 5, r16 = 2, c16 = 6;
  constexpr int n = 24;
  long long length = n;
  std::size_t bytes = 9;
  auto const x = drawn<C64>(n);
  OnDevice<C64> const in(x), out(std::vector<C64>(x.size()));
  int plan = 0;
  expect(cufftEstimate1d(n, c2c, 1, &bytes) == 0 && bytes == 0, "estimate");
  expect(cufftCreate(&plan) == 0, "create");
  bytes = 9;
  expect(
      cufftXtMakePlanMany(plan, 1, &length, nullptr, 1, 1, c64, nullptr, 1, 1, c64, 1, &bytes, c64) == 0 && bytes == 0,
      "z2z");
  expect(cufftGetSizeMany(plan, 1, nullptr, nullptr, 1, 1, nullptr, 1, 1, z2z, 1, &bytes) == 0 && bytes == 0, "size");
  expect(cufftXtExec(plan, in, out, -1) == 0, "forward");
  expect(difference(out.values(), transformed(x, 1, 1, n, -1)) < 1e-12, "z2z values");
  expect(cufftXtExec(plan, out, out, 1) == 0, "inverse");
  auto back = out.values();
  for (auto& v : back) v /= double(n);
  expect(difference(back, x) < 1e-12, "back");
  auto const y = drawn<float>(n);
  OnDevice<float> const reals(y);
  OnDevice<C32> const half(std::vector<C32>(n / 2 + 1));
  expect(cufftCreate(&plan) == 0, "create");
  expect(cufftXtMakePlanMany(plan, 1, &length, nullptr, 1, 1, r32, nullptr, 1, 1, c32, 1, &bytes, c32) == 0, "r2c");
  expect(cufftXtExec(plan, reals, half, -1) == 0, "r2c");
  auto expected = transformed(as<C64>(y), 1, 1, n, -1);
  expected.resize(n / 2 + 1);
  expect(difference(as<C64>(half.values()), expected) < 1e-5, "r2c values");
  expect(cufftCreate(&plan) == 0, "create");
  expect(cufftXtMakePlanMany(plan, 1, &length, nullptr, 1, 1, r16, nullptr, 1, 1, c16, 1, &bytes, c16) == 16, "half");
  expect(cufftXtExec(plan, reals, half, -1) == 1, "a plan that is not made");
}

void out_of_bounds() {
  OnDevice<C32> const in(std::vector<C32>(64)), out(std::vector<C32>(64));
  int plan = 0;
  expect(cufftPlan1d(&plan, 1024, c2c, 1) == 0 && cufftExecC2C(plan, in, out, -1) == 6, "too long");
  expect(cufftExecC2C(999, in, out, -1) == 1, "no plan");
  expect(cufftPlan1d(&plan, 0, c2c, 1) == 8, "no length");
  expect(cufftXtSetCallback(plan, nullptr, 0, nullptr) == 16, "what there is not");
}

}  // namespace

int main(int argc, char** argv) {
  std::string const what = argc > 1 ? argv[1] : "";
  if (what == "lines") lines();
  if (what == "real_lines") real_lines();
  if (what == "planes") planes();
  if (what == "layouts") layouts();
  if (what == "data_types") data_types();
  if (what == "out_of_bounds") out_of_bounds();
  if (wrong == 0) std::printf("right: %s\n", what.c_str());
  return wrong != 0;
}
