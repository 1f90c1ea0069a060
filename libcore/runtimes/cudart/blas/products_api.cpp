// cuBLAS: products of matrices, single, batched and by strides, of 32- and 64-bit sizes.
#include <fmt/format.h>

#include "runtimes/cudart/blas/gemm.hpp"

using namespace kernelcast::cudart;
using namespace kernelcast::cudart::blas;

namespace {

template <class T>
constexpr DataType type_of() {
  if constexpr (std::is_same_v<T, float>) return DataType::f32;
  if constexpr (std::is_same_v<T, double>) return DataType::f64;
  if constexpr (std::is_same_v<T, C32>) return DataType::c32;
  if constexpr (std::is_same_v<T, C64>) return DataType::c64;
  return DataType::f16;
}

struct Sizes {
  Transpose a, b;
  std::int64_t m, n, k, batch = 1;
};
struct Place {
  void const* begin;
  std::int64_t leading, stride = 0;
  bool pointers = false;
};

GemmRequest request_of(Handle const& handle, char const* call, Sizes const& s, void const* alpha, Place const& a,
                       Place const& b, void const* beta, Place const& c) {
  GemmRequest r;
  r.call = call;
  r.stream = handle.stream;
  r.device_scalars = handle.pointers == PointerMode::device;
  r.tf32 = handle.math == math_tf32;
  r.m = s.m, r.n = s.n, r.k = s.k, r.batch = s.batch;
  r.alpha = alpha, r.beta = beta;
  r.a = {a.begin, a.pointers, a.leading, a.stride, s.a};
  r.b = {b.begin, b.pointers, b.leading, b.stride, s.b};
  r.c = {c.begin, c.pointers, c.leading, c.stride};
  return r;
}

template <class T>
Status multiply(Handle* handle, char const* call, Sizes const& s, T const* alpha, Place const& a, Place const& b,
                T const* beta, Place const& c) {
  if (!known(handle)) return Status::not_initialized;
  auto r = request_of(*handle, call, s, alpha, a, b, beta, c);
  r.in = r.out = r.scale = type_of<T>();
  return multiply(r);
}

// With the types as arguments.
Status multiply(Handle* handle, char const* call, Sizes const& s, void const* alpha, Place const& a, DataType a_type,
                Place const& b, DataType b_type, void const* beta, Place const& c, DataType c_type, Compute compute) {
  if (!known(handle)) return Status::not_initialized;
  if (a_type != b_type) return refused(call, "product of different types");
  auto r = request_of(*handle, call, s, alpha, a, b, beta, c);
  r.in = a_type, r.out = c_type;
  bool const complex = a_type == DataType::c32 || a_type == DataType::c64;
  switch (compute) {
    case Compute::f16:
    case Compute::f16_pedantic:
      r.scale = DataType::f16;
      break;
    case Compute::f64:
    case Compute::f64_pedantic:
      r.scale = complex ? DataType::c64 : DataType::f64;
      break;
    case Compute::i32:
    case Compute::i32_pedantic:
      r.scale = DataType::i32;
      break;
    case Compute::f32:
    case Compute::f32_pedantic:
    case Compute::f32_fast_f16:
    case Compute::f32_fast_bf16:
    case Compute::f32_fast_tf32:
      r.scale = complex ? DataType::c32 : DataType::f32;
      break;
    default:
      return refused(call, fmt::format("compute type {}", static_cast<int>(compute)));
  }
  r.tf32 = compute == Compute::f32_fast_tf32 || (r.tf32 && compute == Compute::f32);
  return multiply(r);
}

// op(A) x of each batch, as the product of x's row with op(A) transposed: rows may have elements `step` apart.
struct Row {
  void const* begin;
  std::int64_t step, stride;
};
template <class F>
Status multiply_vectors(Handle* handle, char const* call, DataType in, DataType out, Transpose op, std::int64_t m,
                        std::int64_t n, F const* alpha, Place const& a, Row const& x, F const* beta, Row const& y,
                        std::int64_t batch) {
  if (!known(handle)) return Status::not_initialized;
  bool const across = op != Transpose::none, complex = in == DataType::c32 || in == DataType::c64;
  if (x.step == 0 || y.step == 0) return Status::invalid_value;
  if (x.step < 0 || y.step < 0) return refused(call, "vectors that run backwards");
  if (op == Transpose::conjugated && complex) return refused(call, "conjugated matrices");
  auto r = request_of(
      *handle, call,
      {Transpose::none, across ? Transpose::none : Transpose::transposed, 1, across ? n : m, across ? m : n, batch},
      alpha, {x.begin, x.step, x.stride, a.pointers}, a, beta, {y.begin, y.step, y.stride, a.pointers});
  r.in = in, r.out = out, r.scale = type_of<F>();
  return multiply(r);
}

}  // namespace

#define KERNELCAST_GEMM(T, letter, version, Int, wide)                                                                 \
  KERNELCAST_CUDA_EXPORT Status cublas##letter##gemm##version##wide(                                                   \
      Handle* handle, Transpose op_a, Transpose op_b, Int m, Int n, Int k, T const* alpha, T const* a, Int lda,        \
      T const* b, Int ldb, T const* beta, T* c, Int ldc) {                                                             \
    return multiply<T>(handle, "cublas" #letter "gemm", {op_a, op_b, m, n, k}, alpha, {a, lda}, {b, ldb}, beta,        \
                       {c, ldc});                                                                                      \
  }                                                                                                                    \
  KERNELCAST_CUDA_EXPORT Status cublas##letter##gemmBatched##wide(                                                     \
      Handle* handle, Transpose op_a, Transpose op_b, Int m, Int n, Int k, T const* alpha, T const* const* a, Int lda, \
      T const* const* b, Int ldb, T const* beta, T* const* c, Int ldc, Int batch) {                                    \
    return multiply<T>(handle, "cublas" #letter "gemmBatched", {op_a, op_b, m, n, k, batch}, alpha, {a, lda, 0, true}, \
                       {b, ldb, 0, true}, beta, {c, ldc, 0, true});                                                    \
  }                                                                                                                    \
  KERNELCAST_CUDA_EXPORT Status cublas##letter##gemmStridedBatched##wide(                                              \
      Handle* handle, Transpose op_a, Transpose op_b, Int m, Int n, Int k, T const* alpha, T const* a, Int lda,        \
      long long stride_a, T const* b, Int ldb, long long stride_b, T const* beta, T* c, Int ldc, long long stride_c,   \
      Int batch) {                                                                                                     \
    return multiply<T>(handle, "cublas" #letter "gemmStridedBatched", {op_a, op_b, m, n, k, batch}, alpha,             \
                       {a, lda, stride_a}, {b, ldb, stride_b}, beta, {c, ldc, stride_c});                              \
  }
#define KERNELCAST_GEMMS(Int, wide)          \
  KERNELCAST_GEMM(float, S, _v2, Int, wide)  \
  KERNELCAST_GEMM(double, D, _v2, Int, wide) \
  KERNELCAST_GEMM(C32, C, _v2, Int, wide)    \
  KERNELCAST_GEMM(C64, Z, _v2, Int, wide)    \
  KERNELCAST_GEMM(Half, H, , Int, wide)
KERNELCAST_GEMMS(int, )
KERNELCAST_GEMMS(std::int64_t, _64)

#define KERNELCAST_GEMM_EX(Int, wide)                                                                                  \
  KERNELCAST_CUDA_EXPORT Status cublasGemmEx##wide(Handle* handle, Transpose op_a, Transpose op_b, Int m, Int n,       \
                                                   Int k, void const* alpha, void const* a, DataType a_type, Int lda,  \
                                                   void const* b, DataType b_type, Int ldb, void const* beta, void* c, \
                                                   DataType c_type, Int ldc, Compute compute, int) {                   \
    return multiply(handle, "cublasGemmEx", {op_a, op_b, m, n, k}, alpha, {a, lda}, a_type, {b, ldb}, b_type, beta,    \
                    {c, ldc}, c_type, compute);                                                                        \
  }                                                                                                                    \
  KERNELCAST_CUDA_EXPORT Status cublasGemmBatchedEx##wide(                                                             \
      Handle* handle, Transpose op_a, Transpose op_b, Int m, Int n, Int k, void const* alpha, void const* const* a,    \
      DataType a_type, Int lda, void const* const* b, DataType b_type, Int ldb, void const* beta, void* const* c,      \
      DataType c_type, Int ldc, Int batch, Compute compute, int) {                                                     \
    return multiply(handle, "cublasGemmBatchedEx", {op_a, op_b, m, n, k, batch}, alpha, {a, lda, 0, true}, a_type,     \
                    {b, ldb, 0, true}, b_type, beta, {c, ldc, 0, true}, c_type, compute);                              \
  }                                                                                                                    \
  KERNELCAST_CUDA_EXPORT Status cublasGemmStridedBatchedEx##wide(                                                      \
      Handle* handle, Transpose op_a, Transpose op_b, Int m, Int n, Int k, void const* alpha, void const* a,           \
      DataType a_type, Int lda, long long stride_a, void const* b, DataType b_type, Int ldb, long long stride_b,       \
      void const* beta, void* c, DataType c_type, Int ldc, long long stride_c, Int batch, Compute compute, int) {      \
    return multiply(handle, "cublasGemmStridedBatchedEx", {op_a, op_b, m, n, k, batch}, alpha, {a, lda, stride_a},     \
                    a_type, {b, ldb, stride_b}, b_type, beta, {c, ldc, stride_c}, c_type, compute);                    \
  }                                                                                                                    \
  KERNELCAST_CUDA_EXPORT Status cublasSgemmEx##wide(Handle* handle, Transpose op_a, Transpose op_b, Int m, Int n,      \
                                                    Int k, float const* alpha, void const* a, DataType a_type,         \
                                                    Int lda, void const* b, DataType b_type, Int ldb,                  \
                                                    float const* beta, void* c, DataType c_type, Int ldc) {            \
    return multiply(handle, "cublasSgemmEx", {op_a, op_b, m, n, k}, alpha, {a, lda}, a_type, {b, ldb}, b_type, beta,   \
                    {c, ldc}, c_type, Compute::f32);                                                                   \
  }
KERNELCAST_GEMM_EX(int, )
KERNELCAST_GEMM_EX(std::int64_t, _64)

#define KERNELCAST_GEMV(letter, In, in, Out, out, F, Int, wide)                                                     \
  KERNELCAST_CUDA_EXPORT Status cublas##letter##gemvBatched##wide(                                                  \
      Handle* handle, Transpose op, Int m, Int n, F const* alpha, In const* const* a, Int lda, In const* const* x,  \
      Int incx, F const* beta, Out* const* y, Int incy, Int batch) {                                                \
    return multiply_vectors<F>(handle, "cublas" #letter "gemvBatched", in, out, op, m, n, alpha, {a, lda, 0, true}, \
                               {x, incx, 0}, beta, {y, incy, 0}, batch);                                            \
  }                                                                                                                 \
  KERNELCAST_CUDA_EXPORT Status cublas##letter##gemvStridedBatched##wide(                                           \
      Handle* handle, Transpose op, Int m, Int n, F const* alpha, In const* a, Int lda, long long stride_a,         \
      In const* x, Int incx, long long stride_x, F const* beta, Out* y, Int incy, long long stride_y, Int batch) {  \
    return multiply_vectors<F>(handle, "cublas" #letter "gemvStridedBatched", in, out, op, m, n, alpha,             \
                               {a, lda, stride_a}, {x, incx, stride_x}, beta, {y, incy, stride_y}, batch);          \
  }
#define KERNELCAST_GEMVS(Int, wide)                                                      \
  KERNELCAST_GEMV(S, float, DataType::f32, float, DataType::f32, float, Int, wide)       \
  KERNELCAST_GEMV(D, double, DataType::f64, double, DataType::f64, double, Int, wide)    \
  KERNELCAST_GEMV(C, C32, DataType::c32, C32, DataType::c32, C32, Int, wide)             \
  KERNELCAST_GEMV(Z, C64, DataType::c64, C64, DataType::c64, C64, Int, wide)             \
  KERNELCAST_GEMV(HSH, Half, DataType::f16, Half, DataType::f16, float, Int, wide)       \
  KERNELCAST_GEMV(HSS, Half, DataType::f16, float, DataType::f32, float, Int, wide)      \
  KERNELCAST_GEMV(TST, BFloat, DataType::bf16, BFloat, DataType::bf16, float, Int, wide) \
  KERNELCAST_GEMV(TSS, BFloat, DataType::bf16, float, DataType::f32, float, Int, wide)
KERNELCAST_GEMVS(int, )
KERNELCAST_GEMVS(std::int64_t, _64)
