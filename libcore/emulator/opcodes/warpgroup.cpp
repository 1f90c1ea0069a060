// wgmma.mma_async: four warps multiply matrices that lie in shared memory.
//
// Warp q of its group of four has rows 16 q to 16 q + 15 of A and D, hence each warp computes its part alone. B lies in
// shared memory, A there or in registers. A product is done when it is issued, as asynchronous copies are (copy.cpp):
// fences, commits and waits have no effect. Numerics are those of mma (matrix_multiply.cpp); where
// matrices lie in shared memory is in shared_matrix.hpp.
//
// How they are counted. Loads from shared memory of 16 bytes per lane: of A each warp its rows, of B each warp a
// quarter of the pieces, since the four warps share it.
#include <algorithm>

#include "emulator/opcodes/families.hpp"
#include "emulator/opcodes/fragment.hpp"
#include "emulator/opcodes/matrix_product.hpp"
#include "emulator/opcodes/shared_matrix.hpp"
#include "emulator/opcodes/transfer.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

constexpr u32 piece_bytes = shared_piece_bytes, warps_of_group = 4, rows_of_warp = 16, max_columns = 256,
              max_depth = 64;

SharedMatrix descriptor_of(Context const& c, MicroOp const& op, u32 source, u32 warp) {
  return SharedMatrix(slot<u64>(c, source_at(op, source), warp)[0]);
}

// The element that comes first in a piece of A (of one warp) or of B; the next follow in k or in the other direction.
struct Place {
  u32 other = 0, k = 0;
};
// One of the two matrices as its descriptor has it.
struct Pieces {
  u32 depth, element_bytes, parts_log2;
  bool transposed;

  static Pieces of_a(GroupMultiply const& m) { return {m.a_depth, m.element_bytes, 1, m.a_transposed}; }
  static Pieces of_b(GroupMultiply const& m) { return {m.depth, m.element_bytes, m.b_parts_log2, m.b_transposed}; }

  // Piece `number`; rows from `first` on.
  Place place(u32 number) const {
    u32 const elements = piece_bytes / element_bytes;
    if (transposed) return {number / depth * elements, number % depth};
    return {number >> parts_log2, (number & ((1u << parts_log2) - 1)) * elements};
  }
  u64 address(SharedMatrix const& d, u32 first_row, u32 number) const {
    if (transposed) return d.across_depth(first_row / 8 + number / depth, number % depth);
    return d.along_depth(first_row + (number >> parts_log2), number & ((1u << parts_log2) - 1));
  }
};

u32 code_at(std::byte const* piece, u32 element, u32 bytes) {
  u32 code = 0;
  std::memcpy(&code, piece + element * bytes, bytes);
  return code;
}

struct Codes {
  u32 a[max_warps_per_unit][rows_of_warp * max_depth];  // [row][k]
  u32 b[max_depth * max_columns];                       // [k][column]
};

// A is 16 rows of 32 bytes: a piece for each lane.
void read_a(Context& c, MicroOp const& op, GroupMultiply const& m, Codes& codes) {
  LaneAddresses addresses{};
  Pieces const pieces = Pieces::of_a(m);
  each_warp(c, [&](u32 warp) {
    SharedMatrix const d = descriptor_of(c, op, m.a_source, warp);
    u32 const row = rows_of_warp * ((c.first_warp + warp) % warps_of_group);
    for (u32 lane = 0; lane < lanes_per_warp; ++lane)
      addresses[lanes_per_warp * warp + lane] = pieces.address(d, row, lane);
  });
  transfer(c, op, op.access[0], piece_bytes, addresses, c.bits, [&](std::byte const* host, u32 lane) {
    Place const at = pieces.place(lane % lanes_per_warp);
    u32* const to = codes.a[lane / lanes_per_warp] + at.other * m.a_depth + at.k;
    u32 const step = m.a_transposed ? m.a_depth : 1;
    for (u32 i = 0; i < piece_bytes / m.element_bytes; ++i) to[i * step] = code_at(host, i, m.element_bytes);
  });
}

// The pieces of B that warps read together, each its quarter, or the one warp that is there all of them: then it
// counts its own quarter only.
struct ReadingB {
  Context& c;
  MicroOp const& op;
  GroupMultiply const& m;
  Codes& codes;

  // In one round, warp w of `first` to `first + count` reads the pieces of quarter(w).
  template <class Quarter>
  void quarters(SharedMatrix const& d, u32 first, u32 count, Quarter quarter) const {
    Pieces const pieces = Pieces::of_b(m);
    u32 const of_quarter = (u32{m.columns} << m.b_parts_log2) / 4;
    for (u32 begin = 0; begin < of_quarter; begin += lanes_per_warp) {
      LaneBits bits{};
      LaneAddresses addresses{};
      u32 numbers[max_lanes_per_unit];
      u32 const lanes = std::min(of_quarter - begin, lanes_per_warp);
      for (u32 warp = first; warp < first + count; ++warp) {
        bits[warp] = lanes == lanes_per_warp ? ~0u : (1u << lanes) - 1;
        for (u32 lane = 0; lane < lanes; ++lane) {
          u32 const index = lanes_per_warp * warp + lane;
          numbers[index] = quarter(warp) * of_quarter + begin + lane;
          addresses[index] = pieces.address(d, 0, numbers[index]);
        }
      }
      transfer(c, op, op.access[1], piece_bytes, addresses, bits, [&](std::byte const* host, u32 lane) {
        Place const at = pieces.place(numbers[lane]);
        u32* const to = codes.b + at.k * m.columns + at.other;
        u32 const step = m.b_transposed ? 1 : m.columns;
        for (u32 i = 0; i < piece_bytes / m.element_bytes; ++i) to[i * step] = code_at(host, i, m.element_bytes);
      });
    }
  }
  void together(SharedMatrix const& d, u32 first) const {
    quarters(d, first, warps_of_group, [&](u32 warp) { return warp - first; });
  }
  void alone(SharedMatrix const& d, u32 warp) const {
    bool const observed = c.observed;
    u32 const own = (c.first_warp + warp) % warps_of_group;
    for (u32 part = 0; part < warps_of_group; ++part) {
      c.observed = observed && part == own;
      quarters(d, warp, 1, [&](u32) { return part; });
    }
    c.observed = observed;
  }
};

template <class T>
struct Products {
  alignas(64) T a[rows_of_warp * max_depth];
  alignas(64) T b[max_depth * max_columns];
  alignas(64) T d[rows_of_warp * max_columns];
};

template <class T>
void convert(MatrixElement element, u32 const* codes, u32 count, T* to) {
  with_numbers<T>(element, [&]<class S, u32 Bits, class F>(F value_of) {
#pragma omp simd
    for (u32 i = 0; i < count; ++i) to[i] = value_of(codes[i]);
  });
}

bool adds_to(Context const& c, MicroOp const& op, GroupMultiply const& m, u32 warp) {
  if (m.scale_source == GroupMultiply::nothing) return m.adds;
  return slot<u32>(c, source_at(op, m.scale_source), warp)[0] != 0;
}

template <class T>
void multiply_warp(Context const& c, MicroOp const& op, GroupMultiply const& m, u32 warp, Codes const& codes,
                   Products<T>& x) {
  u32 const depth = m.depth, of_a = rows_of_warp * m.a_depth, columns = m.columns, sums = rows_of_warp * columns;
  bool const sparse = m.choice.source != MatrixChoice::nothing;
  u16 chosen[rows_of_warp * max_depth / 2];
  if (m.a_source != GroupMultiply::nothing)
    convert(m.a, codes.a[warp], of_a, x.a);
  else
    with_numbers<T>(m.a, [&]<class S, u32 Bits, class F>(F value_of) {
      read_fragment<S, Bits>(c, op, m.a_fragment, warp, x.a, value_of);
    });
  if (m.negates)
    for (u32 i = 0; i < of_a; ++i) x.a[i] = T{} - x.a[i];
  if (sparse) choose(slot<u32>(c, source_at(op, m.choice.source), warp), m.choice, rows_of_warp, m.a_depth, chosen);
  if (adds_to(c, op, m, warp))
    with_numbers<T>(m.d, [&]<class S, u32 Bits, class F>(F value_of) {
      read_fragment<S, Bits>(c, op, m.sum_before, warp, x.d, value_of);
    });
  else
    std::fill_n(x.d, sums, T{});
  ProductSize const size{rows_of_warp, columns, depth};
  if constexpr (std::is_same_v<T, f64>) {
    if (sparse)
      add_chosen(size, x.a, chosen, x.b, x.d);
    else
      add_products(size, x.a, x.b, x.d);
    if (m.d == MatrixElement::f16)
      write_fragment<u32, 16>(c, op, m.sum, warp, x.d, [](f64 v) { return Lane<Half>::store(to_half(to_odd(v))); });
    else
      write_fragment<u32, 32>(c, op, m.sum, warp, x.d, [](f64 v) { return Lane<f32>::store(static_cast<f32>(v)); });
  } else {
    alignas(64) u32 sum[rows_of_warp * max_columns] = {};
    if (m.a == MatrixElement::b1)
      add_bits(size, x.a, x.b, sum, [](u32 p, u32 q) { return p & q; });
    else if (sparse)
      add_chosen(size, x.a, chosen, x.b, sum);
    else
      add_products(size, x.a, x.b, sum);
    add_integers(x.d, sum, sums, m.saturate);
    write_fragment<u32, 32>(c, op, m.sum, warp, x.d, [](u32 v) { return v; });
  }
}

template <class T>
void multiply_as(Context& c, MicroOp const& op, GroupMultiply const& m) {
  Codes codes;
  Products<T> x;
  if (m.a_source != GroupMultiply::nothing) read_a(c, op, m, codes);
  ReadingB const reading{c, op, m, codes};
  auto const take_b = [&] { convert(m.b, codes.b, u32{m.depth} * m.columns, x.b); };
  for (u32 warp = 0; warp < c.warps;) {
    u32 const first = warp;
    bool whole = (c.first_warp + warp) % warps_of_group == 0 && warp + warps_of_group <= c.warps;
    u64 const descriptor = descriptor_of(c, op, m.b_source, warp).bits;
    for (u32 w = warp; whole && w < warp + warps_of_group; ++w)
      whole = c.bits[w] && descriptor_of(c, op, m.b_source, w).bits == descriptor;
    warp += whole ? warps_of_group : 1;
    if (!c.bits[first]) continue;
    if (whole)
      reading.together(SharedMatrix(descriptor), first);
    else
      reading.alone(SharedMatrix(descriptor), first);
    take_b();
    for (u32 w = first; w < warp; ++w) multiply_warp(c, op, m, w, codes, x);
  }
}

void multiply(Context& c, MicroOp const& op) {
  require_whole_warps(c, op);
  auto const& m = *static_cast<GroupMultiply const*>(op.data);
  if (m.d == MatrixElement::s32)
    multiply_as<u32>(c, op, m);
  else
    multiply_as<f64>(c, op, m);
}

constexpr Opcode table[] = {
    {"#wgmma", Class::special, {}, {}, multiply, multiply},
};

}  // namespace

std::span<Opcode const> warpgroup_opcodes() {
  return table;
}

}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
