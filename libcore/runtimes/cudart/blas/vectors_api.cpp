// cuBLAS: vectors, and a matrix with vectors.
#include <cmath>

#include <fmt/format.h>

#include "runtimes/cudart/blas/handle.hpp"
#include "runtimes/hostmath/matrix.hpp"

using namespace kernelcast::cudart;
using namespace kernelcast::cudart::blas;
namespace hostmath = kernelcast::hostmath;
using hostmath::Index, hostmath::Matrix, hostmath::Op, hostmath::Part, hostmath::Real;

namespace {

// What numbers of 16 bits are calculated in, and others as they are.
template <class T>
inline constexpr bool is_narrow = std::is_same_v<T, hostmath::Half> || std::is_same_v<T, hostmath::BFloat>;
template <class T>
using Calculated = std::conditional_t<is_narrow<T>, float, T>;
template <class T>
Calculated<T> calculated(T value) {
  return static_cast<Calculated<T>>(value);
}

template <class T>
struct Argument {  // n numbers, `step` apart; of a negative step the last comes first
  std::string_view name;
  T* begin;
  Index n, step;

  void add_to(LibraryCall& call, bool read, bool written) const {
    auto const apart = static_cast<std::uint64_t>(std::abs(step));
    call.matrix(name, begin, sizeof(T), 1, static_cast<std::uint64_t>(n), std::max<std::uint64_t>(apart, 1), read,
                written);
  }
  hostmath::Vector<T> vector() const { return {step < 0 ? begin + (1 - n) * step : begin, step}; }
};

struct Words {
  char const* call;
  double flop;
};

// A call on vectors: `work` gets them ready.
template <class T, class Describe>
Status on_vectors(Handle* handle, Words const& words, Index n, Describe const& describe) {
  return status_of(library_call(handle->stream, [=](LibraryCall& call) {
    call.kernel = words.call;
    call.case_name = fmt::format("n{}", n);
    call.library = fmt::format("vector:{}:{}", name_of<T>, n);
    call.flop = words.flop * static_cast<double>(n);
    if (n > 0) describe(call);
  }));
}

template <class T, class F>
Status axpy(Handle* handle, char const* name, Index n, F const* alpha, T const* x, Index incx, T* y, Index incy) {
  if (!known(handle)) return Status::not_initialized;
  if (!alpha) return Status::invalid_value;
  Scalar<F> const factor(*handle, alpha);
  return on_vectors<T>(handle, {name, flop_of_product<T>}, n, [=](LibraryCall& call) {
    Argument<T const> const from{"x", x, n, incx};
    Argument<T> const to{"y", y, n, incy};
    factor.add_to(call, "alpha");
    from.add_to(call, true, false);
    to.add_to(call, true, true);
    call.work = [=] {
      auto const a = static_cast<Calculated<T>>(factor.value());
      for (Index i = 0; i < n; ++i) to.vector()[i] = T(calculated(to.vector()[i]) + a * calculated(from.vector()[i]));
    };
  });
}

template <class T>
Status copy(Handle* handle, char const* name, Index n, T const* x, Index incx, T* y, Index incy) {
  if (!known(handle)) return Status::not_initialized;
  return on_vectors<T>(handle, {name, 0}, n, [=](LibraryCall& call) {
    Argument<T const> const from{"x", x, n, incx};
    Argument<T> const to{"y", y, n, incy};
    from.add_to(call, true, false);
    to.add_to(call, false, true);
    call.work = [=] {
      for (Index i = 0; i < n; ++i) to.vector()[i] = from.vector()[i];
    };
  });
}

template <class T>
Status swap(Handle* handle, char const* name, Index n, T* x, Index incx, T* y, Index incy) {
  if (!known(handle)) return Status::not_initialized;
  return on_vectors<T>(handle, {name, 0}, n, [=](LibraryCall& call) {
    Argument<T> const one{"x", x, n, incx}, other{"y", y, n, incy};
    one.add_to(call, true, true);
    other.add_to(call, true, true);
    call.work = [=] {
      for (Index i = 0; i < n; ++i) std::swap(one.vector()[i], other.vector()[i]);
    };
  });
}

// x = c x + s y, y = c y - s* x.
template <class T, class S>
Status rot(Handle* handle, char const* name, Index n, T* x, Index incx, T* y, Index incy, Real<T> const* c,
           S const* s) {
  if (!known(handle)) return Status::not_initialized;
  if (!c || !s) return Status::invalid_value;
  Scalar<Real<T>> const cosine(*handle, c);
  Scalar<S> const sine(*handle, s);
  return on_vectors<T>(handle, {name, 2 * flop_of_product<T>}, n, [=](LibraryCall& call) {
    Argument<T> const one{"x", x, n, incx}, other{"y", y, n, incy};
    cosine.add_to(call, "c");
    sine.add_to(call, "s");
    one.add_to(call, true, true);
    other.add_to(call, true, true);
    call.work = [=] {
      T const by_c(cosine.value()), by_s(sine.value());
      for (Index i = 0; i < n; ++i) {
        T &v = one.vector()[i], &w = other.vector()[i];
        T const before = v;
        v = by_c * before + by_s * w;
        w = by_c * w - hostmath::conjugate(by_s) * before;
      }
    };
  });
}

template <class T, class F>
Status scal(Handle* handle, char const* name, Index n, F const* alpha, T* x, Index incx) {
  if (!known(handle)) return Status::not_initialized;
  if (!alpha) return Status::invalid_value;
  if (incx <= 0) n = 0;
  Scalar<F> const factor(*handle, alpha);
  return on_vectors<T>(handle, {name, flop_of_product<T> / 2}, n, [=](LibraryCall& call) {
    Argument<T> const to{"x", x, n, incx};
    factor.add_to(call, "alpha");
    to.add_to(call, true, true);
    call.work = [=] {
      auto const a = static_cast<Calculated<T>>(factor.value());
      for (Index i = 0; i < n; ++i) to.vector()[i] = T(a * calculated(to.vector()[i]));
    };
  });
}

// To one number; without elements it is `of_none`, which the host writes.
template <class T, class R, class Reduce>
Status reduce(Handle* handle, Words const& words, Index n, R of_none, R* result,
              std::initializer_list<Argument<T const>> arguments, Reduce const& work) {
  if (!known(handle)) return Status::not_initialized;
  if (!result) return Status::invalid_value;
  Result<R> const to(*handle, result);
  if (n <= 0 && !to.device) *result = of_none;
  std::vector<Argument<T const>> const given(arguments);
  return on_vectors<T>(handle, words, std::max<Index>(n, to.device ? 1 : 0), [=](LibraryCall& call) {
    if (n > 0)
      for (auto const& argument : given) argument.add_to(call, true, false);
    to.add_to(call, "result");
    call.work = [=] { *to.to = n > 0 ? work() : of_none; };
  });
}

template <class T>
using Wide = std::conditional_t<hostmath::is_complex<T>, C64, double>;
template <class T>
Wide<T> wide(T value) {
  if constexpr (hostmath::is_complex<T>)
    return {value.re, value.im};
  else
    return double{calculated(value)};
}
template <class T>
T narrow(Wide<T> value) {
  if constexpr (hostmath::is_complex<T>)
    return {static_cast<Real<T>>(value.re), static_cast<Real<T>>(value.im)};
  else
    return static_cast<T>(static_cast<Calculated<T>>(value));
}

template <class T>
Status dot(Handle* handle, char const* name, Index n, T const* x, Index incx, T const* y, Index incy, T* result,
           bool conjugated) {
  Argument<T const> const a{"x", x, n, incx}, b{"y", y, n, incy};
  return reduce<T, T>(handle, {name, flop_of_product<T>}, n, T(0), result, {a, b}, [=] {
    Wide<T> sum(0);
    for (Index i = 0; i < n; ++i) {
      auto const v = wide(a.vector()[i]);
      sum = sum + (conjugated ? hostmath::conjugate(v) : v) * wide(b.vector()[i]);
    }
    return narrow<T>(sum);
  });
}

template <class T>
double magnitude(T value) {  // of cublasI?amax and asum
  if constexpr (hostmath::is_complex<T>)
    return std::abs(double{value.re}) + std::abs(double{value.im});
  else
    return std::abs(double{calculated(value)});
}

template <class T>
Status nrm2(Handle* handle, char const* name, Index n, T const* x, Index incx, Real<T>* result) {
  if (incx <= 0) n = 0;
  Argument<T const> const a{"x", x, n, incx};
  return reduce<T, Real<T>>(handle, {name, flop_of_product<T>}, n, Real<T>(0), result, {a}, [=] {
    double scale = 0, sum = 1;  // as the reference BLAS, so that squares do not overflow
    auto const add = [&](double part) {
      if (part == 0) return;
      double const size = std::abs(part);
      if (scale < size)
        sum = 1 + sum * (scale / size) * (scale / size), scale = size;
      else
        sum += size / scale * (size / scale);
    };
    for (Index i = 0; i < n; ++i) {
      auto const v = wide(a.vector()[i]);
      if constexpr (hostmath::is_complex<T>)
        add(v.re), add(v.im);
      else
        add(v);
    }
    return static_cast<Real<T>>(static_cast<Calculated<Real<T>>>(scale * std::sqrt(sum)));
  });
}

template <class T>
Status asum(Handle* handle, char const* name, Index n, T const* x, Index incx, Real<T>* result) {
  if (incx <= 0) n = 0;
  Argument<T const> const a{"x", x, n, incx};
  return reduce<T, Real<T>>(handle, {name, flop_of_product<T> / 2}, n, Real<T>(0), result, {a}, [=] {
    double sum = 0;
    for (Index i = 0; i < n; ++i) sum += magnitude(a.vector()[i]);
    return static_cast<Real<T>>(static_cast<Calculated<Real<T>>>(sum));
  });
}

// The first of the largest or smallest, from 1.
template <class T, class R>
Status extreme(Handle* handle, char const* name, Index n, T const* x, Index incx, R* result, bool largest) {
  if (incx <= 0) n = 0;
  Argument<T const> const a{"x", x, n, incx};
  return reduce<T, R>(handle, {name, 1}, n, R(0), result, {a}, [=] {
    Index best = 0;
    for (Index i = 1; i < n; ++i) {
      double const one = magnitude(a.vector()[i]), other = magnitude(a.vector()[best]);
      if (largest ? one > other : one < other) best = i;
    }
    return static_cast<R>(best + 1);
  });
}

// ---------------------------------------------------------------- a matrix and vectors

Op op_of(Transpose op) {
  return static_cast<Op>(op);
}
bool is_valid(Transpose op) {
  return op >= Transpose::none && op <= Transpose::conjugated;
}

template <class T, class Describe>
Status on_matrix(Handle* handle, char const* name, Index m, Index n, double flop, char const* operation,
                 Describe const& describe) {
  return status_of(library_call(handle->stream, [=](LibraryCall& call) {
    call.kernel = name;
    call.case_name = fmt::format("m{}_n{}", m, n);
    call.library = fmt::format("{}:{}:{}x{}", operation, name_of<T>, m, n);
    call.flop = flop * static_cast<double>(m) * static_cast<double>(n);
    if (m > 0 && n > 0) describe(call);
  }));
}

template <class T>
void add_matrix(LibraryCall& call, T const* a, Index m, Index n, Index lda, bool written = false) {
  call.matrix("A", a, sizeof(T), static_cast<std::uint64_t>(m), static_cast<std::uint64_t>(n),
              static_cast<std::uint64_t>(lda), true, written);
}

template <class T>
Status gemv(Handle* handle, char const* name, Transpose op, Index m, Index n, T const* alpha, T const* a, Index lda,
            T const* x, Index incx, T const* beta, T* y, Index incy) {
  if (!known(handle)) return Status::not_initialized;
  if (m < 0 || n < 0 || lda < std::max<Index>(1, m) || incx == 0 || incy == 0 || !alpha || !beta || !is_valid(op))
    return Status::invalid_value;
  Scalar<T> const by(*handle, alpha), with(*handle, beta);
  bool const across = op != Transpose::none;
  Argument<T const> const from{"x", x, across ? m : n, incx};
  Argument<T> const to{"y", y, across ? n : m, incy};
  return on_matrix<T>(handle, name, m, n, flop_of_product<T>, "vector", [=](LibraryCall& call) {
    by.add_to(call, "alpha");
    with.add_to(call, "beta");
    add_matrix(call, a, m, n, lda);
    from.add_to(call, true, false);
    to.add_to(call, true, true);
    call.work = [=] {
      auto const v = from.vector();
      auto const w = to.vector();
      hostmath::multiply<T, T, T>(to.n, 1, from.n, by.value(), Matrix<T const>::by_columns(a, lda, op_of(op)),
                                  {v.begin, v.step, 0}, with.value(), {w.begin, w.step, 0});
    };
  });
}

template <class T>
Status ger(Handle* handle, char const* name, Index m, Index n, T const* alpha, T const* x, Index incx, T const* y,
           Index incy, T* a, Index lda, bool conjugated) {
  if (!known(handle)) return Status::not_initialized;
  if (m < 0 || n < 0 || lda < std::max<Index>(1, m) || incx == 0 || incy == 0 || !alpha) return Status::invalid_value;
  Scalar<T> const by(*handle, alpha);
  Argument<T const> const column{"x", x, m, incx}, row{"y", y, n, incy};
  return on_matrix<T>(handle, name, m, n, flop_of_product<T>, "vector", [=](LibraryCall& call) {
    by.add_to(call, "alpha");
    column.add_to(call, true, false);
    row.add_to(call, true, false);
    add_matrix(call, a, m, n, lda, true);
    call.work = [=] {
      T const factor = by.value();
      for (Index j = 0; j < n; ++j) {
        T const v = row.vector()[j], scaled = factor * (conjugated ? hostmath::conjugate(v) : v);
        for (Index i = 0; i < m; ++i) a[j * lda + i] = a[j * lda + i] + column.vector()[i] * scaled;
      }
    };
  });
}

template <class T>
Status symv(Handle* handle, char const* name, Fill fill, Index n, T const* alpha, T const* a, Index lda, T const* x,
            Index incx, T const* beta, T* y, Index incy, hostmath::Rest rest) {
  if (!known(handle)) return Status::not_initialized;
  if (n < 0 || lda < std::max<Index>(1, n) || incx == 0 || incy == 0 || !alpha || !beta) return Status::invalid_value;
  Scalar<T> const by(*handle, alpha), with(*handle, beta);
  Argument<T const> const from{"x", x, n, incx};
  Argument<T> const to{"y", y, n, incy};
  return on_matrix<T>(handle, name, n, n, flop_of_product<T>, "vector", [=](LibraryCall& call) {
    by.add_to(call, "alpha");
    with.add_to(call, "beta");
    add_matrix(call, a, n, n, lda);
    from.add_to(call, true, false);
    to.add_to(call, true, true);
    call.work = [=] {
      auto const all =
          hostmath::completed<T>(n, static_cast<Part>(fill), rest, false, Matrix<T const>::by_columns(a, lda));
      auto const v = from.vector();
      auto const w = to.vector();
      hostmath::multiply<T, T, T>(n, 1, n, by.value(), {all.data(), 1, n}, {v.begin, v.step, 0}, with.value(),
                                  {w.begin, w.step, 0});
    };
  });
}

// op(A) x = b (solved) or x = op(A) x, A triangular.
template <class T>
Status triangular(Handle* handle, char const* name, Fill fill, Transpose op, Diagonal diagonal, Index n, T const* a,
                  Index lda, T* x, Index incx, bool solved) {
  if (!known(handle)) return Status::not_initialized;
  if (n < 0 || lda < std::max<Index>(1, n) || incx == 0 || !is_valid(op)) return Status::invalid_value;
  Argument<T> const to{"x", x, n, incx};
  auto const given = static_cast<Part>(fill);
  return on_matrix<T>(handle, name, n, n, flop_of_product<T> / 2, "triangular", [=](LibraryCall& call) {
    add_matrix(call, a, n, n, lda);
    to.add_to(call, true, true);
    call.work = [=] {
      bool const unit = diagonal == Diagonal::unit;
      auto const v = to.vector();
      auto const part = (op == Transpose::none) == (given == Part::lower) ? Part::lower : Part::upper;
      auto const matrix = Matrix<T const>::by_columns(a, lda, op_of(op));
      if (solved) return hostmath::solve_triangular<T>(n, 1, part, unit, T(1), matrix, {v.begin, v.step, 0});
      auto const all = hostmath::completed<T>(n, part, hostmath::Rest::zero, unit, matrix);
      std::vector<T> before(static_cast<std::size_t>(n));
      for (Index i = 0; i < n; ++i) before[static_cast<std::size_t>(i)] = v[i];
      hostmath::multiply<T, T, T>(n, 1, n, T(1), {all.data(), 1, n}, {before.data(), 1, 0}, T(0), {v.begin, v.step, 0});
    };
  });
}

// ---------------------------------------------------------------- types as arguments

// `work` with a number of the type; numbers of 16 bits are calculated in 32.
template <class Work>
Status of_type(char const* call, DataType type, Work const& work) {
  switch (type) {
    case DataType::f32:
      return work(float{});
    case DataType::f64:
      return work(double{});
    case DataType::f16:
      return work(hostmath::Half{});
    case DataType::bf16:
      return work(hostmath::BFloat{});
    case DataType::c32:
      return work(C32{});
    case DataType::c64:
      return work(C64{});
    default:
      return refused(call, fmt::format("vectors of data type {}", static_cast<int>(type)));
  }
}

// A vector, or none, and a number whose type is given.
struct Typed {
  void* begin;
  DataType type;
  Index step = 1;
  template <class T>
  T* as() const {
    return static_cast<T*>(begin);
  }
};
Typed typed(void const* begin, DataType type, Index step = 1) {
  return {const_cast<void*>(begin), type, step};
}

// With a factor of the vectors' type or, of numbers of 16 bits, of 32.
template <class Work>
Status with_factor(char const* call, Typed alpha, Typed x, Work const& work) {
  return of_type(call, x.type, [&](auto number) {
    using T = decltype(number);
    if (alpha.type == x.type) return work(number, alpha.as<T const>());
    if constexpr (is_narrow<T>)
      if (alpha.type == DataType::f32) return work(number, alpha.as<float const>());
    return refused(call, "factor of another type");
  });
}

Status axpy(Handle* handle, Index n, Typed alpha, Typed x, Typed y) {
  char const* const call = "cublasAxpyEx";
  if (x.type != y.type) return refused(call, "vectors of different types");
  return with_factor(call, alpha, x, [&](auto number, auto const* factor) {
    using T = decltype(number);
    return axpy(handle, call, n, factor, x.as<T const>(), x.step, y.as<T>(), y.step);
  });
}

Status scal(Handle* handle, Index n, Typed alpha, Typed x) {
  char const* const call = "cublasScalEx";
  return with_factor(call, alpha, x, [&](auto number, auto const* factor) {
    return scal(handle, call, n, factor, x.as<decltype(number)>(), x.step);
  });
}

Status dot(Handle* handle, char const* call, Index n, Typed x, Typed y, Typed result, bool conjugated) {
  if (x.type != y.type || x.type != result.type) return refused(call, "vectors and result of different types");
  return of_type(call, x.type, [&](auto number) {
    using T = decltype(number);
    return dot(handle, call, n, x.as<T const>(), x.step, y.as<T const>(), y.step, result.as<T>(), conjugated);
  });
}

// Norm and sum of magnitudes: a real number of the vector's type.
Status to_real(Handle* handle, char const* call, Index n, Typed x, Typed result, bool sum) {
  return of_type(call, x.type, [&](auto number) {
    using T = decltype(number);
    DataType const real = x.type == DataType::c32 ? DataType::f32 : x.type == DataType::c64 ? DataType::f64 : x.type;
    if (result.type != real) return refused(call, "result of another type");
    auto const to = result.as<Real<T>>();
    return sum ? asum(handle, call, n, x.as<T const>(), x.step, to)
               : nrm2(handle, call, n, x.as<T const>(), x.step, to);
  });
}

Status copy_or_swap(Handle* handle, char const* call, Index n, Typed x, Typed y, bool both) {
  if (x.type != y.type) return refused(call, "vectors of different types");
  return of_type(call, x.type, [&](auto number) {
    using T = decltype(number);
    return both ? swap(handle, call, n, x.as<T>(), x.step, y.as<T>(), y.step)
                : copy(handle, call, n, x.as<T const>(), x.step, y.as<T>(), y.step);
  });
}

template <class R>
Status extreme(Handle* handle, char const* call, Index n, Typed x, R* result, bool largest) {
  return of_type(call, x.type, [&](auto number) {
    return extreme(handle, call, n, x.as<decltype(number) const>(), x.step, result, largest);
  });
}

}  // namespace

// clang-format off
#define EXPORT KERNELCAST_CUDA_EXPORT Status
#define KERNELCAST_EACH(T, l, Int, wide) \
  EXPORT cublas##l##axpy_v2##wide(Handle* h, Int n, T const* alpha, T const* x, Int incx, T* y, Int incy) { return axpy<T, T>(h, "cublas" #l "axpy", n, alpha, x, incx, y, incy); } \
  EXPORT cublas##l##copy_v2##wide(Handle* h, Int n, T const* x, Int incx, T* y, Int incy) { return copy<T>(h, "cublas" #l "copy", n, x, incx, y, incy); } \
  EXPORT cublas##l##swap_v2##wide(Handle* h, Int n, T* x, Int incx, T* y, Int incy) { return swap<T>(h, "cublas" #l "swap", n, x, incx, y, incy); } \
  EXPORT cublas##l##rot_v2##wide(Handle* h, Int n, T* x, Int incx, T* y, Int incy, hostmath::Real<T> const* c, T const* s) { return rot<T, T>(h, "cublas" #l "rot", n, x, incx, y, incy, c, s); } \
  EXPORT cublas##l##scal_v2##wide(Handle* h, Int n, T const* alpha, T* x, Int incx) { return scal<T, T>(h, "cublas" #l "scal", n, alpha, x, incx); } \
  EXPORT cublas##l##gemv_v2##wide(Handle* h, Transpose op, Int m, Int n, T const* alpha, T const* a, Int lda, T const* x, Int incx, T const* beta, T* y, Int incy) { return gemv<T>(h, "cublas" #l "gemv", op, m, n, alpha, a, lda, x, incx, beta, y, incy); } \
  EXPORT cublas##l##symv_v2##wide(Handle* h, Fill fill, Int n, T const* alpha, T const* a, Int lda, T const* x, Int incx, T const* beta, T* y, Int incy) { return symv<T>(h, "cublas" #l "symv", fill, n, alpha, a, lda, x, incx, beta, y, incy, hostmath::Rest::mirrored); } \
  EXPORT cublas##l##trsv_v2##wide(Handle* h, Fill fill, Transpose op, Diagonal unit, Int n, T const* a, Int lda, T* x, Int incx) { return triangular<T>(h, "cublas" #l "trsv", fill, op, unit, n, a, lda, x, incx, true); } \
  EXPORT cublas##l##trmv_v2##wide(Handle* h, Fill fill, Transpose op, Diagonal unit, Int n, T const* a, Int lda, T* x, Int incx) { return triangular<T>(h, "cublas" #l "trmv", fill, op, unit, n, a, lda, x, incx, false); }
#define KERNELCAST_REAL(T, l, i, Int, wide) \
  EXPORT cublas##l##dot_v2##wide(Handle* h, Int n, T const* x, Int incx, T const* y, Int incy, T* r) { return dot<T>(h, "cublas" #l "dot", n, x, incx, y, incy, r, false); } \
  EXPORT cublas##l##nrm2_v2##wide(Handle* h, Int n, T const* x, Int incx, T* r) { return nrm2<T>(h, "cublas" #l "nrm2", n, x, incx, r); } \
  EXPORT cublas##l##asum_v2##wide(Handle* h, Int n, T const* x, Int incx, T* r) { return asum<T>(h, "cublas" #l "asum", n, x, incx, r); } \
  EXPORT cublas##l##ger_v2##wide(Handle* h, Int m, Int n, T const* alpha, T const* x, Int incx, T const* y, Int incy, T* a, Int lda) { return ger<T>(h, "cublas" #l "ger", m, n, alpha, x, incx, y, incy, a, lda, false); }
#define KERNELCAST_COMPLEX(T, l, R, r_, s, Int, wide) \
  EXPORT cublas##l##dotu_v2##wide(Handle* h, Int n, T const* x, Int incx, T const* y, Int incy, T* r) { return dot<T>(h, "cublas" #l "dotu", n, x, incx, y, incy, r, false); } \
  EXPORT cublas##l##dotc_v2##wide(Handle* h, Int n, T const* x, Int incx, T const* y, Int incy, T* r) { return dot<T>(h, "cublas" #l "dotc", n, x, incx, y, incy, r, true); } \
  EXPORT cublas##r_##nrm2_v2##wide(Handle* h, Int n, T const* x, Int incx, R* r) { return nrm2<T>(h, "cublas" #r_ "nrm2", n, x, incx, r); } \
  EXPORT cublas##r_##asum_v2##wide(Handle* h, Int n, T const* x, Int incx, R* r) { return asum<T>(h, "cublas" #r_ "asum", n, x, incx, r); } \
  EXPORT cublas##s##rot_v2##wide(Handle* h, Int n, T* x, Int incx, T* y, Int incy, R const* c, R const* t) { return rot<T, R>(h, "cublas" #s "rot", n, x, incx, y, incy, c, t); } \
  EXPORT cublas##s##scal_v2##wide(Handle* h, Int n, R const* alpha, T* x, Int incx) { return scal<T, R>(h, "cublas" #s "scal", n, alpha, x, incx); } \
  EXPORT cublas##l##geru_v2##wide(Handle* h, Int m, Int n, T const* alpha, T const* x, Int incx, T const* y, Int incy, T* a, Int lda) { return ger<T>(h, "cublas" #l "geru", m, n, alpha, x, incx, y, incy, a, lda, false); } \
  EXPORT cublas##l##gerc_v2##wide(Handle* h, Int m, Int n, T const* alpha, T const* x, Int incx, T const* y, Int incy, T* a, Int lda) { return ger<T>(h, "cublas" #l "gerc", m, n, alpha, x, incx, y, incy, a, lda, true); } \
  EXPORT cublas##l##hemv_v2##wide(Handle* h, Fill fill, Int n, T const* alpha, T const* a, Int lda, T const* x, Int incx, T const* beta, T* y, Int incy) { return symv<T>(h, "cublas" #l "hemv", fill, n, alpha, a, lda, x, incx, beta, y, incy, hostmath::Rest::hermitian); }
#define KERNELCAST_EXTREMES(T, l, Int, wide) \
  EXPORT cublasI##l##amax_v2##wide(Handle* h, Int n, T const* x, Int incx, Int* r) { return extreme<T, Int>(h, "cublasI" #l "amax", n, x, incx, r, true); } \
  EXPORT cublasI##l##amin_v2##wide(Handle* h, Int n, T const* x, Int incx, Int* r) { return extreme<T, Int>(h, "cublasI" #l "amin", n, x, incx, r, false); }
#define KERNELCAST_TYPED(Int, wide) \
  EXPORT cublasAxpyEx##wide(Handle* h, Int n, void const* alpha, DataType of_alpha, void const* x, DataType of_x, Int incx, void* y, DataType of_y, Int incy, DataType) { return axpy(h, n, typed(alpha, of_alpha), typed(x, of_x, incx), {y, of_y, incy}); } \
  EXPORT cublasScalEx##wide(Handle* h, Int n, void const* alpha, DataType of_alpha, void* x, DataType of_x, Int incx, DataType) { return scal(h, n, typed(alpha, of_alpha), {x, of_x, incx}); } \
  EXPORT cublasDotEx##wide(Handle* h, Int n, void const* x, DataType of_x, Int incx, void const* y, DataType of_y, Int incy, void* r, DataType of_r, DataType) { return dot(h, "cublasDotEx", n, typed(x, of_x, incx), typed(y, of_y, incy), {r, of_r}, false); } \
  EXPORT cublasDotcEx##wide(Handle* h, Int n, void const* x, DataType of_x, Int incx, void const* y, DataType of_y, Int incy, void* r, DataType of_r, DataType) { return dot(h, "cublasDotcEx", n, typed(x, of_x, incx), typed(y, of_y, incy), {r, of_r}, true); } \
  EXPORT cublasNrm2Ex##wide(Handle* h, Int n, void const* x, DataType of_x, Int incx, void* r, DataType of_r, DataType) { return to_real(h, "cublasNrm2Ex", n, typed(x, of_x, incx), {r, of_r}, false); } \
  EXPORT cublasAsumEx##wide(Handle* h, Int n, void const* x, DataType of_x, Int incx, void* r, DataType of_r, DataType) { return to_real(h, "cublasAsumEx", n, typed(x, of_x, incx), {r, of_r}, true); } \
  EXPORT cublasCopyEx##wide(Handle* h, Int n, void const* x, DataType of_x, Int incx, void* y, DataType of_y, Int incy) { return copy_or_swap(h, "cublasCopyEx", n, typed(x, of_x, incx), {y, of_y, incy}, false); } \
  EXPORT cublasSwapEx##wide(Handle* h, Int n, void* x, DataType of_x, Int incx, void* y, DataType of_y, Int incy) { return copy_or_swap(h, "cublasSwapEx", n, {x, of_x, incx}, {y, of_y, incy}, true); } \
  EXPORT cublasIamaxEx##wide(Handle* h, Int n, void const* x, DataType of_x, Int incx, Int* r) { return extreme<Int>(h, "cublasIamaxEx", n, typed(x, of_x, incx), r, true); } \
  EXPORT cublasIaminEx##wide(Handle* h, Int n, void const* x, DataType of_x, Int incx, Int* r) { return extreme<Int>(h, "cublasIaminEx", n, typed(x, of_x, incx), r, false); }
#define KERNELCAST_ALL(Int, wide) \
  KERNELCAST_EACH(float, S, Int, wide) KERNELCAST_EACH(double, D, Int, wide) KERNELCAST_EACH(C32, C, Int, wide) KERNELCAST_EACH(C64, Z, Int, wide) \
  KERNELCAST_REAL(float, S, s, Int, wide) KERNELCAST_REAL(double, D, d, Int, wide) \
  KERNELCAST_COMPLEX(C32, C, float, Sc, Cs, Int, wide) KERNELCAST_COMPLEX(C64, Z, double, Dz, Zd, Int, wide) \
  KERNELCAST_EXTREMES(float, s, Int, wide) KERNELCAST_EXTREMES(double, d, Int, wide) KERNELCAST_EXTREMES(C32, c, Int, wide) KERNELCAST_EXTREMES(C64, z, Int, wide) \
  KERNELCAST_TYPED(Int, wide)
KERNELCAST_ALL(int, )
KERNELCAST_ALL(std::int64_t, _64)
