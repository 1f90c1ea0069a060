// Fragment layouts. [ptx] "Matrix Fragments for mma.…": with group = lane / 4, quarter = lane % 4 and registers that
// hold e elements, neighbours in k,
//   A, 8 rows    register r: row group,              k = 4 e r + e quarter + i
//   A, 16 rows   register r: row group + 8 (r % 2),  k = 4 e (r / 2) + e quarter + i
//   B            register r: column group,           k = 4 e r + e quarter + i
//   C, D         value v: row group + 8 (v / 2), column 2 quarter + v % 2; f16 has two values in a register
// is what all its tables say, but for m8n8k4 of f16: four matrices, of which one belongs to lanes 4 q … 4 q + 3 and
// 16 + 4 q … 16 + 4 q + 3.
#include "emu/decode/fragment.hpp"

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

FragmentTable quad_fragment(MatrixRole role, MatrixElement element, bool column_major) {
  FragmentTable table;
  bool const half = element == MatrixElement::f16;
  table.per_register = half ? 2 : 1;
  table.registers = role != MatrixRole::accumulator ? 2 : half ? 4 : 8;
  table.columns = role == MatrixRole::a ? 4 : 8;
  table.rows = role == MatrixRole::b ? 4 : 8;
  // Of matrix q the rows are stacked below those of matrix q - 1.
  return fill(table, [=](unsigned r, unsigned lane, unsigned k) {
    unsigned const i = r * table.per_register + k, quad = lane % 16 / 4, high = lane < 16 ? 0 : 4, own = lane % 4;
    At at;
    if (role == MatrixRole::a)
      at = column_major ? At(i + high, own) : At(own + high, i);
    else if (role == MatrixRole::b)
      at = column_major ? At(i, own + high) : At(own, i + high);
    else if (half)
      at = {own + high, i};
    else
      at = {(lane & 1) + (i & 2) + high, (i & 4) + (lane & 2) + (i & 1)};
    return At(at.first + quad * table.rows, at.second);
  });
}

}  // namespace kernelcast::emu
