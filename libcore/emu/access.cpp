// Loads, stores and atomics.
//
// Each access first turns addresses into 32-bit offsets within its window (the buffer it hit last, or the shared memory
// of the group) and checks all lanes at once; only if some lane is outside does access_elsewhere() look closer. Then
// the observers hear of it, then data moves: per half warp as one block where lanes are adjacent, as one value where
// all read the same place, lane by lane otherwise.
//
// Scattered stores go in lane order, so the highest lane wins where several write one place (PTX leaves it open).
#include "emu/arithmetic.hpp"
#include "emu/families.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

using enum Class;

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

// Offsets from a 32-bit register: (value - first) * scale + shift, modulo 2^32. Bounds are those before scaling, over
// the lanes that execute.
template <bool Masked>
Extent place_narrow(Context const& c, u32 const* values, u32 first, u32 scale, u32 shift, u32* offsets) {
  u32 lowest = ~0u, farthest = 0, low_bits = 0;
  for (u32 warp = 0; warp < c.warps; ++warp) {
    if (Masked && !c.bits[warp]) continue;
    u32 const *a = values + lanes_per_warp * warp, *active = c.lanes + lanes_per_warp * warp;
    u32* o = offsets + lanes_per_warp * warp;
#pragma omp simd reduction(max : farthest) reduction(min : lowest) reduction(| : low_bits)
    for (u32 lane = 0; lane < lanes_per_warp; ++lane) {
      u32 const mask = Masked ? active[lane] : ~0u;
      u32 const value = a[lane] - first, offset = value * scale + shift;
      u32 const high = value & mask, low = value | ~mask;
      farthest = high > farthest ? high : farthest;
      lowest = low < lowest ? low : lowest;
      o[lane] = offset;
      low_bits |= offset & mask;
    }
  }
  return {lowest, farthest, low_bits};
}
template <bool Masked>
Extent place_wide(Context const& c, u64 const* values, u64 shift, u32* offsets) {
  u64 lowest = ~u64{0}, farthest = 0;
  u32 low_bits = 0;
  for (u32 warp = 0; warp < c.warps; ++warp) {
    if (Masked && !c.bits[warp]) continue;
    u64 const* a = values + lanes_per_warp * warp;
    u32 const* active = c.lanes + lanes_per_warp * warp;
    u32* o = offsets + lanes_per_warp * warp;
#pragma omp simd reduction(max : farthest) reduction(min : lowest) reduction(| : low_bits)
    for (u32 lane = 0; lane < lanes_per_warp; ++lane) {
      u64 const mask = Masked ? static_cast<u64>(s64{static_cast<s32>(active[lane])}) : ~u64{0};
      u64 const offset = a[lane] + shift, high = offset & mask, low = offset | ~mask;
      farthest = high > farthest ? high : farthest;
      lowest = low < lowest ? low : lowest;
      o[lane] = static_cast<u32>(offset);
      low_bits |= static_cast<u32>(high);
    }
  }
  return {lowest, farthest, low_bits};
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

// M: the element in memory; S: the slot's type; Narrow: extended to 16 bits only.
template <class M, class S, bool Narrow>
S widen(M value) {
  if constexpr (Narrow)
    return static_cast<S>(static_cast<u16>(static_cast<s16>(value)));
  else if constexpr (std::is_signed_v<M>)
    return static_cast<S>(static_cast<s32>(value));
  else
    return static_cast<S>(value);
}

template <class M, class S, bool Narrow>
void load_chunk(std::byte const* host, u32 const* o, S* d, u32 step) {
  if (step == sizeof(M)) {
    M values[chunk];
    std::memcpy(values, host + o[0], sizeof values);
#pragma omp simd
    for (u32 lane = 0; lane < chunk; ++lane) d[lane] = widen<M, S, Narrow>(values[lane]);
  } else if (step == 0) {
    S const value = widen<M, S, Narrow>(fetch<M>(host + o[0]));
#pragma omp simd
    for (u32 lane = 0; lane < chunk; ++lane) d[lane] = value;
  } else {
    S values[chunk];  // gathered in registers: single stores to d would stall the vector loads that follow
    for (u32 lane = 0; lane < chunk; ++lane) values[lane] = widen<M, S, Narrow>(fetch<M>(host + o[lane]));
    std::memcpy(d, values, sizeof values);
  }
}
template <class M, class S>
void store_chunk(std::byte* host, u32 const* o, S const* s, u32 step) {
  if (step == sizeof(M)) {
    M values[chunk];
#pragma omp simd
    for (u32 lane = 0; lane < chunk; ++lane) values[lane] = static_cast<M>(s[lane]);
    std::memcpy(host + o[0], values, sizeof values);
  } else {
    for (u32 lane = 0; lane < chunk; ++lane) {
      M const value = static_cast<M>(s[lane]);
      std::memcpy(host + o[lane], &value, sizeof value);
    }
  }
}

template <class Each>
void per_lane(u32 bits, Each each) {
  for (; bits; bits &= bits - 1) each(static_cast<u32>(std::countr_zero(bits)));
}

// Where a lane finds offset 0. Lanes' copies of local memory lie one after the other.
std::byte* host_of(Context const& c, Access const& x, u32 warp, u32 lane) {
  return x.window.host + x.window.lane_stride * (lanes_per_warp * (c.first_warp + warp) + lane);
}

template <class M, class S, bool Narrow, bool Masked>
void load(Context& c, MicroOp const& op) {
  Placed placed;
  if (!place<Masked>(c, op, placed)) return access_elsewhere(c, op);
  if (c.observed) notify_access(c, op, *placed.placement, static_cast<u64>(placed.delta));
  Access const& x = *op.access;
  u32 const *offsets = placed.placement->offsets, *steps = placed.placement->steps;
  bool const blocks = x.window.lane_stride == 0;
  for (u32 i = 0; i < x.elements; ++i) {
    S* const d = reinterpret_cast<S*>(c.registers + x.slots[i]);
    s64 const shift = placed.delta + static_cast<s64>(i * sizeof(M));
    std::byte const* const host = x.window.host + shift;
    for (u32 warp = 0; warp < c.warps; ++warp) {
      u32 const active = Masked ? c.bits[warp] : ~0u, first = lanes_per_warp * warp;
      if (active == ~0u && blocks) {
        load_chunk<M, S, Narrow>(host, offsets + first, d + first, steps[2 * warp]);
        load_chunk<M, S, Narrow>(host, offsets + first + chunk, d + first + chunk, steps[2 * warp + 1]);
      } else {
        per_lane(active, [&](u32 lane) {
          d[first + lane] = widen<M, S, Narrow>(fetch<M>(host_of(c, x, warp, lane) + offsets[first + lane] + shift));
        });
      }
    }
  }
}

template <class M, class S, bool Masked>
void store(Context& c, MicroOp const& op) {
  Placed placed;
  if (!place<Masked>(c, op, placed)) return access_elsewhere(c, op);
  if (c.observed) notify_access(c, op, *placed.placement, static_cast<u64>(placed.delta));
  Access const& x = *op.access;
  u32 const *offsets = placed.placement->offsets, *steps = placed.placement->steps;
  bool const blocks = x.window.lane_stride == 0 && x.elements == 1;
  for (u32 warp = 0; warp < c.warps; ++warp) {
    u32 const active = Masked ? c.bits[warp] : ~0u, first = lanes_per_warp * warp;
    if (active == ~0u && blocks) {
      std::byte* const host = x.window.host + placed.delta;
      S const* const s = reinterpret_cast<S const*>(c.registers + x.slots[0]) + first;
      store_chunk<M, S>(host, offsets + first, s, steps[2 * warp]);
      store_chunk<M, S>(host, offsets + first + chunk, s + chunk, steps[2 * warp + 1]);
      continue;
    }
    // Lane by lane with all elements of each: lanes may overlap.
    per_lane(active, [&](u32 lane) {
      std::byte* const host = host_of(c, x, warp, lane) + offsets[first + lane] + placed.delta;
      for (u32 i = 0; i < x.elements; ++i) {
        M const value = static_cast<M>(reinterpret_cast<S const*>(c.registers + x.slots[i])[first + lane]);
        std::memcpy(host + i * sizeof(M), &value, sizeof value);
      }
    });
  }
}

// Lanes take their turn in ascending order. F: (old, b, c) -> new. The destination is optional (red).
template <class T, class F>
void atomic(Context& c, MicroOp const& op) {
  Placed placed;
  if (!place<true>(c, op, placed)) return access_elsewhere(c, op);
  if (c.observed) notify_access(c, op, *placed.placement, static_cast<u64>(placed.delta));
  using Stored = typename Lane<T>::Stored;
  using M = std::conditional_t<std::is_same_v<T, Half>, u16, Stored>;
  Access const& x = *op.access;
  for (u32 warp = 0; warp < c.warps; ++warp)
    per_lane(c.bits[warp], [&](u32 lane) {
      std::byte* host =
          host_of(c, x, warp, lane) + placed.placement->offsets[lanes_per_warp * warp + lane] + placed.delta;
      M const old = fetch<M>(host);
      T const b = Lane<T>::load(slot<T>(c, op.s[1], warp)[lane]);
      T const third = op.s[2] == no_slot ? b : Lane<T>::load(slot<T>(c, op.s[2], warp)[lane]);
      M const value = static_cast<M>(Lane<T>::store(F{}(Lane<T>::load(static_cast<Stored>(old)), b, third)));
      std::memcpy(host, &value, sizeof value);
      if (op.d[0] != no_slot) slot<T>(c, op.d[0], warp)[lane] = static_cast<Stored>(old);
    });
}

struct Add {
  template <class T>
  T operator()(T a, T b, T) const {
    return a + b;
  }
  Half operator()(Half a, Half b, Half) const { return to_half(from_half(a) + from_half(b)); }
};
struct Least {
  template <class T>
  T operator()(T a, T b, T) const {
    return b < a ? b : a;
  }
};
struct Most {
  template <class T>
  T operator()(T a, T b, T) const {
    return a < b ? b : a;
  }
};
struct And {
  template <class T>
  T operator()(T a, T b, T) const {
    return a & b;
  }
};
struct Or {
  template <class T>
  T operator()(T a, T b, T) const {
    return a | b;
  }
};
struct Xor {
  template <class T>
  T operator()(T a, T b, T) const {
    return a ^ b;
  }
};
struct Increment {
  template <class T>
  T operator()(T a, T b, T) const {
    return a >= b ? T{0} : a + 1;
  }
};
struct Decrement {
  template <class T>
  T operator()(T a, T b, T) const {
    return a == 0 || a > b ? b : a - 1;
  }
};
struct Exchange {
  template <class T>
  T operator()(T, T b, T) const {
    return b;
  }
};
struct CompareExchange {
  template <class T>
  T operator()(T a, T b, T c) const {
    return a == b ? c : a;
  }
};

// Patterns leave out the space, scope and ordering, which the decoder reads.
template <class T, class F>
constexpr Opcode atom(std::string_view pattern, F) {
  Opcode opcode;
  opcode.pattern = pattern;
  opcode.kind = memory;
  opcode.destinations[0] = Lane<T>::operand;
  opcode.sources[0] = LaneType::u64;
  opcode.sources[1] = opcode.sources[2] = Lane<T>::operand;
  opcode.full = opcode.masked = atomic<T, F>;
  return opcode;
}

constexpr Opcode table[] = {
    atom<u32>("atom.add.{u,s}32", Add{}),
    atom<u64>("atom.add.{u,s}64", Add{}),
    atom<f32>("atom.add.f32", Add{}),
    atom<f64>("atom.add.f64", Add{}),
    atom<Half>("atom.add{,.noftz}.f16", Add{}),
    atom<u32>("atom.min.u32", Least{}),
    atom<s32>("atom.min.s32", Least{}),
    atom<u64>("atom.min.u64", Least{}),
    atom<s64>("atom.min.s64", Least{}),
    atom<u32>("atom.max.u32", Most{}),
    atom<s32>("atom.max.s32", Most{}),
    atom<u64>("atom.max.u64", Most{}),
    atom<s64>("atom.max.s64", Most{}),
    atom<u32>("atom.and.b32", And{}),
    atom<u64>("atom.and.b64", And{}),
    atom<u32>("atom.or.b32", Or{}),
    atom<u64>("atom.or.b64", Or{}),
    atom<u32>("atom.xor.b32", Xor{}),
    atom<u64>("atom.xor.b64", Xor{}),
    atom<u32>("atom.inc.u32", Increment{}),
    atom<u32>("atom.dec.u32", Decrement{}),
    atom<u32>("atom.exch.{b32,u32,s32,f32}", Exchange{}),
    atom<u64>("atom.exch.{b64,u64,s64,f64}", Exchange{}),
    atom<u32>("atom.cas.{b,u,s}32", CompareExchange{}),
    atom<u64>("atom.cas.{b,u,s}64", CompareExchange{}),
};

}  // namespace

std::span<Opcode const> atomic_opcodes() {
  return table;
}

void load_store_handlers(Handlers& h) {
  h.loads[static_cast<int>(Extension::u8)] = {load<u8, u32, false, false>, load<u8, u32, false, true>};
  h.loads[static_cast<int>(Extension::s8)] = {load<s8, u32, false, false>, load<s8, u32, false, true>};
  h.loads[static_cast<int>(Extension::s8_to_16)] = {load<s8, u32, true, false>, load<s8, u32, true, true>};
  h.loads[static_cast<int>(Extension::u16)] = {load<u16, u32, false, false>, load<u16, u32, false, true>};
  h.loads[static_cast<int>(Extension::s16)] = {load<s16, u32, false, false>, load<s16, u32, false, true>};
  h.loads[static_cast<int>(Extension::b32)] = {load<u32, u32, false, false>, load<u32, u32, false, true>};
  h.loads[static_cast<int>(Extension::b64)] = {load<u64, u64, false, false>, load<u64, u64, false, true>};
  h.stores[0] = {store<u8, u32, false>, store<u8, u32, true>};
  h.stores[1] = {store<u16, u32, false>, store<u16, u32, true>};
  h.stores[2] = {store<u32, u32, false>, store<u32, u32, true>};
  h.stores[3] = {store<u64, u64, false>, store<u64, u64, true>};
}

}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
