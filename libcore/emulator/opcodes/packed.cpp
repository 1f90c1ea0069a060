// Packed and mixed forms: two 16-bit integers or two f32 in one register, f32 sums of 16-bit operands, min and max of
// three values, integer min and max with .relu; and cvt.pack.
#include "emulator/opcodes/extremes.hpp"
#include "emulator/opcodes/families.hpp"
#include "emulator/opcodes/float_lanes.hpp"
#include "emulator/opcodes/twice.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

using enum Class;

struct Sum {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a + b);
  }
};
struct Least {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? a : b;
  }
};
struct Most {
  template <class T>
  T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
template <class F>
struct NotBelowZero {
  template <class T>
  T operator()(T a, T b) const {
    T const x = F{}(a, b);
    return x < 0 ? T{0} : x;
  }
};
template <class T, class F>
struct Halfwords {
  u32 operator()(u32 a, u32 b) const {
    u32 const low = static_cast<u16>(F{}(static_cast<T>(a), static_cast<T>(b)));
    u32 const high = static_cast<u16>(F{}(static_cast<T>(a >> 16), static_cast<T>(b >> 16)));
    return high << 16 | low;
  }
};

template <class F>
struct Flushed {
  f32 operator()(f32 a, f32 b, f32 c) const { return flush(F{}(flush(a), flush(b), flush(c))); }
};

// a into the upper, b into the lower of two fields of `Bits`, each clamped to it; c moves up behind them.
template <int Bits, bool Signed>
struct Pack {
  static u32 clamp(s32 x) {
    constexpr s32 low = Signed ? -(1 << (Bits - 1)) : 0, high = (1 << (Bits - (Signed ? 1 : 0))) - 1;
    return static_cast<u32>(x < low ? low : x > high ? high : x) & ((1u << Bits) - 1);
  }
  u32 operator()(s32 a, s32 b) const { return clamp(a) << Bits | clamp(b); }
  u32 operator()(s32 a, s32 b, u32 c) const { return (c << Bits) << Bits | clamp(a) << Bits | clamp(b); }
};

#define THREE(NAME, MAXIMUM)                                                                                           \
  rare_entry<f32(f32, f32, f32)>("#three." NAME ".f32", fp32, OfThree<Extreme<MAXIMUM, false>>{}),                     \
      rare_entry<f32(f32, f32, f32)>("#three." NAME ".NaN.f32", fp32, OfThree<Extreme<MAXIMUM, true>>{}),              \
      rare_entry<f32(f32, f32, f32)>("#three." NAME ".abs.f32", fp32,                                                  \
                                     OfMagnitudes<OfThree<Extreme<MAXIMUM, false>>>{}),                                \
      rare_entry<f32(f32, f32, f32)>("#three." NAME ".NaN.abs.f32", fp32,                                              \
                                     OfMagnitudes<OfThree<Extreme<MAXIMUM, true>>>{}),                                 \
      rare_entry<f32(f32, f32, f32)>("#three." NAME ".ftz.f32", fp32, Flushed<OfThree<Extreme<MAXIMUM, false>>>{}),    \
      rare_entry<f32(f32, f32, f32)>("#three." NAME ".ftz.NaN.f32", fp32, Flushed<OfThree<Extreme<MAXIMUM, true>>>{}), \
      rare_entry<f32(f32, f32, f32)>("#three." NAME ".ftz.abs.f32", fp32,                                              \
                                     Flushed<OfMagnitudes<OfThree<Extreme<MAXIMUM, false>>>>{}),                       \
      rare_entry<f32(f32, f32, f32)>("#three." NAME ".ftz.NaN.abs.f32", fp32,                                          \
                                     Flushed<OfMagnitudes<OfThree<Extreme<MAXIMUM, true>>>>{})
#define MIXED(NAME, LANE)                                                                  \
  rare_entry<f32(Half, f32)>(NAME "{,.rn}.f32.f16", fp32, Mixed<LANE>{}),                  \
      rare_entry<f32(Brain, f32)>(NAME "{,.rn}.f32.bf16", fp32, Mixed<LANE>{}),            \
      rare_entry<f32(Half, f32)>(NAME "{,.rn}.sat.f32.f16", fp32, MixedSaturated<LANE>{}), \
      rare_entry<f32(Brain, f32)>(NAME "{,.rn}.sat.f32.bf16", fp32, MixedSaturated<LANE>{})
#define TWICE(SIGNATURE, NAME, LANE)                    \
  entry<SIGNATURE>(NAME ".f32x2", fp32, Twice<LANE>{}), \
      rare_entry<SIGNATURE>(NAME ".ftz.f32x2", fp32, Twice<FlushedPart<LANE>>{})

constexpr Opcode table[] = {
    entry<u32(u32, u32)>("add.{u,s}16x2", int_add, Halfwords<u16, Sum>{}),
    entry<u32(u32, u32)>("min.u16x2", int_add, Halfwords<u16, Least>{}),
    entry<u32(u32, u32)>("max.u16x2", int_add, Halfwords<u16, Most>{}),
    entry<u32(u32, u32)>("min.s16x2", int_add, Halfwords<s16, Least>{}),
    entry<u32(u32, u32)>("max.s16x2", int_add, Halfwords<s16, Most>{}),
    rare_entry<u32(u32, u32)>("min.relu.s16x2", int_add, Halfwords<s16, NotBelowZero<Least>>{}),
    rare_entry<u32(u32, u32)>("max.relu.s16x2", int_add, Halfwords<s16, NotBelowZero<Most>>{}),
    rare_entry<s32(s32, s32)>("min.relu.s32", int_add, NotBelowZero<Least>{}),
    rare_entry<s32(s32, s32)>("max.relu.s32", int_add, NotBelowZero<Most>{}),
    TWICE(u64(u64, u64), "add{,.rn}", Add),
    TWICE(u64(u64, u64), "sub{,.rn}", Subtract),
    TWICE(u64(u64, u64), "mul{,.rn}", Multiply),
    TWICE(u64(u64, u64, u64), "fma.rn", Fuse),
    MIXED("add", Add),
    MIXED("sub", Subtract),
    rare_entry<f32(Half, Half, f32)>("fma.rn.f32.f16", fp32, Mixed<Fuse>{}),
    rare_entry<f32(Brain, Brain, f32)>("fma.rn.f32.bf16", fp32, Mixed<Fuse>{}),
    rare_entry<f32(Half, Half, f32)>("fma.rn.sat.f32.f16", fp32, MixedSaturated<Fuse>{}),
    rare_entry<f32(Brain, Brain, f32)>("fma.rn.sat.f32.bf16", fp32, MixedSaturated<Fuse>{}),
    THREE("min", false),
    THREE("max", true),
    rare_entry<u32(s32, s32)>("cvt.pack.sat.u16.s32", convert, Pack<16, false>{}),
    rare_entry<u32(s32, s32)>("cvt.pack.sat.s16.s32", convert, Pack<16, true>{}),
    rare_entry<u32(s32, s32, u32)>("cvt.pack.sat.u8.s32.b32", convert, Pack<8, false>{}),
    rare_entry<u32(s32, s32, u32)>("cvt.pack.sat.s8.s32.b32", convert, Pack<8, true>{}),
    rare_entry<u32(s32, s32, u32)>("cvt.pack.sat.u4.s32.b32", convert, Pack<4, false>{}),
    rare_entry<u32(s32, s32, u32)>("cvt.pack.sat.s4.s32.b32", convert, Pack<4, true>{}),
    rare_entry<u32(s32, s32, u32)>("cvt.pack.sat.u2.s32.b32", convert, Pack<2, false>{}),
    rare_entry<u32(s32, s32, u32)>("cvt.pack.sat.s2.s32.b32", convert, Pack<2, true>{}),
};

}  // namespace

std::span<Opcode const> packed_opcodes() {
  return table;
}

}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
