// What elements of a matrix are worth, and sums of products, for mma and wgmma. Compiled once per instruction-set
// level.
#pragma once

#include <limits>

#include "emulator/opcodes/arithmetic.hpp"
#include "emulator/opcodes/matrix.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

// A float of up to 8 bits. [ocp] "8-bit Floating Point", "Microscaling Formats": of e4m3 only all ones is NaN; e5m2 has
// infinities and NaN as IEEE has them; the smaller ones have neither.
constexpr f64 small_float(u32 bits, u32 exponent_bits, u32 mantissa_bits, bool nan_only, bool ieee) {
  u32 const mantissa = bits & ((1u << mantissa_bits) - 1), all_ones = (1u << exponent_bits) - 1;
  u32 const exponent = bits >> mantissa_bits & all_ones;
  bool const negative = bits >> (mantissa_bits + exponent_bits) & 1;
  if (exponent == all_ones && nan_only && mantissa == (1u << mantissa_bits) - 1)
    return std::numeric_limits<f64>::quiet_NaN();
  if (exponent == all_ones && ieee)
    return mantissa   ? std::numeric_limits<f64>::quiet_NaN()
           : negative ? -std::numeric_limits<f64>::infinity()
                      : std::numeric_limits<f64>::infinity();
  s32 const bias = (1 << (exponent_bits - 1)) - 1;
  f64 value = exponent ? mantissa + (1u << mantissa_bits) : mantissa;
  s32 scale = static_cast<s32>(exponent ? exponent : 1) - bias - static_cast<s32>(mantissa_bits);
  for (; scale > 0; --scale) value *= 2;
  for (; scale < 0; ++scale) value /= 2;
  return negative ? -value : value;
}

struct SmallFloats {
  f64 value[256];
};
constexpr SmallFloats table_of(u32 exponent_bits, u32 mantissa_bits, u32 shift, bool nan_only, bool ieee) {
  SmallFloats table{};
  for (u32 i = 0; i < 256; ++i) table.value[i] = small_float(i >> shift, exponent_bits, mantissa_bits, nan_only, ieee);
  return table;
}
constexpr SmallFloats e4m3_values = table_of(4, 3, 0, true, false), e5m2_values = table_of(5, 2, 0, false, true),
                      e3m2_values = table_of(3, 2, 0, false, false), e2m3_values = table_of(2, 3, 0, false, false),
                      e2m1_values = table_of(2, 1, 2, false, false),
                      packed_e2m1_values = table_of(2, 1, 0, false, false);

template <SmallFloats const& Table>
struct FromTable {
  f64 operator()(u32 bits) const { return Table.value[bits & 0xff]; }
};
struct FromHalf {
  f64 operator()(u32 bits) const { return from_half(static_cast<Half>(bits & 0xffff)); }
};
struct FromBrain {
  f64 operator()(u32 bits) const { return std::bit_cast<f32>(bits << 16); }
};
struct FromTensorFloat {
  f64 operator()(u32 bits) const { return std::bit_cast<f32>(bits & 0xffffe000u); }
};
struct FromFloat {
  f64 operator()(u32 bits) const { return std::bit_cast<f32>(bits); }
};
struct FromDouble {
  f64 operator()(u64 bits) const { return std::bit_cast<f64>(bits); }
};
template <u32 Bits, bool Signed>
struct FromInteger {
  u32 operator()(u32 bits) const {
    u32 const high = bits << (32 - Bits);
    return Signed ? static_cast<u32>(static_cast<s32>(high) >> (32 - Bits)) : high >> (32 - Bits);
  }
};
struct Same {
  u32 operator()(u32 bits) const { return bits; }
};

// visit.operator()<Slot, Bits>(value_of): elements of `Bits` bits in registers of type Slot; value_of gives what one is
// worth, as f64 or, of integers and single bits, as u32.
template <class Value, class Visit>
void with_numbers(MatrixElement element, Visit visit) {
  using Kind = MatrixElement;
  if constexpr (std::is_same_v<Value, f64>) {
    switch (element) {
      case Kind::f16:
        return visit.template operator()<u32, 16>(FromHalf{});
      case Kind::bf16:
        return visit.template operator()<u32, 16>(FromBrain{});
      case Kind::tf32:
        return visit.template operator()<u32, 32>(FromTensorFloat{});
      case Kind::f64:
        return visit.template operator()<u64, 64>(FromDouble{});
      case Kind::e4m3:
        return visit.template operator()<u32, 8>(FromTable<e4m3_values>{});
      case Kind::e5m2:
        return visit.template operator()<u32, 8>(FromTable<e5m2_values>{});
      case Kind::e3m2:
        return visit.template operator()<u32, 8>(FromTable<e3m2_values>{});
      case Kind::e2m3:
        return visit.template operator()<u32, 8>(FromTable<e2m3_values>{});
      case Kind::e2m1:
        return visit.template operator()<u32, 8>(FromTable<e2m1_values>{});
      case Kind::e2m1_packed:
        return visit.template operator()<u32, 4>(FromTable<packed_e2m1_values>{});
      default:
        return visit.template operator()<u32, 32>(FromFloat{});
    }
  } else {
    switch (element) {
      case Kind::s8:
        return visit.template operator()<u32, 8>(FromInteger<8, true>{});
      case Kind::u8:
        return visit.template operator()<u32, 8>(FromInteger<8, false>{});
      case Kind::s4:
        return visit.template operator()<u32, 4>(FromInteger<4, true>{});
      case Kind::u4:
        return visit.template operator()<u32, 4>(FromInteger<4, false>{});
      default:
        return visit.template operator()<u32, 32>(Same{});
    }
  }
}

struct ProductSize {
  u32 rows = 0, columns = 0, depth = 0;
};

constexpr u32 tile_columns = 8;
template <class T>
struct Vector;
template <>
struct Vector<f64> {
  typedef f64 Type __attribute__((vector_size(64)));
};
template <>
struct Vector<u32> {
  typedef u32 Type __attribute__((vector_size(32)));
};

// sum += a b, rows a multiple of 4 and columns of 8. Written out, since the sums must stay in registers.
template <class T>
void add_products(ProductSize const& m, T const* a, T const* b, T* sum) {
  using V = typename Vector<T>::Type;
  u32 const depth = m.depth, columns = m.columns;
  for (u32 row = 0; row < m.rows; row += 4)
    for (u32 column = 0; column < columns; column += tile_columns) {
      T* const s = sum + row * columns + column;
      T const *x0 = a + row * depth, *x1 = x0 + depth, *x2 = x1 + depth, *x3 = x2 + depth, *y = b + column;
      V s0, s1, s2, s3, v;
      std::memcpy(&s0, s, sizeof s0);
      std::memcpy(&s1, s + columns, sizeof s1);
      std::memcpy(&s2, s + 2 * columns, sizeof s2);
      std::memcpy(&s3, s + 3 * columns, sizeof s3);
      for (u32 k = 0; k < depth; ++k, y += columns) {
        std::memcpy(&v, y, sizeof v);
        s0 += v * x0[k];
        s1 += v * x1[k];
        s2 += v * x2[k];
        s3 += v * x3[k];
      }
      std::memcpy(s, &s0, sizeof s0);
      std::memcpy(s + columns, &s1, sizeof s1);
      std::memcpy(s + 2 * columns, &s2, sizeof s2);
      std::memcpy(s + 3 * columns, &s3, sizeof s3);
    }
}

// The same where A has half of the elements: `chosen` is each one's k. Equal ones add up, as the device would have it.
template <class T>
void add_chosen(ProductSize const& m, T const* a, u16 const* chosen, T const* b, T* sum) {
  using V = typename Vector<T>::Type;
  u32 const half = m.depth / 2, columns = m.columns;
  for (u32 row = 0; row < m.rows; ++row)
    for (u32 column = 0; column < columns; column += tile_columns) {
      T* const s = sum + row * columns + column;
      V total, v;
      std::memcpy(&total, s, sizeof total);
      for (u32 i = row * half; i < (row + 1) * half; ++i) {
        std::memcpy(&v, b + chosen[i] * columns + column, sizeof v);
        total += v * a[i];
      }
      std::memcpy(s, &total, sizeof total);
    }
}

// The k of each element of a warp's sparse A, whose rows have `half` of them.
[[maybe_unused]] void choose(u32 const* metadata, MatrixChoice const& m, u32 rows, u32 half, u16* chosen) {
  u32 const indices = half / m.together;
  for (u32 row = 0; row < rows; ++row)
    for (u32 i = 0; i < half; ++i) {
      u32 const place = m.places[row * indices + i / m.together];
      u32 const index = metadata[place / 32] >> place % 32 & 3;
      chosen[row * half + i] =
          static_cast<u16>(i / m.nonzero * m.chunk + (index >> m.index_shift) * m.together + i % m.together);
    }
}

template <class F>
void add_bits(ProductSize const& m, u32 const* a, u32 const* b, u32* sum, F combine) {
  for (u32 row = 0; row < m.rows; ++row)
    for (u32 k = 0; k < m.depth; ++k)
      for (u32 column = 0; column < m.columns; ++column)
        sum[row * m.columns + column] +=
            static_cast<u32>(std::popcount(combine(a[row * m.depth + k], b[k * m.columns + column])));
}

// To f32 with the last bit set where something was cut off, so that rounding once more is rounding once.
[[maybe_unused]] f32 to_odd(f64 x) {
  f32 const near = static_cast<f32>(x);
  if (static_cast<f64>(near) == x || x != x) return near;
  u32 bits = std::bit_cast<u32>(near);
  f64 const size = x < 0 ? -x : x, near_size = near < 0 ? -static_cast<f64>(near) : static_cast<f64>(near);
  if (near_size > size) --bits;
  return std::bit_cast<f32>(bits | 1u);
}

// c + sum, wrapped or saturated.
[[maybe_unused]] void add_integers(u32* c, u32 const* sum, u32 count, bool saturate) {
  for (u32 i = 0; i < count; ++i) {
    s64 const exact = s64{static_cast<s32>(c[i])} + static_cast<s32>(sum[i]);
    s64 const low = std::numeric_limits<s32>::min(), high = std::numeric_limits<s32>::max();
    c[i] = static_cast<u32>(!saturate ? exact : exact < low ? low : exact > high ? high : exact);
  }
}

}  // namespace
}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
