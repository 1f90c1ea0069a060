// Matrices in shared memory that wgmma and tcgen05 read: where their pieces are, and the elements in a piece. Compiled
// once per instruction-set level.
//
// A matrix consists of pieces of 16 bytes, and a descriptor says where they are ([ptx] "Matrix Descriptor Format",
// "Shared Memory Matrix Layout", "Shared Memory Descriptor"; [cute] mma_traits_sm90_gmma.hpp, mma_sm100_desc.hpp). With
// atoms of w pieces, w = 1, 2, 4, 8 for swizzles of none, 32, 64, 128 bytes, and L, S the leading and stride byte
// offsets:
//   elements of a piece are neighbours in k:   piece (row r, part p of 2)
//     16 w (r % 8) + S (r / 8) + (w == 1 ? L : 16) p
//   they are neighbours in m or n (transposed): piece (block b of so many rows, k)
//     w == 1:  S b + 16 (k % 8) + L (k / 8)
//     else     16 (b % w) + L (b / w) + 16 w (k % 8) + S (k / 8)
// Then bits 4 to 6 of the address change by its bits 7 to 9, less the base offset, as many as the swizzle has. The
// swizzle of 128 bytes in atoms of 32 (tcgen05 alone) has 4 rows of k where others have 8, and bits 5 and 6 change by
// bits 7 and 8.
#pragma once

#include <bit>
#include <cstring>
#include <string>

#include "emulator/opcodes/fragment.hpp"
#include "emulator/opcodes/tensor_memory.hpp"
#include "emulator/opcodes/transfer.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

constexpr u32 shared_piece_bytes = 16;

struct SharedMatrix {
  u32 start, leading, stride, base, width, mode;
  u64 bits;

  explicit SharedMatrix(u64 word) : bits(word) {
    static constexpr u32 widths[] = {1, 8, 4, 2};
    start = static_cast<u32>(word & 0x3fff) << 4;
    leading = static_cast<u32>(word >> 16 & 0x3fff) << 4;
    stride = static_cast<u32>(word >> 32 & 0x3fff) << 4;
    base = static_cast<u32>(word >> 49 & 7);
    mode = static_cast<u32>(word >> 61);
    width = mode == 1 ? 8 : widths[word >> 62];
  }
  // Of tcgen05: null where nothing is wrong.
  char const* fault() const {
    if (bits >> 46 & 1 && mode != 3 && mode != 5 && mode != 7)
      return bits >> 52 & 1 ? "a matrix descriptor with an absolute leading address is not emulated" : nullptr;
    return "not a matrix descriptor of tcgen05: bit 46 must be 1, and its swizzle 0, 1, 2, 4 or 6";
  }
  bool in_atoms_of_32() const { return mode == 1; }
  u64 swizzled(u32 offset) const {
    u32 const address = start + offset, line = (address >> 7) - base;
    if (in_atoms_of_32()) return address ^ (line & 3) << 5;
    return address ^ (line & (width - 1)) << 4;
  }
  u64 along_depth(u32 row, u32 part) const {
    return swizzled(row % 8 * 16 * width + row / 8 * stride + part * (width == 1 ? leading : 16));
  }
  u64 across_depth(u32 block, u32 k) const {
    u32 const rows = in_atoms_of_32() ? 4 : 8, within = k % rows * 16 * width;
    if (width == 1) return swizzled(block * stride + within + k / 8 * leading);
    return swizzled(block % width * 16 + block / width * leading + within + k / rows * stride);
  }
};

// Element k of a piece, of so many bits, packed or (below 8 bits) at the piece's begin with padding behind; of 4 bits
// in the middle of a byte, as MatrixElement::e2m1 has them.
[[maybe_unused]] u32 element_at(u8 const* piece, u32 k, u32 bits) {
  u32 code = 0;
  if (bits >= 8) {
    std::memcpy(&code, piece + k * (bits / 8), bits / 8);
    return code;
  }
  u32 const at = k * bits;
  code = piece[at / 8] | u32{at / 8 + 1 < shared_piece_bytes ? piece[at / 8 + 1] : u8{0}} << 8;
  code = code >> at % 8 & ((1u << bits) - 1);
  return bits == 4 ? code << 2 : code;
}

[[maybe_unused]] u64 lane_address(Context const& c, MicroOp const& op, CopyAddress const& a, u32 lane) {
  return lane_address(c, source_at(op, a.source), a.wide, a.displacement, lane);
}

// Whether all pieces lie in the group's shared memory; if not, a finding about the lane.
template <class OffsetOf>
bool check_pieces(Context& c, MicroOp const& op, u32 lane, TensorHome const& home, u32 count, OffsetOf offset_of) {
  for (u32 number = 0; number < count; ++number) {
    u64 const offset = offset_of(number);
    if (offset + shared_piece_bytes <= home.shared_bytes) continue;
    std::string const text = "shared load of 16 bytes at offset " + std::to_string(offset) + " (" +
                             std::to_string(home.shared_bytes) + " bytes)";
    pass_over_lane(c, op, Finding::Kind::out_of_bounds, lane, text.c_str());
    return false;
  }
  return true;
}

// Observers hear of the pieces as loads of the lane, carried by the lanes of its warp; of padded elements without the
// padding, which nothing need have written.
template <class OffsetOf>
void count_pieces(Context& c, MicroOp const& op, Access& access, u32 of_lane, u32 count, u32 bytes,
                  OffsetOf offset_of) {
  if (!c.observed) return;
  u32 const warp = of_lane / lanes_per_warp;
  c.issuer = of_lane;
  for (u32 begin = 0; begin < count; begin += lanes_per_warp)
    for (u32 done = 0, part = 0; done < bytes; done += part) {
      LaneBits bits{};
      LaneAddresses at{};
      part = std::bit_floor(bytes - done);
      for (u32 lane = 0; lane < lanes_per_warp && begin + lane < count; ++lane) {
        if (!(c.exists[warp] >> lane & 1)) continue;
        bits[warp] |= 1u << lane;
        at[lanes_per_warp * warp + lane] = offset_of(begin + lane) + done;
      }
      transfer(c, op, access, part, at, bits, [](std::byte const*, u32) {});
    }
  c.issuer = no_issuer;
}

}  // namespace
}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
