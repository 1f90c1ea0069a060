// The operation of a tcgen05 instruction, as the decoder leaves it in MicroOp::data. Internal to emu; plain data only,
// as lane.hpp.
#pragma once

#include "emulator/opcodes/copy.hpp"
#include "emulator/opcodes/matrix.hpp"
#include "emulator/tensor_memory.hpp"

namespace kernelcast::emu {

// tcgen05.alloc, .dealloc, .relinquish_alloc_permit; one access: where alloc stores the address.
struct TensorAllocation {
  enum class Kind : std::uint8_t { allocate, release, relinquish };
  Kind kind = Kind::allocate;
  bool pair = false;         // .cta_group::2
  CopyAddress result;        // allocate
  std::uint8_t address = 0;  // source, release
  std::uint8_t columns = 0;  // source
};

// tcgen05.ld, tcgen05.st.
struct TensorTransfer {
  enum class Shape : std::uint8_t { l32x32b, l16x64b, l16x128b, l16x256b, l16x32bx2 };
  Shape shape = Shape::l32x32b;
  bool loads = true;
  bool packs = false;  // two columns of 16 bits in a register: .pack::16b, .unpack::16b
  std::uint8_t registers = 1;
  std::uint8_t first = 0;  // source of a store
  CopyAddress address;
  std::uint32_t split = 0;  // columns from the first half of 16x32bx2 to the second
};

// tcgen05.cp: from shared to tensor memory; one access.
struct TensorStaging {
  bool pair = false;
  std::uint8_t rows = 128, pieces = 2;  // of 16 bytes in a row
  // Where row r goes: lane step * (r % 32) + hops[r / 32], and again `copies` times, each time `shift` further.
  std::uint8_t step = 1, hops[4] = {0, 32, 64, 96}, copies = 1, shift = 0;
  std::uint8_t unpack_bits = 8;  // of an element in shared memory: 4 (b4x16_p64), 6 (b6x16_p32) or 8
  CopyAddress address;
  std::uint8_t descriptor = 0;  // source
};

// tcgen05.shift: the lanes above the first take the place of those before, 256 bits of each.
struct TensorShift {
  bool pair = false;
  CopyAddress address;
};

// tcgen05.commit; one access.
struct TensorCommit {
  static constexpr std::uint8_t nothing = 0xff;
  CopyAddress barrier;
  std::uint8_t group_mask = nothing;  // source: .multicast::cluster; then that of the group's rank
};

// tcgen05.mma: D = A B + D; accesses: A, B in shared memory.
struct TensorProduct {
  static constexpr std::uint8_t nothing = 0xff;
  enum class Kind : std::uint8_t { f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4, mxf4nvf4 };
  Kind kind = Kind::f16;
  bool pair = false, stationary = false;  // .cta_group::2, .ws
  bool sparse = false;                    // A has half of its elements, and metadata in tensor memory say which
  CopyAddress d, a;                       // addresses in tensor memory
  std::uint8_t a_descriptor = nothing;    // source; nothing: A lies in tensor memory
  std::uint8_t b_descriptor = 0, shape = 0;
  std::uint8_t masks = nothing, mask_count = 0;  // sources: lanes of D to leave as they are
  std::uint8_t adds = 0;                         // source, a predicate: D is added
  std::uint8_t column_mask = nothing;            // source: which columns of B count as zeros
  bool shifts_rows = false;                      // .ashift: row r of A is row r + 1 of tensor memory, the last its own
  std::uint8_t shift = 0;                        // D counts divided by 2 to this power
  std::uint8_t scales_of_row = 0;                // of blocks, in one product: 1, 2, 4; 0: none
  CopyAddress a_scales, b_scales, metadata;      // in tensor memory
};

// A group of those that a product works on: itself, or both of a pair, the one of even rank first.
struct TensorHome {
  TensorMemory* memory = nullptr;
  std::byte* shared = nullptr;
  std::uint64_t shared_bytes = 0;
};

// machine/tensor_memory.cpp. Of the group alone or of its pair: how many, 0 where it has no pair; `own`: which of them
// the group is.
std::uint32_t tensor_homes(Context&, bool pair, TensorHome* homes, std::uint32_t& own);
// The address of so many free columns. Where the group may not have them the run ends with a finding about the lane.
std::uint32_t allocate_columns(Context&, MicroOp const&, std::uint32_t lane, bool pair, std::uint32_t columns);
// Frees what was allocated there with that size; else a finding about the lane.
void release_columns(Context&, MicroOp const&, std::uint32_t lane, std::uint32_t address, std::uint32_t columns);
// Whether all of the columns are allocated, of lanes that exist; if not, a finding about the lane.
bool has_columns(Context&, MicroOp const&, std::uint32_t lane, TensorMemory const&, std::uint32_t first_lane,
                 std::uint32_t lanes, std::uint32_t first_column, std::uint32_t columns);
// The same before an access, of which observers hear; `run` lanes of each 32.
bool access_columns(Context&, MicroOp const&, std::uint32_t lane, TensorMemory const&, Direction,
                    std::uint32_t first_lane, std::uint32_t lanes, std::uint32_t first_column, std::uint32_t columns,
                    std::uint32_t run = TensorMemory::quarter_lanes);
// Where observers need to know (Context::needs_written): a finding about the lane if none of these cells was written,
// or, for `all`, if one was not. At most 32 lanes, of one quarter.
void require_written(Context&, MicroOp const&, std::uint32_t lane, TensorMemory const&, std::uint32_t first_lane,
                     std::uint32_t lanes, std::uint32_t column, bool all);
// Observers hear of a product of matrices whose shape is data (Observer::product): of a pair, each group of its half.
void notify_product(Context&, MicroOp const&, std::uint32_t lane, bool pair, char const* kind, double flop);

}  // namespace kernelcast::emu
