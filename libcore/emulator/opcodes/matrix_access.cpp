// ldmatrix, stmatrix, wmma.load and wmma.store. Class memory.
//
// How they are counted. ldmatrix and stmatrix: one access to shared memory of 16 bytes by each lane that
// names a row, so .x1 counts 8 lanes and .x4 counts 32. wmma.load and wmma.store: the accesses that machine code has in
// their place (decode/fragment.cpp, fragment_requests); registers that repeat others are not loaded again. p and stride
// are read lane by lane; PTX requires them to be equal.
#include "emulator/opcodes/families.hpp"
#include "emulator/opcodes/fragment.hpp"
#include "emulator/opcodes/transfer.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

constexpr u32 row_bytes = 16;
using Shape = MatrixRows::Shape;
using RowBuffer = u8[max_lanes_per_unit][row_bytes];  // by the lane that names the row

// Rows of 16 bytes of a matrix, named by as many lanes. m16n8 lies in memory column by column.
u32 rows_of(MatrixRows const& m) {
  return m.shape == Shape::m16n16 ? 16 : 8;
}
// Lanes whose addresses count: the first rows * matrices, 32 at most.
void naming_lanes(Context const& c, MatrixRows const& m, u32* bits) {
  u32 const named = rows_of(m) * m.matrices;
  for (u32 warp = 0; warp < c.warps; ++warp) bits[warp] = c.bits[warp] & (named >= 32 ? ~0u : (1u << named) - 1);
}

u32 pair(u8 const* row, u32 element) {
  return row[2 * element] | u32{row[2 * element + 1]} << 8;
}

// Elements of 4 or 6 bits that lie packed at the row's begin become the low bits of bytes, in place.
void unpack_row(u8* row, u32 bits) {
  u8 packed[row_bytes];
  std::memcpy(packed, row, sizeof packed);
  for (u32 k = 0; k < row_bytes; ++k) {
    u32 const at = k * bits, word = packed[at / 8] | u32{at / 8 + 1 < row_bytes ? packed[at / 8 + 1] : u8{0}} << 8;
    row[k] = static_cast<u8>(word >> at % 8 & ((1u << bits) - 1));
  }
}

// Register r of a lane, from the rows of its warp.
u32 loaded(MatrixRows const& m, u8 const (*rows)[row_bytes], u32 r, u32 lane) {
  u32 const group = lane / 4, quarter = lane % 4;
  if (m.shape == Shape::m8n8) {
    u8 const(*const matrix)[row_bytes] = rows + 8 * r;
    if (!m.transposed) return pair(matrix[group], 2 * quarter) | pair(matrix[group], 2 * quarter + 1) << 16;
    return pair(matrix[2 * quarter], group) | pair(matrix[2 * quarter + 1], group) << 16;
  }
  u32 word = 0;
  if (m.shape == Shape::m8n16)
    for (u32 k = 0; k < 4; ++k) word |= u32{rows[8 * r + group][4 * quarter + k]} << 8 * k;
  else
    for (u32 k = 0; k < 4; ++k) word |= u32{rows[16 * (r / 2) + 4 * quarter + k][group + 8 * (r % 2)]} << 8 * k;
  return word;
}

void load_rows(Context& c, MicroOp const& op) {
  require_whole_warps(c, op);
  auto const& m = *static_cast<MatrixRows const*>(op.data);
  LaneAddresses addresses;
  LaneBits bits;
  RowBuffer rows;
  read_addresses(c, source_at(op, 0), m.wide_address, m.displacement, addresses);
  naming_lanes(c, m, bits);
  transfer(c, op, *op.access, row_bytes, addresses, bits,
           [&](std::byte const* host, u32 lane) { std::memcpy(rows[lane], host, row_bytes); });
  u32 const registers = m.shape == Shape::m16n16 ? 2u * m.matrices : m.matrices;
  each_warp(c, [&](u32 warp) {
    if (m.unpack_bits != 8)
      per_lane(bits[warp], [&](u32 lane) { unpack_row(rows[lanes_per_warp * warp + lane], m.unpack_bits); });
    for (u32 r = 0; r < registers; ++r) {
      u32* const d = slot<u32>(c, destination_at(op, r), warp);
      for (u32 lane = 0; lane < lanes_per_warp; ++lane) d[lane] = loaded(m, rows + lanes_per_warp * warp, r, lane);
    }
  });
}

void put_register(MatrixRows const& m, u8 (*rows)[row_bytes], u32 r, u32 lane, u32 word) {
  u32 const group = lane / 4, quarter = lane % 4;
  for (u32 k = 0; k < 4; ++k) {
    u8 const byte = static_cast<u8>(word >> 8 * k);
    if (m.shape == Shape::m16n8)
      rows[8 * r + 2 * quarter + k % 2][group + 8 * (k / 2)] = byte;
    else if (!m.transposed)
      rows[8 * r + group][4 * quarter + k] = byte;
    else
      rows[8 * r + 2 * quarter + k / 2][2 * group + k % 2] = byte;
  }
}

void store_rows(Context& c, MicroOp const& op) {
  require_whole_warps(c, op);
  auto const& m = *static_cast<MatrixRows const*>(op.data);
  LaneAddresses addresses;
  LaneBits bits;
  RowBuffer rows;
  read_addresses(c, source_at(op, 0), m.wide_address, m.displacement, addresses);
  naming_lanes(c, m, bits);
  each_warp(c, [&](u32 warp) {
    for (u32 r = 0; r < m.matrices; ++r) {
      u32 const* const s = slot<u32>(c, source_at(op, 1 + r), warp);
      for (u32 lane = 0; lane < lanes_per_warp; ++lane) put_register(m, rows + lanes_per_warp * warp, r, lane, s[lane]);
    }
  });
  transfer(c, op, *op.access, row_bytes, addresses, bits,
           [&](std::byte* host, u32 lane) { std::memcpy(host, rows[lane], row_bytes); });
}

// A matrix of each warp as it lies in memory, without what lies between its lines.
constexpr u32 max_matrix_bytes = 1024;
struct Staged {
  alignas(16) std::byte bytes[max_warps_per_unit][max_matrix_bytes];
};

u32 staged_at(MatrixTransfer const& m, u32 element) {
  return element * m.element_bytes / m.elements_per_byte;
}

// One request after the other: each(host, staged).
template <class Each>
void request_fragment(Context& c, MicroOp const& op, MatrixTransfer const& m, u32 stride_source, Staged& staged,
                      Each each) {
  LaneAddresses base, addresses;
  LaneBits bits;
  read_addresses(c, source_at(op, 0), m.wide_address, m.displacement, base);
  u32 const* const given = m.has_stride ? slot<u32>(c, source_at(op, stride_source), 0) : nullptr;
  for (u32 request = 0; request < m.requests; ++request) {
    u16 const* const first = m.first + lanes_per_warp * request;
    u32 taking = 0;
    for (u32 lane = 0; lane < lanes_per_warp; ++lane) taking |= u32{first[lane] != MatrixTransfer::no_element} << lane;
    for (u32 warp = 0; warp < c.warps; ++warp) bits[warp] = c.bits[warp] & taking;
    for (u32 index = 0; index < lanes_per_warp * c.warps; ++index) {
      u32 const element = first[index % lanes_per_warp], stride = given ? given[index] >> m.stride_shift : m.stride;
      u64 const away = u64{element / m.line} * stride + element % m.line;
      addresses[index] = base[index] + away * m.element_bytes / m.elements_per_byte;
    }
    transfer(c, op, *op.access, m.request_bytes, addresses, bits, [&](std::byte* host, u32 lane) {
      each(host, staged.bytes[lane / lanes_per_warp] + staged_at(m, first[lane % lanes_per_warp]));
    });
  }
}

// Between registers and staged matrices, in pieces that are neighbours in both: each(register's bytes, staged).
template <class Each>
void each_piece(MatrixTransfer const& m, u32 r, std::byte* registers, std::byte* staged, Each each) {
  u32 const pieces = m.together ? 1 : m.fragment.per_register, bytes = m.together ? m.register_bytes : m.element_bytes;
  u16 const* place = m.fragment.places + lanes_per_warp * m.fragment.per_register * r;
  for (u32 lane = 0; lane < lanes_per_warp; ++lane, place += m.fragment.per_register)
    for (u32 k = 0; k < pieces; ++k)
      each(registers + std::size_t{lane} * m.register_bytes + k * bytes, staged + staged_at(m, place[k]), bytes);
}

void load_fragment(Context& c, MicroOp const& op) {
  require_whole_warps(c, op);
  auto const& m = *static_cast<MatrixTransfer const*>(op.data);
  Staged staged;
  each_warp(c, [&](u32 warp) { std::memset(staged.bytes[warp], 0, max_matrix_bytes); });
  request_fragment(c, op, m, 1, staged,
                   [&](std::byte const* host, std::byte* to) { std::memcpy(to, host, m.request_bytes); });
  std::size_t const of_warp = std::size_t{lanes_per_warp} * m.register_bytes;
  each_warp(c, [&](u32 warp) {
    for (u32 r = 0; r < m.fragment.registers; ++r)
      each_piece(m, r % m.fragment.distinct, c.registers + destination_at(op, r) + of_warp * warp, staged.bytes[warp],
                 [](std::byte* to, std::byte const* from, u32 bytes) { std::memcpy(to, from, bytes); });
  });
}

void store_fragment(Context& c, MicroOp const& op) {
  require_whole_warps(c, op);
  auto const& m = *static_cast<MatrixTransfer const*>(op.data);
  Staged staged;
  std::size_t const of_warp = std::size_t{lanes_per_warp} * m.register_bytes;
  each_warp(c, [&](u32 warp) {
    for (u32 r = 0; r < m.fragment.distinct; ++r)
      each_piece(m, r, c.registers + source_at(op, 1 + r) + of_warp * warp, staged.bytes[warp],
                 [](std::byte const* from, std::byte* to, u32 bytes) { std::memcpy(to, from, bytes); });
  });
  request_fragment(c, op, m, 1U + m.fragment.registers, staged,
                   [&](std::byte* host, std::byte const* from) { std::memcpy(host, from, m.request_bytes); });
}

constexpr Opcode table[] = {
    {"#ldmatrix", Class::memory, {}, {}, load_rows, load_rows},
    {"#stmatrix", Class::memory, {}, {}, store_rows, store_rows},
    {"#wmma.load", Class::memory, {}, {}, load_fragment, load_fragment},
    {"#wmma.store", Class::memory, {}, {}, store_fragment, store_fragment},
};

}  // namespace

std::span<Opcode const> matrix_access_opcodes() {
  return table;
}

}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
