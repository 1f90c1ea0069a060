// Arithmetic in 16 bits, f16 and bf16, alone and in pairs. Computed in f32 and rounded, which is exact to rounding for
// add, sub and mul (24 >= 2 * 11 + 2 bits); a fused product is computed in double and rounded to odd in between.
//
// Modifiers: .ftz makes subnormal operands and results zero, .sat clamps to [0, 1] with NaN to 0, .relu makes negative
// results +0, .oob makes the result +0 where a factor is the NaN that marks elements outside a tensor.
#include "emulator/opcodes/arithmetic.hpp"
#include "emulator/opcodes/extremes.hpp"
#include "emulator/opcodes/families.hpp"
#include "emulator/opcodes/float_lanes.hpp"
#include "emulator/opcodes/transcendental.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

using enum Class;

template <class F, class H>
struct Rounded {
  template <class... T>
  H operator()(T... a) const {
    return narrow<H>(F{}(widen(a)...));
  }
};
template <class H>
struct FuseOnce {
  H operator()(H a, H b, H c) const { return fuse_16(a, b, c); }
};

template <class F, class H>
struct Flushed {
  template <class... T>
  H operator()(T... a) const {
    return flush_16(F{}(flush_16(a)...));
  }
};
template <class F, class H>
struct Saturated {
  template <class... T>
  H operator()(T... a) const {
    u16 const x = static_cast<u16>(F{}(a...));
    // Of one sign, bits are ordered as values are.
    return static_cast<H>(x > exponent_of<H> ? u16{0} : x > one_of<H> ? one_of<H> : x);
  }
};
template <class F, class H>
struct Rectified {
  template <class... T>
  H operator()(T... a) const {
    u16 const x = static_cast<u16>(F{}(a...));
    bool const nan = (x & 0x7fffu) > exponent_of<H>;
    return static_cast<H>(nan ? nan_of_16_bits : x & 0x8000u ? u16{0} : x);
  }
};
// What the hardware fills in outside a tensor. The manual names this NaN and keeps its bits to itself; these are seen.
constexpr u16 outside_tensor = 0x7ff7;
template <class F, class H>
struct Outside {
  H operator()(H a, H b, H c) const {
    bool const outside = static_cast<u16>(a) == outside_tensor || static_cast<u16>(b) == outside_tensor;
    return outside ? H{} : F{}(a, b, c);
  }
};
template <class F, class H>
struct Pairs {
  template <class... T>
  u32 operator()(T... a) const {
    u32 const low = static_cast<u16>(F{}(static_cast<H>(a & 0xffff)...));
    u32 const high = static_cast<u16>(F{}(static_cast<H>(a >> 16)...));
    return high << 16 | low;
  }
};

struct Negate {
  template <class H>
  H operator()(H a) const {
    return static_cast<H>(static_cast<u16>(a) ^ 0x8000u);
  }
};
struct Absolute {
  template <class H>
  H operator()(H a) const {
    return static_cast<H>(static_cast<u16>(a) & 0x7fffu);
  }
};
// As an H100 does (driver 580): of neg and abs, abs.f16 alone keeps a NaN's bits.
template <class F, class H>
struct Canonical {
  H operator()(H a) const {
    u16 const x = static_cast<u16>(F{}(a));
    return static_cast<H>((x & 0x7fffu) > exponent_of<H> ? nan_of_16_bits : x);
  }
};

#define LANES_1 u32(u32)
#define LANES_2 u32(u32, u32)
#define LANES_3 u32(u32, u32, u32)
#define HALVES_1 Half(Half)
#define HALVES_2 Half(Half, Half)
#define HALVES_3 Half(Half, Half, Half)
#define BRAINS_1 Brain(Brain)
#define BRAINS_2 Brain(Brain, Brain)
#define BRAINS_3 Brain(Brain, Brain, Brain)

// Names may hold commas: lanes come last, as the rest of the arguments.
#define F16(ENTRY, COUNT, HEAD, CLASS, ...)                 \
  ENTRY<HALVES_##COUNT>(HEAD ".f16", CLASS, __VA_ARGS__{}), \
      ENTRY<LANES_##COUNT>(HEAD ".f16x2", CLASS, Pairs<__VA_ARGS__, Half>{})
#define BF16(ENTRY, COUNT, HEAD, CLASS, ...)                 \
  ENTRY<BRAINS_##COUNT>(HEAD ".bf16", CLASS, __VA_ARGS__{}), \
      ENTRY<LANES_##COUNT>(HEAD ".bf16x2", CLASS, Pairs<__VA_ARGS__, Brain>{})

#define BASIC(HEAD, LANE)                                                                                   \
  F16(entry, 2, HEAD "{,.rn}", fp16, Rounded<LANE, Half>),                                                  \
      F16(rare_entry, 2, HEAD "{,.rn}.ftz", fp16, Flushed<Rounded<LANE, Half>, Half>),                      \
      F16(rare_entry, 2, HEAD "{,.rn}.sat", fp16, Saturated<Rounded<LANE, Half>, Half>),                    \
      F16(rare_entry, 2, HEAD "{,.rn}.ftz.sat", fp16, Saturated<Flushed<Rounded<LANE, Half>, Half>, Half>), \
      BF16(entry, 2, HEAD "{,.rn}", fp16, Rounded<LANE, Brain>)
#define EXTREME(NAME, MAXIMUM)                                                                                    \
  F16(entry, 2, NAME, fp16, Extreme16<MAXIMUM, false, false, Half>),                                              \
      F16(rare_entry, 2, NAME ".NaN", fp16, Extreme16<MAXIMUM, true, false, Half>),                               \
      F16(rare_entry, 2, NAME ".xorsign.abs", fp16, Extreme16<MAXIMUM, false, true, Half>),                       \
      F16(rare_entry, 2, NAME ".NaN.xorsign.abs", fp16, Extreme16<MAXIMUM, true, true, Half>),                    \
      F16(rare_entry, 2, NAME ".ftz", fp16, Flushed<Extreme16<MAXIMUM, false, false, Half>, Half>),               \
      F16(rare_entry, 2, NAME ".ftz.NaN", fp16, Flushed<Extreme16<MAXIMUM, true, false, Half>, Half>),            \
      F16(rare_entry, 2, NAME ".ftz.xorsign.abs", fp16, Flushed<Extreme16<MAXIMUM, false, true, Half>, Half>),    \
      F16(rare_entry, 2, NAME ".ftz.NaN.xorsign.abs", fp16, Flushed<Extreme16<MAXIMUM, true, true, Half>, Half>), \
      BF16(entry, 2, NAME, fp16, Extreme16<MAXIMUM, false, false, Brain>),                                        \
      BF16(rare_entry, 2, NAME ".NaN", fp16, Extreme16<MAXIMUM, true, false, Brain>),                             \
      BF16(rare_entry, 2, NAME ".xorsign.abs", fp16, Extreme16<MAXIMUM, false, true, Brain>),                     \
      BF16(rare_entry, 2, NAME ".NaN.xorsign.abs", fp16, Extreme16<MAXIMUM, true, true, Brain>)

constexpr Opcode table[] = {
    BASIC("add", Add),
    BASIC("sub", Subtract),
    BASIC("mul", Multiply),
    F16(entry, 3, "fma.rn", fp16, FuseOnce<Half>),
    F16(rare_entry, 3, "fma.rn.ftz", fp16, Flushed<FuseOnce<Half>, Half>),
    F16(rare_entry, 3, "fma.rn.sat", fp16, Saturated<FuseOnce<Half>, Half>),
    F16(rare_entry, 3, "fma.rn.ftz.sat", fp16, Saturated<Flushed<FuseOnce<Half>, Half>, Half>),
    F16(rare_entry, 3, "fma.rn.relu", fp16, Rectified<FuseOnce<Half>, Half>),
    F16(rare_entry, 3, "fma.rn.ftz.relu", fp16, Rectified<Flushed<FuseOnce<Half>, Half>, Half>),
    F16(rare_entry, 3, "fma.rn.oob", fp16, Outside<FuseOnce<Half>, Half>),
    F16(rare_entry, 3, "fma.rn.oob.relu", fp16, Outside<Rectified<FuseOnce<Half>, Half>, Half>),
    BF16(entry, 3, "fma.rn", fp16, FuseOnce<Brain>),
    BF16(rare_entry, 3, "fma.rn.relu", fp16, Rectified<FuseOnce<Brain>, Brain>),
    BF16(rare_entry, 3, "fma.rn.oob", fp16, Outside<FuseOnce<Brain>, Brain>),
    BF16(rare_entry, 3, "fma.rn.oob.relu", fp16, Outside<Rectified<FuseOnce<Brain>, Brain>, Brain>),
    EXTREME("min", false),
    EXTREME("max", true),
    F16(entry, 1, "neg", fp16, Canonical<Negate, Half>),
    F16(entry, 1, "abs", fp16, Absolute),
    F16(rare_entry, 1, "neg.ftz", fp16, Flushed<Canonical<Negate, Half>, Half>),
    F16(rare_entry, 1, "abs.ftz", fp16, Flushed<Canonical<Absolute, Half>, Half>),
    BF16(entry, 1, "neg", fp16, Canonical<Negate, Brain>),
    BF16(entry, 1, "abs", fp16, Canonical<Absolute, Brain>),
    F16(rare_entry, 1, "ex2.approx", special, Rounded<Exponential, Half>),
    BF16(rare_entry, 1, "ex2.approx.ftz", special, Flushed<Rounded<Exponential, Brain>, Brain>),
    F16(rare_entry, 1, "tanh.approx", special, Rounded<Tangent, Half>),
    BF16(rare_entry, 1, "tanh.approx", special, Rounded<Tangent, Brain>),
};

}  // namespace

std::span<Opcode const> half_opcodes() {
  return table;
}

}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
