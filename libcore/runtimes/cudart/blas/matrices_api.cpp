// cuBLAS: matrices of which one part is given, and sums of matrices.
#include <fmt/format.h>

#include "runtimes/cudart/blas/handle.hpp"
#include "runtimes/hostmath/matrix.hpp"

using namespace kernelcast::cudart;
using namespace kernelcast::cudart::blas;
namespace hostmath = kernelcast::hostmath;
using hostmath::Index, hostmath::Matrix, hostmath::Op, hostmath::Part, hostmath::Real, hostmath::Rest;

namespace {

Op op_of(Transpose op) {
  return static_cast<Op>(op);
}

template <class T>
void add(LibraryCall& call, std::string_view name, T const* begin, Index rows, Index columns, Index leading,
         bool read = true, bool written = false) {
  call.matrix(name, begin, sizeof(T), static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns),
              static_cast<std::uint64_t>(leading), read, written);
}

// Of a batch, by an array of pointers.
template <class T>
void add_all(LibraryCall& call, std::string_view name, T const* const* begin, Index batch, Index rows, Index columns,
             Index leading, bool read = true, bool written = false) {
  auto const bytes = static_cast<std::uint64_t>(batch) * sizeof(void*);
  call.operands.push_back({name, begin, bytes, bytes, true, false});
  if (!device_holds(begin, bytes)) return;  // which will be said
  for (Index i = 0; i < batch; ++i) add(call, name, begin[i], rows, columns, leading, read, written);
}

struct Words {
  char const *call, *operation;
  std::string sizes;  // of the column library
  Index m, n;
  double flop;
};

template <class T, class Describe>
Status on_matrices(Handle* handle, Words const& words, Describe const& describe) {
  return status_of(library_call(handle->stream, [=](LibraryCall& call) {
    call.kernel = words.call;
    call.case_name = fmt::format("m{}_n{}", words.m, words.n);
    call.library = fmt::format("{}:{}:{}", words.operation, name_of<T>, words.sizes);
    call.flop = words.flop;
    if (words.m > 0 && words.n > 0) describe(call);
  }));
}

double cubed(Index a, Index b, Index c) {
  return static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(c);
}

bool is_invalid(Index rows, Index columns, Index leading) {
  return rows < 0 || columns < 0 || leading < std::max<Index>(1, rows);
}

// C = alpha op(A) op(A)' + beta C, one part of it. ' transposes, of `hermitian` it conjugates, too.
template <class T, class F>
Status syrk(Handle* handle, char const* name, Fill fill, Transpose op, Index n, Index k, F const* alpha, T const* a,
            Index lda, F const* beta, T* c, Index ldc, bool hermitian) {
  if (!known(handle)) return Status::not_initialized;
  if (!alpha || !beta || is_invalid(op == Transpose::none ? n : k, op == Transpose::none ? k : n, lda) ||
      is_invalid(n, n, ldc))
    return Status::invalid_value;
  Scalar<F> const by(*handle, alpha), with(*handle, beta);
  Words const words{name, "gemm", fmt::format("{}x{}x{}x1", n, n, k), n, k, flop_of_product<T> / 2 * cubed(n, n, k)};
  return on_matrices<T>(handle, words, [=](LibraryCall& call) {
    by.add_to(call, "alpha");
    with.add_to(call, "beta");
    if (op == Transpose::none)
      add(call, "A", a, n, k, lda);
    else
      add(call, "A", a, k, n, lda);
    add(call, "C", c, n, n, ldc, true, true);
    call.work = [=] {
      std::vector<T> whole(static_cast<std::size_t>(n * n));
      auto const left = Matrix<T const>::by_columns(a, lda, op_of(op));
      auto right = left.transposed();
      if (hermitian) right.conjugated = !right.conjugated;
      hostmath::multiply<T, T, T>(n, n, k, T(by.value()), left, right, T(0), {whole.data(), 1, n});
      T const scale = T(with.value());
      for (Index j = 0; j < n; ++j)
        for (Index i = fill == Fill::lower ? j : 0; i < (fill == Fill::lower ? n : j + 1); ++i) {
          T& to = c[j * ldc + i];
          T const value = whole[static_cast<std::size_t>(j * n + i)];
          to = scale == T(0) ? value : value + scale * to;
          if constexpr (hostmath::is_complex<T>)
            if (hermitian && i == j) to.im = 0;
        }
    };
  });
}

// C = alpha A B + beta C, or with B A on the other side; A symmetric.
template <class T>
Status symm(Handle* handle, char const* name, Side side, Fill fill, Index m, Index n, T const* alpha, T const* a,
            Index lda, T const* b, Index ldb, T const* beta, T* c, Index ldc, Rest rest) {
  if (!known(handle)) return Status::not_initialized;
  Index const order = side == Side::left ? m : n;
  if (!alpha || !beta || is_invalid(order, order, lda) || is_invalid(m, n, ldb) || is_invalid(m, n, ldc))
    return Status::invalid_value;
  Scalar<T> const by(*handle, alpha), with(*handle, beta);
  Words const words{name, "gemm", fmt::format("{}x{}x{}x1", m, n, order),
                    m,    n,      flop_of_product<T> * cubed(m, n, order)};
  return on_matrices<T>(handle, words, [=](LibraryCall& call) {
    by.add_to(call, "alpha");
    with.add_to(call, "beta");
    add(call, "A", a, order, order, lda);
    add(call, "B", b, m, n, ldb);
    add(call, "C", c, m, n, ldc, true, true);
    call.work = [=] {
      auto const all =
          hostmath::completed<T>(order, static_cast<Part>(fill), rest, false, Matrix<T const>::by_columns(a, lda));
      Matrix<T const> const whole{all.data(), 1, order}, other{b, 1, ldb};
      hostmath::multiply<T, T, T>(m, n, order, by.value(), side == Side::left ? whole : other,
                                  side == Side::left ? other : whole, with.value(), {c, 1, ldc});
    };
  });
}

struct Triangle {
  Side side;
  Fill fill;
  Transpose op;
  Diagonal diagonal;

  Part part() const {  // of op(A)
    return (op == Transpose::none) == (fill == Fill::lower) ? Part::lower : Part::upper;
  }
};

template <class T>
void solve(Triangle const& t, Index m, Index n, T alpha, T const* a, Index lda, T* b, Index ldb) {
  auto const matrix = Matrix<T const>::by_columns(a, lda, op_of(t.op));
  bool const unit = t.diagonal == Diagonal::unit;
  if (t.side == Side::left) return hostmath::solve_triangular<T>(m, n, t.part(), unit, alpha, matrix, {b, 1, ldb});
  // X op(A) = B: its transpose.
  auto const part = t.part() == Part::lower ? Part::upper : Part::lower;
  hostmath::solve_triangular<T>(n, m, part, unit, alpha, matrix.transposed(), {b, ldb, 1});
}

template <class T>
Status trsm(Handle* handle, char const* name, Triangle const& t, Index m, Index n, T const* alpha, T const* a,
            Index lda, T* b, Index ldb) {
  if (!known(handle)) return Status::not_initialized;
  Index const order = t.side == Side::left ? m : n;
  if (!alpha || is_invalid(order, order, lda) || is_invalid(m, n, ldb)) return Status::invalid_value;
  Scalar<T> const by(*handle, alpha);
  Words const words{name, "triangular", fmt::format("{}x{}", m, n), m, n, flop_of_product<T> / 2 * cubed(m, n, order)};
  return on_matrices<T>(handle, words, [=](LibraryCall& call) {
    by.add_to(call, "alpha");
    add(call, "A", a, order, order, lda);
    add(call, "B", b, m, n, ldb, true, true);
    call.work = [=] { solve<T>(t, m, n, by.value(), a, lda, b, ldb); };
  });
}

template <class T>
Status trsm_batched(Handle* handle, char const* name, Triangle const& t, Index m, Index n, T const* alpha,
                    T const* const* a, Index lda, T* const* b, Index ldb, Index batch) {
  if (!known(handle)) return Status::not_initialized;
  Index const order = t.side == Side::left ? m : n;
  if (!alpha || batch < 0 || is_invalid(order, order, lda) || is_invalid(m, n, ldb)) return Status::invalid_value;
  Scalar<T> const by(*handle, alpha);
  Words const words{name,
                    "triangular",
                    fmt::format("{}x{}x{}", m, n, batch),
                    m,
                    n,
                    flop_of_product<T> / 2 * cubed(m, n, order) * static_cast<double>(batch)};
  return on_matrices<T>(handle, words, [=](LibraryCall& call) {
    if (batch == 0) return;
    by.add_to(call, "alpha");
    add_all(call, "A", a, batch, order, order, lda);
    add_all(call, "B", b, batch, m, n, ldb, true, true);
    call.work = [=] {
      for (Index i = 0; i < batch; ++i) solve<T>(t, m, n, by.value(), a[i], lda, b[i], ldb);
    };
  });
}

// A batch of square matrices, each by its factors. `flop`: of one, over n^3.
template <class T, class Describe>
Status on_factors(Handle* handle, char const* name, Index n, Index columns, Index batch, bool valid, double flop,
                  Describe const& describe) {
  if (!known(handle)) return Status::not_initialized;
  if (!valid || batch < 0) return Status::invalid_value;
  Words const words{name, "factors", fmt::format("{}x{}x{}", n, columns, batch),
                    n,    batch,     flop * flop_of_product<T> / 2 * cubed(n, n, columns) * static_cast<double>(batch)};
  return on_matrices<T>(handle, words, describe);
}

template <class T>
Status getrf_batched(Handle* handle, char const* name, Index n, T* const* a, Index lda, int* pivots, int* zero,
                     Index batch) {
  return on_factors<T>(handle, name, n, n, batch, !is_invalid(n, n, lda), 2.0 / 3, [=](LibraryCall& call) {
    add_all(call, "A", a, batch, n, n, lda, true, true);
    if (pivots) add(call, "P", pivots, n, batch, n, false, true);
    add(call, "info", zero, batch, 1, batch, false, true);
    call.work = [=] {
      for (Index i = 0; i < batch; ++i)
        zero[i] = hostmath::factorise(n, Matrix<T>::by_columns(a[i], lda), pivots ? pivots + i * n : nullptr);
    };
  });
}

template <class T>
Status getrs_batched(Handle* handle, char const* name, Transpose op, Index n, Index columns, T const* const* a,
                     Index lda, int const* pivots, T* const* b, Index ldb, int* invalid, Index batch) {
  bool const valid = !is_invalid(n, n, lda) && !is_invalid(n, columns, ldb) && invalid;
  if (invalid) *invalid = 0;
  return on_factors<T>(handle, name, n, columns, batch, valid, 2, [=](LibraryCall& call) {
    add_all(call, "A", a, batch, n, n, lda);
    add_all(call, "B", b, batch, n, columns, ldb, true, true);
    if (pivots) add(call, "P", pivots, n, batch, n);
    call.work = [=] {
      for (Index i = 0; i < batch; ++i)
        hostmath::solve_factorised(n, columns, op_of(op), a[i], lda, pivots ? pivots + i * n : nullptr,
                                   Matrix<T>::by_columns(b[i], ldb));
    };
  });
}

// The inverse of what is factorised, unless a pivot is 0, which is said as factorise() does.
template <class T>
int invert(Index n, T const* factors, Index leading, int const* pivots, T* c, Index ldc) {
  for (Index k = 0; k < n; ++k)
    if (factors[k * leading + k] == T(0)) return static_cast<int>(k + 1);
  for (Index j = 0; j < n; ++j)
    for (Index i = 0; i < n; ++i) c[j * ldc + i] = T(i == j ? 1 : 0);
  hostmath::solve_factorised(n, n, Op::none, factors, leading, pivots, Matrix<T>::by_columns(c, ldc));
  return 0;
}

// Of factors, or (matinv) of the matrices themselves, which are small.
template <class T>
Status invert_batched(Handle* handle, char const* name, bool factorised, Index n, T const* const* a, Index lda,
                      int const* pivots, T* const* c, Index ldc, int* zero, Index batch) {
  constexpr Index most = 32;  // of matinv
  bool const valid = !is_invalid(n, n, lda) && !is_invalid(n, n, ldc) && (factorised || n <= most);
  return on_factors<T>(handle, name, n, n, batch, valid, factorised ? 4.0 / 3 : 2, [=](LibraryCall& call) {
    add_all(call, "A", a, batch, n, n, lda);
    add_all(call, "C", c, batch, n, n, ldc, false, true);
    if (pivots) add(call, "P", pivots, n, batch, n);
    add(call, "info", zero, batch, 1, batch, false, true);
    call.work = [=] {
      std::vector<T> own;
      std::vector<int> rows(static_cast<std::size_t>(n));
      for (Index i = 0; i < batch; ++i) {
        if (factorised) {
          zero[i] = invert(n, a[i], lda, pivots ? pivots + i * n : nullptr, c[i], ldc);
          continue;
        }
        own.resize(static_cast<std::size_t>(n * n));
        for (Index j = 0; j < n; ++j) std::copy_n(a[i] + j * lda, n, &own[static_cast<std::size_t>(j * n)]);
        hostmath::factorise(n, Matrix<T>::by_columns(own.data(), n), rows.data());
        zero[i] = invert(n, own.data(), n, rows.data(), c[i], ldc);
      }
    };
  });
}

template <class T>
Status trmm(Handle* handle, char const* name, Triangle const& t, Index m, Index n, T const* alpha, T const* a,
            Index lda, T const* b, Index ldb, T* c, Index ldc) {
  if (!known(handle)) return Status::not_initialized;
  Index const order = t.side == Side::left ? m : n;
  if (!alpha || is_invalid(order, order, lda) || is_invalid(m, n, ldb) || is_invalid(m, n, ldc))
    return Status::invalid_value;
  Scalar<T> const by(*handle, alpha);
  Words const words{name, "gemm", fmt::format("{}x{}x{}x1", m, n, order),
                    m,    n,      flop_of_product<T> / 2 * cubed(m, n, order)};
  return on_matrices<T>(handle, words, [=](LibraryCall& call) {
    by.add_to(call, "alpha");
    add(call, "A", a, order, order, lda);
    add(call, "B", b, m, n, ldb);
    add(call, "C", c, m, n, ldc, false, true);
    call.work = [=] {
      auto const all = hostmath::completed<T>(order, t.part(), Rest::zero, t.diagonal == Diagonal::unit,
                                              Matrix<T const>::by_columns(a, lda, op_of(t.op)));
      std::vector<T> before(static_cast<std::size_t>(m * n));  // C may be B
      for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < m; ++i) before[static_cast<std::size_t>(j * m + i)] = b[j * ldb + i];
      Matrix<T const> const whole{all.data(), 1, order}, other{before.data(), 1, m};
      hostmath::multiply<T, T, T>(m, n, order, by.value(), t.side == Side::left ? whole : other,
                                  t.side == Side::left ? other : whole, T(0), {c, 1, ldc});
    };
  });
}

// C = alpha op(A) + beta op(B). What a factor of 0 stands before is not read; one that is not there is 0, as cuSOLVER
// takes for granted.
template <class T>
Status geam(Handle* handle, char const* name, Transpose op_a, Transpose op_b, Index m, Index n, T const* alpha,
            T const* a, Index lda, T const* beta, T const* b, Index ldb, T* c, Index ldc) {
  if (!known(handle)) return Status::not_initialized;
  bool const a_across = op_a != Transpose::none, b_across = op_b != Transpose::none;
  if ((!alpha && !beta) || is_invalid(m, n, ldc)) return Status::invalid_value;
  auto const factor = [&](T const* given) { return given ? Scalar<T>(*handle, given) : Scalar<T>(T(0)); };
  auto const by = factor(alpha), with = factor(beta);
  bool const known_scalars = handle->pointers == PointerMode::host;
  Words const words{name, "vector", fmt::format("{}x{}", m, n), m, n, flop_of_product<T> * cubed(m, n, 1)};
  return on_matrices<T>(handle, words, [=](LibraryCall& call) {
    by.add_to(call, "alpha");
    with.add_to(call, "beta");
    bool const reads_a = alpha && !(known_scalars && by.value() == T(0));
    bool const reads_b = beta && !(known_scalars && with.value() == T(0));
    if (reads_a) add(call, "A", a, a_across ? n : m, a_across ? m : n, lda);
    if (reads_b) add(call, "B", b, b_across ? n : m, b_across ? m : n, ldb);
    add(call, "C", c, m, n, ldc, false, true);
    call.work = [=] {
      T const x = by.value(), y = with.value();
      std::vector<T> sums(static_cast<std::size_t>(m * n));  // C may be A or B
      auto const one = Matrix<T const>::by_columns(a, lda, op_of(op_a));
      auto const other = Matrix<T const>::by_columns(b, ldb, op_of(op_b));
      for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < m; ++i) {
          T value(0);
          if (reads_a && !(x == T(0))) value = x * one.value(i, j);
          if (reads_b && !(y == T(0))) value = value + y * other.value(i, j);
          sums[static_cast<std::size_t>(j * m + i)] = value;
        }
      for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < m; ++i) c[j * ldc + i] = sums[static_cast<std::size_t>(j * m + i)];
    };
  });
}

// C = diag(x) A, or A diag(x) on the other side.
template <class T>
Status dgmm(Handle* handle, char const* name, Side side, Index m, Index n, T const* a, Index lda, T const* x,
            Index incx, T* c, Index ldc) {
  if (!known(handle)) return Status::not_initialized;
  if (is_invalid(m, n, lda) || is_invalid(m, n, ldc)) return Status::invalid_value;
  Words const words{name, "vector", fmt::format("{}x{}", m, n), m, n, flop_of_product<T> / 2 * cubed(m, n, 1)};
  return on_matrices<T>(handle, words, [=](LibraryCall& call) {
    Index const count = side == Side::left ? m : n;
    add(call, "A", a, m, n, lda);
    add(call, "x", x, 1, count, std::max<Index>(1, std::abs(incx)));
    add(call, "C", c, m, n, ldc, false, true);
    call.work = [=] {
      T const* const first = incx < 0 ? x + (1 - count) * incx : x;
      for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < m; ++i) c[j * ldc + i] = a[j * lda + i] * first[(side == Side::left ? i : j) * incx];
    };
  });
}

}  // namespace

// clang-format off
#define EXPORT KERNELCAST_CUDA_EXPORT Status
#define KERNELCAST_EACH(T, l, Int, wide) \
  EXPORT cublas##l##syrk_v2##wide(Handle* h, Fill fill, Transpose op, Int n, Int k, T const* alpha, T const* a, Int lda, T const* beta, T* c, Int ldc) { return syrk<T, T>(h, "cublas" #l "syrk", fill, op, n, k, alpha, a, lda, beta, c, ldc, false); } \
  EXPORT cublas##l##symm_v2##wide(Handle* h, Side side, Fill fill, Int m, Int n, T const* alpha, T const* a, Int lda, T const* b, Int ldb, T const* beta, T* c, Int ldc) { return symm<T>(h, "cublas" #l "symm", side, fill, m, n, alpha, a, lda, b, ldb, beta, c, ldc, Rest::mirrored); } \
  EXPORT cublas##l##trsm_v2##wide(Handle* h, Side side, Fill fill, Transpose op, Diagonal unit, Int m, Int n, T const* alpha, T const* a, Int lda, T* b, Int ldb) { return trsm<T>(h, "cublas" #l "trsm", {side, fill, op, unit}, m, n, alpha, a, lda, b, ldb); } \
  EXPORT cublas##l##trmm_v2##wide(Handle* h, Side side, Fill fill, Transpose op, Diagonal unit, Int m, Int n, T const* alpha, T const* a, Int lda, T const* b, Int ldb, T* c, Int ldc) { return trmm<T>(h, "cublas" #l "trmm", {side, fill, op, unit}, m, n, alpha, a, lda, b, ldb, c, ldc); } \
  EXPORT cublas##l##trsmBatched##wide(Handle* h, Side side, Fill fill, Transpose op, Diagonal unit, Int m, Int n, T const* alpha, T const* const* a, Int lda, T* const* b, Int ldb, Int batch) { return trsm_batched<T>(h, "cublas" #l "trsmBatched", {side, fill, op, unit}, m, n, alpha, a, lda, b, ldb, batch); } \
  EXPORT cublas##l##geam##wide(Handle* h, Transpose op_a, Transpose op_b, Int m, Int n, T const* alpha, T const* a, Int lda, T const* beta, T const* b, Int ldb, T* c, Int ldc) { return geam<T>(h, "cublas" #l "geam", op_a, op_b, m, n, alpha, a, lda, beta, b, ldb, c, ldc); } \
  EXPORT cublas##l##dgmm##wide(Handle* h, Side side, Int m, Int n, T const* a, Int lda, T const* x, Int incx, T* c, Int ldc) { return dgmm<T>(h, "cublas" #l "dgmm", side, m, n, a, lda, x, incx, c, ldc); }
// Of 32-bit sizes alone.
#define KERNELCAST_FACTORS(T, l) \
  EXPORT cublas##l##getrfBatched(Handle* h, int n, T* const* a, int lda, int* pivots, int* info, int batch) { return getrf_batched<T>(h, "cublas" #l "getrfBatched", n, a, lda, pivots, info, batch); } \
  EXPORT cublas##l##getriBatched(Handle* h, int n, T const* const* a, int lda, int const* pivots, T* const* c, int ldc, int* info, int batch) { return invert_batched<T>(h, "cublas" #l "getriBatched", true, n, a, lda, pivots, c, ldc, info, batch); } \
  EXPORT cublas##l##matinvBatched(Handle* h, int n, T const* const* a, int lda, T* const* c, int ldc, int* info, int batch) { return invert_batched<T>(h, "cublas" #l "matinvBatched", false, n, a, lda, nullptr, c, ldc, info, batch); } \
  EXPORT cublas##l##getrsBatched(Handle* h, Transpose op, int n, int columns, T const* const* a, int lda, int const* pivots, T* const* b, int ldb, int* info, int batch) { return getrs_batched<T>(h, "cublas" #l "getrsBatched", op, n, columns, a, lda, pivots, b, ldb, info, batch); }
KERNELCAST_FACTORS(float, S)
KERNELCAST_FACTORS(double, D)
KERNELCAST_FACTORS(C32, C)
KERNELCAST_FACTORS(C64, Z)
#define KERNELCAST_COMPLEX(T, l, R, Int, wide) \
  EXPORT cublas##l##herk_v2##wide(Handle* h, Fill fill, Transpose op, Int n, Int k, R const* alpha, T const* a, Int lda, R const* beta, T* c, Int ldc) { return syrk<T, R>(h, "cublas" #l "herk", fill, op, n, k, alpha, a, lda, beta, c, ldc, true); } \
  EXPORT cublas##l##hemm_v2##wide(Handle* h, Side side, Fill fill, Int m, Int n, T const* alpha, T const* a, Int lda, T const* b, Int ldb, T const* beta, T* c, Int ldc) { return symm<T>(h, "cublas" #l "hemm", side, fill, m, n, alpha, a, lda, b, ldb, beta, c, ldc, Rest::hermitian); }
#define KERNELCAST_ALL(Int, wide) \
  KERNELCAST_EACH(float, S, Int, wide) KERNELCAST_EACH(double, D, Int, wide) KERNELCAST_EACH(C32, C, Int, wide) KERNELCAST_EACH(C64, Z, Int, wide) \
  KERNELCAST_COMPLEX(C32, C, float, Int, wide) KERNELCAST_COMPLEX(C64, Z, double, Int, wide)
KERNELCAST_ALL(int, )
KERNELCAST_ALL(std::int64_t, _64)
