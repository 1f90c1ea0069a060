// Memory accesses of instructions that are no plain load or store: a handler names the lanes, their addresses and a
// size, and is given the host's memory lane by lane. Placement, bounds, findings and events are those of any access
// (placement.hpp). Compiled once per instruction-set level.
#pragma once

#include "emulator/opcodes/placement.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

struct Transfer {
  void (*each)(void* self, std::byte* host, u32 lane);
  void* self;
};

void run_transfer(Context& c, MicroOp const& op) {
  Placed placed;
  if (!place<true>(c, op, placed)) return access_elsewhere(c, op);
  if (c.observed) notify_access(c, op, *placed.placement, static_cast<u64>(placed.delta));
  auto const& t = *static_cast<Transfer const*>(op.data);
  Access const& x = *op.access;
  for (u32 warp = 0; warp < c.warps; ++warp)
    per_lane(c.bits[warp], [&](u32 lane) {
      u32 const index = lanes_per_warp * warp + lane;
      t.each(t.self, host_of(c, x, warp, lane) + placed.placement->offsets[index] + placed.delta, index);
    });
}

using LaneBits = u32[max_warps_per_unit];
using LaneAddresses = u64[max_lanes_per_unit];

// each(host, lane of the unit) for the lanes of `bits`, in ascending order; `bytes` is a power of two.
template <class Each>
void transfer(Context& c, MicroOp const& op, Access& x, u32 bytes, u64 const* addresses, u32 const* bits, Each each) {
  u32 lanes[max_lanes_per_unit], any = 0;
  auto* const at = slot<u64>(c, c.scratch, 0);
  for (u32 warp = 0; warp < c.warps; ++warp) {
    any |= bits[warp];
    for (u32 lane = 0; lane < lanes_per_warp; ++lane) {
      u32 const index = lanes_per_warp * warp + lane;
      lanes[index] = 0u - (bits[warp] >> lane & 1u);
      at[index] = addresses[index];
    }
  }
  if (!any) return;
  Transfer const call{[](void* self, std::byte* host, u32 lane) { (*static_cast<Each*>(self))(host, lane); }, &each};
  x.bytes = static_cast<u8>(bytes);
  MicroOp move;
  move.full = move.partial = move.masked = run_transfer;
  move.s[0] = c.scratch;
  move.instruction = op.instruction;
  move.access = &x;
  move.data = &call;
  u32 const *const outer_bits = c.bits, *const outer_lanes = c.lanes;
  c.bits = bits;
  c.lanes = lanes;
  run_transfer(c, move);
  c.bits = outer_bits;
  c.lanes = outer_lanes;
}

// The lanes' addresses from a register, as 64 bits.
[[maybe_unused]] void read_addresses(Context const& c, u32 at, bool wide, u64 displacement, u64* addresses) {
  u32 const lanes = lanes_per_warp * c.warps;
  if (wide) {
    u64 const* const a = slot<u64>(c, at, 0);
    for (u32 lane = 0; lane < lanes; ++lane) addresses[lane] = a[lane] + displacement;
  } else {
    u32 const* const a = slot<u32>(c, at, 0);
    for (u32 lane = 0; lane < lanes; ++lane) addresses[lane] = a[lane] + static_cast<u32>(displacement);
  }
}

[[maybe_unused]] u64 lane_address(Context const& c, u32 at, bool wide, u64 displacement, u32 lane) {
  if (wide) return slot<u64>(c, at, 0)[lane] + displacement;
  return slot<u32>(c, at, 0)[lane] + static_cast<u32>(displacement);
}

// The same place in the shared memory of another group of the cluster.
[[maybe_unused]] u64 in_group(u64 address, u32 rank, u32 own) {
  constexpr u64 ranks = u64{0xff} << cluster_rank_shift;
  return (address & ~ranks) | (rank == own ? 0 : u64{rank + cluster_rank_bias} << cluster_rank_shift);
}

}  // namespace
}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
