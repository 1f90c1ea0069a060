// The words and operands of a matrix instruction. Internal to emu.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "emulator/decode/fragment.hpp"
#include "emulator/opcodes/opcodes.hpp"
#include "kernels/ptx/module.hpp"

namespace kernelcast::emu {

// Those that name a shape, layouts, a space, and the element types in order.
struct MatrixWords {
  std::optional<MatrixShape> shape;
  std::vector<bool> column_major;
  std::vector<MatrixElement> types;
  ptx::StateSpace space = ptx::StateSpace::generic;
  std::vector<std::string_view> others;

  bool has(std::string_view word) const;
  bool take(std::string_view word);
};

MatrixWords matrix_words(ptx::Instruction const&);
std::vector<ptx::Operand> matrix_registers(ptx::Operand const&);  // {a, b, …} or a single one
LaneType matrix_lane_type(MatrixElement);                         // of a register that holds such elements

}  // namespace kernelcast::emu
