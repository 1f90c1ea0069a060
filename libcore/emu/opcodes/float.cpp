// Floating-point arithmetic, rounded to nearest even; the directed roundings are in rounding.cpp.
//
// Classes: add, sub, mul, fma, mad, min, max, abs, neg, copysign and testp count in the class of their type. Division,
// reciprocal, roots and transcendental functions are `special`: devices run them on another unit or as a sequence that
// starts there. One instruction counts once, whatever the device expands it to.
//
// Approximate functions are computed more exactly than the hardware does (double precision, rounded once), so that
// results are the same on every host.
#include "emu/opcodes/arithmetic.hpp"
#include "emu/opcodes/families.hpp"
#include "emu/opcodes/float_lanes.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

using enum Class;

struct ReciprocalRoot {
  f32 operator()(f32 a) const { return static_cast<f32>(1.0 / __builtin_sqrt(static_cast<f64>(a))); }
  f64 operator()(f64 a) const { return 1.0 / __builtin_sqrt(a); }
};
struct Sine {
  f32 operator()(f32 a) const { return static_cast<f32>(std::sin(static_cast<f64>(a))); }
};
struct Cosine {
  f32 operator()(f32 a) const { return static_cast<f32>(std::cos(static_cast<f64>(a))); }
};
struct Tangent {
  f32 operator()(f32 a) const { return static_cast<f32>(std::tanh(static_cast<f64>(a))); }
};
struct Exponential {
  f32 operator()(f32 a) const { return static_cast<f32>(std::exp2(static_cast<f64>(a))); }
};
struct Logarithm {
  f32 operator()(f32 a) const { return static_cast<f32>(std::log2(static_cast<f64>(a))); }
};
// The number wins over NaN; -0 is below +0.
struct Minimum {
  template <class T>
  T operator()(T a, T b) const {
    T const equal = __builtin_signbit(a) ? a : b;
    return a != a ? b : b != b ? a : a == b ? equal : a < b ? a : b;
  }
};
struct Maximum {
  template <class T>
  T operator()(T a, T b) const {
    T const equal = __builtin_signbit(a) ? b : a;
    return a != a ? b : b != b ? a : a == b ? equal : a > b ? a : b;
  }
};
template <class F>
struct NanWins {
  template <class T>
  T operator()(T a, T b) const {
    return a != a ? a : b != b ? b : F{}(a, b);
  }
};

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

// f16: computed in f32 and rounded. Exact to rounding for add, sub and mul (24 >= 2 * 11 + 2 bits); a fused product is
// computed in double, where it is exact but for the final sum, and rounded to odd in between.
template <class F>
struct Halves {
  template <class... T>
  Half operator()(T... a) const {
    return to_half(F{}(from_half(a)...));
  }
};
struct FuseHalf {
  Half operator()(Half a, Half b, Half c) const {
    return to_half(
        to_odd(static_cast<f64>(from_half(a)) * static_cast<f64>(from_half(b)) + static_cast<f64>(from_half(c))));
  }
};
template <class F>
struct Pairs {
  template <class... T>
  u32 operator()(T... a) const {
    u32 const low = static_cast<u16>(F{}(static_cast<Half>(a & 0xffff)...));
    u32 const high = static_cast<u16>(F{}(static_cast<Half>(a >> 16)...));
    return high << 16 | low;
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
constexpr u32 magnitude(u32 x) {
  return x & ~sign32;
}
constexpr u64 magnitude(u64 x) {
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
    return {magnitude(x) == infinity(x)};
  }
};
struct Number {
  template <class T>
  Pred operator()(T x) const {
    return {magnitude(x) <= infinity(x)};
  }
};
struct NotANumber {
  template <class T>
  Pred operator()(T x) const {
    return {magnitude(x) > infinity(x)};
  }
};
struct Normal {
  template <class T>
  Pred operator()(T x) const {
    return {finite(x) && magnitude(x) >= normal(x)};
  }
};
struct Subnormal {
  template <class T>
  Pred operator()(T x) const {
    return {magnitude(x) != 0 && magnitude(x) < normal(x)};
  }
};

#define WITH_FTZ_AND_SAT(SIGNATURE, HEAD, CLASS, LANE)                                                     \
  entry<SIGNATURE>(HEAD ".f32", CLASS, LANE{}), entry<SIGNATURE>(HEAD ".ftz.f32", CLASS, Flushed<LANE>{}), \
      entry<SIGNATURE>(HEAD ".sat.f32", CLASS, Saturated<LANE>{}),                                         \
      entry<SIGNATURE>(HEAD ".ftz.sat.f32", CLASS, Saturated<Flushed<LANE>>{})
#define WITH_FTZ(SIGNATURE, HEAD, CLASS, LANE) \
  entry<SIGNATURE>(HEAD ".f32", CLASS, LANE{}), entry<SIGNATURE>(HEAD ".ftz.f32", CLASS, Flushed<LANE>{})
#define HALF(COUNT_SIGNATURE, PAIR_SIGNATURE, HEAD, LANE)   \
  entry<COUNT_SIGNATURE>(HEAD "{,.ftz}.f16", fp16, LANE{}), \
      entry<PAIR_SIGNATURE>(HEAD "{,.ftz}.f16x2", fp16, Pairs<LANE>{})
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
    entry<f64(f64)>("rcp.approx.ftz.f64", special, Reciprocal{}),
    entry<f64(f64)>("sqrt{,.rn}.f64", special, Root{}),
    entry<f64(f64)>("rsqrt.approx{,.ftz}.f64", special, ReciprocalRoot{}),

    WITH_FTZ(f32(f32, f32), "min", fp32, Minimum),
    WITH_FTZ(f32(f32, f32), "max", fp32, Maximum),
    WITH_FTZ(f32(f32, f32), "min.NaN", fp32, NanWins<Minimum>),
    WITH_FTZ(f32(f32, f32), "max.NaN", fp32, NanWins<Maximum>),
    entry<f64(f64, f64)>("min.f64", fp64, Minimum{}),
    entry<f64(f64, f64)>("max.f64", fp64, Maximum{}),
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

    HALF(Half(Half, Half), u32(u32, u32), "add{,.rn}", Halves<Add>),
    HALF(Half(Half, Half), u32(u32, u32), "sub{,.rn}", Halves<Subtract>),
    HALF(Half(Half, Half), u32(u32, u32), "mul{,.rn}", Halves<Multiply>),
    HALF(Half(Half, Half, Half), u32(u32, u32, u32), "fma.rn", FuseHalf),
    HALF(Half(Half, Half), u32(u32, u32), "min", Halves<Minimum>),
    HALF(Half(Half, Half), u32(u32, u32), "max", Halves<Maximum>),
    entry<u16(u16)>("neg{,.ftz}.{f16,bf16}", fp16, [](u16 a) { return static_cast<u16>(a ^ 0x8000u); }),
    entry<u16(u16)>("abs{,.ftz}.{f16,bf16}", fp16, [](u16 a) { return static_cast<u16>(a & 0x7fffu); }),
    entry<u32(u32)>("neg{,.ftz}.{f16x2,bf16x2}", fp16, [](u32 a) { return a ^ 0x80008000u; }),
    entry<u32(u32)>("abs{,.ftz}.{f16x2,bf16x2}", fp16, [](u32 a) { return a & 0x7fff7fffu; }),
    entry<Half(Half)>("ex2.approx{,.ftz}.f16", special, Halves<Exponential>{}),
    entry<Half(Half)>("tanh.approx{,.ftz}.f16", special, Halves<Tangent>{}),
};

}  // namespace

std::span<Opcode const> float_opcodes() {
  return table;
}

}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
