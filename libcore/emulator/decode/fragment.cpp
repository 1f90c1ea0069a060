// Fragment layouts. [ptx] "Matrix Fragments for mma.…": with group = lane / 4, quarter = lane % 4 and registers that
// hold e elements, neighbours in k,
//   A, 8 rows    register r: row group,              k = 4 e r + e quarter + i
//   A, 16 rows   register r: row group + 8 (r % 2),  k = 4 e (r / 2) + e quarter + i
//   B            register r: column group,           k = 4 e r + e quarter + i
//   C, D         value v: row group + 8 (v / 2), column 2 quarter + v % 2; f16 has two values in a register
// is what all its tables say, but for m8n8k4 of f16: four matrices, of which one belongs to lanes 4 q … 4 q + 3 and
// 16 + 4 q … 16 + 4 q + 3. Volta makes wmma of these.
#include "emulator/decode/fragment.hpp"

#include <algorithm>
#include <charconv>

namespace kernelcast::emu {

std::optional<MatrixShape> matrix_shape(std::string_view text) {
  MatrixShape shape;
  char const* at = text.data();
  char const* const end = at + text.size();
  for (auto [letter, value] : {std::pair{'m', &shape.m}, std::pair{'n', &shape.n}, std::pair{'k', &shape.k}}) {
    if (at == end || *at != letter) return std::nullopt;
    auto const read = std::from_chars(at + 1, end, *value);
    if (read.ec != std::errc()) return std::nullopt;
    at = read.ptr;
  }
  return at == end ? std::optional(shape) : std::nullopt;
}

std::optional<MatrixElement> matrix_element(std::string_view name) {
  using enum MatrixElement;
  static constexpr std::pair<std::string_view, MatrixElement> names[] = {
      {"f16", f16},   {"bf16", bf16}, {"tf32", tf32}, {"f32", f32},  {"f64", f64}, {"s32", s32},
      {"s8", s8},     {"u8", u8},     {"s4", s4},     {"u4", u4},    {"b1", b1},   {"e4m3", e4m3},
      {"e5m2", e5m2}, {"e3m2", e3m2}, {"e2m3", e2m3}, {"e2m1", e2m1}};
  for (auto const& [known, element] : names)
    if (known == name) return element;
  return std::nullopt;
}

unsigned element_bits(MatrixElement element) {
  switch (element) {
    case MatrixElement::f16:
    case MatrixElement::bf16:
      return 16;
    case MatrixElement::f64:
      return 64;
    case MatrixElement::s4:
    case MatrixElement::u4:
    case MatrixElement::e2m1_packed:
      return 4;
    case MatrixElement::tf32:
    case MatrixElement::f32:
    case MatrixElement::s32:
    case MatrixElement::b1:
      return 32;
    default:
      return 8;
  }
}

namespace {

template <class Place>  // (register, lane, element) -> {row, column}
FragmentTable fill(FragmentTable table, Place const& place) {
  for (unsigned r = 0; r < table.registers; ++r)
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
      for (unsigned i = 0; i < table.per_register; ++i) {
        auto const [row, column] = place(r, lane, i);
        table.places.push_back(static_cast<std::uint16_t>(row * table.columns + column));
      }
  return table;
}
using At = std::pair<unsigned, unsigned>;

}  // namespace

FragmentTable matrix_fragment(MatrixRole role, MatrixElement element, MatrixShape shape) {
  unsigned const bits = element_bits(element), e = bits == 64 ? 1 : 32 / bits;
  unsigned const depth = element == MatrixElement::b1 ? shape.k / 32u : shape.k, steps = depth / (4 * e);
  FragmentTable table;
  table.per_register = e;
  unsigned const row_tile = shape.m == 8 ? 8 : 16, halves = row_tile / 8;
  if (role == MatrixRole::a) {
    unsigned const of_tile = steps * halves;
    table.rows = shape.m;
    table.columns = depth;
    table.registers = of_tile * (shape.m / row_tile);
    return fill(table, [=](unsigned r, unsigned lane, unsigned i) {
      unsigned const within = r % of_tile;
      return At(row_tile * (r / of_tile) + lane / 4 + 8 * (within % halves),
                4 * e * (within / halves) + e * (lane % 4) + i);
    });
  }
  if (role == MatrixRole::b) {
    table.rows = depth;
    table.columns = shape.n;
    table.registers = steps * (shape.n / 8u);
    return fill(table, [=](unsigned r, unsigned lane, unsigned i) {
      return At(4 * e * (r % steps) + e * (lane % 4) + i, 8 * (r / steps) + lane / 4);
    });
  }
  unsigned const of_tile = 2 * halves, column_tiles = shape.n / 8u;
  table.rows = shape.m;
  table.columns = shape.n;
  table.registers = of_tile * (shape.m / row_tile) * column_tiles / e;
  return fill(table, [=](unsigned r, unsigned lane, unsigned i) {
    unsigned const value = r * e + i, tile = value / of_tile, within = value % of_tile;
    return At(row_tile * (tile / column_tiles) + lane / 4 + 8 * (within / 2),
              8 * (tile % column_tiles) + 2 * (lane % 4) + within % 2);
  });
}

// With R bits of metadata for each of the 16 rows and quads of lanes for rows r and r + 8:
//   R = 16   one lane of each quad, which the selector names: low half row r, high half row r + 8
//   R = 32   two lanes, 2 s and 2 s + 1 for a selector of s: of 16-bit and tf32 elements each lane has, as above, half
//   of
//            the bits of both rows, of others each lane has one row
//   R = 64   all lanes: rows alternate, lanes 2 and 3 have the second half
// [ptx] figures "Sparse MMA … metadata layout"; [cute] ELayout of mma_traits_sm90_gmma_sparse.hpp and
// mma_traits_sm120_sparse.hpp. That bytes and nibbles of R = 32 are one row for each lane, as they are for R = 64,
// follows from what a product of twice the depth has: its first half is the product of the depth with selector 0.
ChoiceTable matrix_choice(MatrixElement element, MatrixShape shape, std::int64_t selector) {
  ChoiceTable table;
  MatrixChoice& m = table.choice;
  bool const tf32 = element == MatrixElement::tf32, nibbles = element_bits(element) == 4;
  bool const in_both = tf32 || element_bits(element) == 16;
  if (tf32) m.nonzero = 1, m.chunk = 2, m.index_shift = 1;
  if (nibbles) m.nonzero = 4, m.chunk = 8, m.together = 2;
  unsigned const indices = shape.k / 2u / m.together, bits = tf32 ? 4 : 2, of_row = indices * bits;
  std::int64_t const choices = of_row == 16 ? 4 : of_row == 32 ? 2 : 1;
  if (selector < 0 || selector >= choices) return table;
  auto const first = static_cast<unsigned>(selector);
  for (unsigned row = 0; row < shape.m; ++row)
    for (unsigned i = 0; i < indices; ++i) {
      unsigned const high = row / 8, bit = i * bits;
      unsigned lane = 4 * (row % 8), within = bit;
      if (of_row == 16)
        lane += first, within += 16 * high;
      else if (of_row == 32 && in_both)
        lane += 2 * first + bit / 16, within = bit % 16 + 16 * high;
      else if (of_row == 32)
        lane += 2 * first + high;
      else
        lane += high + 2 * (bit / 32), within = bit % 32;
      table.places.push_back(static_cast<std::uint16_t>(32 * lane + within));
    }
  return table;
}

namespace {

// Of mma.m8n8k4 with f16: lanes 4 q … 4 q + 3 and 16 + 4 q … 16 + 4 q + 3, a quad pair, hold a matrix of 8 by 4, 4 by 8
// or 8 by 8. Value i of a lane's.
At of_quad_pair(MatrixRole role, bool half, bool column_major, unsigned lane, unsigned i) {
  unsigned const high = lane < 16 ? 0 : 4, own = lane % 4;
  if (role == MatrixRole::a) return column_major ? At(i + high, own) : At(own + high, i);
  if (role == MatrixRole::b) return column_major ? At(i, own + high) : At(own, i + high);
  if (half) return {own + high, i};
  return {(lane & 1) + (i & 2) + high, (i & 4) + (lane & 2) + (i & 1)};
}
unsigned quad_pair(unsigned lane) {
  return lane % 16 / 4;
}

}  // namespace

FragmentTable quad_fragment(MatrixRole role, MatrixElement element, bool column_major) {
  FragmentTable table;
  bool const half = element == MatrixElement::f16;
  table.per_register = half ? 2 : 1;
  table.registers = role != MatrixRole::accumulator ? 2 : half ? 4 : 8;
  table.columns = role == MatrixRole::a ? 4 : 8;
  table.rows = role == MatrixRole::b ? 4 : 8;
  // Of matrix q the rows are stacked below those of matrix q - 1.
  return fill(table, [=](unsigned r, unsigned lane, unsigned k) {
    At const at = of_quad_pair(role, half, column_major, lane, r * table.per_register + k);
    return At(at.first + quad_pair(lane) * table.rows, at.second);
  });
}

// A quad pair has 8 by 8 elements of the sum: of 16 by 16 pairs 0 and 2 have the upper ones, 0 and 1 the left ones; of
// 32 by 8 pair q has rows from 8 q on, of 8 by 32 columns. It holds its rows of A and its columns of B for all k, four
// after four, as mma.m8n8k4 takes them, so that several pairs hold the same factors. Read from what ptxas 12.9 makes of
// each wmma.load for sm_70; [raihan] has m16n16k16's from a TITAN V.
FragmentTable volta_fragment(MatrixRole role, MatrixElement element, MatrixShape shape, bool column_major) {
  bool const half = element == MatrixElement::f16;
  constexpr unsigned side = 8, step = 4;
  unsigned const of_step = 4;  // halves of a lane
  FragmentTable table;
  table.per_register = half ? 2 : 1;
  table.rows = role == MatrixRole::b ? shape.k : shape.m;
  table.columns = role == MatrixRole::a ? shape.k : shape.n;
  table.registers = role != MatrixRole::accumulator ? shape.k / 2u : half ? 4 : 8;
  return fill(table, [=](unsigned r, unsigned lane, unsigned i) {
    unsigned const pair = quad_pair(lane), value = r * table.per_register + i;
    unsigned const top = shape.m == 16 ? pair % 2 : shape.m == 32 ? pair : 0;
    unsigned const left = shape.n == 16 ? pair / 2 : shape.n == 32 ? pair : 0;
    if (role == MatrixRole::accumulator) {
      At const at = of_quad_pair(role, half, column_major, lane, value);
      return At(side * top + at.first, side * left + at.second);
    }
    At const at = of_quad_pair(role, half, column_major, lane, value % of_step);
    unsigned const k = step * (value / of_step);
    return role == MatrixRole::a ? At(side * top + at.first, k + at.second) : At(k + at.first, side * left + at.second);
  });
}

FragmentTable in_memory(FragmentTable table, bool column_major) {
  if (!column_major) return table;
  for (std::uint16_t& place : table.places)
    place = static_cast<std::uint16_t>(place % table.columns * table.rows + place / table.columns);
  std::swap(table.rows, table.columns);
  return table;
}

namespace {

// Whether `length` values of a lane, from each multiple of it on, follow each other in memory.
bool joined(FragmentTable const& t, unsigned length) {
  unsigned const values = t.registers * t.per_register;
  auto const value = [&](unsigned lane, unsigned i) {
    return t.places[(i / t.per_register * lanes_per_warp + lane) * t.per_register + i % t.per_register];
  };
  if (values % length != 0) return false;
  for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
    for (unsigned i = 0; i < values; ++i)
      if (value(lane, i) != value(lane, i - i % length) + i % length) return false;
  return true;
}

}  // namespace

bool neighbours(FragmentTable const& table) {
  return joined(table, table.per_register);
}

RequestTable fragment_requests(FragmentTable const& t, MatrixRole role, MatrixElement element, WmmaFragments fragments,
                               bool of_shared) {
  constexpr unsigned max_bytes = 16, rows_of_block = 8, max_blocks = 4;
  unsigned const bits = element_bits(element);
  bool const later = fragments == WmmaFragments::later, whole = neighbours(t);
  bool const transposes = later && bits == 16 && !whole;
  // Of a register, which is a block of 8 rows of 16 bytes: the first element of a lane.
  auto const word = [&](unsigned r, unsigned lane) -> unsigned {
    std::uint16_t const* const places = t.places.data() + r * lanes_per_warp * t.per_register;
    return transposes ? places[0] + lane / 4 * t.columns + 2 * (lane % 4) : places[lane * t.per_register];
  };
  RequestTable out;
  auto const add = [&](unsigned place) { out.first.push_back(static_cast<std::uint16_t>(place)); };
  bool const narrow = bits <= 16 || element == MatrixElement::b1;
  if (later && of_shared && role != MatrixRole::accumulator && narrow && (whole || transposes)) {
    out.bytes = max_bytes;
    for (unsigned block = 0; block < t.registers; block += max_blocks)
      for (unsigned lane = 0; lane < lanes_per_warp; ++lane) {
        unsigned const r = block + lane / rows_of_block;
        add(r < t.registers ? word(r, 4 * (lane % rows_of_block)) : MatrixTransfer::no_element);
      }
    return out;
  }
  if (transposes) {
    out.bytes = 4;
    for (unsigned r = 0; r < t.registers; ++r)
      for (unsigned lane = 0; lane < lanes_per_warp; ++lane) add(word(r, lane));
    return out;
  }
  unsigned length = std::max(1U, 8 / bits);
  while (2 * length * bits <= 8 * max_bytes && joined(t, 2 * length)) length *= 2;
  out.bytes = length * bits / 8;
  for (unsigned i = 0; i < t.registers * t.per_register; i += length)
    for (unsigned lane = 0; lane < lanes_per_warp; ++lane)
      add(t.places[(i / t.per_register * lanes_per_warp + lane) * t.per_register + i % t.per_register]);
  return out;
}

}  // namespace kernelcast::emu
