// cp.async and its bulk forms.
//
// A copy is done when it is issued: PTX says no more than that it is done when it has been waited for. Commits and
// waits are therefore events without an effect (class sync); copies are class memory. A kernel that forgets to wait
// still computes what it would with a fast memory.
//
// How they are counted. cp.async: a load from global memory and a store to shared memory of cp-size bytes per lane, as
// two accesses of one instruction; lanes that read fewer bytes (src-size) read them in powers of two, lanes that ignore
// the source read nothing. Bulk copies: by the lane that issues them, pieces of 32 bytes (16 where the alignment or the
// rest is 16), each a load and a store or an atomic operation; a signalled mbarrier is one atomic operation.
// st.async and red.async: one store or atomic operation per lane, and one of the mbarrier.
#include "emu/opcodes/copy.hpp"

#include "emu/opcodes/barrier_object.hpp"
#include "emu/opcodes/families.hpp"
#include "emu/opcodes/fragment.hpp"
#include "emu/opcodes/reduction.hpp"
#include "emu/opcodes/transfer.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

void read_addresses(Context const& c, MicroOp const& op, CopyAddress const& a, u64* addresses) {
  read_addresses(c, source_at(op, a.source), a.wide, a.displacement, addresses);
}

// Reads what each lane asks for, `bytes` or less, in powers of two.
void read_partly(Context& c, MicroOp const& op, u32 const* sizes, u64* from, u8 (*data)[16]) {
  std::memset(data, 0, sizeof(u8[16]) * lanes_per_warp * c.warps);
  for (u32 piece = 16; piece; piece /= 2) {
    LaneBits bits;
    LaneAddresses at;
    for (u32 warp = 0; warp < c.warps; ++warp) {
      bits[warp] = 0;
      per_lane(c.bits[warp], [&](u32 lane) {
        u32 const index = lanes_per_warp * warp + lane;
        if (sizes[index] & piece) bits[warp] |= 1u << lane;
        at[index] = from[index] + (sizes[index] & ~(2 * piece - 1));
      });
    }
    transfer(c, op, op.access[0], piece, at, bits, [&](std::byte const* host, u32 lane) {
      std::memcpy(data[lane] + (sizes[lane] & ~(2 * piece - 1)), host, piece);
    });
  }
}

void copy(Context& c, MicroOp const& op) {
  auto const& f = *static_cast<AsyncCopy const*>(op.data);
  LaneAddresses to, from;
  read_addresses(c, op, f.to, to);
  read_addresses(c, op, f.from, from);
  alignas(16) u8 data[max_lanes_per_unit][16];
  u32 const bytes = f.bytes;
  if (f.size == AsyncCopy::nothing && f.ignore == AsyncCopy::nothing) {
    transfer(c, op, op.access[0], bytes, from, c.bits,
             [&](std::byte const* host, u32 lane) { std::memcpy(data[lane], host, bytes); });
  } else {
    u32 sizes[max_lanes_per_unit];
    for (u32 warp = 0; warp < c.warps; ++warp)
      per_lane(c.bits[warp], [&](u32 lane) {
        u32 const index = lanes_per_warp * warp + lane;
        if (f.size != AsyncCopy::nothing)
          sizes[index] = slot<u32>(c, source_at(op, f.size), 0)[index];
        else
          sizes[index] = slot<u32>(c, source_at(op, f.ignore), 0)[index] ? 0 : bytes;
        if (sizes[index] > bytes) {
          pass_over_lane(c, op, Finding::Kind::out_of_bounds, index, "reads more bytes than it copies");
          sizes[index] = 0;
        }
      });
    read_partly(c, op, sizes, from, data);
  }
  transfer(c, op, op.access[1], bytes, to, c.bits,
           [&](std::byte* host, u32 lane) { std::memcpy(host, data[lane], bytes); });
}

// One piece of every lane that is not done.
struct BulkState {
  LaneAddresses to, from;
  u32 sizes[max_lanes_per_unit], masks[max_lanes_per_unit];
};

void move_piece(Context& c, MicroOp const& op, BulkCopy const& f, BulkState& s, u32 const* bits, u32 bytes) {
  alignas(32) u8 data[max_lanes_per_unit][32];
  transfer(c, op, op.access[0], bytes, s.from, bits,
           [&](std::byte const* host, u32 lane) { std::memcpy(data[lane], host, bytes); });
  transfer(c, op, op.access[1], bytes, s.to, bits, [&](std::byte* host, u32 lane) {
    if (f.reduction != Reduction::none) return reduce(f.reduction, f.type, host, data[lane], bytes);
    if (f.byte_mask == BulkCopy::nothing) return static_cast<void>(std::memcpy(host, data[lane], bytes));
    for (u32 k = 0; k < bytes; ++k)
      if (s.masks[lane] >> k % 16 & 1) host[k] = static_cast<std::byte>(data[lane][k]);
  });
}

void copy_bulk(Context& c, MicroOp const& op) {
  auto const& f = *static_cast<BulkCopy const*>(op.data);
  BulkState s;
  read_addresses(c, op, f.to, s.to);
  read_addresses(c, op, f.from, s.from);
  u32 const* const sizes = slot<u32>(c, source_at(op, f.size), 0);
  u32 left[max_lanes_per_unit];
  for (u32 warp = 0; warp < c.warps; ++warp)
    per_lane(c.bits[warp], [&](u32 lane) {
      u32 const index = lanes_per_warp * warp + lane;
      left[index] = s.sizes[index] = sizes[index];
      if (f.byte_mask != BulkCopy::nothing) s.masks[index] = slot<u32>(c, source_at(op, f.byte_mask), 0)[index];
      if (sizes[index] % 16 != 0) {
        pass_over_lane(c, op, Finding::Kind::misaligned, index,
                       "copies a number of bytes that is not a multiple of 16");
        left[index] = 0;
      }
    });
  for (;;) {
    LaneBits bits;
    u32 any = 0;
    u64 odd = 0;
    for (u32 warp = 0; warp < c.warps; ++warp) {
      bits[warp] = 0;
      per_lane(c.bits[warp], [&](u32 lane) {
        u32 const index = lanes_per_warp * warp + lane;
        if (left[index] == 0) return;
        bits[warp] |= 1u << lane;
        odd |= s.to[index] | s.from[index] | (left[index] < 32 ? 16u : 0u);
      });
      any |= bits[warp];
    }
    if (!any) break;
    u32 const bytes = odd & 31 ? 16 : 32;
    note_work(c, op, lanes_per_warp * c.warps);
    c.any_dropped = false;
    move_piece(c, op, f, s, bits, bytes);
    for (u32 warp = 0; warp < c.warps; ++warp)
      per_lane(bits[warp], [&](u32 lane) {
        u32 const index = lanes_per_warp * warp + lane;
        left[index] -= bytes;
        if (c.any_dropped && c.dropped[warp] >> lane & 1) left[index] = 0;  // and what would follow
        s.to[index] += bytes;
        s.from[index] += bytes;
      });
  }
  if (!f.signals) return;
  LaneAddresses barrier;
  read_addresses(c, op, f.barrier, barrier);
  transfer(c, op, op.access[2], sizeof(u64), barrier, c.bits, [&](std::byte* host, u32 lane) {
    change_barrier(c, op, host, lane, [&](BarrierObject& b) { b.transactions -= s.sizes[lane]; });
  });
}

void store_async(Context& c, MicroOp const& op) {
  auto const& f = *static_cast<AsyncStore const*>(op.data);
  constexpr u32 most = 32;
  alignas(32) u8 data[max_lanes_per_unit][most];
  u32 const bytes = u32{f.count} * f.element_bytes, lanes = lanes_per_warp * c.warps;
  for (u32 k = 0; k < f.count; ++k) {
    std::byte const* const values = c.registers + source_at(op, f.values + k);
    for (u32 lane = 0; lane < lanes; ++lane)
      std::memcpy(data[lane] + k * f.element_bytes, values + std::size_t{lane} * f.element_bytes, f.element_bytes);
  }
  LaneAddresses to, barrier;
  read_addresses(c, op, f.to, to);
  read_addresses(c, op, f.barrier, barrier);
  transfer(c, op, op.access[0], bytes, to, c.bits, [&](std::byte* host, u32 lane) {
    if (f.reduction != Reduction::none) return reduce(f.reduction, f.type, host, data[lane], bytes);
    std::memcpy(host, data[lane], bytes);
  });
  transfer(c, op, op.access[1], sizeof(u64), barrier, c.bits, [&](std::byte* host, u32 lane) {
    change_barrier(c, op, host, lane, [&](BarrierObject& b) { b.transactions -= bytes; });
  });
}

constexpr Opcode table[] = {
    {"#cp.async", Class::memory, {}, {}, copy, copy},
    {"#cp.async.bulk", Class::memory, {}, {}, copy_bulk, copy_bulk},
    {"#st.async", Class::memory, {}, {}, store_async, store_async},
};

}  // namespace

std::span<Opcode const> copy_opcodes() {
  return table;
}

}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
