// What a PTX instruction is, read off its opcode and modifiers: the one table behind features and metrics.
#pragma once

#include <cstdint>

#include "kernels/ptx/module.hpp"

namespace kernelcast::flux {

enum class Kind : std::uint8_t {
  fp16,  // arithmetic and comparisons, by the type of the operands
  fp32,
  fp64,
  integer,
  matrix,   // mma, wmma.mma, wgmma
  logic,    // and, or, xor, not, cnot, lop3, shifts
  special,  // sin, cos, ex2, lg2, tanh, rcp, sqrt, rsqrt
  convert,
  load,
  store,
  copy,           // cp.async: from global to shared memory
  atomic,         // atom
  reduction,      // red
  texture,        // tex, tld4
  surface_load,   // suld
  surface_store,  // sust
  surface_reduction,
  control,
  sync,
  exchange,  // between work-items of a warp: shfl, vote, match, redux
  other,     // mov, selp, cvta, prmt, …
};

// How a floating-point or integer operation counts as flops.
enum class Operation : std::uint8_t { other, add, subtract, multiply, fma };

struct Traits {
  Kind kind = Kind::other;
  Operation operation = Operation::other;
  ptx::StateSpace space = ptx::StateSpace::generic;  // of an access
  std::uint64_t bytes = 0;                           // that a work-item moves in that space
  unsigned type_bits = 0;                            // of one element of the operands
  unsigned elements = 1;                             // packed in a register: 2 for f16x2
  bool kernel_parameter = false;                     // a load of one of the kernel's own parameters
};

Traits traits_of(ptx::Instruction const&, ptx::Function const&);

}  // namespace kernelcast::flux
