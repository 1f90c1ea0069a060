// Reading and writing the fragments of a warp. Compiled once per instruction-set level.
#pragma once

#include "emulator/opcodes/arithmetic.hpp"
#include "emulator/opcodes/matrix.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

// Byte offset of a source or destination register, which is in d and s, or in `operands` where there are many.
[[maybe_unused]] u32 source_at(MicroOp const& op, u32 k) {
  return op.operands ? op.operands[op.destinations + k] : op.s[k];
}
[[maybe_unused]] u32 destination_at(MicroOp const& op, u32 k) {
  return op.operands ? op.operands[k] : op.d[k];
}

template <class Each>
void each_warp(Context const& c, Each each) {
  for (u32 warp = 0; warp < c.warps; ++warp)
    if (c.bits[warp]) each(warp);
}

// .aligned: undefined unless all lanes of the warp take part ([ptx] "mma", "ldmatrix", …), hence a finding.
[[maybe_unused]] void require_whole_warps(Context& c, MicroOp const& op) {
  each_warp(c, [&](u32 warp) {
    if (c.bits[warp] == ~0u) return;
    u32 const missing = static_cast<u32>(std::countr_one(c.bits[warp]));
    u32 const first = static_cast<u32>(std::countr_zero(c.bits[warp]));
    stop_at_lane(c, op, Finding::Kind::divergent_barrier, lanes_per_warp * warp + (missing ? missing - 1 : first),
                 "needs all 32 lanes of the warp, but some have left or are elsewhere");
  });
}

// Elements of `Bits` bits in registers of type Slot; `value_of` gives what a code is worth. Codes are put in their
// places first, so that the conversion is a loop over neighbours.
template <class Slot, u32 Bits, class V, class F>
void read_fragment(Context const& c, MicroOp const& op, MatrixFragment const& f, u32 warp, V* matrix, F value_of) {
  constexpr u32 per_register = sizeof(Slot) * 8 / Bits, most = 4096;
  alignas(64) Slot codes[most];
  u16 const* place = f.places;
  for (u32 r = 0; r < f.distinct; ++r) {
    Slot const* s =
        reinterpret_cast<Slot const*>(c.registers + source_at(op, f.first + r)) + std::size_t{lanes_per_warp} * warp;
    for (u32 lane = 0; lane < lanes_per_warp; ++lane) {
      Slot const word = s[lane];
#pragma GCC unroll 8
      for (u32 k = 0; k < per_register; ++k) codes[place[k]] = word >> Bits * k;
      place += per_register;
    }
  }
#pragma omp simd
  for (u32 i = 0; i < f.elements; ++i) matrix[i] = value_of(codes[i]);
}

// `bits_of`: an element's bits, the upper ones 0.
template <class Slot, u32 Bits, class V, class BitsOf>
void write_fragment(Context const& c, MicroOp const& op, MatrixFragment const& f, u32 warp, V const* matrix,
                    BitsOf bits_of) {
  u16 const* place = f.places;
  for (u32 r = 0; r < f.registers; ++r) {
    if (r % f.distinct == 0) place = f.places;
    Slot* d =
        reinterpret_cast<Slot*>(c.registers + destination_at(op, f.first + r)) + std::size_t{lanes_per_warp} * warp;
    for (u32 lane = 0; lane < lanes_per_warp; ++lane) {
      Slot packed = 0;
      for (u32 k = 0; k < sizeof(Slot) * 8 / Bits; ++k)
        packed |= static_cast<Slot>(bits_of(matrix[*place++])) << Bits * k;
      d[lane] = packed;
    }
  }
}

}  // namespace
}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
