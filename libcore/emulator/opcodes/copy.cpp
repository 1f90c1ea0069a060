// cp.async and its bulk forms.
//
// A copy is done when it is issued: PTX says no more than that it is done when it has been waited for. Commits and
// waits are therefore events without an effect (class sync); copies are class memory. A kernel that forgets to wait
// still computes what it would with a fast memory.
//
// How they are counted. cp.async: a load from global memory and a store to shared memory of cp-size bytes per lane, as
// two accesses of one instruction; lanes that read fewer bytes (src-size) read them in powers of two, lanes that ignore
// the source read nothing. Bulk copies: as by a whole warp, 16 bytes per lane, so that each line of global memory is
// asked for once (MemoryAccess::issuer names the lane that issues the copy); a load, and a store or atomic operation
// for each group that gets them; a signalled mbarrier is one atomic operation. A prefetch is no access. st.async and
// red.async: one store or atomic operation per lane, and one of the mbarrier.
#include "emulator/opcodes/copy.hpp"

#include <algorithm>

#include "emulator/opcodes/barrier_object.hpp"
#include "emulator/opcodes/engine.hpp"
#include "emulator/opcodes/families.hpp"
#include "emulator/opcodes/reduction.hpp"
#include "emulator/tensor_map.hpp"

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

constexpr u32 piece_bytes = shared_granule_bytes, line_bytes = 128;

// A bulk copy of one lane. Requests end where a line of global memory does, so that none is asked for twice.
class BulkCopier {
 public:
  BulkCopier(Context& c, MicroOp const& op, BulkCopy const& f, u32 lane)
      : c_(c), op_(op), f_(f), lane_(lane), carriers_(c, lane) {
    if (f.group_mask != BulkCopy::nothing) targets_ = Targets(c, op, f.group_mask, lane);
  }

  void copy() {
    u32 const bytes = slot<u32>(c_, source_at(op_, f_.size), 0)[lane_];
    if (bytes % piece_bytes != 0)
      return pass_over_lane(c_, op_, Finding::Kind::misaligned, lane_,
                            "copies a number of bytes that is not a multiple of 16");
    if (f_.byte_mask != BulkCopy::nothing) mask_ = slot<u32>(c_, source_at(op_, f_.byte_mask), 0)[lane_];
    to_ = address(f_.to);
    from_ = address(f_.from);
    c_.issuer = lane_;
    c_.any_dropped = false;
    for (u32 left = bytes; left > 0 && !c_.any_dropped;) left -= move(left);  // what follows a finding is left out
    c_.issuer = no_issuer;
    if (f_.signals) complete(bytes);
  }

 private:
  u32 warp() const { return lane_ / lanes_per_warp; }
  u64 address(CopyAddress const& a) const {
    return lane_address(c_, source_at(op_, a.source), a.wide, a.displacement, lane_);
  }

  u32 move(u32 left) {
    u64 const global = f_.to_global ? to_ : from_;
    u32 const most = carriers_.count * piece_bytes;
    u32 const over = most < line_bytes ? 0 : static_cast<u32>((global + most) % line_bytes) / piece_bytes * piece_bytes;
    u32 const bytes = std::min(left, most - over), count = bytes / piece_bytes;
    note_work(c_, op_, count);
    carry(c_, op_, op_.access[0], carriers_, from_, piece_bytes, count,
          [&](std::byte const* host, u32 k) { std::memcpy(data_[k], host, piece_bytes); });
    for (u32 t = 0; t < targets_.count(); ++t)
      carry(c_, op_, op_.access[1], carriers_, targets_.place(to_, t), piece_bytes, count, [&](std::byte* host, u32 k) {
        if (f_.reduction != Reduction::none) return reduce(f_.reduction, f_.type, host, data_[k], piece_bytes);
        if (f_.byte_mask == BulkCopy::nothing) return static_cast<void>(std::memcpy(host, data_[k], piece_bytes));
        for (u32 i = 0; i < piece_bytes; ++i)
          if (mask_ >> i & 1) host[i] = static_cast<std::byte>(data_[k][i]);
      });
    to_ += bytes;
    from_ += bytes;
    return bytes;
  }

  void complete(u32 bytes) {
    LaneBits bits{};
    LaneAddresses at{};
    bits[warp()] = 1u << lane_ % lanes_per_warp;
    for (u32 t = 0; t < targets_.count(); ++t) {
      at[lane_] = targets_.place(address(f_.barrier), t);
      transfer(c_, op_, op_.access[2], sizeof(u64), at, bits, [&](std::byte* host, u32 lane) {
        change_barrier(c_, op_, host, lane, [&](BarrierObject& b) { b.transactions -= bytes; });
      });
    }
  }

  Context& c_;
  MicroOp const& op_;
  BulkCopy const& f_;
  u32 lane_;
  Carriers carriers_;
  Targets targets_;
  u64 to_ = 0, from_ = 0;
  u32 mask_ = 0;
  alignas(32) u8 data_[lanes_per_warp][piece_bytes];
};

void copy_bulk(Context& c, MicroOp const& op) {
  auto const& f = *static_cast<BulkCopy const*>(op.data);
  for (u32 warp = 0; warp < c.warps; ++warp)
    per_lane(c.bits[warp], [&](u32 lane) { BulkCopier(c, op, f, lanes_per_warp * warp + lane).copy(); });
}

// [ptx] "st.bulk": zeros.
void fill_bulk(Context& c, MicroOp const& op, u32 lane) {
  auto const& f = *static_cast<BulkFill const*>(op.data);
  constexpr u64 unit = 8, most = 16777216;
  u64 left = f.wide_size ? slot<u64>(c, source_at(op, f.size), 0)[lane] : slot<u32>(c, source_at(op, f.size), 0)[lane];
  if (left % unit != 0)
    return pass_over_lane(c, op, Finding::Kind::misaligned, lane,
                          "fills a number of bytes that is not a multiple of 8");
  if (left > most) return pass_over_lane(c, op, Finding::Kind::out_of_bounds, lane, "fills more than 16777216 bytes");
  u64 to = lane_address(c, source_at(op, f.to.source), f.to.wide, f.to.displacement, lane);
  Carriers const carriers(c, lane);
  c.issuer = lane;
  c.any_dropped = false;
  while (left > 0 && !c.any_dropped) {
    u32 const bytes = to % piece_bytes == 0 && left >= piece_bytes ? piece_bytes : unit;
    u32 const count = static_cast<u32>(std::min<u64>(carriers.count, left / bytes));
    note_work(c, op, count);
    carry(c, op, *op.access, carriers, to, bytes, count, [&](std::byte* host, u32) { std::memset(host, 0, bytes); });
    to += u64{bytes} * count;
    left -= u64{bytes} * count;
  }
  c.issuer = no_issuer;
}

void fill_bulk(Context& c, MicroOp const& op) {
  for (u32 warp = 0; warp < c.warps; ++warp)
    per_lane(c.bits[warp], [&](u32 lane) { fill_bulk(c, op, lanes_per_warp * warp + lane); });
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
    {"#st.bulk", Class::memory, {}, {}, fill_bulk, fill_bulk},
    {"#st.async", Class::memory, {}, {}, store_async, store_async},
};

}  // namespace

std::span<Opcode const> copy_opcodes() {
  return table;
}

}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
