// wgmma: the words and immediates of the opcode become facts for one handler.
#include <algorithm>

#include "emulator/decode/decode.hpp"
#include "emulator/decode/matrix_words.hpp"

namespace kernelcast::emu {

namespace {

using Element = MatrixElement;
using ptx::Operand;

constexpr std::size_t max_registers = 128;  // of D: 64 by 256 elements of 32 bits

bool is_float8(Element e) {
  return e == Element::e4m3 || e == Element::e5m2;
}
bool is_byte(Element e) {
  return e == Element::s8 || e == Element::u8;
}

// [ptx] "wgmma.mma_async": which types go together; k always spans 32 bytes, of a sparse A 64.
bool has_types(Element d, Element a, Element b) {
  if (is_float8(a) && is_float8(b)) return d == Element::f32 || d == Element::f16;
  if (is_byte(a) && is_byte(b)) return d == Element::s32;
  if (a != b) return false;
  if (a == Element::f16) return d == Element::f32 || d == Element::f16;
  if (a == Element::b1) return d == Element::s32;
  return (a == Element::bf16 || a == Element::tf32) && d == Element::f32;
}
// Of integers: 8, 16, 24, 32, then multiples of 16.
bool has_columns(Element a, unsigned n) {
  if (n == 0 || n % 8 != 0 || n > 256) return false;
  return !(is_byte(a) || a == Element::b1) || n % 16 == 0 || n == 8 || n == 24;
}

// An immediate of `allowed`; the operand is missing where the opcode has none.
std::int64_t immediate(ptx::Instruction const& i, std::size_t operand, std::initializer_list<std::int64_t> allowed) {
  Operand const& o = i.operands.at(operand);
  auto const value = static_cast<std::int64_t>(static_cast<std::int32_t>(o.value));
  if (o.kind != Operand::Kind::integer || std::find(allowed.begin(), allowed.end(), value) == allowed.end())
    throw refused(i);
  return value;
}

}  // namespace

// d, a or its descriptor, b's descriptor{, metadata, selector}, scale-d{, imm-scale-a, imm-scale-b{, imm-trans-a}{,
// imm-trans-b}}
void Decoder::decode_warpgroup(Instruction const& i) {
  std::string_view const what = i.modifiers.at(0);
  if (what == "fence" || what == "commit_group" || what == "wait_group") {
    p_.classes[current_] = Class::sync;  // products are done when they are issued
    return;
  }
  MatrixWords w = matrix_words(i);
  if (!w.take("mma_async")) throw refused(i);
  bool const ordered = w.take("sp::ordered_metadata"), sparse = w.take("sp") || ordered;
  GroupMultiply m;
  m.saturate = w.take("satfinite");
  bool const popc = w.take("and") && w.take("popc");
  if (!w.shape || !w.others.empty() || w.types.size() != 3) throw refused(i);
  m.d = w.types[0];
  m.a = w.types[1];
  m.b = w.types[2];
  bool const single_bits = m.a == Element::b1, integers = m.d == Element::s32;
  unsigned const bits = element_bits(m.a);  // of single bits: of a word of them
  unsigned const depth = single_bits ? w.shape->k / 32u : w.shape->k;
  if (!has_types(m.d, m.a, m.b) || popc != single_bits || w.shape->m != 64 || depth * bits != (sparse ? 512 : 256) ||
      (sparse && single_bits) || !has_columns(m.a, w.shape->n) || (m.saturate && !is_byte(m.a)))
    throw refused(i);
  m.columns = w.shape->n;
  m.depth = static_cast<std::uint16_t>(depth);
  m.a_depth = static_cast<std::uint16_t>(sparse ? depth / 2 : depth);
  m.b_parts_log2 = sparse ? 2 : 1;
  m.element_bytes = static_cast<std::uint8_t>(bits / 8);

  MatrixShape const of_warp{16, w.shape->n, w.shape->k};
  std::vector<std::uint32_t> sources, destinations;
  Operand const& a = i.operands.at(1);
  bool const from_registers = a.kind == Operand::Kind::vector;
  if (from_registers) {
    MatrixShape stored = of_warp;
    if (sparse) stored.k /= 2;
    FragmentTable const table = matrix_fragment(MatrixRole::a, m.a, stored);
    m.a_fragment = fragment(table, m.a, a.elements.size(), sources.size());
    for (Operand const& r : a.elements) sources.push_back(source(r, matrix_lane_type(m.a)));
  } else {
    m.a_source = static_cast<std::uint8_t>(sources.size());
    sources.push_back(source(a, LaneType::u64));
  }
  m.b_source = static_cast<std::uint8_t>(sources.size());
  sources.push_back(source(i.operands.at(2), LaneType::u64));
  if (sparse) m.choice = matrix_metadata(i, 3, m.a, of_warp, sources);
  std::size_t next = sparse ? 5 : 3;
  Operand const& scale = i.operands.at(next);
  if (scale.kind == Operand::Kind::integer) {
    m.adds = immediate(i, next, {0, 1}) != 0;
  } else {
    m.scale_source = static_cast<std::uint8_t>(sources.size());
    sources.push_back(source(scale, LaneType::pred));
  }
  ++next;
  if (!integers) {
    std::int64_t const of_a = immediate(i, next++, {-1, 1}), of_b = immediate(i, next++, {-1, 1});
    m.negates = of_a != of_b;
  }
  if (m.a == Element::f16 || m.a == Element::bf16) {
    if (!from_registers) m.a_transposed = immediate(i, next++, {0, 1}) != 0;
    m.b_transposed = immediate(i, next++, {0, 1}) != 0;
  }
  if (i.operands.size() != next) throw refused(i);

  FragmentTable const sums = matrix_fragment(MatrixRole::accumulator, m.d, of_warp);
  std::vector<Operand> const results = matrix_registers(i.operands[0]);
  m.sum = fragment(sums, m.d, results.size(), 0, max_registers);
  if (results.size() != sums.registers) throw refused(i);
  if (m.adds) {
    m.sum_before = m.sum;
    m.sum_before.first = static_cast<std::uint8_t>(sources.size());
    for (Operand const& r : results) sources.push_back(source(r, matrix_lane_type(m.d)));
  }
  for (Operand const& r : results) destinations.push_back(destination(r, matrix_lane_type(m.d)));
  std::uint32_t const load = add_plain_access(ptx::StateSpace::shared, Direction::load);
  add_plain_access(ptx::StateSpace::shared, Direction::load);
  Draft& draft = emit_with("#wgmma", m, std::move(destinations), std::move(sources));
  draft.access = load;
  draft.effect = true;
  finish();
}

}  // namespace kernelcast::emu
