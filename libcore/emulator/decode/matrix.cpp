// mma, wmma, ldmatrix, stmatrix and movmatrix: the words of the opcode become facts for one handler each, the operands
// one row of registers.
#include <algorithm>

#include "emulator/decode/decode.hpp"
#include "emulator/decode/fragment.hpp"
#include "emulator/decode/matrix_words.hpp"

namespace kernelcast::emu {

namespace {

using Element = MatrixElement;
using Operand = ptx::Operand;
using Words = MatrixWords;
using ptx::StateSpace;

bool is_small_float(Element e) {
  return e >= Element::e4m3;
}
bool is_integer(Element e) {
  return e >= Element::s8 && e <= Element::b1;
}

// [ptx] "mma": the shapes of each type of A and B.
bool has_shape(Element type, MatrixShape s, bool other_floats) {
  auto const among = [&](std::initializer_list<MatrixShape> shapes) {
    return std::find(shapes.begin(), shapes.end(), s) != shapes.end();
  };
  switch (type) {
    case Element::f16:
      return among({{8, 8, 4}, {16, 8, 8}, {16, 8, 16}});
    case Element::bf16:
      return among({{16, 8, 8}, {16, 8, 16}});
    case Element::tf32:
      return among({{16, 8, 4}, {16, 8, 8}});
    case Element::f64:
      return among({{8, 8, 4}, {16, 8, 4}, {16, 8, 8}, {16, 8, 16}});
    case Element::s8:
    case Element::u8:
      return among({{8, 8, 16}, {16, 8, 16}, {16, 8, 32}});
    case Element::s4:
    case Element::u4:
      return among({{8, 8, 32}, {16, 8, 32}, {16, 8, 64}});
    case Element::b1:
      return among({{8, 8, 128}, {16, 8, 128}, {16, 8, 256}});
    case Element::e4m3:
    case Element::e5m2:
      return other_floats ? among({{16, 8, 32}}) : among({{16, 8, 16}, {16, 8, 32}});
    case Element::e2m1_packed:
      return among({{16, 8, 64}});
    default:
      return other_floats && is_small_float(type) && among({{16, 8, 32}});
  }
}
// [ptx] "mma.sp": half of the depth is that of A's elements.
bool has_sparse_shape(Element type, MatrixShape s, bool other_floats) {
  bool const of_one = s.m == 16 && s.n == 8;
  auto const deep = [&](unsigned k) { return of_one && (s.k == k || s.k == 2 * k); };
  switch (type) {
    case Element::f16:
    case Element::bf16:
      return deep(16);
    case Element::tf32:
      return deep(8);
    case Element::s8:
    case Element::u8:
      return deep(32);
    case Element::s4:
    case Element::u4:
      return deep(64);
    case Element::e4m3:
    case Element::e5m2:
      return of_one && s.k == 64;
    case Element::e2m1_packed:
      return of_one && s.k == 128;
    default:
      return other_floats && is_small_float(type) && of_one && s.k == 64;
  }
}
bool has_wmma_shape(Element type, MatrixShape s) {
  bool const large = s == MatrixShape{16, 16, 16} || s == MatrixShape{8, 32, 16} || s == MatrixShape{32, 8, 16};
  switch (type) {
    case Element::f16:
    case Element::bf16:
    case Element::s8:
    case Element::u8:
      return large;
    case Element::tf32:
      return s == MatrixShape{16, 16, 8};
    case Element::f64:
      return s == MatrixShape{8, 8, 4};
    case Element::s4:
    case Element::u4:
      return s == MatrixShape{8, 8, 32};
    case Element::b1:
      return s == MatrixShape{8, 8, 128};
    default:
      return false;
  }
}

// The type of D and C that goes with A and B.
bool accumulates(Element type, Element sum) {
  if (is_integer(type)) return sum == Element::s32;
  if (type == Element::f64) return sum == Element::f64;
  if (type == Element::bf16 || type == Element::tf32) return sum == Element::f32;
  return sum == Element::f32 || sum == Element::f16;
}

// Of A and B: integers of one size may differ in sign, floats of 8 bits and less in everything.
bool go_together(Element a, Element b) {
  return a == b || (is_integer(a) && is_integer(b) && element_bits(a) == element_bits(b)) ||
         (is_small_float(a) && is_small_float(b));
}

// What the words of mma say beside shape and types.
struct Variant {
  bool sparse = false, other_floats = false;
  std::uint8_t blocks = 0;  // of a row, each with a factor
  bool exponents = true;    // ue8m0
};

// [ptx] "mma": kinds of 8, 6 and 4 bits, some with factors for blocks. Nothing for words that do not go together.
std::optional<Variant> variant_of(Words& w) {
  Variant v;
  bool const ordered = w.take("sp::ordered_metadata");
  v.sparse = w.take("sp") || ordered;
  bool const scaled = w.take("block_scale");
  bool const x1 = w.take("scale_vec::1X"), x2 = w.take("scale_vec::2X"), x4 = w.take("scale_vec::4X");
  bool const exponents = w.take("ue8m0"), floats = w.take("ue4m3");
  if (w.take("kind::f8f6f4")) {
    v.other_floats = true;
    if (scaled) return std::nullopt;
  } else if (w.take("kind::mxf8f6f4")) {
    v.other_floats = true;
    v.blocks = 1;
    if (!scaled || x2 || x4) return std::nullopt;
  } else if (w.take("kind::mxf4")) {
    v.blocks = 2;
    if (!scaled || x1 || x4) return std::nullopt;
  } else if (w.take("kind::mxf4nvf4")) {
    v.blocks = x4 ? 4 : 2;
    if (!scaled || x1 || x2 == x4) return std::nullopt;
  } else if (scaled) {
    return std::nullopt;
  }
  if ((x1 || x2 || x4 || exponents || floats) && !scaled) return std::nullopt;
  if (scaled && (exponents == floats || (floats && v.blocks != 4))) return std::nullopt;
  // Two of four bits in a byte; the other kinds have one.
  if (v.blocks > 1)
    for (Element& e : w.types)
      if (e == Element::e2m1) e = Element::e2m1_packed;
  v.exponents = exponents;
  return v;
}

}  // namespace

bool MatrixWords::has(std::string_view word) const {
  return std::find(others.begin(), others.end(), word) != others.end();
}
bool MatrixWords::take(std::string_view word) {
  return std::erase(others, word) != 0;
}

MatrixWords matrix_words(ptx::Instruction const& i) {
  MatrixWords w;
  for (std::string_view const m : i.modifiers) {
    if (m == "sync" || m == "aligned") continue;
    if (m == "row" || m == "col")
      w.column_major.push_back(m == "col");
    else if (m == "global")
      w.space = StateSpace::global;
    else if (m == "shared" || m == "shared::cta")
      w.space = StateSpace::shared;
    else if (auto const element = matrix_element(m))
      w.types.push_back(*element);
    else if (auto const shape = matrix_shape(m))
      w.shape = shape;
    else
      w.others.push_back(m);
  }
  return w;
}

std::vector<ptx::Operand> matrix_registers(ptx::Operand const& operand) {
  if (operand.kind == Operand::Kind::vector) return operand.elements;
  return {operand};
}

LaneType matrix_lane_type(MatrixElement e) {
  return e == Element::f64 ? LaneType::f64 : e == Element::f32 ? LaneType::f32 : LaneType::u32;
}

// The table of a fragment, made once per program.
MatrixFragment Decoder::fragment(FragmentTable const& table, MatrixElement element, std::size_t registers,
                                 std::size_t first, std::size_t max_registers) {
  if (registers < table.registers || registers % table.registers != 0 || registers > max_registers)
    throw Unsupported{"a fragment of " + std::to_string(registers) + " registers where the shape has " +
                      std::to_string(table.registers)};
  MatrixFragment f;
  f.element = element;
  f.registers = static_cast<std::uint8_t>(registers);
  f.distinct = static_cast<std::uint8_t>(table.registers);
  f.per_register = static_cast<std::uint8_t>(table.per_register);
  f.first = static_cast<std::uint8_t>(first);
  f.elements = static_cast<std::uint16_t>(1 + *std::ranges::max_element(table.places));
  f.places = kept_places(table.places);
  return f;
}

std::uint16_t const* Decoder::kept_places(std::vector<std::uint16_t> const& table) {
  auto& places = fragment_places_[table];
  if (!places) {
    auto kept = std::make_shared<std::vector<std::uint16_t>>(table);
    places = kept->data();
    p_.facts.push_back(std::move(kept));
  }
  return places;
}

namespace {

// r or {r}.
Operand single_register(ptx::Instruction const& i, std::size_t operand) {
  std::vector<Operand> const registers = matrix_registers(i.operands.at(operand));
  if (registers.size() != 1) throw refused(i);
  return registers[0];
}

}  // namespace

// Behind the factors of a product: metadata and selector of a sparse A.
MatrixChoice Decoder::matrix_metadata(Instruction const& i, std::size_t operand, MatrixElement element,
                                      MatrixShape shape, std::vector<std::uint32_t>& sources) {
  Operand const& selector = i.operands.at(operand + 1);
  if (selector.kind != Operand::Kind::integer) throw refused(i);
  ChoiceTable table = matrix_choice(element, shape, static_cast<std::int64_t>(selector.value));
  if (table.places.empty())
    throw Unsupported{"sparsity selector " + std::to_string(selector.value) + ", which this shape does not have"};
  table.choice.places = kept_places(table.places);
  table.choice.source = static_cast<std::uint8_t>(sources.size());
  sources.push_back(source(single_register(i, operand), LaneType::u32));
  return table.choice;
}

void Decoder::decode_matrix(Instruction const& i) {
  if (i.is(ptx::Op::wgmma)) return decode_warpgroup(i);
  if (i.is(ptx::Op::tcgen05)) return decode_tensor_memory(i);
  if (i.is(ptx::Op::movmatrix)) {
    Words const w = matrix_words(i);
    if (!w.has("m8n8") || !w.has("trans") || !w.has("b16")) throw refused(i);
    std::uint32_t const a = source(i.operands.at(1), LaneType::u32);
    emit("#movmatrix", {destination(i.operands.at(0), LaneType::u32)}, {a});
    return finish();
  }
  if (i.is(ptx::Op::ldmatrix, ptx::Op::stmatrix)) return decode_matrix_rows(i);
  if (i.is(ptx::Op::wmma) && i.modifiers.at(0) != "mma") return decode_matrix_transfer(i);
  decode_multiply(i);
}

void Decoder::decode_multiply(Instruction const& i) {
  bool const wmma = i.is(ptx::Op::wmma);
  Words w = matrix_words(i);
  MatrixMultiply m;
  if (wmma) w.take("mma");
  std::optional<Variant> const variant = wmma ? Variant{} : variant_of(w);
  if (!variant) throw refused(i);
  m.saturate = w.take("satfinite");
  if (w.take("popc")) m.product = w.take("and") ? MatrixMultiply::Product::and_popc : MatrixMultiply::Product::xor_popc;
  w.take("xor");
  static constexpr std::pair<std::string_view, MatrixMultiply::Rounding> roundings[] = {
      {"rn", MatrixMultiply::Rounding::rn},
      {"rz", MatrixMultiply::Rounding::rz},
      {"rm", MatrixMultiply::Rounding::rm},
      {"rp", MatrixMultiply::Rounding::rp}};
  for (auto const& [word, rounding] : roundings)
    if (w.take(word)) m.rounding = rounding;
  // wmma of f16 names d and c only.
  if (wmma && w.types.size() == 2) w.types = {w.types[0], Element::f16, Element::f16, w.types[1]};
  if (!w.shape || !w.others.empty() || w.types.size() != 4 || w.column_major.size() != 2 ||
      i.operands.size() != 4 + (variant->sparse ? 2u : 0u) + (variant->blocks != 0 ? 4u : 0u))
    throw refused(i);
  MatrixShape const shape = *w.shape;
  Element const d = w.types[0], a = w.types[1], b = w.types[2], c = w.types[3];
  bool const quad = !wmma && !variant->sparse && a == Element::f16 && shape.m == 8;
  bool const bits = (m.product != MatrixMultiply::Product::number) == (a == Element::b1);
  bool const layout = wmma || quad || (!w.column_major[0] && w.column_major[1]);
  bool const known =
      wmma ? has_wmma_shape(a, shape)
      : variant->sparse
          ? has_sparse_shape(a, shape, variant->other_floats) && has_sparse_shape(b, shape, variant->other_floats)
          : has_shape(a, shape, variant->other_floats) && has_shape(b, shape, variant->other_floats);
  bool const scaled = variant->blocks != 0;
  if ((scaled && d != Element::f32) || (variant->blocks > 1 && a != Element::e2m1_packed)) throw refused(i);
  if (!known || !bits || !layout || !go_together(a, b) || !accumulates(a, d) || !accumulates(a, c)) throw refused(i);

  auto const table = [&](MatrixRole role, Element element, bool column_major) {
    if (quad) return quad_fragment(role, element, column_major);
    if (wmma) return wmma_fragment(role, element, shape, column_major);
    MatrixShape stored = shape;
    if (variant->sparse && role == MatrixRole::a) stored.k /= 2;
    return matrix_fragment(role, element, stored);
  };
  std::vector<std::uint32_t> sources, destinations;
  auto const add = [&](MatrixRole role, Element element, std::size_t operand, bool column_major) {
    std::vector<Operand> const registers = matrix_registers(i.operands[operand]);
    MatrixFragment const f = fragment(table(role, element, column_major), element, registers.size(), sources.size());
    for (Operand const& r : registers) sources.push_back(source(r, matrix_lane_type(element)));
    return f;
  };
  m.a = add(MatrixRole::a, a, 1, w.column_major[0]);
  m.b = add(MatrixRole::b, b, 2, w.column_major[1]);
  m.c = add(MatrixRole::accumulator, c, 3, false);
  if (variant->sparse) m.choice = matrix_metadata(i, 4, a, shape, sources);
  if (scaled) {
    m.scales.blocks = variant->blocks;
    m.scales.exponents = variant->exponents;
    std::size_t operand = variant->sparse ? 6 : 4;
    for (std::uint8_t* const first : {&m.scales.a_source, &m.scales.b_source}) {
      *first = static_cast<std::uint8_t>(sources.size());
      sources.push_back(source(single_register(i, operand), LaneType::u32));
      std::vector<Operand> const selectors = matrix_registers(i.operands[operand + 1]);
      if (selectors.size() != 2) throw refused(i);
      for (Operand const& s : selectors) sources.push_back(source(s, LaneType::u16));
      operand += 2;
    }
  }
  std::vector<Operand> const results = matrix_registers(i.operands[0]);
  m.d = fragment(table(MatrixRole::accumulator, d, false), d, results.size(), 0);
  for (Operand const& r : results) destinations.push_back(destination(r, matrix_lane_type(d)));
  m.rows = shape.m;
  m.columns = shape.n;
  m.depth = static_cast<std::uint16_t>(a == Element::b1 ? shape.k / 32 : shape.k);
  m.batches = quad ? 4 : 1;
  emit_with("#mma", m, std::move(destinations), std::move(sources));
  finish();
}

// Volta has wmma of f16 alone.
FragmentTable Decoder::wmma_fragment(MatrixRole role, MatrixElement element, MatrixShape shape, bool column_major) {
  bool const halves = element == Element::f16 || (element == Element::f32 && shape.k == 16);
  bool const volta = p_.wmma_fragments == WmmaFragments::volta && halves;
  return volta ? volta_fragment(role, element, shape, column_major) : matrix_fragment(role, element, shape);
}

std::uint32_t Decoder::address_register(Operand const& address) {
  if (address.kind != Operand::Kind::address || address.elements.empty()) throw Unsupported{"this kind of address"};
  Operand const& base = address.elements[0];
  if (base.kind == Operand::Kind::integer) return d_.immediate(base.value, true);
  if (base.kind == Operand::Kind::reg) return base.id;
  return variable_address(base);
}

std::uint32_t Decoder::add_plain_access(ptx::StateSpace space, Direction direction) {
  Access access;
  access.space = space;
  access.direction = direction;
  if (space == StateSpace::generic) p_.uses_generic = true;
  p_.accesses.push_back(access);
  return static_cast<std::uint32_t>(p_.accesses.size() - 1);
}

void Decoder::decode_matrix_rows(Instruction const& i) {
  bool const store = i.is(ptx::Op::stmatrix);
  Words w = matrix_words(i);
  MatrixRows m;
  m.transposed = w.take("trans");
  m.matrices = w.take("x4") ? 4 : w.take("x2") ? 2 : 1;
  w.take("x1");
  static constexpr std::pair<std::string_view, MatrixRows::Shape> shapes[] = {{"m8n8", MatrixRows::Shape::m8n8},
                                                                              {"m16n16", MatrixRows::Shape::m16n16},
                                                                              {"m8n16", MatrixRows::Shape::m8n16},
                                                                              {"m16n8", MatrixRows::Shape::m16n8}};
  bool known = false;
  for (auto const& [word, shape] : shapes)
    if (w.take(word)) {
      m.shape = shape;
      known = true;
    }
  if (w.take("b4x16_p64")) m.unpack_bits = 4;
  if (w.take("b6x16_p32")) m.unpack_bits = 6;
  bool const halves = w.take("b16");
  bool const bytes = w.take("b8") || w.take("b8x16");
  using Shape = MatrixRows::Shape;
  bool const fits = m.shape == Shape::m8n8     ? halves && !bytes
                    : m.shape == Shape::m16n16 ? bytes && !store && m.transposed && m.matrices <= 2
                    : m.shape == Shape::m8n16  ? bytes && !store && !m.transposed && m.unpack_bits != 8
                                               : bytes && store && m.transposed;
  if (!known || !fits || !w.others.empty() || w.space == StateSpace::global) throw refused(i);
  Operand const& address = i.operands.at(store ? 0 : 1);
  std::vector<Operand> const registers = matrix_registers(i.operands.at(store ? 1 : 0));
  if (registers.size() != m.matrices * (m.shape == Shape::m16n16 ? 2u : 1u)) throw refused(i);
  std::vector<std::uint32_t> sources = {address_register(address)}, destinations;
  m.wide_address = d_.registers[sources[0]].wide;
  m.displacement = address.value;
  for (Operand const& r : registers)
    store ? sources.push_back(source(r, LaneType::u32)) : destinations.push_back(destination(r, LaneType::u32));
  Draft& draft = emit_with(store ? "#stmatrix" : "#ldmatrix", m, std::move(destinations), std::move(sources));
  draft.access = add_plain_access(w.space, store ? Direction::store : Direction::load);
  draft.effect = true;
  finish();
}

void Decoder::decode_matrix_transfer(Instruction const& i) {
  bool const store = i.modifiers[0] == "store";
  Words w = matrix_words(i);
  w.take(store ? "store" : "load");
  MatrixRole const role = w.take("a") ? MatrixRole::a : w.take("b") ? MatrixRole::b : MatrixRole::accumulator;
  w.take(store ? "d" : "c");
  if (!w.shape || w.types.size() != 1 || w.column_major.size() != 1 || !w.others.empty()) throw refused(i);
  Element const element = w.types[0];
  MatrixShape const shape = *w.shape;
  bool const sum = element == Element::f32 || element == Element::s32;
  auto const has_any = [&](std::initializer_list<Element> factors) {
    return std::any_of(factors.begin(), factors.end(), [&](Element f) { return has_wmma_shape(f, shape); });
  };
  bool const known = element == Element::f32   ? has_any({Element::f16, Element::tf32})
                     : element == Element::s32 ? has_any({Element::s8, Element::s4, Element::b1})
                                               : has_wmma_shape(element, shape);
  bool const accumulator = element == Element::f16 || element == Element::f64 || sum;
  if (!known || (role == MatrixRole::accumulator ? !accumulator : sum)) throw refused(i);
  bool const column_major = w.column_major[0];
  FragmentTable const table = in_memory(wmma_fragment(role, element, shape, column_major), column_major);
  Operand const& address = i.operands.at(store ? 0 : 1);
  std::vector<Operand> const registers = matrix_registers(i.operands.at(store ? 1 : 0));

  MatrixTransfer m;
  m.fragment = fragment(table, element, registers.size(), store ? 1 : 0);
  m.line = static_cast<std::uint16_t>(table.columns);
  m.together = neighbours(table);
  unsigned const bits = element_bits(element);
  m.element_bytes = static_cast<std::uint8_t>(std::max(1u, bits / 8));
  m.elements_per_byte = bits == 4 ? 2 : 1;
  m.register_bytes = element == Element::f64 ? 8 : 4;
  if (bits == 4 && !m.together) throw refused(i);
  RequestTable const requests =
      fragment_requests(table, role, element, p_.wmma_fragments, w.space == StateSpace::shared);
  m.requests = static_cast<std::uint8_t>(requests.first.size() / lanes_per_warp);
  m.request_bytes = static_cast<std::uint8_t>(requests.bytes);
  m.first = kept_places(requests.first);
  p_.fragment_requests[current_] = {m.requests, m.request_bytes};
  m.stride = m.line;
  m.has_stride = i.operands.size() > 2;
  std::vector<std::uint32_t> sources = {address_register(address)}, destinations;
  m.wide_address = d_.registers[sources[0]].wide;
  m.displacement = address.value;
  for (Operand const& r : registers)
    store ? sources.push_back(source(r, matrix_lane_type(element)))
          : destinations.push_back(destination(r, matrix_lane_type(element)));
  if (m.has_stride) {
    std::uint32_t stride = source(i.operands[2], LaneType::u32);
    sources.push_back(stride);
    // Counted in elements; of single bits in words.
    m.stride_shift = element == Element::b1 ? 5 : 0;
  }
  Draft& draft = emit_with(store ? "#wmma.store" : "#wmma.load", m, std::move(destinations), std::move(sources));
  draft.access = add_plain_access(w.space, store ? Direction::store : Direction::load);
  draft.effect = true;
  finish();
}

}  // namespace kernelcast::emu
