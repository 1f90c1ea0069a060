// Which element of a matrix lies where in a warp's registers. Internal to emu.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "emulator/opcodes/matrix.hpp"

namespace kernelcast::emu {

enum class MatrixRole : std::uint8_t { a, b, accumulator };

struct MatrixShape {
  std::uint16_t m = 0, n = 0, k = 0;
  friend bool operator==(MatrixShape const&, MatrixShape const&) = default;
};

std::optional<MatrixShape> matrix_shape(std::string_view);      // "m16n8k16"
std::optional<MatrixElement> matrix_element(std::string_view);  // "bf16"
unsigned element_bits(MatrixElement);                           // as it lies in a register; b1: 32, a word

// MatrixFragment::places with what it points to.
struct FragmentTable {
  unsigned rows = 0, columns = 0;  // of the matrix; of b1 the k dimension counts words of 32
  unsigned registers = 0, per_register = 0;
  std::vector<std::uint16_t> places;
};

// The mma fragments of one warp-wide matrix of 8 or 16 rows and 8 columns, and for larger ones (wmma) those of its
// tiles one after the other: of 16 rows for A and the accumulator, of 8 columns for B and the accumulator.
FragmentTable matrix_fragment(MatrixRole, MatrixElement, MatrixShape);
// Those of wmma on Volta, of f16 and f32: factors depend on how they lie in memory.
FragmentTable volta_fragment(MatrixRole, MatrixElement, MatrixShape, bool column_major);
// The same with elements numbered as they lie in memory, where a line (`columns`) is a row or a column.
FragmentTable in_memory(FragmentTable, bool column_major);
bool neighbours(FragmentTable const&);  // the elements of each register follow each other

// What a warp requests to load or store a fragment.
struct RequestTable {
  unsigned bytes = 0;                // of a lane
  std::vector<std::uint16_t> first;  // [requests][32 lanes]: the first element, or MatrixTransfer::no_element
};
// `table`: as it lies in memory, of which so many registers are loaded. Volta's assembler asks for all neighbours of a
// lane together, up to 16 bytes. So does that of later devices, except where they can transpose blocks of 8 by 8
// elements of 16 bits (movmatrix), and where they load factors from shared memory as ldmatrix does.
RequestTable fragment_requests(FragmentTable const& table, MatrixRole, MatrixElement, WmmaFragments, bool of_shared);
// MatrixChoice but for its source; `places` is empty for a selector that the shape does not have. A's m is that of a
// warp.
struct ChoiceTable {
  MatrixChoice choice;
  std::vector<std::uint16_t> places;
};
ChoiceTable matrix_choice(MatrixElement, MatrixShape, std::int64_t selector);
// The four matrices of mma.m8n8k4 with .f16.
FragmentTable quad_fragment(MatrixRole, MatrixElement, bool column_major);

}  // namespace kernelcast::emu
