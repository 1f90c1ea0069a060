// Texture and surface instructions: the request becomes a TextureOperation, their operands registers in one row.
#include <algorithm>

#include "emulator/decode/decode.hpp"
#include "emulator/opcodes/texture.hpp"

namespace kernelcast::emu {

void execute_texture(Context&, MicroOp const&);  // machine/image_access.cpp

namespace {

using Op = TextureOperation;
using Operand = ptx::Operand;

constexpr Opcode texture_opcode{"tex", Class::memory, {}, {}, execute_texture, execute_texture};

template <class T, std::size_t N>
bool choose(std::string_view word, std::pair<std::string_view, T> const (&table)[N], T& value) {
  for (auto const& [name, entry] : table)
    if (name == word) {
      value = entry;
      return true;
    }
  return false;
}

constexpr std::pair<std::string_view, Op::Shape> shapes[] = {
    {"1d", Op::Shape::d1},   {"2d", Op::Shape::d2},     {"3d", Op::Shape::d3},      {"a1d", Op::Shape::a1d},
    {"a2d", Op::Shape::a2d}, {"cube", Op::Shape::cube}, {"acube", Op::Shape::acube}};
constexpr std::pair<std::string_view, Op::Outside> outsides[] = {
    {"trap", Op::Outside::trap}, {"clamp", Op::Outside::clamp}, {"zero", Op::Outside::zero}};
constexpr std::pair<std::string_view, Op::Reduction> reductions[] = {{"add", Op::Reduction::add},
                                                                     {"min", Op::Reduction::minimum},
                                                                     {"max", Op::Reduction::maximum},
                                                                     {"and", Op::Reduction::conjunction},
                                                                     {"or", Op::Reduction::disjunction}};
constexpr std::pair<std::string_view, Op::Query> queries[] = {
    {"width", Op::Query::width},
    {"height", Op::Query::height},
    {"depth", Op::Query::depth},
    {"channel_data_type", Op::Query::channel_data_type},
    {"channel_order", Op::Query::channel_order},
    {"normalized_coords", Op::Query::normalized_coords},
    {"array_size", Op::Query::array_size},
    {"num_mipmap_levels", Op::Query::num_mipmap_levels},
    {"num_samples", Op::Query::num_samples},
    {"force_unnormalized_coords", Op::Query::force_unnormalized_coords},
    {"filter_mode", Op::Query::filter_mode},
    {"addr_mode_0", Op::Query::addr_mode_0},
    {"addr_mode_1", Op::Query::addr_mode_1},
    {"addr_mode_2", Op::Query::addr_mode_2},
    {"memory_layout", Op::Query::memory_layout}};

std::vector<Operand> parts(Operand const& operand) {
  if (operand.kind == Operand::Kind::vector) return operand.elements;
  return {operand};
}

// The parts of an instruction's name that all texture and surface instructions share; the types follow in order.
struct Words {
  Op op;
  bool has_shape = false, has_outside = false, level = false, gradient = false;
  unsigned elements = 1;
  std::vector<ptx::Type> types;
  std::vector<std::string_view> others;
};

Words read(ptx::Instruction const& i) {
  static constexpr std::string_view ignored[] = {"ca", "cg", "cs", "cv", "wb", "wt", "base", "b", "p"};
  Words w;
  for (std::string_view const m : i.modifiers) {
    if (i.is(ptx::Op::tld4) && m.data() == i.modifiers[0].data())
      w.others.push_back(m);  // the component; .b is something else elsewhere
    else if (choose(m, shapes, w.op.shape))
      w.has_shape = true;
    else if (choose(m, outsides, w.op.outside))
      w.has_outside = true;
    else if (m == "v2" || m == "v4")
      w.elements = m == "v2" ? 2 : 4;
    else if (m == "level")
      w.level = true;
    else if (m == "grad")
      w.gradient = true;
    else if (ptx::Type const type = type_named(m); type != ptx::Type::none)
      w.types.push_back(type);
    else if (std::find(std::begin(ignored), std::end(ignored), m) == std::end(ignored))
      w.others.push_back(m);
  }
  return w;
}

}  // namespace

void Decoder::decode_texture(Instruction const& i) {
  auto const refuse = [&](std::string const& why) { return Unsupported{"opcode '" + ptx::full_opcode(i) + "'" + why}; };
  Words words = read(i);
  Op& op = words.op;
  bool const formatted = !i.modifiers.empty() && i.modifiers[0] == "p";
  if (i.is(ptx::Op::txq, ptx::Op::suq, ptx::Op::istypep)) return decode_texture_query(i);
  if (!words.has_shape || words.types.empty()) throw refuse("");
  if (i.is(ptx::Op::tex, ptx::Op::tld4)) {
    op.kind = i.is(ptx::Op::tex) ? Op::Kind::sample : Op::Kind::gather;
    if (words.types.size() != 2) throw refuse("");
    op.integer_coordinates = words.types[1] == ptx::Type::s32;
    op.result = words.types[0] == ptx::Type::f16     ? Op::Result::f16
                : words.types[0] == ptx::Type::f16x2 ? Op::Result::f16x2
                                                     : Op::Result::bits32;
    static constexpr std::pair<std::string_view, std::uint8_t> components[] = {{"r", 0}, {"g", 1}, {"b", 2}, {"a", 3}};
    bool const named = !words.others.empty() && choose(words.others[0], components, op.component);
    if (words.others.size() != (op.kind == Op::Kind::gather ? 1u : 0u) || (op.kind == Op::Kind::gather && !named))
      throw refuse("");
  } else {
    op.kind = i.is(ptx::Op::suld)   ? Op::Kind::load
              : i.is(ptx::Op::sust) ? (formatted ? Op::Kind::store_texel : Op::Kind::store)
                                    : (formatted ? Op::Kind::reduce_texel : Op::Kind::reduce);
    op.type = words.types[0];
    op.integer_coordinates = true;
    op.element_bytes = static_cast<std::uint8_t>(ptx::size_bytes(op.type));
    if (!words.has_outside || (formatted && i.is(ptx::Op::suld))) throw refuse("");
    if (i.is(ptx::Op::sured)) {
      if (words.others.size() != 1 || !choose(words.others[0], reductions, op.reduction)) throw refuse("");
      p_.order_dependent = true;
    } else if (!words.others.empty()) {
      throw refuse("");
    }
  }
  op.elements = static_cast<std::uint8_t>(words.elements);

  bool const stores = i.is(ptx::Op::sust, ptx::Op::sured);
  Operand const& address = i.operands.at(stores ? 0 : 1);
  if (address.kind != Operand::Kind::address || address.elements.size() < 2) throw refuse(" without coordinates");
  std::vector<std::uint32_t> sources;
  auto const place = [&] { return static_cast<std::uint8_t>(sources.size()); };
  sources.push_back(texture_handle(address.elements[0]));
  if (address.elements.size() > 2) {
    op.sampler = place();
    sources.push_back(texture_handle(address.elements[1]));
  }
  std::vector<Operand> at = parts(address.elements.back());
  bool const layered = op.shape == Op::Shape::a1d || op.shape == Op::Shape::a2d || op.shape == Op::Shape::acube;
  if (layered) {
    op.layer = place();
    sources.push_back(source(at.at(0), LaneType::u32));
  }
  op.coordinates = place();
  for (unsigned d = 0; d < op.dimensions(); ++d)
    sources.push_back(source(at.at(d + (layered ? 1 : 0)), op.integer_coordinates ? LaneType::s32 : LaneType::f32));
  if (stores) {
    op.data = place();
    std::vector<Operand> const values = parts(i.operands.at(1));
    if (values.size() != op.elements) throw refuse(" with a vector of another length");
    for (Operand const& value : values)
      sources.push_back(source(value, op.element_bytes == 8              ? LaneType::u64
                                      : words.types[0] == ptx::Type::f32 ? LaneType::f32
                                                                         : LaneType::u32));
  } else {
    // A level or gradients choose among levels of detail; there is one.
    std::size_t next = 2 + (words.level ? 1 : words.gradient ? 2 : 0);
    if (next < i.operands.size() && i.operands[next].kind == Operand::Kind::vector) {
      op.offsets = place();
      std::vector<Operand> const offsets = parts(i.operands[next++]);
      for (unsigned d = 0; d < op.dimensions(); ++d) sources.push_back(source(offsets.at(d), LaneType::s32));
    }
    if (next < i.operands.size()) throw refuse(" with a depth comparison");
  }
  emit_texture(i, op, std::move(sources));
}

// A handle in a register or a parameter, or the address of an opaque variable.
std::uint32_t Decoder::texture_handle(Operand const& operand) {
  if (operand.kind == Operand::Kind::parameter && !operand.result)
    return d_.pin({Pin::Kind::parameter, true, f_.parameters[operand.id].offset + operand.value, 0, 8, false, no_slot});
  return source(operand, LaneType::u64);
}

void Decoder::emit_texture(Instruction const& i, TextureOperation const& op, std::vector<std::uint32_t> sources) {
  std::vector<std::uint32_t> destinations;
  bool const stores = op.data != Op::nothing;
  if (!stores) {
    Operand const* to = &i.operands.at(0);
    Operand const* resident = nullptr;
    if (to->kind == Operand::Kind::list) {
      resident = &to->elements.at(1);
      to = &i.operands[0].elements.at(0);
    }
    std::vector<Operand> const written = parts(*to);
    if (written.size() != op.elements) throw Unsupported{"a vector of another length"};
    for (Operand const& d : written) {
      bool const wide_register = d.kind == Operand::Kind::reg && ptx::size_bytes(register_type(d.id)) == 8;
      destinations.push_back(destination(d, op.element_bytes == 8          ? LaneType::u64
                                            : op.kind == Op::Kind::test    ? LaneType::pred
                                            : wide_register                ? LaneType::u32
                                            : op.result == Op::Result::f16 ? LaneType::f16
                                            : op.element_bytes < 4         ? LaneType::u16
                                                                           : LaneType::f32));
    }
    // Everything is resident.
    if (resident && resident->kind != Operand::Kind::sink)
      emit("#mov.b32", {destination(*resident, LaneType::pred)}, {d_.immediate(0xffffffffu, false)});
  }
  auto facts = std::make_shared<TextureOperation>(op);
  Draft& draft = emit(&texture_opcode, std::move(destinations), std::move(sources));
  draft.data = facts.get();
  draft.effect = op.kind != Op::Kind::query && op.kind != Op::Kind::test;
  p_.facts.push_back(std::move(facts));
  finish();
}

void Decoder::decode_texture_query(Instruction const& i) {
  Op op;
  op.elements = 1;
  if (i.is(ptx::Op::istypep)) {
    op.kind = Op::Kind::test;
    p_.classes[current_] = Class::int_add;
    std::string_view const type = i.modifiers.at(0);
    for (ptx::Type const candidate : {ptx::Type::texref, ptx::Type::samplerref, ptx::Type::surfref})
      if (ptx::name(candidate) == type) op.type = candidate;
    if (op.type == ptx::Type::none) throw Unsupported{"opcode '" + ptx::full_opcode(i) + "'"};
    return emit_texture(i, op, {texture_handle(i.operands.at(1))});
  }
  op.kind = Op::Kind::query;
  bool const level = i.modifiers.at(0) == "level";
  if (!choose(i.modifiers.at(level ? 1 : 0), queries, op.query))
    throw Unsupported{"opcode '" + ptx::full_opcode(i) + "'"};
  Operand const& address = i.operands.at(1);
  if (address.kind != Operand::Kind::address || address.elements.size() != 1) throw Unsupported{"this kind of address"};
  emit_texture(i, op, {texture_handle(address.elements[0])});
}

}  // namespace kernelcast::emu
