// Where the lanes of an access are. Compiled once per instruction-set level.
//
// Addresses become 32-bit offsets within the access's window (the buffer it hit last, or the shared memory of the
// group), and all lanes are checked at once; only if some lane is outside does access_elsewhere() look closer.
#pragma once

#include "emulator/opcodes/lanewise.hpp"

// Each file that includes this keeps a copy of its own: compiled with the flags of its level.
namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

constexpr u32 chunk = lanes_per_chunk;

// Neighbours at a constant distance? The distance, or no_step.
u32 step_of(u32 const* o) {
  u32 const step = o[1] - o[0];
  u32 differ = 0;
#pragma omp simd reduction(| : differ)
  for (u32 lane = 0; lane < chunk; ++lane) differ |= (o[lane] - o[0]) ^ (lane * step);
  return differ == 0 ? step : no_step;
}

// The bounds of what a loop over lanes has seen.
struct Extent {
  u64 lowest = ~u64{0}, farthest = 0;
  u32 low_bits = 0;
};

// Sixteen lanes at once, so that bounds are gathered over the unit before they are reduced to one number.
typedef u32 Words16 __attribute__((vector_size(64)));
typedef u64 Longs8 __attribute__((vector_size(64)));

template <class Vector>
Vector read(void const* from) {
  Vector v;
  std::memcpy(&v, from, sizeof v);
  return v;
}
template <class Vector>
struct Bounds {
  Vector lowest = ~Vector{}, farthest = Vector{}, low_bits = Vector{};
  // `mask`: all ones where the lane executes.
  void add(Vector value, Vector offset, Vector mask) {
    Vector const high = value & mask, low = value | ~mask;
    farthest = high > farthest ? high : farthest;
    lowest = low < lowest ? low : lowest;
    low_bits |= offset & mask;
  }
  Extent extent() const {
    Extent e;
    e.lowest = lowest[0];
    for (u32 i = 0; i < sizeof(Vector) / sizeof(lowest[0]); ++i) {
      e.lowest = lowest[i] < e.lowest ? lowest[i] : e.lowest;
      e.farthest = farthest[i] > e.farthest ? farthest[i] : e.farthest;
      e.low_bits |= static_cast<u32>(low_bits[i]);
    }
    return e;
  }
};

// Offsets from a 32-bit register: (value - first) * scale + shift, modulo 2^32. Bounds are those before scaling, over
// the lanes that execute.
template <bool Masked>
Extent place_narrow(Context const& c, u32 const* values, u32 first, u32 scale, u32 shift, u32* offsets) {
  Bounds<Words16> bounds;
  for (u32 warp = 0; warp < c.warps; ++warp) {
    if (Masked && !c.bits[warp]) continue;
    for (u32 lane = lanes_per_warp * warp; lane < lanes_per_warp * (warp + 1); lane += chunk) {
      Words16 const value = read<Words16>(values + lane) - first, offset = value * scale + shift;
      bounds.add(value, offset, Masked ? read<Words16>(c.lanes + lane) : ~Words16{});
      std::memcpy(offsets + lane, &offset, sizeof offset);
    }
  }
  return bounds.extent();
}
template <bool Masked>
Extent place_wide(Context const& c, u64 const* values, u64 shift, u32* offsets) {
  typedef u32 Words8 __attribute__((vector_size(32)));
  typedef s32 Signs8 __attribute__((vector_size(32)));
  typedef s64 LongSigns8 __attribute__((vector_size(64)));
  Bounds<Longs8> bounds;
  for (u32 warp = 0; warp < c.warps; ++warp) {
    if (Masked && !c.bits[warp]) continue;
    for (u32 lane = lanes_per_warp * warp; lane < lanes_per_warp * (warp + 1); lane += 8) {
      Longs8 const offset = read<Longs8>(values + lane) + shift;
      Longs8 mask = ~Longs8{};
      if (Masked) mask = reinterpret_cast<Longs8>(__builtin_convertvector(read<Signs8>(c.lanes + lane), LongSigns8));
      bounds.add(offset, offset, mask);
      Words8 const low = __builtin_convertvector(offset, Words8);
      std::memcpy(offsets + lane, &low, sizeof low);
    }
  }
  return bounds.extent();
}

// Computes where the lanes are; false where one of them leaves the window or is misaligned.
template <bool Masked>
bool compute_placement(Context& c, MicroOp const& op, Placement& p) {
  Access const& x = *op.access;
  Window const& window = x.window;
  p.valid = false;
  if (window.size < x.bytes) return false;
  u64 const last = window.size - x.bytes;
  Extent e;
  if (x.address == Access::Address::indexed) {
    if (!x.reachable) return false;
    e = place_narrow<Masked>(c, slot<u32>(c, op.s[0], 0), x.low, x.scale, x.first_offset, p.offsets);
    if (e.farthest > x.range) return false;
    e.lowest = e.lowest * x.scale + x.first_offset;
    e.farthest = e.farthest * x.scale + x.first_offset;
    p.begin = x.begin;
  } else if (x.address == Access::Address::narrow) {
    p.begin = x.displacement - window.address;
    e = place_narrow<Masked>(c, slot<u32>(c, op.s[0], 0), 0u - static_cast<u32>(p.begin), 1, 0, p.offsets);
  } else {
    p.begin = x.displacement - window.address;
    e = place_wide<Masked>(c, slot<u64>(c, op.s[0], 0), p.begin, p.offsets);
  }
  if (e.farthest > last || e.farthest > 0xffffffffu || (e.low_bits & (x.bytes - 1u)) != 0) return false;
  p.lowest = e.lowest;
  p.farthest = e.farthest;
  p.low_bits = e.low_bits;
  if (u32 const* const bases = window.lane_base) {
    u32 const lanes = lanes_per_warp * c.warps;
#pragma omp simd
    for (u32 lane = 0; lane < lanes; ++lane) p.offsets[lane] += bases[lane];
  }
  for (u32 i = 0; i < c.warps * (lanes_per_warp / chunk); ++i)
    if (!Masked || c.bits[i / 2] == ~0u) p.steps[i] = step_of(p.offsets + chunk * i);
  p.number = ++c.placements;
  p.valid = true;
  return true;
}

struct Placed {
  Placement const* placement;
  s64 delta;  // bytes to add to its offsets
};

// The access's placement: shared with an earlier access if that one's lanes, shifted, stay in the window; else its own.
template <bool Masked>
bool place(Context& c, MicroOp const& op, Placed& placed) {
  Access const& x = *op.access;
  Placement* p = x.placement;
  if (x.follows) {
    u64 const begin = x.address == Access::Address::indexed ? x.begin : x.displacement - x.window.address;
    u64 const delta = begin - p->begin, low = p->lowest + delta, high = p->farthest + delta;
    bool const inside = low <= high && high + x.bytes <= x.window.size && high + x.bytes >= x.bytes;
    if (p->valid && inside && ((p->low_bits | delta) & (x.bytes - 1u)) == 0) {
      placed = {p, static_cast<s64>(delta)};
      return true;
    }
    p = c.spare;
  }
  placed = {p, 0};
  return compute_placement<Masked>(c, op, *p);
}

template <class M>
M fetch(std::byte const* from) {
  M value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class Each>
void per_lane(u32 bits, Each each) {
  for (; bits; bits &= bits - 1) each(static_cast<u32>(std::countr_zero(bits)));
}

// Where a lane finds offset 0. Lanes' copies of local memory lie one after the other.
std::byte* host_of(Context const& c, Access const& x, u32 warp, u32 lane) {
  return x.window.host + x.window.lane_stride * (lanes_per_warp * (c.first_warp + warp) + lane);
}

}  // namespace
}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
