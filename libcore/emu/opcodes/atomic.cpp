// Atomic operations on memory: atom and red.
#include "emu/opcodes/arithmetic.hpp"
#include "emu/opcodes/families.hpp"
#include "emu/opcodes/placement.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

using enum Class;

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

}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
