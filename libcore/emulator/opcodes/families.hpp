// The opcode families of one instruction-set level, and those of the lowest level that serve all; gathered by
// handlers.cpp.
#pragma once

#include "emulator/opcodes/opcodes.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_LOWEST {

std::span<Opcode const> barrier_object_opcodes();
std::span<Opcode const> tensor_opcodes();
std::span<Opcode const> tensor_memory_opcodes();
std::span<Opcode const> video_opcodes();

}  // namespace kernelcast::emu::KERNELCAST_EMU_LOWEST

namespace kernelcast::emu::KERNELCAST_EMU_ISA {

std::span<Opcode const> integer_opcodes();
std::span<Opcode const> compare_opcodes();
std::span<Opcode const> float_opcodes();
std::span<Opcode const> convert_opcodes();
std::span<Opcode const> move_opcodes();
std::span<Opcode const> atomic_opcodes();
std::span<Opcode const> rounding_opcodes();
std::span<Opcode const> warp_opcodes();
std::span<Opcode const> half_opcodes();
std::span<Opcode const> packed_opcodes();
std::span<Opcode const> reformat_opcodes();
std::span<Opcode const> matrix_multiply_opcodes();
std::span<Opcode const> matrix_access_opcodes();
std::span<Opcode const> warpgroup_opcodes();
std::span<Opcode const> tensor_core_opcodes();
std::span<Opcode const> copy_opcodes();

void load_store_handlers(Handlers&);

}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
