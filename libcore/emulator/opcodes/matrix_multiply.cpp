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
// Of a sparse A (mma.sp) each element is multiplied with the row of B that the metadata names; elements that lack are
// not multiplied, so that infinities opposite of them do no harm. Metadata that names one row twice, which PTX leaves
// undefined, is obeyed. Factors of blocks are applied to A and B, exactly, before products are added.
//
// Class special: a unit of its own executes it, and one instruction stands for hundreds of operations.
#include <cfenv>

#include "emulator/opcodes/families.hpp"
#include "emulator/opcodes/fragment.hpp"
#include "emulator/opcodes/matrix_product.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

using Kind = MatrixElement;

template <class Value>
void read_operand(Context const& c, MicroOp const& op, MatrixFragment const& f, u32 warp, Value* matrix) {
  with_numbers<Value>(f.element, [&]<class S, u32 Bits, class F>(F value_of) {
    read_fragment<S, Bits>(c, op, f, warp, matrix, value_of);
  });
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

ProductSize size_of(MatrixMultiply const& m) {
  return {m.rows, m.columns, m.depth};
}

constexpr u32 max_a = 2048, max_b = 1024, max_d = 512;

template <class T>
struct Matrices {
  alignas(64) T a[max_a];
  alignas(64) T b[max_b];
  alignas(64) T d[max_d];
};

constexpr u32 max_chosen = 1024;

struct Chosen {
  u16 k[max_chosen];

  Chosen(Context const& c, MicroOp const& op, MatrixMultiply const& m, u32 warp) {
    choose(slot<u32>(c, source_at(op, m.choice.source), warp), m.choice, m.rows, u32{m.depth} / 2, k);
  }
};
bool is_sparse(MatrixMultiply const& m) {
  return m.choice.source != MatrixChoice::nothing;
}

f64 factor_of(MatrixScales const& m, u32 code) {
  if (!m.exponents) return e4m3_values.value[code & 0x7f];
  return code == 0xff ? std::numeric_limits<f64>::quiet_NaN() : std::bit_cast<f64>(u64{code + 1023 - 127} << 52);
}

// The factors of one operand: of block i those in byte `byte + i` of lanes that `thread` chooses in each quad.
struct Factors {
  u32 const* words;
  u32 byte, thread;

  Factors(Context& c, MicroOp const& op, MatrixScales const& m, u32 source, u32 threads, u32 warp)
      : words(slot<u32>(c, source_at(op, source), warp)),
        byte(slot<u32>(c, source_at(op, source + 1), warp)[0] & 0xffff),
        thread(slot<u32>(c, source_at(op, source + 2), warp)[0] & 0xffff) {
    if (byte > 3 || byte % m.blocks != 0)
      stop_at_lane(c, op, Finding::Kind::trap, lanes_per_warp * warp,
                   "a byte-id must be a multiple of the scales in a row, below 4");
    if (thread >= threads)
      stop_at_lane(c, op, Finding::Kind::trap, lanes_per_warp * warp,
                   threads == 2 ? "the thread-id of A must be 0 or 1" : "the thread-id of B must be 0 to 3");
  }
  f64 of(MatrixScales const& m, u32 lane, u32 block) const {
    return factor_of(m, words[lane] >> 8 * (byte + block) & 0xff);
  }
};

// Products with their factors are exact: of few bits each, in a range that double precision has.
void scale(Context& c, MicroOp const& op, MatrixMultiply const& m, u32 warp, u16 const* chosen, f64* a, f64* b) {
  MatrixScales const& s = m.scales;
  Factors const of_a(c, op, s, s.a_source, 2, warp), of_b(c, op, s, s.b_source, 4, warp);
  u32 const length = u32{m.depth} / s.blocks, in_row = chosen ? u32{m.depth} / 2 : u32{m.depth};
  for (u32 row = 0; row < m.rows; ++row)
    for (u32 i = 0; i < in_row; ++i) {
      u32 const at = row * in_row + i, block = (chosen ? chosen[at] : i) / length;
      a[at] *= of_a.of(s, row % 8 * 4 + 2 * of_a.thread + row / 8, block);
    }
  for (u32 k = 0; k < m.depth; ++k)
    for (u32 column = 0; column < m.columns; ++column)
      b[k * m.columns + column] *= of_b.of(s, column * 4 + of_b.thread, k / length);
}

// A that is sparse or has factors; products otherwise as those of multiply_floats.
__attribute__((noinline)) void add_special(Context& c, MicroOp const& op, MatrixMultiply const& m, u32 warp,
                                           Matrices<f64>& x) {
  if (!is_sparse(m)) {
    scale(c, op, m, warp, nullptr, x.a, x.b);
    return add_products(size_of(m), x.a, x.b, x.d);
  }
  Chosen const chosen(c, op, m, warp);
  if (m.scales.blocks != 0) scale(c, op, m, warp, chosen.k, x.a, x.b);
  add_chosen(size_of(m), x.a, chosen.k, x.b, x.d);
}

void multiply_floats(Context& c, MicroOp const& op, MatrixMultiply const& m, u32 warp) {
  Matrices<f64> x;
  read_operand(c, op, m.a, warp, x.a);
  read_operand(c, op, m.b, warp, x.b);
  read_operand(c, op, m.c, warp, x.d);
  if (is_sparse(m) || m.scales.blocks != 0)
    add_special(c, op, m, warp, x);
  else
    for (u32 i = 0; i < m.batches; ++i)
      add_products(size_of(m), x.a + i * m.rows * m.depth, x.b + i * m.depth * m.columns, x.d + i * m.rows * m.columns);
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
  if (is_sparse(m))
    add_chosen(size_of(m), x.a, Chosen(c, op, m, warp).k, x.b, sum);
  else if (m.product == MatrixMultiply::Product::number)
    add_products(size_of(m), x.a, x.b, sum);
  else if (m.product == MatrixMultiply::Product::xor_popc)
    add_bits(size_of(m), x.a, x.b, sum, [](u32 p, u32 q) { return p ^ q; });
  else
    add_bits(size_of(m), x.a, x.b, sum, [](u32 p, u32 q) { return p & q; });
  add_integers(x.d, sum, u32{m.rows} * m.columns, m.saturate);
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
