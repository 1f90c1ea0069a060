// cuBLAS: products of random sizes, leading dimensions and transposes beside plain loops.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "common.hpp"

using Handle = void*;
using C32 = std::complex<float>;
using C64 = std::complex<double>;
extern "C" {
int cublasCreate_v2(Handle*);
int cublasDestroy_v2(Handle);
int cublasSetStream_v2(Handle, void*);
int cublasSetPointerMode_v2(Handle, int);
int cublasGemmEx(Handle, int, int, int, int, int, void const*, void const*, int, int, void const*, int, int,
                 void const*, void*, int, int, int, int);
int cublasSgemmBatched(Handle, int, int, int, int, int, float const*, float const* const*, int, float const* const*,
                       int, float const*, float* const*, int, int);
int cublasDgemmStridedBatched(Handle, int, int, int, int, int, double const*, double const*, int, long long,
                              double const*, int, long long, double const*, double*, int, long long, int);
int cublasSgelsBatched(Handle, int, int, int, int, float* const*, int, float* const*, int, int*, int*, int);
int cublasSdot_v2(Handle, int, float const*, int, float const*, int, float*);
int cublasSaxpy_v2(Handle, int, float const*, float const*, int, float*, int);
int cublasSnrm2_v2(Handle, int, float const*, int, float*);
int cublasAxpyEx(Handle, int, void const*, int, void const*, int, int, void*, int, int, int);
int cublasScalEx(Handle, int, void const*, int, void*, int, int, int);
int cublasDotEx(Handle, int, void const*, int, int, void const*, int, int, void*, int, int);
int cublasDotcEx_64(Handle, std::int64_t, void const*, int, std::int64_t, void const*, int, std::int64_t, void*, int,
                    int);
int cublasNrm2Ex(Handle, int, void const*, int, int, void*, int, int);
int cublasAsumEx(Handle, int, void const*, int, int, void*, int, int);
int cublasIamaxEx(Handle, int, void const*, int, int, int*);
int cublasSwapEx(Handle, int, void*, int, int, void*, int, int);
int cublasSgemvStridedBatched(Handle, int, int, int, float const*, float const*, int, long long, float const*, int,
                              long long, float const*, float*, int, long long, int);
int cublasHSHgemvBatched(Handle, int, int, int, float const*, std::uint16_t const* const*, int,
                         std::uint16_t const* const*, int, float const*, std::uint16_t* const*, int, int);
int cublasSasum_v2(Handle, int, float const*, int, float*);
int cublasSscal_v2(Handle, int, float const*, float*, int);
int cublasIsamax_v2(Handle, int, float const*, int, int*);
int cublasScopy_v2(Handle, int, float const*, int, float*, int);
int cublasSswap_v2(Handle, int, float*, int, float*, int);
int cublasSrot_v2(Handle, int, float*, int, float*, int, float const*, float const*);
int cublasDrot_v2(Handle, int, double*, int, double*, int, double const*, double const*);
int cublasCrot_v2(Handle, int, C32*, int, C32*, int, float const*, C32 const*);
int cublasCsrot_v2(Handle, int, C32*, int, C32*, int, float const*, float const*);
int cublasSgeam(Handle, int, int, int, int, float const*, float const*, int, float const*, float const*, int, float*,
                int);
#define DECLARED(T, l)                                                                                                \
  int cublas##l##gemm_v2(Handle, int, int, int, int, int, T const*, T const*, int, T const*, int, T const*, T*, int); \
  int cublas##l##gemv_v2(Handle, int, int, int, T const*, T const*, int, T const*, int, T const*, T*, int);           \
  int cublas##l##trsm_v2(Handle, int, int, int, int, int, int, T const*, T const*, int, T*, int);                     \
  int cublas##l##trmm_v2(Handle, int, int, int, int, int, int, T const*, T const*, int, T const*, int, T*, int);      \
  int cublas##l##syrk_v2(Handle, int, int, int, int, T const*, T const*, int, T const*, T*, int);                     \
  int cublas##l##symm_v2(Handle, int, int, int, int, T const*, T const*, int, T const*, int, T const*, T*, int);      \
  int cublas##l##getrfBatched(Handle, int, T* const*, int, int*, int*, int);                                          \
  int cublas##l##getriBatched(Handle, int, T const* const*, int, int const*, T* const*, int, int*, int);              \
  int cublas##l##matinvBatched(Handle, int, T const* const*, int, T* const*, int, int*, int);                         \
  int cublas##l##getrsBatched(Handle, int, int, int, T const* const*, int, int const*, T* const*, int, int*, int);
DECLARED(float, S)
DECLARED(double, D)
DECLARED(C32, C)
DECLARED(C64, Z)
int cublasDger_v2(Handle, int, int, double const*, double const*, int, double const*, int, double*, int);
}

namespace {

Handle handle;

template <class T>
T conjugate(T v) {
  if constexpr (requires { v.real(); })
    return std::conj(v);
  else
    return v;
}
template <class T>
constexpr double tolerance = sizeof(T) == sizeof(float) || std::is_same_v<T, C32> ? 1e-4 : 1e-12;

// Element of op(A).
template <class T>
T at(std::vector<T> const& a, int leading, int op, int row, int column) {
  auto const place = [&](int r, int c) { return static_cast<std::size_t>(c) * leading + r; };
  if (op == 0) return a[place(row, column)];
  T const v = a[place(column, row)];
  return op == 2 ? conjugate(v) : v;
}

struct Shape {
  int a, b, m, n, k, lda, ldb, ldc;
};
Shape drawn_shape() {
  Shape s{between(0, 2), between(0, 2), between(1, 150), between(1, 150), between(1, 300), 0, 0, 0};
  s.lda = (s.a ? s.k : s.m) + between(0, 5);
  s.ldb = (s.b ? s.n : s.k) + between(0, 5);
  s.ldc = s.m + between(0, 5);
  return s;
}

template <class T>
void add_product(Shape const& s, T alpha, std::vector<T> const& a, std::vector<T> const& b, T beta, std::vector<T>& c) {
  for (int j = 0; j < s.n; ++j)
    for (int i = 0; i < s.m; ++i) {
      T sum = 0;
      for (int p = 0; p < s.k; ++p) sum += at(a, s.lda, s.a, i, p) * at(b, s.ldb, s.b, p, j);
      T& to = c[static_cast<std::size_t>(j) * s.ldc + i];
      to = alpha * sum + (beta == T(0) ? T(0) : beta * to);
    }
}

template <class T, class Gemm>
void products(Gemm gemm, char const* name) {
  for (int round = 0; round < 12; ++round) {
    auto const s = drawn_shape();
    auto const a = drawn<T>(static_cast<std::size_t>(s.lda) * (s.a ? s.m : s.k));
    auto const b = drawn<T>(static_cast<std::size_t>(s.ldb) * (s.b ? s.k : s.n));
    auto c = drawn<T>(static_cast<std::size_t>(s.ldc) * s.n);
    T const alpha = drawn<T>(), beta = round % 3 ? drawn<T>() : T(0);
    OnDevice<T> const on_a(a), on_b(b), on_c(c);
    if (round % 4 == 3) {  // factors on the device
      OnDevice<T> const factors({alpha, beta});
      cublasSetPointerMode_v2(handle, 1);
      expect(gemm(handle, s.a, s.b, s.m, s.n, s.k, factors.begin(), on_a, s.lda, on_b, s.ldb, factors.begin() + 1, on_c,
                  s.ldc) == 0,
             name);
      cublasSetPointerMode_v2(handle, 0);
    } else {
      expect(gemm(handle, s.a, s.b, s.m, s.n, s.k, &alpha, on_a, s.lda, on_b, s.ldb, &beta, on_c, s.ldc) == 0, name);
    }
    add_product(s, alpha, a, b, beta, c);
    expect(difference(on_c.values(), c) < tolerance<T>, name);
  }
}

void narrow_types() {
  for (int const m : {17, 67}) {  // plain loops, and where it is worth it OpenBLAS
    int const n = 33, k = 40;
    std::vector<std::uint16_t> half_a, half_b, bfloat_a, bfloat_b;
    std::vector<std::int8_t> whole_a, whole_b;
    for (int i = 0; i < m * k; ++i) {
      int const v = between(-7, 7);
      half_a.push_back(half_of(v)), bfloat_a.push_back(bfloat_of(v)), whole_a.push_back(static_cast<std::int8_t>(v));
    }
    for (int i = 0; i < k * n; ++i) {
      int const v = between(-7, 7);
      half_b.push_back(half_of(v)), bfloat_b.push_back(bfloat_of(v)), whole_b.push_back(static_cast<std::int8_t>(v));
    }
    std::vector<float> expected(m * n);
    std::vector<int> whole_expected(m * n);
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i) {
        int sum = 0;
        for (int p = 0; p < k; ++p) sum += whole_a[p * m + i] * whole_b[j * k + p];
        expected[j * m + i] = static_cast<float>(sum), whole_expected[j * m + i] = sum;
      }
    float const one = 1, none = 0;
    int const whole_one = 1, whole_none = 0;
    OnDevice<float> const c(std::vector<float>(m * n));
    OnDevice<int> const whole_c(std::vector<int>(m * n));
    OnDevice<std::uint16_t> const ha(half_a), hb(half_b), ba(bfloat_a), bb(bfloat_b);
    OnDevice<std::int8_t> const wa(whole_a), wb(whole_b);
    expect(cublasGemmEx(handle, 0, 0, m, n, k, &one, ha, 2, m, hb, 2, k, &none, c, 0, m, 68, -1) == 0, "f16");
    expect(c.values() == expected, "f16 values");
    expect(cublasGemmEx(handle, 0, 0, m, n, k, &one, ba, 14, m, bb, 14, k, &none, c, 0, m, 68, -1) == 0, "bf16");
    expect(c.values() == expected, "bf16 values");
    expect(
        cublasGemmEx(handle, 0, 0, m, n, k, &whole_one, wa, 3, m, wb, 3, k, &whole_none, whole_c, 10, m, 72, -1) == 0,
        "i8");
    expect(whole_c.values() == whole_expected, "i8 values");
  }
}

void batches() {
  Shape const s{0, 1, 20, 30, 10, 20, 30, 20};
  int const batch = 5;
  auto const a = drawn<float>(batch * 200), b = drawn<float>(batch * 300);
  auto c = drawn<float>(batch * 600);
  OnDevice<float> const on_a(a), on_b(b), on_c(c);
  std::vector<float*> all_a, all_b, all_c;
  for (int i = 0; i < batch; ++i)
    all_a.push_back(on_a + i * 200), all_b.push_back(on_b + i * 300), all_c.push_back(on_c + i * 600);
  OnDevice<float*> const pa(all_a), pb(all_b), pc(all_c);
  float const alpha = 2, beta = 1;
  expect(cublasSgemmBatched(handle, 0, 1, s.m, s.n, s.k, &alpha, pa, s.lda, pb, s.ldb, &beta, pc, s.ldc, batch) == 0,
         "batched");
  auto const found = on_c.values();
  for (int i = 0; i < batch; ++i) {
    std::vector<float> const one_a(a.begin() + i * 200, a.begin() + (i + 1) * 200);
    std::vector<float> const one_b(b.begin() + i * 300, b.begin() + (i + 1) * 300);
    std::vector<float> one_c(c.begin() + i * 600, c.begin() + (i + 1) * 600);
    add_product(s, alpha, one_a, one_b, beta, one_c);
    expect(difference(std::vector<float>(found.begin() + i * 600, found.begin() + (i + 1) * 600), one_c) < 1e-4,
           "batched values");
  }
  auto const da = drawn<double>(batch * 200), db = drawn<double>(300);
  std::vector<double> dc(batch * 600);
  OnDevice<double> const ond_a(da), ond_b(db), ond_c(dc);
  double const one = 1, none = 0;
  expect(cublasDgemmStridedBatched(handle, 0, 1, s.m, s.n, s.k, &one, ond_a, s.lda, 200, ond_b, s.ldb, 0, &none, ond_c,
                                   s.ldc, 600, batch) == 0,
         "strided");
  auto const strided = ond_c.values();
  for (int i = 0; i < batch; ++i) {
    std::vector<double> const one_a(da.begin() + i * 200, da.begin() + (i + 1) * 200);
    std::vector<double> one_c(600);
    add_product(s, one, one_a, db, none, one_c);
    expect(difference(std::vector<double>(strided.begin() + i * 600, strided.begin() + (i + 1) * 600), one_c) < 1e-12,
           "strided values");
  }
}

void vectors() {
  int const n = 1000;
  auto const x = drawn<float>(2 * n), y = drawn<float>(n);
  OnDevice<float> const on_x(x), on_y(y);
  double dot = 0, squares = 0, sum = 0;
  int most = 0;
  for (int i = 0; i < n; ++i) {
    dot += double{x[2 * i]} * y[n - 1 - i], squares += double{y[i]} * y[i], sum += std::abs(double{y[i]});
    if (std::abs(y[i]) > std::abs(y[most])) most = i;
  }
  float result = 0;
  int place = 0;
  expect(cublasSdot_v2(handle, n, on_x, 2, on_y, -1, &result) == 0 && std::abs(result - dot) < 1e-3, "dot");
  expect(cublasSnrm2_v2(handle, n, on_y, 1, &result) == 0 && std::abs(result - std::sqrt(squares)) < 1e-4, "nrm2");
  expect(cublasSasum_v2(handle, n, on_y, 1, &result) == 0 && std::abs(result - sum) < 1e-2, "asum");
  expect(cublasIsamax_v2(handle, n, on_y, 1, &place) == 0 && place == most + 1, "amax");
  OnDevice<float> const on_result(std::vector<float>{0});
  cublasSetPointerMode_v2(handle, 1);
  expect(cublasSasum_v2(handle, n, on_y, 1, on_result) == 0 && std::abs(on_result.values()[0] - sum) < 1e-2,
         "asum there");
  cublasSetPointerMode_v2(handle, 0);
  float const alpha = 3;
  expect(cublasSaxpy_v2(handle, n, &alpha, on_x, 2, on_y, 1) == 0, "axpy");
  auto expected = y;
  for (int i = 0; i < n; ++i) expected[i] += 3 * x[2 * i];
  expect(difference(on_y.values(), expected) < 1e-6, "axpy values");
  expect(cublasSscal_v2(handle, n, &alpha, on_y, 1) == 0, "scal");
  for (float& v : expected) v *= 3;
  expect(difference(on_y.values(), expected) < 1e-6, "scal values");
  expect(cublasScopy_v2(handle, n, on_y, 1, on_x, 1) == 0 && cublasSswap_v2(handle, n / 2, on_x, 1, on_x + n, 1) == 0,
         "copy, swap");
  auto const swapped = on_x.values();
  expect(swapped[n] == expected[0] || std::abs(swapped[n] - expected[0]) < 1e-5, "swapped");
}

// Small integers, which numbers of 16 bits hold exactly.
void vectors_of_types() {
  enum : int { f32 = 0, f16 = 2, c32 = 4, bf16 = 14 };
  int const n = 50;
  std::vector<int> x, y;
  for (int i = 0; i < n; ++i) x.push_back(between(-3, 3)), y.push_back(between(-3, 3));
  x[17] = -9;
  float const two = 2;
  for (auto const& [type, coded] : {std::pair{int{f16}, &half_of}, std::pair{int{bf16}, &bfloat_of}}) {
    std::vector<std::uint16_t> cx, cy, added, scaled;
    int dot = 0, sum = 0, squares = 0;
    for (int i = 0; i < n; ++i) {
      cx.push_back(coded(x[i])), cy.push_back(coded(y[i])), added.push_back(coded(2 * x[i] + y[i]));
      scaled.push_back(coded(2 * (2 * x[i] + y[i]))), dot += x[i] * y[n - 1 - i];
      sum += std::abs(x[i]), squares += x[i] * x[i];
    }
    OnDevice<std::uint16_t> const on_x(cx), on_y(cy);
    std::uint16_t result = 0;
    int place = 0;
    expect(cublasDotEx(handle, n, on_x, type, 1, on_y, type, -1, &result, type, f32) == 0 && result == coded(dot),
           "dot of 16 bits");
    expect(cublasAsumEx(handle, n, on_x, type, 1, &result, type, f32) == 0 && result == coded(sum), "asum of 16 bits");
    expect(cublasNrm2Ex(handle, n, on_x, type, 1, &result, type, f32) == 0 &&
               std::abs(result - coded(static_cast<int>(std::lround(std::sqrt(squares))))) < 64,
           "nrm2 of 16 bits");
    expect(cublasIamaxEx(handle, n, on_x, type, 1, &place) == 0 && place == 18, "amax of 16 bits");
    expect(cublasAxpyEx(handle, n, &two, f32, on_x, type, 1, on_y, type, 1, f32) == 0 && on_y.values() == added,
           "axpy of 16 bits");
    std::uint16_t const coded_two = coded(2);
    expect(cublasScalEx(handle, n, &coded_two, type, on_y, type, 1, f32) == 0 && on_y.values() == scaled,
           "scal of 16 bits");
    expect(cublasSwapEx(handle, n, on_x, type, 1, on_y, type, 1) == 0 && on_x.values() == scaled && on_y.values() == cx,
           "swap of 16 bits");
    expect(cublasDotEx(handle, n, on_x, type, 1, on_y, type, 1, &result, f32, f32) == 15, "result of another type");
  }
  auto const u = drawn<C32>(n), v = drawn<C32>(n);
  OnDevice<C32> const on_u(u), on_v(v);
  C64 expected = 0;
  for (int i = 0; i < n; ++i) expected += std::conj(C64(u[i])) * C64(v[i]);
  C32 result = 0;
  expect(cublasDotcEx_64(handle, n, on_u, c32, 1, on_v, c32, 1, &result, c32, c32) == 0 &&
             std::abs(C64(result) - expected) < 1e-5,
         "dotc by type");
}

// Products of matrices with vectors, each of a batch beside plain loops.
void batches_of_vectors() {
  int const m = 7, n = 5, lda = 9, batch = 3;
  auto const a = drawn<float>(batch * 60), x = drawn<float>(batch * 40);
  float const alpha = 2, beta = 0.5F;
  for (int const op : {0, 1}) {
    int const rows = op ? n : m, columns = op ? m : n;
    auto y = drawn<float>(batch * 50);
    OnDevice<float> const on_a(a), on_x(x), on_y(y);
    expect(
        cublasSgemvStridedBatched(handle, op, m, n, &alpha, on_a, lda, 60, on_x, 3, 40, &beta, on_y, 2, 50, batch) == 0,
        "strided vectors");
    for (int b = 0; b < batch; ++b)
      for (int i = 0; i < rows; ++i) {
        double sum = 0;
        for (int j = 0; j < columns; ++j)
          sum += double{a[b * 60 + (op ? i * lda + j : j * lda + i)]} * x[b * 40 + 3 * j];
        float& to = y[b * 50 + 2 * i];
        to = static_cast<float>(alpha * sum + beta * to);
      }
    expect(difference(on_y.values(), y) < 1e-5, "strided vectors' values");
  }
  std::vector<std::uint16_t> halves(4 * 4), ones(4, half_of(1)), results(2 * 4);
  for (int i = 0; i < 16; ++i) halves[i] = half_of(i);
  OnDevice<std::uint16_t> const on_a(halves), on_x(ones), on_y(results);
  OnDevice<std::uint16_t const*> const pa({on_a, on_a}), px({on_x, on_x});
  OnDevice<std::uint16_t*> const py({on_y, on_y + 4});
  float const one = 1, none = 0;
  expect(cublasHSHgemvBatched(handle, 1, 4, 4, &one, pa, 4, px, 1, &none, py, 1, 2) == 0, "vectors of halves");
  std::vector<std::uint16_t> const sums{half_of(6), half_of(22), half_of(38), half_of(54),
                                        half_of(6), half_of(22), half_of(38), half_of(54)};
  expect(on_y.values() == sums, "values of halves");
}

template <class T, class S, class R, class Rotate>
void rotation(Rotate rot, R c, S s, char const* name) {
  int const n = 100;
  auto const x = drawn<T>(2 * n), y = drawn<T>(n);
  OnDevice<T> const on_x(x), on_y(y);
  expect(rot(handle, n, on_x, 2, on_y, -1, &c, &s) == 0, name);
  auto first = x, second = y;
  for (int i = 0; i < n; ++i) {
    T const v = x[2 * i], w = y[n - 1 - i];
    first[2 * i] = c * v + s * w;
    if constexpr (std::is_same_v<T, R>)
      second[n - 1 - i] = c * w - s * v;
    else
      second[n - 1 - i] = c * w - T(std::conj(s)) * v;
  }
  expect(difference(on_x.values(), first) < tolerance<T> && difference(on_y.values(), second) < tolerance<T>, name);
}
void rotations() {
  rotation<float>(cublasSrot_v2, 0.6f, 0.8f, "Srot");
  rotation<double>(cublasDrot_v2, 0.6, 0.8, "Drot");
  rotation<C32>(cublasCrot_v2, 0.6f, C32(0.4f, -0.7f), "Crot");
  rotation<C32>(cublasCsrot_v2, 0.6f, 0.8f, "Csrot");
}

template <class T, class Solve, class Multiply>
void triangles(Solve trsm, Multiply trmm, char const* name) {
  for (int side = 0; side < 2; ++side)
    for (int fill = 0; fill < 2; ++fill)
      for (int op = 0; op < 3; ++op)
        for (int unit = 0; unit < 2; ++unit) {
          int const m = 23, n = 17, order = side ? n : m;
          auto a = drawn<T>(order * order);
          for (int i = 0; i < order; ++i) a[i * order + i] += T(4);
          for (int i = 0; i < order; ++i)  // so that a unit diagonal is well conditioned, too
            for (int j = 0; j < order; ++j)
              if (i != j) a[i * order + j] /= T(10);
          auto const b = drawn<T>(m * n);
          OnDevice<T> const on_a(a), on_b(b), on_c(std::vector<T>(m * n));
          T const alpha(2), half(0.5);
          expect(trsm(handle, side, fill, op, unit, m, n, &alpha, on_a, order, on_b, m) == 0, name);
          expect(trmm(handle, side, fill, op, unit, m, n, &half, on_a, order, on_b, m, on_c, m) == 0, name);
          expect(difference(on_c.values(), b) < tolerance<T>, name);
        }
}

// Three matrices; the last is singular: its fourth column is its second. Solutions are put back into the equations.
template <class T, class Factorise, class Invert, class InvertWhole, class Solve>
void factors(Factorise getrf, Invert getri, InvertWhole matinv, Solve getrs, char const* name) {
  int const n = 21, lda = 24, columns = 5, batch = 3;
  std::vector<std::vector<T>> a;
  std::vector<T*> of_a, of_factors, of_inverse, of_b;
  std::vector<std::unique_ptr<OnDevice<T>>> all;
  auto const put = [&](std::vector<T> const& values, std::vector<T*>& to) {
    to.push_back(*all.emplace_back(std::make_unique<OnDevice<T>>(values)));
  };
  std::vector<std::vector<T>> b;
  for (int i = 0; i < batch; ++i) {
    a.push_back(drawn<T>(lda * n));
    if (i == 2) std::copy_n(a[2].begin() + lda, lda, a[2].begin() + 3 * lda);
    b.push_back(drawn<T>(n * columns));
    put(a[i], of_a);
    put(a[i], of_factors);
    put(std::vector<T>(n * n), of_inverse);
    put(b[i], of_b);
  }
  OnDevice<T*> const on_a(of_a), on_factors(of_factors), on_inverse(of_inverse), on_b(of_b);
  OnDevice<int> const pivots(std::vector<int>(n * batch)), info(std::vector<int>(batch, 9));
  auto const solves = [&](int op, int i, std::vector<T> const& x, int width, auto const& right) {
    std::vector<T> found, expected;
    for (int j = 0; j < width; ++j)
      for (int row = 0; row < n; ++row) {
        T sum(0);
        for (int k = 0; k < n; ++k) sum += at(a[i], lda, op, row, k) * x[j * n + k];
        found.push_back(sum);
        expected.push_back(right(row, j));
      }
    expect(difference(found, expected) < 100 * tolerance<T>, name);
  };
  auto const one = [](int row, int column) { return T(row == column ? 1 : 0); };
  auto const values = [&](T* begin, int count) {
    std::vector<T> out(count);
    cudaMemcpy(out.data(), begin, count * sizeof(T), 2);
    return out;
  };
  expect(getrf(handle, n, on_factors, lda, pivots, info, batch) == 0, name);
  auto const zeros = info.values();
  expect(zeros[0] == 0 && zeros[1] == 0, name);
  expect(matinv(handle, n, on_a, lda, on_inverse, n, info, batch) == 0, name);
  expect(info.values()[0] == 0 && info.values()[1] == 0, name);
  for (int i = 0; i < 2; ++i) solves(0, i, values(of_inverse[i], n * n), n, one);
  expect(getri(handle, n, on_factors, lda, pivots, on_inverse, n, info, batch) == 0 && info.values() == zeros, name);
  for (int i = 0; i < 2; ++i) solves(0, i, values(of_inverse[i], n * n), n, one);
  for (int op = 0; op < 3; ++op) {
    int invalid = 9;
    for (int i = 0; i < batch; ++i) cudaMemcpy(of_b[i], b[i].data(), b[i].size() * sizeof(T), 1);
    expect(getrs(handle, op, n, columns, on_factors, lda, pivots, on_b, n, &invalid, 2) == 0 && invalid == 0, name);
    for (int i = 0; i < 2; ++i)
      solves(op, i, values(of_b[i], n * columns), columns, [&](int row, int j) { return b[i][j * n + row]; });
  }
  expect(matinv(handle, 33, on_a, 33, on_inverse, 33, info, batch) != 0, name);
  // Without exchanges: [0 1; 1 0] has no first pivot, and with them it has both.
  OnDevice<T> const turned(std::vector<T>{T(0), T(1), T(1), T(0)});
  OnDevice<T*> const on_turned(std::vector<T*>{turned.begin()});
  expect(getrf(handle, 2, on_turned, 2, nullptr, info, 1) == 0 && info.values()[0] == 1, name);
  cudaMemcpy(turned.begin(), std::vector<T>{T(0), T(1), T(1), T(0)}.data(), 4 * sizeof(T), 1);
  expect(getrf(handle, 2, on_turned, 2, pivots, info, 1) == 0 && info.values()[0] == 0 && pivots.values()[0] == 2,
         name);
}

void matrices() {
  int const n = 31, k = 19;
  auto const a = drawn<double>(n * k), b = drawn<double>(n * n);
  auto c = drawn<double>(n * n);
  OnDevice<double> const on_a(a), on_b(b), on_c(c);
  double const alpha = 2, beta = 3;
  expect(cublasDsyrk_v2(handle, 0, 0, n, k, &alpha, on_a, n, &beta, on_c, n) == 0, "syrk");
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) {
      double sum = 0;
      for (int p = 0; p < k; ++p) sum += a[p * n + i] * a[p * n + j];
      c[j * n + i] = 2 * sum + 3 * c[j * n + i];
    }
  expect(difference(on_c.values(), c) < 1e-12, "syrk values");
  expect(cublasDsymm_v2(handle, 1, 1, n, n, &alpha, on_b, n, on_b, n, &beta, on_c, n) == 0, "symm");
  auto const before = c;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      double sum = 0;
      for (int p = 0; p < n; ++p) sum += b[p * n + i] * (p <= j ? b[j * n + p] : b[p * n + j]);
      c[j * n + i] = 2 * sum + 3 * before[j * n + i];
    }
  expect(difference(on_c.values(), c) < 1e-12, "symm values");
  auto const x = drawn<double>(n), y = drawn<double>(n);
  OnDevice<double> const on_x(x), on_y(y);
  expect(cublasDgemv_v2(handle, 1, n, n, &alpha, on_b, n, on_x, 1, &beta, on_y, 1) == 0, "gemv");
  auto expected = y;
  for (int j = 0; j < n; ++j) {
    double sum = 0;
    for (int i = 0; i < n; ++i) sum += b[j * n + i] * x[i];
    expected[j] = 2 * sum + 3 * y[j];
  }
  expect(difference(on_y.values(), expected) < 1e-12, "gemv values");
  expect(cublasDger_v2(handle, n, n, &alpha, on_x, 1, on_y, 1, on_c, n) == 0, "ger");
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) c[j * n + i] += 2 * x[i] * expected[j];
  expect(difference(on_c.values(), c) < 1e-12, "ger values");
  auto const f = drawn<float>(6);
  float const one = 1, none = 0;
  OnDevice<float> const on_f(f), turned(std::vector<float>(6));
  expect(cublasSgeam(handle, 1, 0, 3, 2, &one, on_f, 2, &none, nullptr, 3, turned, 3) == 0, "geam");
  expect(turned.values() == std::vector<float>{f[0], f[2], f[4], f[1], f[3], f[5]}, "geam values");
  expect(cublasSgeam(handle, 1, 0, 3, 2, &one, on_f, 2, nullptr, nullptr, 3, turned, 3) == 0, "geam of one matrix");
  expect(turned.values() == std::vector<float>{f[0], f[2], f[4], f[1], f[3], f[5]}, "values of geam of one matrix");
}

void captured() {
  std::vector<float> const a{1, 2, 3, 4};
  OnDevice<float> const on_a(a), on_c(std::vector<float>(4));
  void *stream = nullptr, *graph = nullptr, *exec = nullptr;
  cudaStreamCreate(&stream);
  cublasSetStream_v2(handle, stream);
  cudaStreamBeginCapture(stream, 0);
  {
    float const one = 1;
    expect(cublasSgemm_v2(handle, 0, 0, 2, 2, 2, &one, on_a, 2, on_a, 2, &one, on_c, 2) == 0, "captured");
  }
  expect(on_c.values() == std::vector<float>(4), "nothing runs while it is captured");
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&exec, graph, 0);
  cudaGraphLaunch(exec, stream);
  cudaGraphLaunch(exec, stream);
  expect(on_c.values() == std::vector<float>{14, 20, 30, 44}, "a graph that ran twice");
  cublasSetStream_v2(handle, nullptr);
}

// Memory that is not the device's is never touched.
void out_of_bounds() {
  OnDevice<float> const a(std::vector<float>(64 * 64)), c(std::vector<float>(64 * 64));
  std::vector<float> host(64 * 64, 7);
  float const one = 1, none = 0;
  expect(cublasSgemm_v2(handle, 0, 0, 64, 64, 64, &one, a, 640, a, 64, &none, c, 64) == 13, "a leading dimension");
  expect(cublasSgemm_v2(handle, 0, 0, 64, 64, 64, &one, a, 32, a, 64, &none, c, 64) == 7, "one too small");
  expect(cublasSgemm_v2(handle, 0, 0, 64, 64, 64, &one, a, 64, a, 64, &none, host.data(), 64) == 13, "of the host");
  expect(host == std::vector<float>(64 * 64, 7), "the host's memory");
  expect(cublasSgemm_v2(nullptr, 0, 0, 1, 1, 1, &one, a, 1, a, 1, &none, c, 1) == 1, "no handle");
  expect(cublasSgelsBatched(handle, 0, 1, 1, 1, nullptr, 1, nullptr, 1, nullptr, nullptr, 1) == 15,
         "what there is not");
}

}  // namespace

int main(int argc, char** argv) {
  std::string const what = argc > 1 ? argv[1] : "";
  expect(cublasCreate_v2(&handle) == 0, "cublasCreate");
  if (what == "products") {
    products<float>(cublasSgemm_v2, "sgemm");
    products<double>(cublasDgemm_v2, "dgemm");
    products<C32>(cublasCgemm_v2, "cgemm");
    products<C64>(cublasZgemm_v2, "zgemm");
  }
  if (what == "narrow") narrow_types();
  if (what == "batches") batches(), batches_of_vectors();
  if (what == "vectors") vectors(), rotations(), vectors_of_types();
  if (what == "triangles") {
    triangles<double>(cublasDtrsm_v2, cublasDtrmm_v2, "real triangles");
    triangles<C64>(cublasZtrsm_v2, cublasZtrmm_v2, "complex triangles");
  }
  if (what == "factors") {
    factors<float>(cublasSgetrfBatched, cublasSgetriBatched, cublasSmatinvBatched, cublasSgetrsBatched, "real factors");
    factors<C64>(cublasZgetrfBatched, cublasZgetriBatched, cublasZmatinvBatched, cublasZgetrsBatched,
                 "complex factors");
  }
  if (what == "matrices") matrices();
  if (what == "captured") captured();
  if (what == "out_of_bounds") out_of_bounds();
  if (what == "one") {
    int const n = 1024;
    OnDevice<float> const a(std::vector<float>(n * n, 1)), c(std::vector<float>(n * n));
    float const one = 1, none = 0;
    for (int i = 0; i < 3; ++i)
      expect(cublasSgemm_v2(handle, 0, 1, n, n, n, &one, a, n, a, n, &none, c, n) == 0, "one");
    expect(c.values()[5] == n, "its values");
  }
  expect(cublasDestroy_v2(handle) == 0, "cublasDestroy");
  cudaDeviceSynchronize();
  if (wrong == 0) std::printf("right: %s\n", what.c_str());
  return wrong != 0;
}
