// cvt among integers and floats. A float becomes an integer by rounding as the modifier says, then clamping to the
// range; NaN becomes 0, or the top bit alone where a 64-bit type takes part ([ptx] "cvt"). Roundings of a float result
// other than to nearest are in rounding.cpp. A destination register wider than the type is extended by the
// decoder.
#include <limits>

#include "emulator/opcodes/arithmetic.hpp"
#include "emulator/opcodes/families.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

using enum Class;

template <class D>
struct Convert {
  template <class S>
  D operator()(S a) const {
    return static_cast<D>(a);
  }
};
template <class D>
struct Clamp {
  template <class S>
  D operator()(S a) const {
    using Limits = std::numeric_limits<D>;
    if constexpr (std::is_signed_v<S>) {
      if constexpr (!std::is_signed_v<D>) {
        u64 const positive = a < 0 ? 0 : static_cast<u64>(a);
        return positive > Limits::max() ? Limits::max() : static_cast<D>(positive);
      } else {
        s64 const value = a;
        return value > Limits::max() ? Limits::max() : value < Limits::min() ? Limits::min() : static_cast<D>(value);
      }
    } else {
      return u64{a} > static_cast<u64>(Limits::max()) ? Limits::max() : static_cast<D>(a);
    }
  }
};

struct Nearest {
  f32 operator()(f32 a) const { return __builtin_rintf(a); }
  f64 operator()(f64 a) const { return __builtin_rint(a); }
};
struct Zero {
  f32 operator()(f32 a) const { return __builtin_truncf(a); }
  f64 operator()(f64 a) const { return __builtin_trunc(a); }
};
struct Down {
  f32 operator()(f32 a) const { return __builtin_floorf(a); }
  f64 operator()(f64 a) const { return __builtin_floor(a); }
};
struct Up {
  f32 operator()(f32 a) const { return __builtin_ceilf(a); }
  f64 operator()(f64 a) const { return __builtin_ceil(a); }
};

template <class D, class Round>
struct ToInteger {
  template <class S>
  D operator()(S a) const {
    using Limits = std::numeric_limits<D>;
    constexpr S low = static_cast<S>(Limits::min());
    constexpr S beyond = static_cast<S>(u64{1} << (Limits::digits - 1)) * 2;
    constexpr D nan = sizeof(S) == 8 || sizeof(D) == 8 ? static_cast<D>(u64{1} << (8 * sizeof(D) - 1)) : D{0};
    S const x = Round{}(a);
    return x != x ? nan : x >= beyond ? Limits::max() : x < low ? Limits::min() : static_cast<D>(x);
  }
  D operator()(Half a) const { return (*this)(from_half(a)); }
};
template <class F>
struct Flushed {
  f32 operator()(f32 a) const { return flush(F{}(flush(a))); }
};
template <class F>
struct FlushedInput {
  auto operator()(f32 a) const { return F{}(flush(a)); }
};
template <class F>
struct FlushedResult {
  f32 operator()(f64 a) const { return flush(F{}(a)); }
};
template <class F>
struct Saturated {
  template <class S>
  auto operator()(S a) const {
    return saturate(F{}(a));
  }
};
struct ToHalf {
  Half operator()(f32 a) const { return to_half(a); }
  Half operator()(f64 a) const { return to_half(to_odd(a)); }
  template <class S>
  Half operator()(S a) const {
    return to_half(to_odd(static_cast<f64>(a)));
  }
};
struct FromHalf {
  f32 operator()(Half a) const { return from_half(a); }
};
struct FromHalfWide {
  f64 operator()(Half a) const { return static_cast<f64>(from_half(a)); }
};
struct Same {
  f32 operator()(f32 a) const { return a; }
};

#define INTEGER(D, S) \
  entry<D(S)>("cvt." #D "." #S, convert, Convert<D>{}), entry<D(S)>("cvt.sat." #D "." #S, convert, Clamp<D>{})
#define INTEGERS(D)                                                                                                    \
  INTEGER(D, u8), INTEGER(D, s8), INTEGER(D, u16), INTEGER(D, s16), INTEGER(D, u32), INTEGER(D, s32), INTEGER(D, u64), \
      INTEGER(D, s64)

#define TO_INTEGER(D, SUFFIX, ROUND)                                                                       \
  entry<D(f32)>("cvt." SUFFIX "{,.sat}." #D ".f32", convert, ToInteger<D, ROUND>{}),                       \
      entry<D(f32)>("cvt." SUFFIX ".ftz{,.sat}." #D ".f32", convert, FlushedInput<ToInteger<D, ROUND>>{}), \
      entry<D(f64)>("cvt." SUFFIX "{,.sat}." #D ".f64", convert, ToInteger<D, ROUND>{}),                   \
      entry<D(Half)>("cvt." SUFFIX "{,.ftz}{,.sat}." #D ".f16", convert, ToInteger<D, ROUND>{})
#define TO_INTEGERS(D) \
  TO_INTEGER(D, "rni", Nearest), TO_INTEGER(D, "rzi", Zero), TO_INTEGER(D, "rmi", Down), TO_INTEGER(D, "rpi", Up)

#define FROM_INTEGER(S)                                            \
  entry<f32(S)>("cvt.rn{,.ftz}.f32." #S, convert, Convert<f32>{}), \
      entry<f64(S)>("cvt{,.rn}.f64." #S, convert, Convert<f64>{}), entry<Half(S)>("cvt.rn.f16." #S, convert, ToHalf{})

#define ROUND_IN_PLACE(SUFFIX, ROUND)                                             \
  entry<f32(f32)>("cvt." SUFFIX ".f32.f32", convert, ROUND{}),                    \
      entry<f32(f32)>("cvt." SUFFIX ".ftz.f32.f32", convert, Flushed<ROUND>{}),   \
      entry<f32(f32)>("cvt." SUFFIX ".sat.f32.f32", convert, Saturated<ROUND>{}), \
      entry<f64(f64)>("cvt." SUFFIX ".f64.f64", convert, ROUND{}),                \
      entry<Half(Half)>("cvt." SUFFIX "{,.ftz}.f16.f16", convert,                 \
                        [](Half a) { return to_half(ROUND{}(from_half(a))); })

constexpr Opcode table[] = {
    INTEGERS(u8),
    INTEGERS(s8),
    INTEGERS(u16),
    INTEGERS(s16),
    INTEGERS(u32),
    INTEGERS(s32),
    INTEGERS(u64),
    INTEGERS(s64),
    TO_INTEGERS(u8),
    TO_INTEGERS(s8),
    TO_INTEGERS(u16),
    TO_INTEGERS(s16),
    TO_INTEGERS(u32),
    TO_INTEGERS(s32),
    TO_INTEGERS(u64),
    TO_INTEGERS(s64),
    FROM_INTEGER(u8),
    FROM_INTEGER(s8),
    FROM_INTEGER(u16),
    FROM_INTEGER(s16),
    FROM_INTEGER(u32),
    FROM_INTEGER(s32),
    FROM_INTEGER(u64),
    FROM_INTEGER(s64),
    ROUND_IN_PLACE("rni", Nearest),
    ROUND_IN_PLACE("rzi", Zero),
    ROUND_IN_PLACE("rmi", Down),
    ROUND_IN_PLACE("rpi", Up),
    entry<u32(u32)>("cvt.f32.f32", convert, [](u32 a) { return a; }),
    entry<f32(f32)>("cvt.ftz.f32.f32", convert, Flushed<Same>{}),
    entry<f32(f32)>("cvt.sat.f32.f32", convert, Saturated<Same>{}),
    entry<f32(f32)>("cvt.ftz.sat.f32.f32", convert, Saturated<Flushed<Same>>{}),
    entry<u64(u64)>("cvt.f64.f64", convert, [](u64 a) { return a; }),
    entry<f64(f64)>("cvt.sat.f64.f64", convert, [](f64 a) { return saturate(a); }),
    entry<u16(u16)>("cvt.{f16.f16,bf16.bf16}", convert, [](u16 a) { return a; }),
    entry<f32(f64)>("cvt.rn.f32.f64", convert, Convert<f32>{}),
    entry<f32(f64)>("cvt.rn.ftz.f32.f64", convert, FlushedResult<Convert<f32>>{}),
    entry<f32(f64)>("cvt.rn.sat.f32.f64", convert, Saturated<Convert<f32>>{}),
    entry<f64(f32)>("cvt.f64.f32", convert, Convert<f64>{}),
    entry<f64(f32)>("cvt.ftz.f64.f32", convert, FlushedInput<Convert<f64>>{}),
    entry<f64(f32)>("cvt.sat.f64.f32", convert, Saturated<Convert<f64>>{}),
    entry<Half(f32)>("cvt.rn{,.ftz}.f16.f32", convert, ToHalf{}),
    entry<Half(f32)>("cvt.rn{,.ftz}.sat.f16.f32", convert, [](f32 a) { return to_half(saturate(a)); }),
    entry<Half(f64)>("cvt.rn.f16.f64", convert, ToHalf{}),
    entry<f32(Half)>("cvt{,.ftz}.f32.f16", convert, FromHalf{}),
    entry<f32(Half)>("cvt{,.ftz}.sat.f32.f16", convert, Saturated<FromHalf>{}),
    entry<f64(Half)>("cvt.f64.f16", convert, FromHalfWide{}),
    entry<u32(f32, f32)>(
        "cvt.rn{,.ftz}.f16x2.f32", convert,
        [](f32 a, f32 b) { return static_cast<u32>(to_half(a)) << 16 | static_cast<u32>(to_half(b)); }),
    entry<f32(u16)>("cvt.f32.bf16", convert, [](u16 a) { return std::bit_cast<f32>(u32{a} << 16); }),
    entry<u16(f32)>("cvt.rn.bf16.f32", convert,
                    [](f32 a) {
                      u32 const bits = std::bit_cast<u32>(a);
                      u32 const rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
                      return static_cast<u16>(a != a ? 0x7fff : rounded);
                    }),
};

}  // namespace

std::span<Opcode const> convert_opcodes() {
  return table;
}

}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
