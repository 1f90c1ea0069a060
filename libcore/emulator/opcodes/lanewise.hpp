// Loops over lanes: turns what one lane does into handlers. Compiled once per instruction-set level, so everything here
// lives in that level's namespace. Lanes are independent, which `omp simd` states (register slots either coincide or
// are disjoint); counts are multiples of 32, so that no remainder is left after vectorising.
#pragma once

#include <bit>
#include <cstring>
#include <type_traits>
#include <utility>

#include "emulator/opcodes/opcodes.hpp"

#ifndef KERNELCAST_EMU_ISA
#define KERNELCAST_EMU_ISA base
#endif

namespace kernelcast::emu::KERNELCAST_EMU_ISA {

using u8 = std::uint8_t;
using s8 = std::int8_t;
using u16 = std::uint16_t;
using s16 = std::int16_t;
using u32 = std::uint32_t;
using s32 = std::int32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;
using f32 = float;
using f64 = double;
enum class Half : u16 {};   // the bits of an f16
enum class Brain : u16 {};  // the bits of a bf16
struct Pred {               // a truth value in a lane
  bool holds;
};

template <class T>
struct Lane;  // how a value lies in its slot
template <class T, class S, LaneType O>
struct IntegerLane {
  using Stored = S;
  static constexpr LaneType operand = O;
  static T load(S bits) { return static_cast<T>(bits); }
  static S store(T value) { return static_cast<S>(static_cast<std::make_unsigned_t<T>>(value)); }
};
template <>
struct Lane<u8> : IntegerLane<u8, u32, LaneType::u8> {};
template <>
struct Lane<s8> : IntegerLane<s8, u32, LaneType::s8> {};
template <>
struct Lane<u16> : IntegerLane<u16, u32, LaneType::u16> {};
template <>
struct Lane<s16> : IntegerLane<s16, u32, LaneType::s16> {};
template <>
struct Lane<u32> : IntegerLane<u32, u32, LaneType::u32> {};
template <>
struct Lane<s32> : IntegerLane<s32, u32, LaneType::s32> {};
template <>
struct Lane<u64> : IntegerLane<u64, u64, LaneType::u64> {};
template <>
struct Lane<s64> : IntegerLane<s64, u64, LaneType::s64> {};
template <>
struct Lane<f32> {
  using Stored = u32;
  static constexpr LaneType operand = LaneType::f32;
  static f32 load(u32 bits) { return std::bit_cast<f32>(bits); }
  // A NaN has no payload in PTX; without this its bits would depend on the host's operand order.
  static u32 store(f32 value) { return value != value ? 0x7fffffffu : std::bit_cast<u32>(value); }
};
template <>
struct Lane<f64> {
  using Stored = u64;
  static constexpr LaneType operand = LaneType::f64;
  static f64 load(u64 bits) { return std::bit_cast<f64>(bits); }
  // PTX leaves this NaN's bits open; an H100 keeps those of an operand.
  static u64 store(f64 value) { return value != value ? 0x7ff8000000000000u : std::bit_cast<u64>(value); }
};
template <>
struct Lane<Half> {
  using Stored = u32;
  static constexpr LaneType operand = LaneType::f16;
  static Half load(u32 bits) { return static_cast<Half>(bits); }
  static u32 store(Half value) { return static_cast<u16>(value); }
};
template <>
struct Lane<Brain> {
  using Stored = u32;
  static constexpr LaneType operand = LaneType::f16;
  static Brain load(u32 bits) { return static_cast<Brain>(bits); }
  static u32 store(Brain value) { return static_cast<u16>(value); }
};
template <>
struct Lane<Pred> {
  using Stored = u32;
  static constexpr LaneType operand = LaneType::pred;
  static Pred load(u32 bits) { return {bits != 0}; }
  static u32 store(Pred value) { return value.holds ? ~0u : 0u; }
};

template <class T>
typename Lane<T>::Stored* slot(Context const& c, std::uint32_t offset, std::uint32_t warp) {
  return reinterpret_cast<typename Lane<T>::Stored*>(c.registers + offset) + std::size_t{lanes_per_warp} * warp;
}

// All lanes of all warps in one loop, whose count is known to be a multiple of 32.
template <class F, class D, class... S>
inline void unit_loop(std::size_t warps, typename Lane<D>::Stored* d, typename Lane<S>::Stored const*... s) {
  std::size_t const lanes = warps * lanes_per_warp;
#pragma omp simd
  for (std::size_t lane = 0; lane < lanes; ++lane) d[lane] = Lane<D>::store(F{}(Lane<S>::load(s[lane])...));
}

template <class F, class D, class... S>
inline void warp_loop_masked(u32 const* active, typename Lane<D>::Stored* d, typename Lane<S>::Stored const*... s) {
  using Stored = typename Lane<D>::Stored;
#pragma omp simd
  for (u32 lane = 0; lane < lanes_per_warp; ++lane) {
    Stored const keep = ~static_cast<Stored>(static_cast<s32>(active[lane]));
    Stored const result = Lane<D>::store(F{}(Lane<S>::load(s[lane])...));
    d[lane] = (result & ~keep) | (d[lane] & keep);
  }
}

template <class F, class Signature>
struct Lanewise;
template <class F, class D, class... S>
struct Lanewise<F, D(S...)> {
  static void full(Context& c, MicroOp const& op) { all(c, op, std::index_sequence_for<S...>{}); }
  static void masked(Context& c, MicroOp const& op) { some(c, op, std::index_sequence_for<S...>{}); }

 private:
  // The operation's fields are read once: the loops write memory that the compiler must take for anything.
  template <std::size_t... I>
  static void all(Context& c, MicroOp const& op, std::index_sequence<I...>) {
    unit_loop<F, D, S...>(c.warps, slot<D>(c, op.d[0], 0), slot<S>(c, op.s[I], 0)...);
  }
  template <std::size_t... I>
  static void some(Context& c, MicroOp const& op, std::index_sequence<I...>) {
    each_active_warp(c.warps, c.bits, c.lanes, slot<D>(c, op.d[0], 0), slot<S>(c, op.s[I], 0)...);
  }
  static void each_active_warp(u32 warps, u32 const* bits, u32 const* active, typename Lane<D>::Stored* d,
                               typename Lane<S>::Stored const*... s) {
    for (std::size_t warp = 0; warp < warps; ++warp)
      if (bits[warp])
        warp_loop_masked<F, D, S...>(active + lanes_per_warp * warp, d + lanes_per_warp * warp,
                                     (s + lanes_per_warp * warp)...);
  }
};

// The lanes that execute, one by one: for opcodes that are rare, or too full of branches to gain from vectors. One
// handler serves all three cases.
template <class F, class Signature>
struct OneByOne;
template <class F, class D, class... S>
struct OneByOne<F, D(S...)> {
  static void run(Context& c, MicroOp const& op) { each(c, op, std::index_sequence_for<S...>{}); }

 private:
  template <std::size_t... I>
  static void each(Context& c, MicroOp const& op, std::index_sequence<I...>) {
    for (u32 warp = 0; warp < c.warps; ++warp) {
      auto* const d = slot<D>(c, op.d[0], warp);
      for (u32 rest = c.bits[warp]; rest; rest &= rest - 1) {
        auto const lane = static_cast<u32>(std::countr_zero(rest));
        d[lane] = Lane<D>::store(F{}(Lane<S>::load(slot<S>(c, op.s[I], warp)[lane])...));
      }
    }
  }
};

template <class Signature>
struct Entry;
template <class D, class... S>
struct Entry<D(S...)> {
  template <class F>
  static constexpr Opcode make(std::string_view pattern, Class kind, F) {
    static_assert(std::is_empty_v<F>, "a lambda or function object: handlers make their own, a pointer would be null");
    Opcode opcode;
    opcode.pattern = pattern;
    opcode.kind = kind;
    opcode.destinations[0] = Lane<D>::operand;
    LaneType const sources[] = {Lane<S>::operand..., LaneType::none};
    for (std::size_t i = 0; i < sizeof...(S); ++i) opcode.sources[i] = sources[i];
    return opcode;
  }
};

template <class Signature, class F>
constexpr Opcode entry(std::string_view pattern, Class kind, F lane) {
  Opcode opcode = Entry<Signature>::make(pattern, kind, lane);
  opcode.full = Lanewise<F, Signature>::full;
  opcode.masked = Lanewise<F, Signature>::masked;
  return opcode;
}

// The same operation on predicates, which are words of 0 or ~0: as a constant 1 is ~0.
constexpr Opcode of_predicates(std::string_view pattern, Opcode opcode) {
  opcode.pattern = pattern;
  for (LaneType& type : opcode.destinations) type = type == LaneType::none ? type : LaneType::pred;
  for (LaneType& type : opcode.sources) type = type == LaneType::none ? type : LaneType::pred;
  return opcode;
}

template <class Signature, class F>
constexpr Opcode rare_entry(std::string_view pattern, Class kind, F lane) {
  Opcode opcode = Entry<Signature>::make(pattern, kind, lane);
  opcode.full = opcode.masked = OneByOne<F, Signature>::run;
  return opcode;
}

}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
