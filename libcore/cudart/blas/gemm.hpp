// Products of matrices, all of those that cuBLAS and cuBLASLt have of ordinary layouts: one request, whatever the call.
#pragma once

#include <optional>

#include "cudart/blas/handle.hpp"
#include "hostmath/matrix.hpp"

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
  void const *alpha = nullptr, *beta = nullptr;
  GemmOperand a, b, c;
  std::optional<GemmOperand> d;  // cuBLASLt: where the result goes
  // cuBLASLt's epilogue: a number for each row, of the result's type; negative results to zero.
  void const* bias = nullptr;
  bool relu = false;
};

Status multiply(GemmRequest const&);

}  // namespace kernelcast::cudart::blas
