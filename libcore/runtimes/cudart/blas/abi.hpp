// The binary interface of cuBLAS, versions 12 and 13: facts, declared here so that no toolkit is needed.
#pragma once

#include <cstdint>

#include "kernels/cuda/abi.hpp"
#include "runtimes/hostmath/numbers.hpp"

namespace kernelcast::cudart::blas {

enum class Status : int {
  success = 0,
  not_initialized = 1,
  alloc_failed = 3,
  invalid_value = 7,
  execution_failed = 13,
  internal_error = 14,
  not_supported = 15
};
enum class PointerMode : int { host, device };
enum class Transpose : int { none, transposed, conjugated };
enum class Fill : int { lower, upper, full };
enum class Diagonal : int { non_unit, unit };
enum class Side : int { left, right };
enum class DataType : int {
  f32 = 0,
  f64 = 1,
  f16 = 2,
  i8 = 3,
  c32 = 4,
  c64 = 5,
  i32 = 10,
  bf16 = 14,
  e4m3 = 28,
  e5m2 = 29
};
enum class Compute : int {
  f16 = 64,
  f16_pedantic = 65,
  f32 = 68,
  f32_pedantic = 69,
  f64 = 70,
  f64_pedantic = 71,
  i32 = 72,
  i32_pedantic = 73,
  f32_fast_f16 = 74,
  f32_fast_bf16 = 75,
  f32_fast_tf32 = 77
};
inline constexpr int math_tf32 = 3;

using hostmath::BFloat, hostmath::Half;
using C32 = hostmath::Complex<float>;
using C64 = hostmath::Complex<double>;

}  // namespace kernelcast::cudart::blas
