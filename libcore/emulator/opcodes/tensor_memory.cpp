// tcgen05 without its products: allocating tensor memory, moving it to and from registers, filling it from shared
// memory, and commits.
//
// An operation is done when it is issued, as asynchronous copies are (copy.cpp): waits and fences have no effect, and a
// commit arrives at its mbarrier at once. How they are counted. alloc: a store of 4 bytes by the first lane. ld and st:
// no accesses, since tensor memory is none of the memories of which there are counts. cp: 16 bytes of shared memory by
// each lane of the warp in turn; of a pair only the group that issues it. commit: an atomic operation of 8 bytes on
// shared memory for each mbarrier.
#include "emulator/opcodes/tensor_memory.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "emulator/opcodes/barrier_object.hpp"
#include "emulator/opcodes/families.hpp"
#include "emulator/opcodes/fragment.hpp"
#include "emulator/opcodes/shared_matrix.hpp"
#include "emulator/opcodes/transfer.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

using Shape = TensorTransfer::Shape;

void require_pair(Context& c, MicroOp const& op, u32 lane) {
  stop_at_lane(c, op, Finding::Kind::trap, lane,
               "needs a cluster with an even number of groups, of which two by two are a pair");
}

void allocate(Context& c, MicroOp const& op) {
  auto const& f = *static_cast<TensorAllocation const*>(op.data);
  require_whole_warps(c, op);
  each_warp(c, [&](u32 warp) {
    u32 const lane = lanes_per_warp * warp;
    TensorHome homes[2];
    u32 own = 0;
    if (tensor_homes(c, f.pair, homes, own) == 0) require_pair(c, op, lane);
    if (f.kind == TensorAllocation::Kind::relinquish) {
      homes[own].memory->relinquished = true;
      return;
    }
    u32 const columns = slot<u32>(c, source_at(op, f.columns), 0)[lane];
    if (f.kind == TensorAllocation::Kind::release)
      return release_columns(c, op, lane, slot<u32>(c, source_at(op, f.address), 0)[lane], columns);
    u32 const address = allocate_columns(c, op, lane, f.pair, columns);
    LaneBits bits{};
    LaneAddresses at{};
    bits[warp] = 1;
    at[lane] = lane_address(c, op, f.result, lane);
    transfer(c, op, *op.access, sizeof address, at, bits,
             [&](std::byte* host, u32) { std::memcpy(host, &address, sizeof address); });
  });
}

// Register r of a lane: where it lies, as rows of the warp's lanes and columns of 32 bits.
struct Cell {
  u32 row, column;
};
Cell cell_of(TensorTransfer const& f, u32 r, u32 lane) {
  switch (f.shape) {
    case Shape::l16x64b:
      return {lane % 2 * 8 + lane / 4, 2 * r + lane / 2 % 2};
    case Shape::l16x128b:
      return {r % 2 * 8 + lane / 4, r / 2 * 4 + lane % 4};
    case Shape::l16x256b:
      return {r / 2 % 2 * 8 + lane / 4, r / 4 * 8 + lane % 4 * 2 + r % 2};
    default:
      return {lane % (f.shape == Shape::l16x32bx2 ? 16 : 32), r};
  }
}
u32 columns_of(TensorTransfer const& f) {
  bool const of_all = f.shape == Shape::l32x32b || f.shape == Shape::l16x32bx2;  // each lane has a row of its own
  return f.registers * (of_all ? 1u : 2u) * (f.packs ? 2u : 1u);
}

// What a warp moves: false, with a finding, where it may not.
struct Reached {
  u32 row = 0, column = 0;
};
bool reach(Context& c, MicroOp const& op, TensorTransfer const& f, u32 warp, TensorMemory const& memory, Reached& at) {
  u32 const lane = lanes_per_warp * warp;
  u64 const address = lane_address(c, op, f.address, lane);
  for (u32 other = 1; other < lanes_per_warp; ++other)
    if (lane_address(c, op, f.address, lane + other) != address)
      stop_at_lane(c, op, Finding::Kind::trap, lane + other, "lanes of a warp name different addresses");
  at.row = static_cast<u32>(address >> 16) & 0xffff;
  at.column = static_cast<u32>(address) & 0xffff;
  u32 const quarter = (c.first_warp + warp) % TensorMemory::quarters * TensorMemory::quarter_lanes;
  u32 const rows = f.shape == Shape::l32x32b ? 32 : 16;
  // Devices ignore the bits of the lane that say a warp: addresses without them are those of the own quarter.
  if (at.row < TensorMemory::quarter_lanes) at.row += quarter;
  if (at.row != quarter && !(rows == 16 && at.row == quarter + 16)) {
    std::string const text = "accesses lanes of tensor memory from " + std::to_string(at.row) +
                             " on; a warp of this number has " + std::to_string(quarter) + " to " +
                             std::to_string(quarter + 31) + (rows == 16 ? ", and 16 of them at a time" : "");
    pass_over_lane(c, op, Finding::Kind::out_of_bounds, lane, text.c_str());
    return false;
  }
  u32 const columns = columns_of(f);
  Direction const direction = f.loads ? Direction::load : Direction::store;
  return access_columns(c, op, lane, memory, direction, at.row, rows, at.column, columns) &&
         (f.shape != Shape::l16x32bx2 ||
          access_columns(c, op, lane, memory, direction, at.row, rows, at.column + f.split, columns));
}
u32 column_of(TensorTransfer const& f, Reached const& at, Cell const& cell, u32 lane) {
  u32 const shift = f.shape == Shape::l16x32bx2 && lane >= 16 ? f.split : 0;
  return at.column + (f.packs ? 2 * cell.column : cell.column) + shift;
}

void load(Context& c, MicroOp const& op) {
  auto const& f = *static_cast<TensorTransfer const*>(op.data);
  require_whole_warps(c, op);
  TensorHome home;
  u32 own = 0;
  tensor_homes(c, false, &home, own);
  each_warp(c, [&](u32 warp) {
    Reached at;
    bool const reached = reach(c, op, f, warp, *home.memory, at);
    u32 const rows = f.shape == Shape::l32x32b ? 32 : 16;
    for (u32 k = 0; reached && c.needs_written && k < columns_of(f); ++k) {
      require_written(c, op, lanes_per_warp * warp, *home.memory, at.row, rows, at.column + k, false);
      if (f.shape == Shape::l16x32bx2)
        require_written(c, op, lanes_per_warp * warp, *home.memory, at.row, rows, at.column + f.split + k, false);
    }
    for (u32 r = 0; r < f.registers; ++r) {
      u32* const d = slot<u32>(c, destination_at(op, r), warp);
      if (!reached) {
        std::fill_n(d, lanes_per_warp, 0u);
      } else if (f.shape == Shape::l32x32b && !f.packs) {
        std::memcpy(d, home.memory->cells[at.column + r] + at.row, sizeof(u32) * lanes_per_warp);
      } else {
        for (u32 lane = 0; lane < lanes_per_warp; ++lane) {
          Cell const cell = cell_of(f, r, lane);
          u32 const column = column_of(f, at, cell, lane);
          auto const read = [&](u32 k) { return home.memory->cells[column + k][at.row + cell.row]; };
          d[lane] = f.packs ? (read(0) & 0xffff) | read(1) << 16 : read(0);
        }
      }
    }
  });
}

void store(Context& c, MicroOp const& op) {
  auto const& f = *static_cast<TensorTransfer const*>(op.data);
  require_whole_warps(c, op);
  TensorHome home;
  u32 own = 0;
  tensor_homes(c, false, &home, own);
  each_warp(c, [&](u32 warp) {
    Reached at;
    if (!reach(c, op, f, warp, *home.memory, at)) return;
    auto const write = [&](u32 column, u32 row, u32 value) {
      home.memory->cells[column][row] = value;
      home.memory->written[column][row / 32] |= 1u << row % 32;
    };
    for (u32 r = 0; r < f.registers; ++r) {
      u32 const* const s = slot<u32>(c, source_at(op, f.first + r), warp);
      for (u32 lane = 0; lane < lanes_per_warp; ++lane) {
        Cell const cell = cell_of(f, r, lane);
        u32 const column = column_of(f, at, cell, lane), row = at.row + cell.row;
        write(column, row, f.packs ? s[lane] & 0xffff : s[lane]);
        if (f.packs) write(column + 1, row, s[lane] >> 16);
      }
    }
  });
}

// Elements of 4 or 6 bits at the begin of a piece become bytes: 4 bits in the middle, 6 bits at the bottom.
void unpack(u8* piece, u32 bits) {
  if (bits == 8) return;
  u8 packed[shared_piece_bytes];
  std::memcpy(packed, piece, sizeof packed);
  for (u32 k = 0; k < shared_piece_bytes; ++k) piece[k] = static_cast<u8>(element_at(packed, k, bits));
}

// Where a lane's address points, in the memory of its group or of both groups of its pair.
struct Place {
  std::array<TensorHome, 2> homes;
  u32 count = 0;  // of homes
  u32 row = 0, column = 0;
};
Place place_of(Context& c, MicroOp const& op, bool pair, CopyAddress const& at, u32 lane) {
  Place out;
  u32 own = 0;
  out.count = tensor_homes(c, pair, out.homes.data(), own);
  if (out.count == 0) require_pair(c, op, lane);
  u64 const address = lane_address(c, op, at, lane);
  out.row = static_cast<u32>(address >> 16) & 0xffff;
  out.column = static_cast<u32>(address) & 0xffff;
  return out;
}

void fill(Context& c, MicroOp const& op) {
  auto const& f = *static_cast<TensorStaging const*>(op.data);
  for (u32 warp = 0; warp < c.warps; ++warp)
    per_lane(c.bits[warp], [&](u32 of_warp) {
      u32 const lane = lanes_per_warp * warp + of_warp;
      auto const [homes, count, row, column] = place_of(c, op, f.pair, f.address, lane);
      SharedMatrix const matrix(slot<u64>(c, source_at(op, f.descriptor), 0)[lane]);
      if (char const* const fault = matrix.fault()) return pass_over_lane(c, op, Finding::Kind::bad_image, lane, fault);
      u32 const last = f.rows <= 4 ? f.step * (f.rows - 1u) : f.hops[(f.rows - 1) / 32] + 31u;
      u32 const height = last + 1 + (f.copies - 1u) * f.shift;
      for (u32 h = 0; h < count; ++h)
        if (!access_columns(c, op, lane, *homes[h].memory, Direction::store, row, height, column, 4u * f.pieces))
          return;
      auto const offset_of = [&](u32 number) { return matrix.along_depth(number / f.pieces, number % f.pieces); };
      u32 const pieces = u32{f.rows} * f.pieces;
      for (u32 h = 0; h < count; ++h)
        if (!check_pieces(c, op, lane, homes[h], pieces, offset_of)) return;
      count_pieces(c, op, *op.access, lane, pieces, shared_piece_bytes * f.unpack_bits / 8, offset_of);
      for (u32 h = 0; h < count; ++h)
        for (u32 number = 0; number < pieces; ++number) {
          u8 piece[shared_piece_bytes];
          u32 words[shared_piece_bytes / 4];
          std::memcpy(piece, homes[h].shared + offset_of(number), sizeof piece);
          unpack(piece, f.unpack_bits);
          std::memcpy(words, piece, sizeof words);
          u32 const r = number / f.pieces, first = column + number % f.pieces * 4;
          for (u32 copy = 0; copy < f.copies; ++copy) {
            u32 const to = row + f.step * (r % 32) + f.hops[r / 32] + copy * f.shift;
            for (u32 k = 0; k < 4; ++k) {
              homes[h].memory->cells[first + k][to] = words[k];
              homes[h].memory->written[first + k][to / 32] |= 1u << to % 32;
            }
          }
        }
    });
}

// [ptx] "tcgen05.shift": 32 bytes of each lane but the last move to the lane before.
void shift_lanes(Context& c, MicroOp const& op) {
  constexpr u32 columns = 8;
  auto const& f = *static_cast<TensorShift const*>(op.data);
  for (u32 warp = 0; warp < c.warps; ++warp)
    per_lane(c.bits[warp], [&](u32 of_warp) {
      u32 const lane = lanes_per_warp * warp + of_warp;
      auto const [homes, count, row, column] = place_of(c, op, f.pair, f.address, lane);
      if (row % 32 != 0)
        return pass_over_lane(c, op, Finding::Kind::misaligned, lane, "the lane is not a multiple of 32");
      for (u32 h = 0; h < count; ++h)
        if (!access_columns(c, op, lane, *homes[h].memory, Direction::atomic, row, 32, column, columns)) return;
      for (u32 h = 0; h < count; ++h)
        for (u32 k = column; k < column + columns; ++k) {
          u32* const cells = homes[h].memory->cells[k] + row;
          std::memmove(cells, cells + 1, sizeof(u32) * 31);
          u32& written = homes[h].memory->written[k][row / 32];
          written = (written & 1u << 31) | written >> 1;
        }
    });
}

void commit(Context& c, MicroOp const& op) {
  auto const& f = *static_cast<TensorCommit const*>(op.data);
  for (u32 warp = 0; warp < c.warps; ++warp)
    per_lane(c.bits[warp], [&](u32 of_warp) {
      u32 const lane = lanes_per_warp * warp + of_warp;
      LaneBits bits{};
      LaneAddresses at{};
      bits[warp] = 1u << of_warp;
      auto const arrive = [&](u64 address) {
        at[lane] = address;
        transfer(c, op, *op.access, sizeof(u64), at, bits, [&](std::byte* host, u32 index) {
          change_barrier(c, op, host, index, [](BarrierObject& b) { b.pending -= 1; });
        });
      };
      u64 const barrier = lane_address(c, op, f.barrier, lane);
      if (f.group_mask == TensorCommit::nothing) return arrive(barrier);
      u32 const mask = slot<u32>(c, source_at(op, f.group_mask), 0)[lane] & 0xffff;
      u32 const own = slot<u32>(c, source_at(op, f.group_mask + 1u), 0)[lane];
      per_lane(mask, [&](u32 rank) { arrive(in_group(barrier, rank, own)); });
    });
}

constexpr Opcode table[] = {
    {"#tcgen05.alloc", Class::sync, {}, {}, allocate, allocate},
    {"#tcgen05.ld", Class::memory, {}, {}, load, load},
    {"#tcgen05.st", Class::memory, {}, {}, store, store},
    {"#tcgen05.cp", Class::memory, {}, {}, fill, fill},
    {"#tcgen05.shift", Class::memory, {}, {}, shift_lanes, shift_lanes},
    {"#tcgen05.commit", Class::sync, {}, {}, commit, commit},
};

}  // namespace

std::span<Opcode const> tensor_memory_opcodes() {
  return table;
}

}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
