// What a copy engine does for one lane: which lanes of its warp carry the pieces, and which groups of the cluster get
// them. Compiled once per instruction-set level.
#pragma once

#include "emulator/opcodes/fragment.hpp"
#include "emulator/opcodes/transfer.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

// Of a lane's warp, the lanes that exist, in the same group, ascending; numbered as lanes of the unit.
struct Carriers {
  u32 count = 0;
  u32 lane[lanes_per_warp];

  Carriers(Context const& c, u32 of) {
    u32 const warp = of / lanes_per_warp;
    u32 const width = c.group_lanes && c.group_lanes < lanes_per_warp ? c.group_lanes : lanes_per_warp;
    u32 const begin = of % lanes_per_warp / width * width;
    u32 const mask = c.exists[warp] & ~0u >> (lanes_per_warp - width) << begin;
    per_lane(mask, [&](u32 carrier) { lane[count++] = lanes_per_warp * warp + carrier; });
  }
};

// Pieces that lie one after the other from the address on, each by a carrier: each(host, number of the piece).
template <class Each>
void carry(Context& c, MicroOp const& op, Access& access, Carriers const& carriers, u64 address, u32 piece_bytes,
           u32 count, Each each) {
  LaneBits bits{};
  LaneAddresses at{};
  u8 number_of[max_lanes_per_unit];
  for (u32 k = 0; k < count; ++k) {
    u32 const lane = carriers.lane[k];
    bits[lane / lanes_per_warp] |= 1u << lane % lanes_per_warp;
    at[lane] = address + u64{k} * piece_bytes;
    number_of[lane] = static_cast<u8>(k);
  }
  transfer(c, op, access, piece_bytes, at, bits, [&](std::byte* host, u32 lane) { each(host, u32{number_of[lane]}); });
}

// The groups that a copy writes to: the one that its address names, or (.multicast::cluster) those of a mask.
class Targets {
 public:
  Targets() = default;
  // `source`: of the mask, then of the group's rank.
  Targets(Context const& c, MicroOp const& op, u32 source, u32 lane) : named_(true), count_(0) {
    u32 const mask = slot<u32>(c, source_at(op, source), 0)[lane] & 0xffff;
    own_ = slot<u32>(c, source_at(op, source + 1), 0)[lane];
    per_lane(mask, [&](u32 rank) { rank_[count_++] = rank; });
  }
  u32 count() const { return count_; }
  // The same place in the memory of target t.
  u64 place(u64 address, u32 t) const { return named_ ? in_group(address, rank_[t], own_) : address; }
  // Of each pair the group of the same parity as the one that the address names.
  u64 place_of_pair(u64 address, u32 t) const {
    if (!named_) return address;
    u32 const code = static_cast<u32>(address >> cluster_rank_shift) & 0xff;
    u32 const named = code ? code - cluster_rank_bias : own_;
    return in_group(address, (rank_[t] & ~1u) | (named & 1), own_);
  }

 private:
  bool named_ = false;
  u32 count_ = 1, own_ = 0;
  u32 rank_[16] = {};
};

}  // namespace
}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
