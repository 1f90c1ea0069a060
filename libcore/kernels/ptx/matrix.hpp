// Products of matrices in PTX: what kind of product an instruction is, and how many operations it stands for.
//
// Kinds are named as the column matrix_flop of kernels and devdb/matrix.csv name them: the instruction (mma, which wmma
// is made of, wgmma, tcgen05), the type of the factors and that of the sums, and `sparse` where half of one factor is
// zero: "mma/f16/f32", "wgmma/f8/f32/sparse". mma's kinds f8f6f4 and mxf8f6f4 are f8 for all their types, which
// one instruction of the device multiplies (QMMA), each element in a byte; f4 are the kinds with two in a byte. Types:
// f4, f6, f8, f16, bf16, tf32, f64, b1, i4, i8, i32, f32. Source: PTX ISA 9.0, the chapters on mma, wmma and wgmma.
#pragma once

#include <optional>
#include <string>

#include "kernels/ptx/module.hpp"

namespace kernelcast::ptx {

struct MatrixProduct {
  std::string kind;
  double flop = 0;  // of one warp: a multiply-add counts as two; with the zeros of a sparse factor
};

// Nothing for all other instructions, and where the opcode does not say its shape (tcgen05, whose shape is data: the
// emulator tells observers of each).
std::optional<MatrixProduct> matrix_product(Instruction const&);
// The kind that the opcode of tcgen05.mma names, with sums of f32 (integers: i32); empty for other instructions.
std::string tcgen05_kind(Instruction const&);

}  // namespace kernelcast::ptx
