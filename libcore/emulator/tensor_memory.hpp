// Tensor memory of sm_100: of each group 512 columns of 128 lanes of 32 bits, of which kernels allocate columns.
// Internal to emu; plain data only, as opcodes/lane.hpp.
//
// An address has the lane in its upper 16 bits and the column in the lower ones ([ptx] "Tensor Memory Addressing").
// Columns are allocated in units of 32. A column's lanes are neighbours here, so that a warp's 32 are one row of a
// register.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kernelcast::emu {

struct TensorMemory {
  static constexpr std::uint32_t lanes = 128, columns = 512, unit_columns = 32, units = columns / unit_columns;
  static constexpr std::uint32_t quarter_lanes = 32, quarters = lanes / quarter_lanes;  // what one warp of four reaches

  std::uint32_t allocated = 0;      // units, by bit
  std::uint8_t begins[units] = {};  // of an allocation that begins there: its units
  bool relinquished = false;        // the permit to allocate
  enum class Permit : std::uint8_t { none, alone, pair };
  Permit permits = Permit::none;  // .cta_group of the first allocation, which all must have
  // Of a pair: what the other group has allocated in both, and this one has not asked for yet, in order.
  std::uint8_t promised[units] = {}, promises = 0;
  std::uint32_t written[columns][quarters] = {};  // cells, by lane, since they were allocated
  alignas(64) std::uint32_t cells[columns][lanes] = {};
};

}  // namespace kernelcast::emu
