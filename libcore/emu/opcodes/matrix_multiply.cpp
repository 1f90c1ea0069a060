// mma and wmma.mma: a warp's fragments become matrices, are multiplied, and become fragments again.
//
// Numerics. Integers and single bits are exact; sums wrap, or saturate at the end with .satfinite. f64 is a chain of
// fused multiply-adds in ascending k that begins with c, rounded as the instruction says: what PTX states, but for the
// order, which it leaves open. For f16, bf16, tf32 and the 8-, 6- and 4-bit formats PTX asks for products and sums of
// at least single precision and leaves order and rounding open; here products are exact (the low 13 bits of a tf32 are
// ignored), they are added to c in ascending k in double precision, and the sum is rounded once, to nearest even, to
// f32 or f16. The devices truncate aligned products, so last bits may differ. Subnormals are kept. NaN is 0x7fffffff
// or 0x7fff.
//
// Class special: a unit of its own executes it, and one instruction stands for hundreds of operations.
#include <cfenv>
#include <limits>

#include "emu/opcodes/families.hpp"
#include "emu/opcodes/fragment.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

using Kind = MatrixElement;

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
                      e2m1_values = table_of(2, 1, 2, false, false);

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

template <class Value>
void read_operand(Context const& c, MicroOp const& op, MatrixFragment const& f, u32 warp, Value* matrix) {
  auto const as = [&]<class S, u32 Bits, class F>(F value_of) {
    read_fragment<S, Bits>(c, op, f, warp, matrix, value_of);
  };
  if constexpr (std::is_same_v<Value, f64>) {
    switch (f.element) {
      case Kind::f16:
        return as.template operator()<u32, 16>(FromHalf{});
      case Kind::bf16:
        return as.template operator()<u32, 16>(FromBrain{});
      case Kind::tf32:
        return as.template operator()<u32, 32>(FromTensorFloat{});
      case Kind::f64:
        return as.template operator()<u64, 64>(FromDouble{});
      case Kind::e4m3:
        return as.template operator()<u32, 8>(FromTable<e4m3_values>{});
      case Kind::e5m2:
        return as.template operator()<u32, 8>(FromTable<e5m2_values>{});
      case Kind::e3m2:
        return as.template operator()<u32, 8>(FromTable<e3m2_values>{});
      case Kind::e2m3:
        return as.template operator()<u32, 8>(FromTable<e2m3_values>{});
      case Kind::e2m1:
        return as.template operator()<u32, 8>(FromTable<e2m1_values>{});
      default:
        return as.template operator()<u32, 32>(FromFloat{});
    }
  } else {
    switch (f.element) {
      case Kind::s8:
        return as.template operator()<u32, 8>(FromInteger<8, true>{});
      case Kind::u8:
        return as.template operator()<u32, 8>(FromInteger<8, false>{});
      case Kind::s4:
        return as.template operator()<u32, 4>(FromInteger<4, true>{});
      case Kind::u4:
        return as.template operator()<u32, 4>(FromInteger<4, false>{});
      default:
        return as.template operator()<u32, 32>(Same{});
    }
  }
}

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
void add_products(MatrixMultiply const& m, T const* a, T const* b, T* sum) {
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

template <class F>
void add_bits(MatrixMultiply const& m, u32 const* a, u32 const* b, u32* sum, F combine) {
  for (u32 row = 0; row < m.rows; ++row)
    for (u32 k = 0; k < m.depth; ++k)
      for (u32 column = 0; column < m.columns; ++column)
        sum[row * m.columns + column] +=
            static_cast<u32>(std::popcount(combine(a[row * m.depth + k], b[k * m.columns + column])));
}

__attribute__((noinline)) void add_fused(MatrixMultiply const& m, f64 const* a, f64 const* b, f64* sum) {
  for (u32 row = 0; row < m.rows; ++row)
    for (u32 k = 0; k < m.depth; ++k) {
      f64 const x = a[row * m.depth + k];
      f64 const* y = b + k * m.columns;
      f64* s = sum + row * m.columns;
#pragma omp simd
      for (u32 column = 0; column < m.columns; ++column) s[column] = __builtin_fma(x, y[column], s[column]);
    }
}

// To f32 with the last bit set where something was cut off, so that rounding once more is rounding once.
f32 to_odd(f64 x) {
  f32 const near = static_cast<f32>(x);
  if (static_cast<f64>(near) == x || x != x) return near;
  u32 bits = std::bit_cast<u32>(near);
  f64 const size = x < 0 ? -x : x, near_size = near < 0 ? -static_cast<f64>(near) : static_cast<f64>(near);
  if (near_size > size) --bits;
  return std::bit_cast<f32>(bits | 1u);
}

constexpr u32 max_a = 2048, max_b = 1024, max_d = 512;

template <class T>
struct Matrices {
  alignas(64) T a[max_a];
  alignas(64) T b[max_b];
  alignas(64) T d[max_d];
};

void multiply_floats(Context& c, MicroOp const& op, MatrixMultiply const& m, u32 warp) {
  Matrices<f64> x;
  read_operand(c, op, m.a, warp, x.a);
  read_operand(c, op, m.b, warp, x.b);
  read_operand(c, op, m.c, warp, x.d);
  for (u32 i = 0; i < m.batches; ++i)
    add_products(m, x.a + i * m.rows * m.depth, x.b + i * m.depth * m.columns, x.d + i * m.rows * m.columns);
  if (m.d.element == Kind::f16)
    write_fragment<u32, 16>(c, op, m.d, warp, x.d, [](f64 v) { return Lane<Half>::store(to_half(to_odd(v))); });
  else
    write_fragment<u32, 32>(c, op, m.d, warp, x.d, [](f64 v) { return Lane<f32>::store(static_cast<f32>(v)); });
}

void multiply_doubles(Context& c, MicroOp const& op, MatrixMultiply const& m, u32 warp) {
  static constexpr int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  Matrices<f64> x;
  read_operand(c, op, m.a, warp, x.a);
  read_operand(c, op, m.b, warp, x.b);
  read_operand(c, op, m.c, warp, x.d);
  bool const directed = m.rounding != MatrixMultiply::Rounding::rn;
  if (directed) std::fesetround(modes[static_cast<int>(m.rounding)]);
  add_fused(m, x.a, x.b, x.d);
  if (directed) std::fesetround(FE_TONEAREST);
  write_fragment<u64, 64>(c, op, m.d, warp, x.d, [](f64 v) { return Lane<f64>::store(v); });
}

void multiply_integers(Context& c, MicroOp const& op, MatrixMultiply const& m, u32 warp) {
  Matrices<u32> x;
  alignas(64) u32 sum[max_d] = {};
  read_operand(c, op, m.a, warp, x.a);
  read_operand(c, op, m.b, warp, x.b);
  read_operand(c, op, m.c, warp, x.d);
  if (m.product == MatrixMultiply::Product::number)
    add_products(m, x.a, x.b, sum);
  else if (m.product == MatrixMultiply::Product::xor_popc)
    add_bits(m, x.a, x.b, sum, [](u32 p, u32 q) { return p ^ q; });
  else
    add_bits(m, x.a, x.b, sum, [](u32 p, u32 q) { return p & q; });
  for (u32 i = 0; i < u32{m.rows} * m.columns; ++i) {
    s64 const exact = s64{static_cast<s32>(x.d[i])} + static_cast<s32>(sum[i]);
    s64 const low = std::numeric_limits<s32>::min(), high = std::numeric_limits<s32>::max();
    x.d[i] = static_cast<u32>(!m.saturate ? exact : exact < low ? low : exact > high ? high : exact);
  }
  write_fragment<u32, 32>(c, op, m.d, warp, x.d, [](u32 v) { return v; });
}

void multiply(Context& c, MicroOp const& op) {
  require_whole_warps(c, op);
  auto const& m = *static_cast<MatrixMultiply const*>(op.data);
  each_warp(c, [&](u32 warp) {
    if (m.d.element == Kind::f64)
      multiply_doubles(c, op, m, warp);
    else if (m.d.element == Kind::s32)
      multiply_integers(c, op, m, warp);
    else
      multiply_floats(c, op, m, warp);
  });
}

// movmatrix: lane 4 r + q holds elements 2 q and 2 q + 1 of row r, and afterwards of column r.
void transpose(Context& c, MicroOp const& op) {
  require_whole_warps(c, op);
  each_warp(c, [&](u32 warp) {
    u32 const* s = slot<u32>(c, op.s[0], warp);
    u32* d = slot<u32>(c, op.d[0], warp);
    u32 matrix[8][8], result[lanes_per_warp];
    for (u32 lane = 0; lane < lanes_per_warp; ++lane)
      for (u32 k = 0; k < 2; ++k) matrix[lane / 4][lane % 4 * 2 + k] = s[lane] >> 16 * k & 0xffff;
    for (u32 lane = 0; lane < lanes_per_warp; ++lane)
      result[lane] = matrix[lane % 4 * 2][lane / 4] | matrix[lane % 4 * 2 + 1][lane / 4] << 16;
    std::memcpy(d, result, sizeof result);
  });
}

constexpr Opcode table[] = {
    {"#mma", Class::special, {}, {}, multiply, multiply},
    {"#movmatrix", Class::other, {}, {}, transpose, transpose},
};

}  // namespace

std::span<Opcode const> matrix_multiply_opcodes() {
  return table;
}

}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
