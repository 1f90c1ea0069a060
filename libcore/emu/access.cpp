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

constexpr u32 chunk = 16;  // lanes that are moved together

// Fills c.offsets for the lanes that execute; false where one of them leaves the window or is misaligned.
template <bool Masked>
bool place(Context& c, MicroOp const& op) {
  Access const& x = *op.access;
  Window const& window = x.window;
  if (window.size < x.bytes) return false;
  u32 low_bits = 0;
  if (x.address == Access::Address::indexed) {
    if (!x.reachable) return false;
    u32 const first = x.low, scale = x.scale, offset = x.first_offset;
    u32 farthest = 0;
    for (u32 warp = 0; warp < c.warps; ++warp) {
      if (Masked && !c.bits[warp]) continue;
      u32 const *a = slot<u32>(c, op.s[0], warp), *active = c.lanes + lanes_per_warp * warp;
      u32* o = c.offsets + lanes_per_warp * warp;
#pragma omp simd reduction(max : farthest) reduction(| : low_bits)
      for (u32 lane = 0; lane < lanes_per_warp; ++lane) {
        u32 const index = Masked ? (a[lane] - first) & active[lane] : a[lane] - first;
        farthest = index > farthest ? index : farthest;
        o[lane] = index * scale + offset;
        low_bits |= o[lane];
      }
    }
    // An inactive lane stands for index == low, which is as aligned as the access itself.
    return farthest <= x.range && (low_bits & (x.bytes - 1u)) == 0;
  }
  if (x.address == Access::Address::narrow) {
    u32 const shift = static_cast<u32>(x.displacement - window.address);
    u32 farthest = 0;
    for (u32 warp = 0; warp < c.warps; ++warp) {
      if (Masked && !c.bits[warp]) continue;
      u32 const *a = slot<u32>(c, op.s[0], warp), *active = c.lanes + lanes_per_warp * warp;
      u32* o = c.offsets + lanes_per_warp * warp;
#pragma omp simd reduction(max : farthest) reduction(| : low_bits)
      for (u32 lane = 0; lane < lanes_per_warp; ++lane) {
        u32 const offset = Masked ? (a[lane] + shift) & active[lane] : a[lane] + shift;
        farthest = offset > farthest ? offset : farthest;
        o[lane] = offset;
        low_bits |= offset;
      }
    }
    return farthest <= window.size - x.bytes && (low_bits & (x.bytes - 1u)) == 0;
  }
  u64 const shift = x.displacement - window.address;
  u64 farthest = 0;
  for (u32 warp = 0; warp < c.warps; ++warp) {
    if (Masked && !c.bits[warp]) continue;
    u64 const* a = slot<u64>(c, op.s[0], warp);
    u32 const* active = c.lanes + lanes_per_warp * warp;
    u32* o = c.offsets + lanes_per_warp * warp;
#pragma omp simd reduction(max : farthest) reduction(| : low_bits)
    for (u32 lane = 0; lane < lanes_per_warp; ++lane) {
      u64 const mask = Masked ? static_cast<u64>(s64{static_cast<s32>(active[lane])}) : ~u64{0};
      u64 const offset = (a[lane] + shift) & mask;
      farthest = offset > farthest ? offset : farthest;
      o[lane] = static_cast<u32>(offset);
      low_bits |= static_cast<u32>(offset);
    }
  }
  return farthest <= window.size - x.bytes && farthest <= 0xffffffffu && (low_bits & (x.bytes - 1u)) == 0;
}

// How the offsets of a half warp lie: side by side (`step` bytes apart), all equal, or anyhow.
enum class Layout { adjacent, equal, scattered };
template <u32 Step>
Layout layout(u32 const* o) {
  u32 const first = o[0];
  u32 apart = 0, differ = 0;
#pragma omp simd reduction(| : apart, differ)
  for (u32 lane = 0; lane < chunk; ++lane) {
    u32 const distance = o[lane] - first;
    apart |= distance ^ (lane * Step);
    differ |= distance;
  }
  return apart == 0 ? Layout::adjacent : differ == 0 ? Layout::equal : Layout::scattered;
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
void load_chunk(std::byte const* host, u32 const* o, S* d, Layout how) {
  if (how == Layout::adjacent) {
    M values[chunk];
    std::memcpy(values, host + o[0], sizeof values);
#pragma omp simd
    for (u32 lane = 0; lane < chunk; ++lane) d[lane] = widen<M, S, Narrow>(values[lane]);
  } else if (how == Layout::equal) {
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
void store_chunk(std::byte* host, u32 const* o, S const* s, Layout how) {
  if (how == Layout::adjacent) {
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

// Lanes' copies of local memory lie one after the other.
std::byte* host_of(Context const& c, Access const& x, u32 warp, u32 lane) {
  return x.window.host + x.window.lane_stride * (lanes_per_warp * (c.first_warp + warp) + lane);
}

template <class M, class S, bool Narrow, bool Masked>
void load(Context& c, MicroOp const& op) {
  if (!place<Masked>(c, op)) return access_elsewhere(c, op);
  if (c.observed) notify_access(c, op);
  Access const& x = *op.access;
  bool const blocks = x.window.lane_stride == 0;
  for (u32 warp = 0; warp < c.warps; ++warp) {
    u32 const active = Masked ? c.bits[warp] : ~0u;
    u32 const* o = c.offsets + lanes_per_warp * warp;
    if (active == 0) continue;
    if (active == ~0u && blocks) {
      for (u32 lane = 0; lane < lanes_per_warp; lane += chunk) {
        Layout how = layout<sizeof(M)>(o + lane);
        if (how == Layout::adjacent && x.elements > 1) how = Layout::scattered;
        for (u32 i = 0; i < x.elements; ++i)
          load_chunk<M, S, Narrow>(x.window.host + i * sizeof(M), o + lane,
                                   reinterpret_cast<S*>(c.registers + x.slots[i]) + lanes_per_warp * warp + lane, how);
      }
      continue;
    }
    per_lane(active, [&](u32 lane) {
      std::byte const* host = host_of(c, x, warp, lane) + o[lane];
      for (u32 i = 0; i < x.elements; ++i)
        reinterpret_cast<S*>(c.registers + x.slots[i])[lanes_per_warp * warp + lane] =
            widen<M, S, Narrow>(fetch<M>(host + i * sizeof(M)));
    });
  }
}

template <class M, class S, bool Masked>
void store(Context& c, MicroOp const& op) {
  if (!place<Masked>(c, op)) return access_elsewhere(c, op);
  if (c.observed) notify_access(c, op);
  Access const& x = *op.access;
  bool const blocks = x.window.lane_stride == 0 && x.elements == 1;
  for (u32 warp = 0; warp < c.warps; ++warp) {
    u32 const active = Masked ? c.bits[warp] : ~0u;
    u32 const* o = c.offsets + lanes_per_warp * warp;
    if (active == 0) continue;
    if (active == ~0u && blocks) {
      S const* s = reinterpret_cast<S const*>(c.registers + x.slots[0]) + lanes_per_warp * warp;
      for (u32 lane = 0; lane < lanes_per_warp; lane += chunk)
        store_chunk<M, S>(x.window.host, o + lane, s + lane, layout<sizeof(M)>(o + lane));
      continue;
    }
    per_lane(active, [&](u32 lane) {
      std::byte* host = host_of(c, x, warp, lane) + o[lane];
      for (u32 i = 0; i < x.elements; ++i) {
        M const value =
            static_cast<M>(reinterpret_cast<S const*>(c.registers + x.slots[i])[lanes_per_warp * warp + lane]);
        std::memcpy(host + i * sizeof(M), &value, sizeof value);
      }
    });
  }
}

// Lanes take their turn in ascending order. F: (old, b, c) -> new. The destination is optional (red).
template <class T, class F>
void atomic(Context& c, MicroOp const& op) {
  if (!place<true>(c, op)) return access_elsewhere(c, op);
  if (c.observed) notify_access(c, op);
  using Stored = typename Lane<T>::Stored;
  using M = std::conditional_t<std::is_same_v<T, Half>, u16, Stored>;
  Access const& x = *op.access;
  for (u32 warp = 0; warp < c.warps; ++warp)
    per_lane(c.bits[warp], [&](u32 lane) {
      std::byte* host = host_of(c, x, warp, lane) + c.offsets[lanes_per_warp * warp + lane];
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
