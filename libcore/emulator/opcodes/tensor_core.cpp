// tcgen05.mma: one work-item has matrices multiplied that lie in shared and tensor memory.
//
// What is multiplied says a descriptor of 32 bits ([ptx] "Instruction Descriptor"). A group has up to 128 rows of D. Of
// a pair each group has half of the rows of A and of D and half of the columns of B, each in its own memory. Where rows
// and columns of D lie ([ptx] "Data Path Layout Organization"), with R rows in a group and N columns:
//   R = 128                      lane r, column n
//   R = 64, one group            lane 32 (r / 16) + r % 16
//   R = 64, a pair or .ws        lane r + 64 (n / (N/2)), column n % (N/2)
//   R = 32, .ws                  lane r + 32 (n / (N/4)), column n % (N/4)
// An element has a column of its own, f16 in the lower half. A in tensor memory has its rows where D has them, and 32
// bytes of k in 8 columns. Scales of blocks lie in bytes: of row r of A in lane r, column r / 32; of column n of B in
// lane n % 32, column n / 32; one byte for each block of k ([ptx] "Scale Factor Layout").
//
// A sparse A has half of its elements, and metadata in tensor memory say where they stand (place_of_stored).
//
// Numerics are those of mma (matrix_multiply.cpp); a scale multiplies its factors exactly. D is formed transposed,
// since the lanes of a column are neighbours in tensor memory. A product is done when it is issued.
//
// How they are counted. Loads of 16 bytes (of elements of 4 and 6 bits with padding 8 and 12) by the lanes of the warp
// from the group's own shared memory, all of A and of B. Of a pair each group is told its half of the operations, and
// the one that issues the product its own loads.
#include <algorithm>
#include <bit>

#include "emulator/opcodes/families.hpp"
#include "emulator/opcodes/fragment.hpp"
#include "emulator/opcodes/matrix_product.hpp"
#include "emulator/opcodes/shared_matrix.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

using Kind = TensorProduct::Kind;
using Element = MatrixElement;

constexpr u32 depth_columns = 8, max_rows = 128, max_columns = 256, max_depth = 128, panel = 32;

// What the descriptor says.
struct Shape {
  u32 rows = 0, columns = 0, depth = 0;  // rows of all groups
  u32 selector = 0;                      // of a sparse matrix: the column of the metadata
  Element a = Element::f16, b = Element::f16, d = Element::f32;
  u32 a_bits = 16, b_bits = 16;  // in shared memory
  bool a_transposed = false, b_transposed = false, negates = false, saturates = false;
  u32 a_scale = 0, b_scale = 0;  // the first byte
  bool scales_are_powers = true;
  char const* name = "";
};

u32 bits_of(u32 word, u32 first, u32 count) {
  return word >> first & ((1u << count) - 1);
}

bool small_float(u32 code, Element& element, u32& bits) {
  static constexpr Element elements[] = {Element::e4m3, Element::e5m2, Element::s4,
                                         Element::e2m3, Element::e3m2, Element::e2m1};
  if (code > 5 || code == 2) return false;
  element = elements[code];
  bits = code < 2 ? 8 : code < 5 ? 6 : 4;
  return true;
}

// [ptx] "Instruction Descriptor", "Matrix Shape": null, or what is wrong.
char const* read_types(TensorProduct const& f, u32 word, Shape& s) {
  u32 const a = bits_of(word, 7, 3), b = bits_of(word, 10, 3), d = bits_of(word, 4, 2);
  char const* const types = "the instruction descriptor names types that this kind of product does not have";
  bool const scaled = f.scales_of_row != 0;
  s.d = d == 0 && !scaled ? Element::f16 : Element::f32;
  s.negates = bits_of(word, 13, 1) != bits_of(word, 14, 1);
  switch (f.kind) {
    case Kind::f16:
      if (a != b || a > 1 || d > 1 || (a == 1 && d == 0)) return types;
      s.a = s.b = a ? Element::bf16 : Element::f16;
      s.depth = 16;
      s.name = a ? "tcgen05/bf16/f32" : d ? "tcgen05/f16/f32" : "tcgen05/f16/f16";
      return nullptr;
    case Kind::tf32:
      if (a != 2 || b != 2 || d != 1) return types;
      s.a = s.b = Element::tf32;
      s.a_bits = s.b_bits = 32;
      s.depth = 8;
      s.name = "tcgen05/tf32/f32";
      return nullptr;
    case Kind::i8:
      if (a > 1 || b > 1 || d != 2 || s.negates) return types;
      s.a = a ? Element::s8 : Element::u8;
      s.b = b ? Element::s8 : Element::u8;
      s.d = Element::s32;
      s.a_bits = s.b_bits = 8;
      s.depth = 32;
      s.saturates = bits_of(word, 3, 1) != 0;
      s.name = "tcgen05/i8/i32";
      return nullptr;
    case Kind::f8f6f4:
    case Kind::mxf8f6f4:
      if (!small_float(a, s.a, s.a_bits) || !small_float(b, s.b, s.b_bits) || (!scaled && d > 1)) return types;
      s.depth = 32;
      s.name = s.d == Element::f16 ? "tcgen05/f8/f16" : "tcgen05/f8/f32";
      return nullptr;
    default:
      if (a != 1 || b != 1) return types;
      if (bits_of(word, 31, 1)) return "products with a depth of 96 are not emulated";
      s.a = s.b = Element::e2m1;
      s.a_bits = s.b_bits = 4;
      s.depth = 64;
      s.name = "tcgen05/f4/f32";
      return nullptr;
  }
}
bool packs_4_bits(TensorProduct const& f) {
  return f.kind == Kind::mxf4 || f.kind == Kind::mxf4nvf4;
}
char const* read_scales(TensorProduct const& f, u32 word, Shape& s) {
  if (f.scales_of_row == 0) return nullptr;
  s.a_scale = bits_of(word, 29, 2);
  s.b_scale = bits_of(word, 4, 2);
  s.scales_are_powers = bits_of(word, 23, 1) != 0;
  if (s.a_scale % f.scales_of_row != 0 || s.b_scale % f.scales_of_row != 0)
    return "the instruction descriptor names bytes of the scales that no product of this kind begins with";
  if (!s.scales_are_powers && f.kind != Kind::mxf4nvf4)
    return "the instruction descriptor names scales that this kind of product does not have";
  return nullptr;
}
char const* sparse_name(Shape const& s) {
  static constexpr char const* names[][2] = {
      {"tcgen05/f16/f16", "tcgen05/f16/f16/sparse"},   {"tcgen05/f16/f32", "tcgen05/f16/f32/sparse"},
      {"tcgen05/bf16/f32", "tcgen05/bf16/f32/sparse"}, {"tcgen05/tf32/f32", "tcgen05/tf32/f32/sparse"},
      {"tcgen05/f8/f16", "tcgen05/f8/f16/sparse"},     {"tcgen05/f8/f32", "tcgen05/f8/f32/sparse"},
      {"tcgen05/i8/i32", "tcgen05/i8/i32/sparse"},     {"tcgen05/f4/f32", "tcgen05/f4/f32/sparse"}};
  for (auto const& [dense, sparse] : names)
    if (std::strcmp(dense, s.name) == 0) return sparse;
  return s.name;
}
char const* read_shape(TensorProduct const& f, u32 word, Shape& s) {
  if ((bits_of(word, 2, 1) != 0) != f.sparse)
    return f.sparse ? "the instruction descriptor says a dense matrix, the instruction a sparse one"
                    : "the instruction descriptor says a sparse matrix, the instruction does not";
  if (char const* const fault = read_types(f, word, s)) return fault;
  if (char const* const fault = read_scales(f, word, s)) return fault;
  if (f.sparse) {
    s.depth *= 2;
    s.selector = f.scales_of_row ? 0 : bits_of(word, 0, 2);
    s.name = sparse_name(s);
  }
  s.a_transposed = bits_of(word, 15, 1) != 0;
  s.b_transposed = bits_of(word, 16, 1) != 0;
  if ((s.a_transposed && s.a_bits < 8) || (s.b_transposed && s.b_bits < 8))
    return "elements of less than 8 bits cannot be transposed";
  if (s.a_transposed && f.a_descriptor == TensorProduct::nothing)
    return "a matrix in tensor memory cannot be transposed";
  s.columns = bits_of(word, 17, 6) * 8;
  s.rows = bits_of(word, 24, 5) * 16;
  bool const scaled = f.scales_of_row != 0;
  bool const rows = f.stationary ? s.rows == 32 || s.rows == 64 || s.rows == 128
                    : f.pair     ? s.rows == 128 || s.rows == 256
                                 : s.rows == 128 || (s.rows == 64 && !scaled);
  bool const columns = f.stationary ? s.columns == 64 || s.columns == 128 || s.columns == 256
                                    : s.columns != 0 && s.columns <= max_columns && (!f.pair || s.columns % 16 == 0) &&
                                          (f.kind != Kind::i8 || s.columns <= 32 || s.columns % 16 == 0);
  if (f.sparse && s.rows != (f.pair ? 256u : 128u))
    return "products of sparse matrices with less than 128 rows in a group are not emulated";
  if (f.shifts_rows && s.rows != (f.pair ? 256u : 128u))
    return "products that shift rows of less than 128 in a group are not emulated";
  return rows && columns ? nullptr : "the instruction descriptor names a shape that this product does not have";
}

// Where D lies in a group: runs of lanes that are neighbours, and parts of the columns.
struct Place {
  u32 lane = 0, column = 0;  // of the address
  u32 rows = 128;            // of the group
  u32 run = 128;             // rows in neighbouring lanes; the next run begins 32 lanes after this one
  u32 parts = 1, part_columns = 0;

  u32 lane_of(u32 row, u32 n) const {
    u32 const within = run == 16 ? row / 16 * 32 + row % 16 : row;
    return lane + within + n / part_columns * (TensorMemory::lanes / parts);
  }
  u32 column_of(u32 n) const { return column + n % part_columns; }
};
Place place_of(TensorProduct const& f, Shape const& s, u32 address) {
  Place p;
  p.lane = address >> 16 & 0xffff;
  p.column = address & 0xffff;
  p.rows = f.pair ? s.rows / 2 : s.rows;
  bool const scattered = p.rows == 64 && !f.pair && !f.stationary;
  p.run = scattered ? 16 : p.rows;
  p.parts = scattered ? 1 : TensorMemory::lanes / p.rows;
  p.part_columns = s.columns / p.parts;
  return p;
}

// One product of one work-item.
struct Job {
  Context& c;
  MicroOp const& op;
  TensorProduct const& f;
  u32 lane;
  Shape s;
  Place d;
  TensorHome homes[2];
  u32 count = 1, own = 0;
  u32 a_column = 0, a_lane = 0;
  u32 scales_column[2] = {}, metadata_column = 0;
  bool adds = false;
  u32 masks[8] = {};
  u64 a_word = 0, b_word = 0;

  Job(Context& context, MicroOp const& operation, TensorProduct const& facts, u32 of_lane)
      : c(context), op(operation), f(facts), lane(of_lane) {}

  bool fails(char const* fault) const {
    if (fault) pass_over_lane(c, op, Finding::Kind::bad_image, lane, fault);
    return fault != nullptr;
  }
  u32 word(u32 source) const { return slot<u32>(c, source_at(op, source), 0)[lane]; }
  u32 address(CopyAddress const& a) const { return static_cast<u32>(lane_address(c, op, a, lane)); }
  u32 columns_of_home() const { return s.columns / count; }  // of B
  bool a_in_tensor_memory() const { return f.a_descriptor == TensorProduct::nothing; }

  // A matrix in shared memory: so many rows in the group, so many elements of k. Of a sparse one A has half of them.
  struct Side {
    u64 word = 0;
    bool transposed = false;
    u32 bits = 16, rows = 0, depth = 0, parts = 2;  // parts: pieces along k
  };
  u32 a_depth() const { return f.sparse ? s.depth / 2 : s.depth; }
  Side side_a() const { return {a_word, s.a_transposed, s.a_bits, d.rows, a_depth(), 2}; }
  Side side_b() const { return {b_word, s.b_transposed, s.b_bits, columns_of_home(), s.depth, f.sparse ? 4u : 2u}; }
  static u64 piece(SharedMatrix const& m, Side const& x, u32 number) {
    return x.transposed ? m.across_depth(number / x.depth, number % x.depth)
                        : m.along_depth(number / x.parts, number % x.parts);
  }
  static u32 per_piece(u32 bits) { return shared_piece_bytes * 8 / bits; }
  static u32 pieces(Side const& x) {
    return x.transposed ? (x.rows + per_piece(x.bits) - 1) / per_piece(x.bits) * x.depth : x.parts * x.rows;
  }
  u32 bytes_of_piece(u32 bits) const { return bits < 8 && !packs_4_bits(f) ? 2 * bits : shared_piece_bytes; }

  bool has_memory() const {
    u32 const height = d.run == 16 ? 112 : TensorMemory::lanes;
    for (u32 h = 0; h < count; ++h) {
      TensorMemory const& memory = *homes[h].memory;
      auto const reads = [&](u32 first_lane, u32 lanes, u32 column, u32 columns, u32 run = 32) {
        return access_columns(c, op, lane, memory, Direction::load, first_lane, lanes, column, columns, run);
      };
      if (!access_columns(c, op, lane, memory, adds ? Direction::atomic : Direction::store, d.lane, height, d.column,
                          d.part_columns, d.run == 16 ? 16 : 32))
        return false;
      if (a_in_tensor_memory() &&
          !reads(a_lane, d.run == 16 ? 112 : d.rows, a_column, depth_columns, d.run == 16 ? 16 : 32))
        return false;
      if (f.sparse && !reads(0, TensorMemory::lanes, metadata_column, metadata_columns())) return false;
      if (f.scales_of_row == 0) continue;
      u32 const of_b = (d.part_columns + 31) / 32;
      if (!reads(0, TensorMemory::lanes, scales_column[0], (d.rows + 31) / 32) ||
          !reads(0, TensorMemory::lanes, scales_column[1], of_b))
        return false;
    }
    return true;
  }

  // Of lanes that neighbour each other, those of one quarter after the other.
  void require_rows(TensorMemory const& memory, u32 first, u32 rows, u32 column) const {
    for (u32 row = 0; row < rows; row += 16) require_written(c, op, lane, memory, first + row, 16, column, true);
  }
  void require_all_written() const {
    for (u32 h = 0; h < count; ++h) {
      TensorMemory const& memory = *homes[h].memory;
      for (u32 n = 0; adds && n < s.columns; ++n)
        for (u32 row = 0; row < d.rows; row += 16) {
          u32 const at = d.lane_of(row, n);
          u32 const masked = f.mask_count ? masks[(f.mask_count == 8 ? 4 * h : 0) + at / 32] >> at % 32 & 0xffff : 0;
          if (masked == 0) require_rows(memory, at, 16, d.column_of(n));
        }
      for (u32 k = 0; a_in_tensor_memory() && k < depth_columns; ++k)
        for (u32 row = 0; row < d.rows; row += 16)
          require_rows(memory, a_lane + (d.run == 16 ? row / 16 * 32 : row), 16, a_column + k);
      for (u32 row = 0; f.scales_of_row && row < d.rows; row += 32)
        require_rows(memory, row, 32, scales_column[0] + row / 32);
      for (u32 n = 0; f.scales_of_row && n < d.part_columns; n += 32)
        require_rows(memory, 0, std::min<u32>(32, (d.part_columns - n + 15) / 16 * 16), scales_column[1] + n / 32);
    }
  }

  // False, with a finding, where something is wrong with it.
  bool prepare() {
    count = tensor_homes(c, f.pair, homes, own);
    if (count == 0)
      stop_at_lane(c, op, Finding::Kind::trap, lane,
                   "needs a cluster with an even number of groups, of which two by two are a pair");
    if (fails(read_shape(f, word(f.shape), s))) return false;
    d = place_of(f, s, address(f.d));
    adds = word(f.adds) != 0;
    for (u32 k = 0; k < f.mask_count; ++k) masks[k] = word(f.masks + k);
    b_word = slot<u64>(c, source_at(op, f.b_descriptor), 0)[lane];
    // [ptx] "Zero-Column Mask Descriptor": a bit that says whether there is a mask, and a shift of the columns.
    if (f.column_mask != TensorProduct::nothing)
      if (u64 const mask = slot<u64>(c, source_at(op, f.column_mask), 0)[lane]; (mask >> 39 & 1) || (mask >> 56 & 63))
        return !fails("a mask of columns is not emulated");
    SharedMatrix const b(b_word);
    if (fails(b.fault())) return false;
    if (a_in_tensor_memory()) {
      u32 const at = address(f.a);
      a_lane = at >> 16 & 0xffff;
      a_column = at & 0xffff;
    } else {
      a_word = slot<u64>(c, source_at(op, f.a_descriptor), 0)[lane];
    }
    SharedMatrix const a(a_word);
    if (!a_in_tensor_memory() && fails(a.fault())) return false;
    if ((a.in_atoms_of_32() && !s.a_transposed && !a_in_tensor_memory()) || (b.in_atoms_of_32() && !s.b_transposed))
      return !fails("the swizzle of 128 bytes in atoms of 32 is of transposed matrices alone");
    // The upper two bits of the address may repeat the byte.
    if (f.scales_of_row) {
      scales_column[0] = address(f.a_scales) & 0xffff;
      scales_column[1] = address(f.b_scales) & 0xffff;
    }
    if (f.sparse) metadata_column = (address(f.metadata) & 0xffff) + s.selector;
    if (!has_memory()) return false;
    Side const of_a = side_a(), of_b = side_b();
    if (!of_b.transposed && of_b.parts == 4 && b.width == 2)
      return !fails("a swizzle of 32 bytes of a matrix with 64 bytes of k is not emulated");
    for (u32 h = 0; h < count; ++h) {
      if (!a_in_tensor_memory() &&
          !check_pieces(c, op, lane, homes[h], pieces(of_a), [&](u32 n) { return piece(a, of_a, n); }))
        return false;
      if (!check_pieces(c, op, lane, homes[h], pieces(of_b), [&](u32 n) { return piece(b, of_b, n); })) return false;
    }
    if (c.needs_written) require_all_written();
    return true;
  }

  void notify() const {
    notify_product(c, op, lane, f.pair, s.name, 2.0 * s.rows * s.columns * s.depth);
    if (!c.observed) return;
    SharedMatrix const a(a_word), b(b_word);
    Side const of_a = side_a(), of_b = side_b();
    if (!a_in_tensor_memory())
      count_pieces(c, op, op.access[0], lane, pieces(of_a), bytes_of_piece(of_a.bits),
                   [&](u32 n) { return piece(a, of_a, n); });
    count_pieces(c, op, op.access[1], lane, pieces(of_b), bytes_of_piece(of_b.bits),
                 [&](u32 n) { return piece(b, of_b, n); });
  }

  // put(row, k, code) for all of a matrix in shared memory.
  template <class Put>
  void read(TensorHome const& home, Side const& x, Put put) const {
    SharedMatrix const m(x.word);
    bool const padded = x.bits < 8 && !packs_4_bits(f);
    u32 const elements = padded ? shared_piece_bytes : per_piece(x.bits), of_all = pieces(x);
    for (u32 number = 0; number < of_all; ++number) {
      u8 bytes[shared_piece_bytes];
      std::memcpy(bytes, home.shared + piece(m, x, number), sizeof bytes);
      for (u32 e = 0; e < elements; ++e) {
        u32 const code = element_at(bytes, e, x.bits);
        if (!x.transposed)
          put(number / x.parts, number % x.parts * elements + e, code);
        else if (u32 const row = number / x.depth * elements + e; row < x.rows)
          put(row, number % x.depth, code);
      }
    }
  }
  // Of a sparse A: where element `stored` of a row stands among all of k. Four bits say it of each four elements, two
  // of which are stored (packed elements of 4 bits count two by two), or of tf32 of each two, one of which is ([cute]
  // mma_traits_sm100_frag.hpp: tmem_e_frg). The bits of a row lie in its lane, or, of wider elements, those of rows r
  // and r + 8 beside each other, each half of k in a lane.
  u32 metadata_columns() const { return s.a_bits <= 8 ? 2 : 1; }
  u32 place_of_stored(TensorHome const& home, u32 row, u32 stored) const {
    return packs_4_bits(f) ? 2 * place_of_unit(home, row, stored / 2) + stored % 2 : place_of_unit(home, row, stored);
  }
  u32 place_of_unit(TensorHome const& home, u32 row, u32 stored) const {
    u32 const per_group = s.a_bits == 32 ? 1 : 2, group = stored / per_group;
    u32 lane_of_row = row, column = group / 8, bit = group % 8 * 4;
    if (s.a_bits > 8) {
      u32 const half = s.depth / (s.a_bits == 32 ? 2 : 4) / 2;  // groups
      lane_of_row = row % 8 + 8 * (group / half) + row / 16 * 16;
      column = 0;
      bit = 16 * (row / 8 % 2) + group % half * 4;
    }
    u32 const word_of_row = home.memory->cells[metadata_column + column][lane_of_row] >> bit;
    if (per_group == 1) return 2 * group + (word_of_row >> 1 & 1);
    return 4 * group + (word_of_row >> 2 * (stored % 2) & 3);
  }
  // A in tensor memory: elements of less than 8 bits are bytes, unless they are packed.
  template <class Put>
  void read_a_from_tensor_memory(TensorHome const& home, Put put) const {
    u32 const bits = s.a_bits < 8 && !packs_4_bits(f) ? 8 : s.a_bits, of_cell = 32 / bits;
    for (u32 column = 0; column < depth_columns; ++column)
      for (u32 row = 0; row < d.rows; ++row) {
        u32 const from = f.shifts_rows ? std::min(row + 1, d.rows - 1) : row;
        u32 const at = a_lane + (d.run == 16 ? from / 16 * 32 + from % 16 : from);
        u32 const cell = home.memory->cells[a_column + column][at];
        for (u32 e = 0; e < of_cell; ++e) {
          u32 const code = of_cell == 1 ? cell : cell >> bits * e & ((1u << bits) - 1);
          put(row, column * of_cell + e, bits == 4 ? code << 2 : code);
        }
      }
  }
};

struct Codes {
  u32 a[max_depth * max_rows];     // [k][row]
  u32 b[max_columns * max_depth];  // [column][k]
};
template <class T>
struct Values {
  alignas(64) T a[max_depth * max_rows];
  alignas(64) T b[panel * max_depth];
  alignas(64) T d[panel * max_rows];
};

template <class T>
void convert(Element element, u32 const* codes, u32 count, T* to) {
  with_numbers<T>(element, [&]<class S, u32 Bits, class F>(F value_of) {
#pragma omp simd
    for (u32 i = 0; i < count; ++i) to[i] = value_of(codes[i]);
  });
}

f64 scale_of(bool is_power, u32 byte) {
  if (!is_power) return e4m3_values.value[byte & 0x7f];
  if (byte == 0xff) return std::numeric_limits<f64>::quiet_NaN();
  return std::bit_cast<f64>(static_cast<u64>(byte + 1023 - 127) << 52);
}

// Of row `row` of A in one group, of block `block` of k.
f64 a_scale(Job const& j, TensorHome const& home, u32 row, u32 block) {
  u32 const cell = home.memory->cells[j.scales_column[0] + row / 32][row];
  return scale_of(j.s.scales_are_powers, cell >> 8 * (j.s.a_scale + block) & 0xff);
}
f64 b_scale(Job const& j, TensorHome const& home, u32 n, u32 block) {
  u32 const within = n % j.d.part_columns, part = n / j.d.part_columns;
  u32 const lane = within % 32 + part * (TensorMemory::lanes / j.d.parts);
  u32 const cell = home.memory->cells[j.scales_column[1] + within / 32][lane];
  return scale_of(j.s.scales_are_powers, cell >> 8 * (j.s.b_scale + block) & 0xff);
}

template <class T>
void scale_a(Job const& j, TensorHome const& home, T* a) {
  if constexpr (std::is_same_v<T, f64>) {
    u32 const block = j.s.depth / std::max<u32>(j.f.scales_of_row, 1);
    for (u32 k = 0; j.f.scales_of_row && k < j.s.depth; ++k)
      for (u32 row = 0; row < j.d.rows; ++row) a[k * j.d.rows + row] *= a_scale(j, home, row, k / block);
    if (j.s.negates)
      for (u32 i = 0; i < j.s.depth * j.d.rows; ++i) a[i] = -a[i];
  }
}
template <class T>
void scale_b(Job const& j, TensorHome const& home, u32 first, u32 columns, T* b) {
  if constexpr (std::is_same_v<T, f64>) {
    if (j.f.scales_of_row == 0) return;
    u32 const block = j.s.depth / j.f.scales_of_row;
    for (u32 n = 0; n < columns; ++n)
      for (u32 first_k = 0; first_k < j.s.depth; first_k += block) {
        f64 const scale = b_scale(j, home, first + n, first_k / block);
        for (u32 k = first_k; k < first_k + block; ++k) b[n * j.s.depth + k] *= scale;
      }
  }
}

// Runs of lanes of column n: run(cells, first row, rows).
template <class Run>
void each_run(Job const& j, TensorHome const& home, u32 n, Run run) {
  for (u32 row = 0; row < j.d.rows; row += j.d.run)
    run(home.memory->cells[j.d.column_of(n)] + j.d.lane_of(row, n), row, j.d.run);
}

template <class T>
void read_d(Job const& j, TensorHome const& home, u32 first, u32 columns, T* d) {
  if (!j.adds) {
    std::fill_n(d, columns * j.d.rows, T{});
    return;
  }
  for (u32 n = 0; n < columns; ++n)
    each_run(j, home, first + n,
             [&](u32 const* cells, u32 row, u32 rows) { convert(j.s.d, cells, rows, d + n * j.d.rows + row); });
  if constexpr (std::is_same_v<T, f64>) {
    f64 const factor = 1.0 / static_cast<f64>(1u << j.f.shift);
    for (u32 i = 0; j.f.shift && i < columns * j.d.rows; ++i) d[i] *= factor;
  }
}

// bits_of(value); lanes that are masked keep what they have.
template <class T, class BitsOf>
void write_d(Job const& j, u32 home, u32 first, u32 columns, T const* d, BitsOf to_bits) {
  TensorMemory& memory = *j.homes[home].memory;
  u32 const* const masks = j.masks + (j.f.mask_count == 8 ? 4 * home : 0);
  for (u32 n = 0; n < columns; ++n)
    for (u32 row = 0; row < j.d.rows; row += 16) {  // no run is shorter
      u32 const lane = j.d.lane_of(row, first + n), column = j.d.column_of(first + n);
      u32 const masked = j.f.mask_count ? masks[lane / 32] >> lane % 32 & 0xffff : 0;
      u32* const cells = memory.cells[column] + lane;
      T const* const from = d + n * j.d.rows + row;
      memory.written[column][lane / 32] |= (0xffffu & ~masked) << lane % 32;
      if (masked == 0)
        for (u32 i = 0; i < 16; ++i) cells[i] = to_bits(from[i]);
      else
        for (u32 i = 0; i < 16; ++i)
          if (!(masked >> i & 1)) cells[i] = to_bits(from[i]);
    }
}

template <class T>
void multiply_panel(Job const& j, u32 home, u32 first, u32 columns, Codes const& codes, Values<T>& x) {
  TensorHome const& at = j.homes[home];
  convert(j.s.b, codes.b + first * j.s.depth, columns * j.s.depth, x.b);
  scale_b(j, at, first, columns, x.b);
  read_d(j, at, first, columns, x.d);
  ProductSize const size{columns, j.d.rows, j.s.depth};
  if constexpr (std::is_same_v<T, f64>) {
    add_products(size, x.b, x.a, x.d);
    if (j.s.d == Element::f16)
      write_d(j, home, first, columns, x.d, [](f64 v) { return Lane<Half>::store(to_half(to_odd(v))); });
    else
      write_d(j, home, first, columns, x.d, [](f64 v) { return Lane<f32>::store(static_cast<f32>(v)); });
  } else {
    alignas(64) u32 sum[panel * max_rows] = {};
    add_products(size, x.b, x.a, sum);
    add_integers(x.d, sum, columns * j.d.rows, j.s.saturates);
    write_d(j, home, first, columns, x.d, [](u32 v) { return v; });
  }
}

template <class T>
void multiply_as(Job const& j, Codes& codes) {
  Values<T> x;
  u32 const depth = j.s.depth, rows = j.d.rows, of_home = j.columns_of_home();
  for (u32 h = 0; h < j.count; ++h)
    j.read(j.homes[h], j.side_b(), [&](u32 n, u32 k, u32 code) { codes.b[(h * of_home + n) * depth + k] = code; });
  for (u32 h = 0; h < j.count; ++h) {
    if (j.f.sparse) std::fill_n(codes.a, depth * rows, 0u);
    auto const put = [&](u32 row, u32 k, u32 code) {
      codes.a[(j.f.sparse ? j.place_of_stored(j.homes[h], row, k) : k) * rows + row] = code;
    };
    if (j.a_in_tensor_memory())
      j.read_a_from_tensor_memory(j.homes[h], put);
    else
      j.read(j.homes[h], j.side_a(), put);
    convert(j.s.a, codes.a, depth * rows, x.a);
    scale_a(j, j.homes[h], x.a);
    for (u32 n = 0; n < j.s.columns;) {
      u32 const of_part = j.d.part_columns - n % j.d.part_columns, columns = std::min(panel, of_part);
      multiply_panel(j, h, n, columns, codes, x);
      n += columns;
    }
  }
}

void multiply(Context& c, MicroOp const& op) {
  auto const& f = *static_cast<TensorProduct const*>(op.data);
  for (u32 warp = 0; warp < c.warps; ++warp)
    per_lane(c.bits[warp], [&](u32 of_warp) {
      Job job(c, op, f, lanes_per_warp * warp + of_warp);
      if (!job.prepare()) return;
      job.notify();
      note_work(c, op, 8 * lanes_per_warp);
      Codes codes;
      if (job.s.d == Element::s32)
        multiply_as<u32>(job, codes);
      else
        multiply_as<f64>(job, codes);
    });
}

constexpr Opcode table[] = {
    {"#tcgen05.mma", Class::special, {}, {}, multiply, multiply},
};

}  // namespace

std::span<Opcode const> tensor_core_opcodes() {
  return table;
}

}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
