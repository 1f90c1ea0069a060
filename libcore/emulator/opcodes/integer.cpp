// Integer arithmetic, shifts and logic. A product with a constant power of two is counted as a shift
// (decode_arithmetic), for that is what every device's compiler makes of it. Division is counted as int_mul: like a
// product it is not a single simple operation; devices expand it into multiplications. Quotient and remainder of a
// division by zero are all ones, as on an H100 (PTX leaves them unspecified).
#include "emulator/opcodes/families.hpp"
#include "emulator/opcodes/lanewise.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

using enum Class;

template <class T>
constexpr T high_product(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    // Four 32-bit products: unlike a 128-bit product this vectorises.
    u64 const ua = static_cast<u64>(a), ub = static_cast<u64>(b);
    u64 const a0 = ua & 0xffffffffu, a1 = ua >> 32, b0 = ub & 0xffffffffu, b1 = ub >> 32;
    u64 const middle = a1 * b0 + (a0 * b0 >> 32);
    u64 const other = a0 * b1 + (middle & 0xffffffffu);
    u64 high = a1 * b1 + (middle >> 32) + (other >> 32);
    if constexpr (std::is_signed_v<T>) high -= (a < 0 ? ub : 0) + (b < 0 ? ua : 0);
    return static_cast<T>(high);
  } else {
    using Wide = std::conditional_t<std::is_signed_v<T>, s64, u64>;
    return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b) >> (8 * sizeof(T)));
  }
}
// Unsigned arithmetic: overflow wraps, in every type.
template <class T>
using Unsigned = std::conditional_t<sizeof(T) == 8, u64, u32>;

struct Add {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return static_cast<T>(Unsigned<T>(a) + Unsigned<T>(b));
  }
};
struct Subtract {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return static_cast<T>(Unsigned<T>(a) - Unsigned<T>(b));
  }
};
struct Multiply {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return static_cast<T>(Unsigned<T>(a) * Unsigned<T>(b));
  }
};
struct MultiplyHigh {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return high_product(a, b);
  }
};
struct MultiplyAdd {
  template <class T>
  constexpr T operator()(T a, T b, T c) const {
    return static_cast<T>(Unsigned<T>(a) * Unsigned<T>(b) + Unsigned<T>(c));
  }
};
struct MultiplyHighAdd {
  template <class T>
  constexpr T operator()(T a, T b, T c) const {
    return static_cast<T>(Unsigned<T>(high_product(a, b)) + Unsigned<T>(c));
  }
};
struct Divide {
  template <class T>
  constexpr T operator()(T a, T b) const {
    T const one = 1, divisor = b == 0 ? one : b;
    if constexpr (sizeof(T) < 8) {
      // Exact: a quotient of 32-bit integers that is not an integer is further than 2^-32 from one. It vectorises.
      s64 const quotient = static_cast<s64>(static_cast<f64>(a) / static_cast<f64>(divisor));
      return b == 0 ? static_cast<T>(-1) : static_cast<T>(quotient);
    } else if constexpr (std::is_signed_v<T>) {
      if (b == 0) return -1;
      return b == -1 ? static_cast<T>(u64{0} - static_cast<u64>(a)) : static_cast<T>(a / divisor);
    } else {
      return b == 0 ? ~T{0} : static_cast<T>(a / divisor);
    }
  }
};
struct Remainder {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return b == 0 ? static_cast<T>(-1) : static_cast<T>(Unsigned<T>(a) - Unsigned<T>(Divide{}(a, b)) * Unsigned<T>(b));
  }
};
struct Absolute {
  template <class T>
  constexpr T operator()(T a) const {
    return a < 0 ? static_cast<T>(Unsigned<T>(0) - Unsigned<T>(a)) : a;
  }
};
struct Negate {
  template <class T>
  constexpr T operator()(T a) const {
    return static_cast<T>(Unsigned<T>(0) - Unsigned<T>(a));
  }
};
struct Minimum {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return a < b ? a : b;
  }
};
struct Maximum {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct AbsoluteDifference {
  template <class T>
  constexpr T operator()(T a, T b, T c) const {
    return static_cast<T>(Unsigned<T>(c) + (a < b ? Unsigned<T>(b) - Unsigned<T>(a) : Unsigned<T>(a) - Unsigned<T>(b)));
  }
};
// Shift amounts clamp at the width.
struct ShiftLeft {
  template <class T>
  constexpr T operator()(T a, u32 n) const {
    constexpr u32 bits = 8 * sizeof(T);
    return n < bits ? static_cast<T>(Unsigned<T>(a) << (n & (bits - 1))) : T{0};
  }
};
struct ShiftRight {
  template <class T>
  constexpr T operator()(T a, u32 n) const {
    constexpr u32 bits = 8 * sizeof(T);
    if constexpr (std::is_signed_v<T>)
      return static_cast<T>(a >> (n < bits ? n : bits - 1));
    else
      return n < bits ? static_cast<T>(a >> (n & (bits - 1))) : T{0};
  }
};
struct And {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  constexpr T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};
struct Not {
  template <class T>
  constexpr T operator()(T a) const {
    return static_cast<T>(~a);
  }
};
struct ConditionalNot {
  template <class T>
  constexpr T operator()(T a) const {
    return a == 0 ? T{1} : T{0};
  }
};

constexpr u32 saturate(s64 value) {
  return static_cast<u32>(value > 0x7fffffff ? 0x7fffffff : value < -0x80000000ll ? -0x80000000ll : value);
}
constexpr u32 reverse(u32 x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  x = (x >> 8 & 0x00ff00ffu) | (x & 0x00ff00ffu) << 8;
  return x >> 16 | x << 16;
}
constexpr u32 count(u32 x) {
  x -= x >> 1 & 0x55555555u;
  x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
  return ((x + (x >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}
constexpr u32 leading_zeros(u32 x) {
  x |= x >> 1;
  x |= x >> 2;
  x |= x >> 4;
  x |= x >> 8;
  return 32 - count(x | x >> 16);
}
constexpr u32 leading_zeros(u64 x) {
  u32 const high = static_cast<u32>(x >> 32);
  return high ? leading_zeros(high) : 32 + leading_zeros(static_cast<u32>(x));
}
// Position of the highest bit that differs from the sign (bfind), ~0 where there is none.
template <class T>
constexpr u32 find_bit(T a) {
  using U = std::make_unsigned_t<T>;
  U x = static_cast<U>(a);
  if constexpr (std::is_signed_v<T>) x = a < 0 ? static_cast<U>(~x) : x;
  return x ? static_cast<u32>(8 * sizeof(T) - 1) - leading_zeros(x) : ~0u;
}
template <class T>
constexpr T extract(T a, u32 position, u32 length) {
  using U = std::make_unsigned_t<T>;
  constexpr u32 bits = 8 * sizeof(T);
  position &= 0xff;
  length &= 0xff;
  U const all = ~U{0};
  U const field = length == 0 ? U{0} : length < bits ? static_cast<U>(~(all << length)) : all;
  U const shifted = position < bits ? static_cast<U>(a) >> (position & (bits - 1)) : U{0};
  if constexpr (std::is_signed_v<T>) {
    u32 const end = position + length - 1;
    U const sign = length == 0 ? U{0} : static_cast<U>(a) >> (end < bits ? end : bits - 1) & U{1};
    u32 const taken = position + length > bits ? (position < bits ? bits - position : 0) : length;
    U const inside = taken == 0 ? U{0} : taken < bits ? static_cast<U>(~(all << taken)) : all;
    return static_cast<T>(length == 0 ? U{0} : (shifted & inside) | (sign ? static_cast<U>(~inside) : U{0}));
  } else {
    return static_cast<T>(shifted & field);
  }
}
template <class U>
constexpr U insert(U a, U b, u32 position, u32 length) {
  constexpr u32 bits = 8 * sizeof(U);
  position &= 0xff;
  length &= 0xff;
  U const field = length < bits ? static_cast<U>(~(~U{0} << (length & (bits - 1)))) : ~U{0};
  U const mask = position < bits ? static_cast<U>(field << (position & (bits - 1))) : U{0};
  U const moved = position < bits ? static_cast<U>(a << (position & (bits - 1))) : U{0};
  return (b & ~mask) | (moved & mask);
}
constexpr u32 byte_of(u64 pool, u32 selector) {
  u32 const byte = static_cast<u32>(pool >> 8 * (selector & 7)) & 0xff;
  return selector & 8 ? (byte & 0x80 ? 0xff : 0) : byte;
}
constexpr u32 permute(u32 a, u32 b, u32 selectors) {
  u64 const pool = static_cast<u64>(b) << 32 | a;
  return byte_of(pool, selectors) | byte_of(pool, selectors >> 4) << 8 | byte_of(pool, selectors >> 8) << 16 |
         byte_of(pool, selectors >> 12) << 24;
}
// The named modes of prmt read as selectors, by the two low bits of c.
constexpr u32 permute_by(u32 a, u32 b, u32 c, u16 s0, u16 s1, u16 s2, u16 s3) {
  u32 const n = c & 3;
  return permute(a, b, n == 0 ? s0 : n == 1 ? s1 : n == 2 ? s2 : s3);
}
constexpr u32 any_logic(u32 a, u32 b, u32 c, u32 table) {
  u32 result = 0;
#pragma GCC unroll 8
  for (u32 i = 0; i < 8; ++i)
    result |= (0u - (table >> i & 1)) & (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  return result;
}
constexpr u32 funnel_left(u32 a, u32 b, u32 n) {
  return static_cast<u32>((static_cast<u64>(b) << 32 | a) << n >> 32);
}
constexpr u32 funnel_right(u32 a, u32 b, u32 n) {
  return static_cast<u32>((static_cast<u64>(b) << 32 | a) >> n);
}
constexpr s32 low24(s32 a) {
  return static_cast<s32>(static_cast<u32>(a) << 8) >> 8;
}
constexpr u32 low24(u32 a) {
  return a & 0xffffff;
}
// Two half-words of a with the lower or the upper two bytes of b.
template <class A, class B, int From>
constexpr u32 dot2(u32 a, u32 b, u32 c) {
  c += static_cast<u32>(static_cast<s32>(static_cast<A>(a)) * static_cast<s32>(static_cast<B>(b >> From)));
  return c + static_cast<u32>(static_cast<s32>(static_cast<A>(a >> 16)) *
                              static_cast<s32>(static_cast<B>(b >> (From + 8))));
}
// The offset-th set bit of the mask from `base` on, upwards or downwards; [ptx] "fns".
constexpr u32 find_nth_set(u32 mask, u32 base, s32 offset) {
  if (base > 31) return ~0u;
  if (offset == 0) return mask >> base & 1 ? base : ~0u;
  s32 const step = offset > 0 ? 1 : -1;
  u32 left = offset > 0 ? static_cast<u32>(offset) : 0u - static_cast<u32>(offset);
  for (s32 at = static_cast<s32>(base); at >= 0 && at < 32; at += step)
    if ((mask >> at & 1) != 0 && --left == 0) return static_cast<u32>(at);
  return ~0u;
}
// The lowest `width` bits, extended to 32.
constexpr u32 extend_lowest(u32 a, u32 width, bool is_signed) {
  if (width == 0) return 0;
  if (width >= 32) return a;
  u32 const mask = ~0u << width;
  return is_signed && (a >> (width - 1) & 1) ? a | mask : a & ~mask;
}
template <class A, class B>
constexpr u32 dot4(u32 a, u32 b, u32 c) {
#pragma GCC unroll 4
  for (u32 i = 0; i < 32; i += 8)
    c += static_cast<u32>(static_cast<s32>(static_cast<A>(a >> i)) * static_cast<s32>(static_cast<B>(b >> i)));
  return c;
}

constexpr Opcode table[] = {
    entry<u16(u16, u16)>("add.{u,s}16", int_add, Add{}),
    entry<u32(u32, u32)>("add.{u,s}32", int_add, Add{}),
    entry<u64(u64, u64)>("add.{u,s}64", int_add, Add{}),
    entry<u32(s32, s32)>("add.sat.s32", int_add, [](s32 a, s32 b) { return saturate(s64{a} + b); }),
    entry<u16(u16, u16)>("sub.{u,s}16", int_add, Subtract{}),
    entry<u32(u32, u32)>("sub.{u,s}32", int_add, Subtract{}),
    entry<u64(u64, u64)>("sub.{u,s}64", int_add, Subtract{}),
    entry<u32(s32, s32)>("sub.sat.s32", int_add, [](s32 a, s32 b) { return saturate(s64{a} - b); }),
    // Extended precision: the decoder appends the carry; '#carry' and '#borrow' compute the new one.
    entry<u32(u32, u32, u32)>("#addc.{u,s}32", int_add, [](u32 a, u32 b, u32 c) { return a + b + c; }),
    entry<u64(u64, u64, u32)>("#addc.{u,s}64", int_add, [](u64 a, u64 b, u32 c) { return a + b + c; }),
    entry<u32(u32, u32, u32)>("#subc.{u,s}32", int_add, [](u32 a, u32 b, u32 c) { return a - b - c; }),
    entry<u64(u64, u64, u32)>("#subc.{u,s}64", int_add, [](u64 a, u64 b, u32 c) { return a - b - c; }),
    entry<u32(u32, u32, u32)>("#carry.{u,s}32", int_add,
                              [](u32 a, u32 b, u32 c) { return static_cast<u32>((u64{a} + b + c) >> 32); }),
    entry<u32(u64, u64, u32)>("#carry.{u,s}64", int_add,
                              [](u64 a, u64 b, u32 c) { return u32{a + b < a} | u32{a + b + c < a + b}; }),
    entry<u32(u32, u32, u32)>("#borrow.{u,s}32", int_add, [](u32 a, u32 b, u32 c) { return u32{u64{a} < u64{b} + c}; }),
    entry<u32(u64, u64, u32)>("#borrow.{u,s}64", int_add,
                              [](u64 a, u64 b, u32 c) { return u32{a < b} | u32{a == b && c != 0}; }),

    entry<u16(u16, u16)>("mul.lo.{u,s}16", int_mul, Multiply{}),
    entry<u32(u32, u32)>("mul.lo.{u,s}32", int_mul, Multiply{}),
    entry<u64(u64, u64)>("mul.lo.{u,s}64", int_mul, Multiply{}),
    entry<u16(u16, u16)>("mul.hi.u16", int_mul, MultiplyHigh{}),
    entry<s16(s16, s16)>("mul.hi.s16", int_mul, MultiplyHigh{}),
    entry<u32(u32, u32)>("mul.hi.u32", int_mul, MultiplyHigh{}),
    entry<s32(s32, s32)>("mul.hi.s32", int_mul, MultiplyHigh{}),
    entry<u64(u64, u64)>("mul.hi.u64", int_mul, MultiplyHigh{}),
    entry<s64(s64, s64)>("mul.hi.s64", int_mul, MultiplyHigh{}),
    entry<u32(u16, u16)>("mul.wide.u16", int_mul, [](u16 a, u16 b) { return u32{a} * u32{b}; }),
    entry<s32(s16, s16)>("mul.wide.s16", int_mul, [](s16 a, s16 b) { return s32{a} * s32{b}; }),
    entry<u64(u32, u32)>("mul.wide.u32", int_mul, [](u32 a, u32 b) { return u64{a} * u64{b}; }),
    entry<s64(s32, s32)>("mul.wide.s32", int_mul, [](s32 a, s32 b) { return s64{a} * s64{b}; }),
    entry<u32(u32, u32)>("mul24.lo.u32", int_mul, [](u32 a, u32 b) { return low24(a) * low24(b); }),
    entry<u32(s32, s32)>("mul24.lo.s32", int_mul,
                         [](s32 a, s32 b) { return static_cast<u32>(low24(a)) * static_cast<u32>(low24(b)); }),
    entry<u32(u32, u32)>("mul24.hi.u32", int_mul,
                         [](u32 a, u32 b) { return static_cast<u32>(u64{low24(a)} * low24(b) >> 16); }),
    entry<u32(s32, s32)>("mul24.hi.s32", int_mul,
                         [](s32 a, s32 b) { return static_cast<u32>(s64{low24(a)} * low24(b) >> 16); }),
    entry<u32(u32, u32, u32)>("mad24.lo.u32", int_mul, [](u32 a, u32 b, u32 c) { return low24(a) * low24(b) + c; }),
    entry<u32(s32, s32, u32)>(
        "mad24.lo.s32", int_mul,
        [](s32 a, s32 b, u32 c) { return static_cast<u32>(low24(a)) * static_cast<u32>(low24(b)) + c; }),
    entry<u32(u32, u32, u32)>("mad24.hi.u32", int_mul,
                              [](u32 a, u32 b, u32 c) { return static_cast<u32>(u64{low24(a)} * low24(b) >> 16) + c; }),
    entry<u32(s32, s32, u32)>("mad24.hi.s32", int_mul,
                              [](s32 a, s32 b, u32 c) { return static_cast<u32>(s64{low24(a)} * low24(b) >> 16) + c; }),
    rare_entry<u32(s32, s32, s32)>("mad24.hi.sat.s32", int_mul,
                                   [](s32 a, s32 b, s32 c) { return saturate((s64{low24(a)} * low24(b) >> 16) + c); }),
    entry<u16(u16, u16, u16)>("mad.lo.{u,s}16", int_mul, MultiplyAdd{}),
    entry<u32(u32, u32, u32)>("mad.lo.{u,s}32", int_mul, MultiplyAdd{}),
    entry<u64(u64, u64, u64)>("mad.lo.{u,s}64", int_mul, MultiplyAdd{}),
    entry<u16(u16, u16, u16)>("mad.hi.u16", int_mul, MultiplyHighAdd{}),
    entry<s16(s16, s16, s16)>("mad.hi.s16", int_mul, MultiplyHighAdd{}),
    entry<u32(u32, u32, u32)>("mad.hi.u32", int_mul, MultiplyHighAdd{}),
    entry<s32(s32, s32, s32)>("mad.hi.s32", int_mul, MultiplyHighAdd{}),
    entry<s32(s32, s32, s32)>(
        "mad.hi.sat.s32", int_mul,
        [](s32 a, s32 b, s32 c) { return static_cast<s32>(saturate(s64{high_product(a, b)} + c)); }),
    entry<u64(u64, u64, u64)>("mad.hi.u64", int_mul, MultiplyHighAdd{}),
    entry<s64(s64, s64, s64)>("mad.hi.s64", int_mul, MultiplyHighAdd{}),
    entry<u32(u16, u16, u32)>("mad.wide.u16", int_mul, [](u16 a, u16 b, u32 c) { return u32{a} * u32{b} + c; }),
    entry<u32(s16, s16, u32)>("mad.wide.s16", int_mul,
                              [](s16 a, s16 b, u32 c) { return static_cast<u32>(s32{a} * s32{b}) + c; }),
    entry<u64(u32, u32, u64)>("mad.wide.u32", int_mul, [](u32 a, u32 b, u64 c) { return u64{a} * u64{b} + c; }),
    entry<u64(s32, s32, u64)>("mad.wide.s32", int_mul,
                              [](s32 a, s32 b, u64 c) { return static_cast<u64>(s64{a} * s64{b}) + c; }),
    entry<u16(u16, u16)>("div.u16", int_mul, Divide{}),
    entry<s16(s16, s16)>("div.s16", int_mul, Divide{}),
    entry<u32(u32, u32)>("div.u32", int_mul, Divide{}),
    entry<s32(s32, s32)>("div.s32", int_mul, Divide{}),
    entry<u64(u64, u64)>("div.u64", int_mul, Divide{}),
    entry<s64(s64, s64)>("div.s64", int_mul, Divide{}),
    entry<u16(u16, u16)>("rem.u16", int_mul, Remainder{}),
    entry<s16(s16, s16)>("rem.s16", int_mul, Remainder{}),
    entry<u32(u32, u32)>("rem.u32", int_mul, Remainder{}),
    entry<s32(s32, s32)>("rem.s32", int_mul, Remainder{}),
    entry<u64(u64, u64)>("rem.u64", int_mul, Remainder{}),
    entry<s64(s64, s64)>("rem.s64", int_mul, Remainder{}),
    entry<u32(u32, u32, u32)>("dp4a.u32.u32", int_mul, [](u32 a, u32 b, u32 c) { return dot4<u8, u8>(a, b, c); }),
    entry<u32(u32, u32, u32)>("dp4a.s32.s32", int_mul, [](u32 a, u32 b, u32 c) { return dot4<s8, s8>(a, b, c); }),
    entry<u32(u32, u32, u32)>("dp4a.s32.u32", int_mul, [](u32 a, u32 b, u32 c) { return dot4<s8, u8>(a, b, c); }),
    entry<u32(u32, u32, u32)>("dp4a.u32.s32", int_mul, [](u32 a, u32 b, u32 c) { return dot4<u8, s8>(a, b, c); }),
#define DP2A(A_NAME, B_NAME, A, B)                                                            \
  rare_entry<u32(u32, u32, u32)>("dp2a.lo." A_NAME "." B_NAME, int_mul,                       \
                                 [](u32 a, u32 b, u32 c) { return dot2<A, B, 0>(a, b, c); }), \
      rare_entry<u32(u32, u32, u32)>("dp2a.hi." A_NAME "." B_NAME, int_mul,                   \
                                     [](u32 a, u32 b, u32 c) { return dot2<A, B, 16>(a, b, c); })
    DP2A("u32", "u32", u16, u8),
    DP2A("u32", "s32", u16, s8),
    DP2A("s32", "u32", s16, u8),
    DP2A("s32", "s32", s16, s8),

    entry<s16(s16)>("abs.s16", int_add, Absolute{}),
    entry<s32(s32)>("abs.s32", int_add, Absolute{}),
    entry<s64(s64)>("abs.s64", int_add, Absolute{}),
    entry<s16(s16)>("neg.s16", int_add, Negate{}),
    entry<s32(s32)>("neg.s32", int_add, Negate{}),
    entry<s64(s64)>("neg.s64", int_add, Negate{}),
    entry<u16(u16, u16)>("min.u16", int_add, Minimum{}),
    entry<s16(s16, s16)>("min.s16", int_add, Minimum{}),
    entry<u32(u32, u32)>("min.u32", int_add, Minimum{}),
    entry<s32(s32, s32)>("min.s32", int_add, Minimum{}),
    entry<u64(u64, u64)>("min.u64", int_add, Minimum{}),
    entry<s64(s64, s64)>("min.s64", int_add, Minimum{}),
    entry<u16(u16, u16)>("max.u16", int_add, Maximum{}),
    entry<s16(s16, s16)>("max.s16", int_add, Maximum{}),
    entry<u32(u32, u32)>("max.u32", int_add, Maximum{}),
    entry<s32(s32, s32)>("max.s32", int_add, Maximum{}),
    entry<u64(u64, u64)>("max.u64", int_add, Maximum{}),
    entry<s64(s64, s64)>("max.s64", int_add, Maximum{}),
    entry<u16(u16, u16, u16)>("sad.u16", int_add, AbsoluteDifference{}),
    entry<s16(s16, s16, s16)>("sad.s16", int_add, AbsoluteDifference{}),
    entry<u32(u32, u32, u32)>("sad.u32", int_add, AbsoluteDifference{}),
    entry<s32(s32, s32, s32)>("sad.s32", int_add, AbsoluteDifference{}),
    entry<u64(u64, u64, u64)>("sad.u64", int_add, AbsoluteDifference{}),
    entry<s64(s64, s64, s64)>("sad.s64", int_add, AbsoluteDifference{}),
    entry<u32(u32)>("popc.b32", int_add, [](u32 a) { return count(a); }),
    entry<u32(u64)>("popc.b64", int_add,
                    [](u64 a) { return count(static_cast<u32>(a)) + count(static_cast<u32>(a >> 32)); }),
    entry<u32(u32)>("clz.b32", int_add, [](u32 a) { return leading_zeros(a); }),
    entry<u32(u64)>("clz.b64", int_add, [](u64 a) { return leading_zeros(a); }),
    entry<u32(u32)>("bfind.u32", int_add, [](u32 a) { return find_bit(a); }),
    entry<u32(s32)>("bfind.s32", int_add, [](s32 a) { return find_bit(a); }),
    entry<u32(u64)>("bfind.u64", int_add, [](u64 a) { return find_bit(a); }),
    entry<u32(s64)>("bfind.s64", int_add, [](s64 a) { return find_bit(a); }),
    entry<u32(u32)>("bfind.shiftamt.u32", int_add,
                    [](u32 a) {
                      u32 const n = find_bit(a);
                      return n == ~0u ? n : 31 - n;
                    }),
    entry<u32(s32)>("bfind.shiftamt.s32", int_add,
                    [](s32 a) {
                      u32 const n = find_bit(a);
                      return n == ~0u ? n : 31 - n;
                    }),
    entry<u32(u64)>("bfind.shiftamt.u64", int_add,
                    [](u64 a) {
                      u32 const n = find_bit(a);
                      return n == ~0u ? n : 63 - n;
                    }),
    entry<u32(s64)>("bfind.shiftamt.s64", int_add,
                    [](s64 a) {
                      u32 const n = find_bit(a);
                      return n == ~0u ? n : 63 - n;
                    }),

    entry<u16(u16, u32)>("shl.b16", shift, ShiftLeft{}),
    entry<u32(u32, u32)>("shl.b32", shift, ShiftLeft{}),
    entry<u64(u64, u32)>("shl.b64", shift, ShiftLeft{}),
    entry<u16(u16, u32)>("shr.{u,b}16", shift, ShiftRight{}),
    entry<s16(s16, u32)>("shr.s16", shift, ShiftRight{}),
    entry<u32(u32, u32)>("shr.{u,b}32", shift, ShiftRight{}),
    entry<s32(s32, u32)>("shr.s32", shift, ShiftRight{}),
    entry<u64(u64, u32)>("shr.{u,b}64", shift, ShiftRight{}),
    entry<s64(s64, u32)>("shr.s64", shift, ShiftRight{}),
    entry<u32(u32, u32, u32)>("shf.l.wrap.b32", shift, [](u32 a, u32 b, u32 n) { return funnel_left(a, b, n & 31); }),
    entry<u32(u32, u32, u32)>("shf.r.wrap.b32", shift, [](u32 a, u32 b, u32 n) { return funnel_right(a, b, n & 31); }),
    entry<u32(u32, u32, u32)>("shf.l.clamp.b32", shift,
                              [](u32 a, u32 b, u32 n) { return n < 32 ? funnel_left(a, b, n & 31) : a; }),
    entry<u32(u32, u32, u32)>("shf.r.clamp.b32", shift,
                              [](u32 a, u32 b, u32 n) { return n < 32 ? funnel_right(a, b, n & 31) : b; }),
    entry<u32(u32, u32, u32)>("bfe.u32", shift, [](u32 a, u32 b, u32 c) { return extract(a, b, c); }),
    entry<s32(s32, u32, u32)>("bfe.s32", shift, [](s32 a, u32 b, u32 c) { return extract(a, b, c); }),
    entry<u64(u64, u32, u32)>("bfe.u64", shift, [](u64 a, u32 b, u32 c) { return extract(a, b, c); }),
    entry<s64(s64, u32, u32)>("bfe.s64", shift, [](s64 a, u32 b, u32 c) { return extract(a, b, c); }),
    entry<u32(u32, u32, u32, u32)>("bfi.b32", shift, [](u32 a, u32 b, u32 p, u32 n) { return insert(a, b, p, n); }),
    entry<u64(u64, u64, u32, u32)>("bfi.b64", shift, [](u64 a, u64 b, u32 p, u32 n) { return insert(a, b, p, n); }),
    entry<u32(u32, u32)>("bmsk.clamp.b32", shift,
                         [](u32 a, u32 b) { return insert(~0u, 0u, a < 32 ? a : 32, b < 32 ? b : 32); }),
    entry<u32(u32, u32)>("bmsk.wrap.b32", shift, [](u32 a, u32 b) { return insert(~0u, 0u, a & 31, b & 31); }),
    rare_entry<u32(u32, u32)>("szext.clamp.u32", shift, [](u32 a, u32 b) { return extend_lowest(a, b, false); }),
    rare_entry<u32(u32, u32)>("szext.clamp.s32", shift, [](u32 a, u32 b) { return extend_lowest(a, b, true); }),
    rare_entry<u32(u32, u32)>("szext.wrap.u32", shift, [](u32 a, u32 b) { return extend_lowest(a, b & 31, false); }),
    rare_entry<u32(u32, u32)>("szext.wrap.s32", shift, [](u32 a, u32 b) { return extend_lowest(a, b & 31, true); }),
    rare_entry<u32(u32, u32, s32)>("fns.b32", int_add,
                                   [](u32 mask, u32 base, s32 n) { return find_nth_set(mask, base, n); }),
    entry<u32(u32)>("brev.b32", shift, [](u32 a) { return reverse(a); }),
    entry<u64(u64)>("brev.b64", shift,
                    [](u64 a) { return u64{reverse(static_cast<u32>(a))} << 32 | reverse(static_cast<u32>(a >> 32)); }),
    entry<u32(u32, u32, u32)>("prmt.b32", shift, [](u32 a, u32 b, u32 c) { return permute(a, b, c); }),
    entry<u32(u32, u32, u32)>("prmt.b32.f4e", shift,
                              [](u32 a, u32 b, u32 c) { return permute_by(a, b, c, 0x3210, 0x4321, 0x5432, 0x6543); }),
    entry<u32(u32, u32, u32)>("prmt.b32.b4e", shift,
                              [](u32 a, u32 b, u32 c) { return permute_by(a, b, c, 0x5670, 0x6701, 0x7012, 0x0123); }),
    entry<u32(u32, u32, u32)>("prmt.b32.rc8", shift,
                              [](u32 a, u32 b, u32 c) { return permute_by(a, b, c, 0x0000, 0x1111, 0x2222, 0x3333); }),
    entry<u32(u32, u32, u32)>("prmt.b32.ecl", shift,
                              [](u32 a, u32 b, u32 c) { return permute_by(a, b, c, 0x3210, 0x3211, 0x3222, 0x3333); }),
    entry<u32(u32, u32, u32)>("prmt.b32.ecr", shift,
                              [](u32 a, u32 b, u32 c) { return permute_by(a, b, c, 0x0000, 0x1110, 0x2210, 0x3210); }),
    entry<u32(u32, u32, u32)>("prmt.b32.rc16", shift,
                              [](u32 a, u32 b, u32 c) { return permute_by(a, b, c, 0x1010, 0x3232, 0x1010, 0x3232); }),

    entry<u16(u16, u16)>("and.b16", logic, And{}),
    entry<u32(u32, u32)>("and.b32", logic, And{}),
    of_predicates("and.pred", entry<u32(u32, u32)>("", logic, And{})),
    entry<u64(u64, u64)>("and.b64", logic, And{}),
    entry<u16(u16, u16)>("or.b16", logic, Or{}),
    entry<u32(u32, u32)>("or.b32", logic, Or{}),
    of_predicates("or.pred", entry<u32(u32, u32)>("", logic, Or{})),
    entry<u64(u64, u64)>("or.b64", logic, Or{}),
    entry<u16(u16, u16)>("xor.b16", logic, Xor{}),
    entry<u32(u32, u32)>("xor.b32", logic, Xor{}),
    of_predicates("xor.pred", entry<u32(u32, u32)>("", logic, Xor{})),
    entry<u64(u64, u64)>("xor.b64", logic, Xor{}),
    entry<u16(u16)>("not.b16", logic, Not{}),
    entry<u32(u32)>("not.b32", logic, Not{}),
    of_predicates("not.pred", entry<u32(u32)>("", logic, Not{})),
    entry<u64(u64)>("not.b64", logic, Not{}),
    entry<u16(u16)>("cnot.b16", logic, ConditionalNot{}),
    entry<u32(u32)>("cnot.b32", logic, ConditionalNot{}),
    entry<u64(u64)>("cnot.b64", logic, ConditionalNot{}),
    entry<u32(u32, u32, u32, u32)>("lop3.b32", logic, [](u32 a, u32 b, u32 c, u32 t) { return any_logic(a, b, c, t); }),
};

}  // namespace

std::span<Opcode const> integer_opcodes() {
  return table;
}

}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
