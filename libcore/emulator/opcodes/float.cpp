// Floating-point arithmetic in 32 and 64 bits, rounded to nearest even; the directed roundings are in rounding.cpp.
//
// Classes: add, sub, mul, fma, mad, min, max, abs, neg, copysign and testp count in the class of their type. Division,
// reciprocal, roots and transcendental functions are `special`: devices run them on another unit or as a sequence that
// starts there. One instruction counts once, whatever the device expands it to.
//
// Approximate functions are computed more exactly than the hardware does (double precision, rounded once), so that
// results are the same on every host.
#include "emulator/opcodes/arithmetic.hpp"
#include "emulator/opcodes/extremes.hpp"
#include "emulator/opcodes/families.hpp"
#include "emulator/opcodes/float_lanes.hpp"
#include "emulator/opcodes/transcendental.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

using enum Class;

template <class F>
struct Saturated {
  template <class... T>
  f32 operator()(T... a) const {
    return saturate(F{}(a...));
  }
};
template <class F>
struct Flushed {
  template <class... T>
  f32 operator()(T... a) const {
    return flush(F{}(flush(a)...));
  }
};

// "A fast, gross approximation" that code refines by itself: of the operand's upper word, into the result's upper word;
// subnormals are zero. To the nearest of what that word can hold.
inline f64 upper_word(f64 x) {
  u64 const bits = std::bit_cast<u64>(x);
  return std::bit_cast<f64>((bits & 0x7ff0000000000000u) == 0 ? bits & 0x8000000000000000u : bits & ~u64{0xffffffff});
}
template <class F>
struct Gross {
  f64 operator()(f64 a) const {
    f64 const x = F{}(upper_word(a));
    u64 const bits = std::bit_cast<u64>(x);
    return upper_word(x - x == 0 ? std::bit_cast<f64>(bits + 0x80000000u) : x);
  }
};

// Sign operations work on bits: a NaN keeps its payload and its sign changes.
constexpr u32 sign32 = 0x80000000u;
constexpr u64 sign64 = 0x8000000000000000u;

constexpr bool finite(u32 x) {
  return (x & 0x7f800000u) != 0x7f800000u;
}
constexpr bool finite(u64 x) {
  return (x & 0x7ff0000000000000u) != 0x7ff0000000000000u;
}
constexpr u32 absolute(u32 x) {
  return x & ~sign32;
}
constexpr u64 absolute(u64 x) {
  return x & ~sign64;
}
constexpr u32 infinity(u32) {
  return 0x7f800000u;
}
constexpr u64 infinity(u64) {
  return 0x7ff0000000000000u;
}
constexpr u32 normal(u32) {
  return 0x00800000u;
}
constexpr u64 normal(u64) {
  return 0x0010000000000000u;
}
struct Finite {
  template <class T>
  Pred operator()(T x) const {
    return {finite(x)};
  }
};
struct Infinite {
  template <class T>
  Pred operator()(T x) const {
    return {absolute(x) == infinity(x)};
  }
};
struct Number {
  template <class T>
  Pred operator()(T x) const {
    return {absolute(x) <= infinity(x)};
  }
};
struct NotANumber {
  template <class T>
  Pred operator()(T x) const {
    return {absolute(x) > infinity(x)};
  }
};
struct Normal {
  template <class T>
  Pred operator()(T x) const {
    return {finite(x) && (absolute(x) >= normal(x) || absolute(x) == 0)};  // zero counts as normal
  }
};
struct Subnormal {
  template <class T>
  Pred operator()(T x) const {
    return {absolute(x) != 0 && absolute(x) < normal(x)};
  }
};

#define WITH_FTZ_AND_SAT(SIGNATURE, HEAD, CLASS, LANE)                                                     \
  entry<SIGNATURE>(HEAD ".f32", CLASS, LANE{}), entry<SIGNATURE>(HEAD ".ftz.f32", CLASS, Flushed<LANE>{}), \
      entry<SIGNATURE>(HEAD ".sat.f32", CLASS, Saturated<LANE>{}),                                         \
      entry<SIGNATURE>(HEAD ".ftz.sat.f32", CLASS, Saturated<Flushed<LANE>>{})
#define WITH_FTZ(SIGNATURE, HEAD, CLASS, LANE) \
  entry<SIGNATURE>(HEAD ".f32", CLASS, LANE{}), entry<SIGNATURE>(HEAD ".ftz.f32", CLASS, Flushed<LANE>{})
#define EXTREME(NAME, MAXIMUM)                                                                                 \
  entry<f32(f32, f32)>(NAME ".f32", fp32, Extreme<MAXIMUM, false>{}),                                          \
      entry<f32(f32, f32)>(NAME ".ftz.f32", fp32, Flushed<Extreme<MAXIMUM, false>>{}),                         \
      entry<f32(f32, f32)>(NAME ".NaN.f32", fp32, Extreme<MAXIMUM, true>{}),                                   \
      rare_entry<f32(f32, f32)>(NAME ".ftz.NaN.f32", fp32, Flushed<Extreme<MAXIMUM, true>>{}),                 \
      rare_entry<f32(f32, f32)>(NAME ".xorsign.abs.f32", fp32, SignedByProduct<Extreme<MAXIMUM, false>>{}),    \
      rare_entry<f32(f32, f32)>(NAME ".ftz.xorsign.abs.f32", fp32,                                             \
                                Flushed<SignedByProduct<Extreme<MAXIMUM, false>>>{}),                          \
      rare_entry<f32(f32, f32)>(NAME ".NaN.xorsign.abs.f32", fp32, SignedByProduct<Extreme<MAXIMUM, true>>{}), \
      rare_entry<f32(f32, f32)>(NAME ".ftz.NaN.xorsign.abs.f32", fp32,                                         \
                                Flushed<SignedByProduct<Extreme<MAXIMUM, true>>>{}),                           \
      entry<f64(f64, f64)>(NAME ".f64", fp64, Extreme<MAXIMUM, false>{})

#define TEST(NAME, LANE) \
  entry<Pred(u32)>("testp." NAME ".f32", fp32, LANE{}), entry<Pred(u64)>("testp." NAME ".f64", fp64, LANE{})

constexpr Opcode table[] = {
    WITH_FTZ_AND_SAT(f32(f32, f32), "add{,.rn}", fp32, Add),
    WITH_FTZ_AND_SAT(f32(f32, f32), "sub{,.rn}", fp32, Subtract),
    WITH_FTZ_AND_SAT(f32(f32, f32), "mul{,.rn}", fp32, Multiply),
    WITH_FTZ_AND_SAT(f32(f32, f32, f32), "fma.rn", fp32, Fuse),
    WITH_FTZ_AND_SAT(f32(f32, f32, f32), "mad{,.rn}", fp32, Fuse),
    entry<f64(f64, f64)>("add{,.rn}.f64", fp64, Add{}),
    entry<f64(f64, f64)>("sub{,.rn}.f64", fp64, Subtract{}),
    entry<f64(f64, f64)>("mul{,.rn}.f64", fp64, Multiply{}),
    entry<f64(f64, f64, f64)>("{fma,mad}.rn.f64", fp64, Fuse{}),
    entry<f64(f64, f64, f64)>("mad.f64", fp64, Fuse{}),

    WITH_FTZ(f32(f32, f32), "div{,.rn,.approx,.full}", special, Divide),
    WITH_FTZ(f32(f32), "rcp{,.rn,.approx}", special, Reciprocal),
    WITH_FTZ(f32(f32), "sqrt{,.rn,.approx}", special, Root),
    WITH_FTZ(f32(f32), "rsqrt.approx", special, ReciprocalRoot),
    WITH_FTZ(f32(f32), "sin.approx", special, Sine),
    WITH_FTZ(f32(f32), "cos.approx", special, Cosine),
    WITH_FTZ(f32(f32), "ex2.approx", special, Exponential),
    WITH_FTZ(f32(f32), "lg2.approx", special, Logarithm),
    WITH_FTZ(f32(f32), "tanh.approx", special, Tangent),
    entry<f64(f64, f64)>("div{,.rn}.f64", special, Divide{}),
    entry<f64(f64)>("rcp{,.rn}.f64", special, Reciprocal{}),
    entry<f64(f64)>("rcp.approx.ftz.f64", special, Gross<Reciprocal>{}),
    entry<f64(f64)>("sqrt{,.rn}.f64", special, Root{}),
    entry<f64(f64)>("rsqrt.approx.f64", special, ReciprocalRoot{}),
    entry<f64(f64)>("rsqrt.approx.ftz.f64", special, Gross<ReciprocalRoot>{}),

    EXTREME("min", false),
    EXTREME("max", true),
    entry<u32(u32)>("abs.f32", fp32, [](u32 a) { return a & ~sign32; }),
    entry<u64(u64)>("abs.f64", fp64, [](u64 a) { return a & ~sign64; }),
    entry<u32(u32)>("neg.f32", fp32, [](u32 a) { return a ^ sign32; }),
    entry<u64(u64)>("neg.f64", fp64, [](u64 a) { return a ^ sign64; }),
    entry<u32(f32)>("abs.ftz.f32", fp32, [](f32 a) { return std::bit_cast<u32>(flush(a)) & ~sign32; }),
    entry<u32(f32)>("neg.ftz.f32", fp32, [](f32 a) { return std::bit_cast<u32>(flush(a)) ^ sign32; }),
    entry<u32(u32, u32)>("copysign.f32", fp32, [](u32 a, u32 b) { return (a & sign32) | (b & ~sign32); }),
    entry<u64(u64, u64)>("copysign.f64", fp64, [](u64 a, u64 b) { return (a & sign64) | (b & ~sign64); }),
    TEST("finite", Finite),
    TEST("infinite", Infinite),
    TEST("number", Number),
    TEST("notanumber", NotANumber),
    TEST("normal", Normal),
    TEST("subnormal", Subnormal),

};

}  // namespace

std::span<Opcode const> float_opcodes() {
  return table;
}

}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
