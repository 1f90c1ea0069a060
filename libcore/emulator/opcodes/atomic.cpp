// Atomic operations on memory: atom and red.
#include "emulator/opcodes/arithmetic.hpp"
#include "emulator/opcodes/extremes.hpp"
#include "emulator/opcodes/families.hpp"
#include "emulator/opcodes/placement.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

using enum Class;

// How a value lies in memory.
template <class T>
using InMemory = std::conditional_t<sizeof(T) == 2, u16, typename Lane<T>::Stored>;

// Where the operands of one access are: the k-th value read, and the k-th returned. Few are in d and s, more apart.
u32 value_slot(MicroOp const& op, u32 k) {
  if (op.operands) return op.operands[op.destinations + 1 + k];
  return k < 3 ? op.s[1 + k] : no_slot;
}
u32 result_slot(MicroOp const& op, u32 k) {
  if (!op.operands) return op.d[k];
  return k < op.destinations ? op.operands[k] : no_slot;
}

// Calls each(warp, lane, host) for the lanes in ascending order, which take their turn.
template <class Each>
void take_turns(Context& c, MicroOp const& op, Each each) {
  Placed placed;
  if (!place<true>(c, op, placed)) return access_elsewhere(c, op);
  if (c.observed) notify_access(c, op, *placed.placement, static_cast<u64>(placed.delta));
  Access const& x = *op.access;
  for (u32 warp = 0; warp < c.warps; ++warp)
    per_lane(c.bits[warp], [&](u32 lane) {
      each(warp, lane,
           host_of(c, x, warp, lane) + placed.placement->offsets[lanes_per_warp * warp + lane] + placed.delta);
    });
}

// The same while other threads do the like: in any order, for updates whose result is not read.
template <class T, class F>
void atomic_among_threads(Context& c, MicroOp const& op) {
  using Stored = typename Lane<T>::Stored;
  using M = InMemory<T>;
  take_turns(c, op, [&](u32 warp, u32 lane, std::byte* host) {
    T const b = Lane<T>::load(slot<T>(c, op.s[1], warp)[lane]);
    auto* const place = reinterpret_cast<M*>(host);
    M old = __atomic_load_n(place, __ATOMIC_RELAXED), value;
    do value = static_cast<M>(Lane<T>::store(F{}(Lane<T>::load(static_cast<Stored>(old)), b, b)));
    while (!__atomic_compare_exchange_n(place, &old, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  });
}

// F: (old, b, c) -> new. The destination is optional (red).
template <class T, class F>
void atomic(Context& c, MicroOp const& op) {
  using Stored = typename Lane<T>::Stored;
  using M = InMemory<T>;
  if (c.shares_memory && op.access->window.space == ptx::StateSpace::global) return atomic_among_threads<T, F>(c, op);
  take_turns(c, op, [&](u32 warp, u32 lane, std::byte* host) {
    M const old = fetch<M>(host);
    T const b = Lane<T>::load(slot<T>(c, op.s[1], warp)[lane]);
    T const third = op.s[2] == no_slot ? b : Lane<T>::load(slot<T>(c, op.s[2], warp)[lane]);
    M const value = static_cast<M>(Lane<T>::store(F{}(Lane<T>::load(static_cast<Stored>(old)), b, third)));
    std::memcpy(host, &value, sizeof value);
    if (op.d[0] != no_slot) slot<T>(c, op.d[0], warp)[lane] = static_cast<Stored>(old);
  });
}

// The same for vectors: each element by itself.
template <class T, class F>
void atomic_vector(Context& c, MicroOp const& op) {
  using Stored = typename Lane<T>::Stored;
  using M = InMemory<T>;
  u32 const n = op.access->elements;
  take_turns(c, op, [&](u32 warp, u32 lane, std::byte* host) {
    T b[8];
    for (u32 k = 0; k < n; ++k) b[k] = Lane<T>::load(slot<T>(c, value_slot(op, k), warp)[lane]);
    for (u32 k = 0; k < n; ++k) {
      M const old = fetch<M>(host + k * sizeof(M));
      M const value = static_cast<M>(Lane<T>::store(F{}(Lane<T>::load(static_cast<Stored>(old)), b[k], b[k])));
      std::memcpy(host + k * sizeof(M), &value, sizeof value);
      if (u32 const d = result_slot(op, k); d != no_slot) slot<T>(c, d, warp)[lane] = static_cast<Stored>(old);
    }
  });
}

// 128 bits: pairs of 64-bit registers, the lower first.
template <bool Compare>
void exchange_128(Context& c, MicroOp const& op) {
  take_turns(c, op, [&](u32 warp, u32 lane, std::byte* host) {
    u64 in[4] = {};
    for (u32 k = 0; k < (Compare ? 4u : 2u); ++k) in[k] = slot<u64>(c, value_slot(op, k), warp)[lane];
    u64 const old[2] = {fetch<u64>(host), fetch<u64>(host + 8)};
    if (!Compare || (old[0] == in[0] && old[1] == in[1])) std::memcpy(host, Compare ? in + 2 : in, 16);
    for (u32 k = 0; k < 2; ++k)
      if (u32 const d = result_slot(op, k); d != no_slot) slot<u64>(c, d, warp)[lane] = old[k];
  });
}

struct Add {
  template <class T>
  T operator()(T a, T b, T) const {
    return a + b;
  }
  Half operator()(Half a, Half b, Half) const { return to_half(from_half(a) + from_half(b)); }
  Brain operator()(Brain a, Brain b, Brain) const { return to_brain(from_brain(a) + from_brain(b)); }
};
struct AddFlushed {
  f32 operator()(f32 a, f32 b, f32) const { return flush(flush(a) + flush(b)); }
};
// Sums of f32 flush subnormals in global memory and keep them in shared memory ([ptx] "atom").
template <template <class, class> class Handlers>
struct AddFloats {
  static void run(Context& c, MicroOp const& op) {
    bool const shared = op.access->window.space == ptx::StateSpace::shared;
    shared ? Handlers<f32, Add>::run(c, op) : Handlers<f32, AddFlushed>::run(c, op);
  }
};
template <class T, class F>
struct One {
  static void run(Context& c, MicroOp const& op) { atomic<T, F>(c, op); }
};
template <class T, class F>
struct Several {
  static void run(Context& c, MicroOp const& op) { atomic_vector<T, F>(c, op); }
};
template <bool Maximum>
struct ExtremeOf {
  template <class H>
  H operator()(H a, H b, H) const {
    return Extreme16<Maximum, false, false, H>{}(a, b);
  }
};
// Two values in one word.
template <class F, class H>
struct Pairs {
  u32 operator()(u32 a, u32 b, u32) const {
    u32 const low =
        static_cast<u16>(F{}(static_cast<H>(a & 0xffff), static_cast<H>(b & 0xffff), static_cast<H>(b & 0xffff)));
    u32 const high = static_cast<u16>(F{}(static_cast<H>(a >> 16), static_cast<H>(b >> 16), static_cast<H>(b >> 16)));
    return high << 16 | low;
  }
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
constexpr Opcode described(std::string_view pattern, LaneType type, Handler handler) {
  Opcode opcode;
  opcode.pattern = pattern;
  opcode.kind = memory;
  opcode.destinations[0] = type;
  opcode.sources[0] = LaneType::u64;
  opcode.sources[1] = opcode.sources[2] = type;
  opcode.full = opcode.masked = handler;
  return opcode;
}
template <class T, class F>
constexpr Opcode atom(std::string_view pattern, F) {
  return described(pattern, Lane<T>::operand, atomic<T, F>);
}
// Vectors of two and more; the decoder writes '#vector' for "atom".
template <class T, class F>
constexpr Opcode vector(std::string_view pattern, F) {
  return described(pattern, Lane<T>::operand, atomic_vector<T, F>);
}
#define SIXTEEN_BITS(NAME, LANE)                                                                               \
  vector<Half>("#vector." NAME "{,.noftz}.f16", LANE{}), vector<Brain>("#vector." NAME ".noftz.bf16", LANE{}), \
      vector<u32>("#vector." NAME ".noftz.f16x2", Pairs<LANE, Half>{}),                                        \
      vector<u32>("#vector." NAME ".noftz.bf16x2", Pairs<LANE, Brain>{}),                                      \
      atom<Half>("atom." NAME "{,.noftz}.f16", LANE{}), atom<Brain>("atom." NAME ".noftz.bf16", LANE{}),       \
      atom<u32>("atom." NAME ".noftz.f16x2", Pairs<LANE, Half>{}),                                             \
      atom<u32>("atom." NAME ".noftz.bf16x2", Pairs<LANE, Brain>{})

constexpr Opcode table[] = {
    atom<u32>("atom.add.{u,s}32", Add{}),
    atom<u64>("atom.add.{u,s}64", Add{}),
    described("atom.add.f32", LaneType::f32, AddFloats<One>::run),
    described("#vector.add.f32", LaneType::f32, AddFloats<Several>::run),
    atom<f64>("atom.add.f64", Add{}),
    SIXTEEN_BITS("add", Add),
    SIXTEEN_BITS("min", ExtremeOf<false>),
    SIXTEEN_BITS("max", ExtremeOf<true>),
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
    atom<u16>("atom.cas.b16", CompareExchange{}),
    described("#wide.exch.b128", LaneType::u64, exchange_128<false>),
    described("#wide.cas.b128", LaneType::u64, exchange_128<true>),
};

}  // namespace

std::span<Opcode const> atomic_opcodes() {
  return table;
}

}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
