// Products of matrices, all of those that cuBLAS and cuBLASLt have of ordinary layouts: one request, whatever the call.
#pragma once

#include <optional>

#include "runtimes/cudart/blas/handle.hpp"
#include "runtimes/hostmath/matrix.hpp"

namespace kernelcast::cudart::blas {

// One matrix of each product: `stride` elements from one to the next, or an array of pointers in the device's memory.
struct GemmOperand {
  void const* begin = nullptr;
  bool pointers = false;
  std::int64_t leading = 1, stride = 0;
  Transpose op = Transpose::none;
  bool by_rows = false;  // cuBLASLt: row after row
};

struct GemmRequest {
  std::string call;
  Stream stream = nullptr;
  bool device_scalars = false, tf32 = false;
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  DataType in = DataType::f32, out = DataType::f32, scale = DataType::f32;
  std::optional<DataType> in_b, in_c, of_bias;  // where B's is not A's, C's or the bias's not the result's
  void const *alpha = nullptr, *beta = nullptr;
  GemmOperand a, b, c;
  std::optional<GemmOperand> d;  // cuBLASLt: where the result goes
  // cuBLASLt's epilogue: a number for each row, then a function of each result.
  enum class Function : std::uint8_t { none, relu, gelu };
  void const* bias = nullptr;
  Function function = Function::none;
  // Of types of 8 bits, each one number in the device's memory or none: factors, and where the largest result goes.
  float const *scale_a = nullptr, *scale_b = nullptr, *scale_c = nullptr, *scale_d = nullptr;
  float* largest = nullptr;

  DataType type_of_b() const { return in_b.value_or(in); }
  DataType type_of_c() const { return in_c.value_or(out); }
  bool is_of_8_bits() const { return in == DataType::e4m3 || in == DataType::e5m2; }
  DataType type_of_bias() const {
    if (of_bias || !is_of_8_bits()) return of_bias.value_or(out);
    return out == DataType::f32 ? DataType::bf16 : out == DataType::f16 || out == DataType::bf16 ? out : type_of_c();
  }
};

Status multiply(GemmRequest const&);

}  // namespace kernelcast::cudart::blas
