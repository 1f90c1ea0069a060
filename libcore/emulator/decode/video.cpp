// Video instructions: reads the modifiers and selectors into a VideoOperation. Counted as additions; vmad as a product,
// vshl and vshr as shifts.
#include "emulator/opcodes/video.hpp"
#include "emulator/decode/decode.hpp"

namespace kernelcast::emu {

namespace {

using V = VideoOperation;

struct VerbName {
  ptx::Op op;
  V::Verb verb;
  std::uint8_t parts;
};
constexpr VerbName verbs[] = {
    {ptx::Op::vadd, V::Verb::add, 1},          {ptx::Op::vsub, V::Verb::sub, 1},
    {ptx::Op::vabsdiff, V::Verb::absdiff, 1},  {ptx::Op::vmin, V::Verb::min, 1},
    {ptx::Op::vmax, V::Verb::max, 1},          {ptx::Op::vshl, V::Verb::shift_left, 1},
    {ptx::Op::vshr, V::Verb::shift_right, 1},  {ptx::Op::vmad, V::Verb::multiply_add, 1},
    {ptx::Op::vset, V::Verb::set, 1},          {ptx::Op::vadd2, V::Verb::add, 2},
    {ptx::Op::vsub2, V::Verb::sub, 2},         {ptx::Op::vabsdiff2, V::Verb::absdiff, 2},
    {ptx::Op::vmin2, V::Verb::min, 2},         {ptx::Op::vmax2, V::Verb::max, 2},
    {ptx::Op::vavrg2, V::Verb::average, 2},    {ptx::Op::vset2, V::Verb::set, 2},
    {ptx::Op::vadd4, V::Verb::add, 4},         {ptx::Op::vsub4, V::Verb::sub, 4},
    {ptx::Op::vabsdiff4, V::Verb::absdiff, 4}, {ptx::Op::vmin4, V::Verb::min, 4},
    {ptx::Op::vmax4, V::Verb::max, 4},         {ptx::Op::vavrg4, V::Verb::average, 4},
    {ptx::Op::vset4, V::Verb::set, 4},
};
constexpr std::string_view comparisons[] = {"eq", "ne", "lt", "le", "gt", "ge"};

VerbName const* find(ptx::Op op) {
  for (VerbName const& v : verbs)
    if (v.op == op) return &v;
  return nullptr;
}

// The selector of an operand: "", "b2", "h10", "b7654".
std::string_view selector(ptx::Operand const& operand, ptx::Module const& module) {
  static constexpr std::string_view names[] = {"b0", "b1", "b2", "b3", "h0", "h1"};
  if (operand.component == 0) return {};
  if (operand.component >= 5 && operand.component <= 10) return names[operand.component - 5];
  if (operand.component != 11) throw Unsupported{"this selector"};
  std::string_view text = module.slice(operand.value);
  if (text.starts_with('.')) text.remove_prefix(1);
  return text;
}

V::Field field(std::string_view selected) {
  if (selected.empty()) return {};
  auto const index = static_cast<unsigned>(selected.back() - '0');
  if (selected.size() != 2 || index > 3) throw Unsupported{"selector '." + std::string(selected) + "'"};
  unsigned const bits = selected.front() == 'b' ? 8 : 16;
  return {static_cast<std::uint8_t>(index * bits), static_cast<std::uint8_t>(bits)};
}

// Digits from the highest part to the lowest.
void choose_parts(std::string_view selected, unsigned parts, std::uint8_t (&chosen)[4]) {
  if (selected.empty()) {
    if (parts == 2 && chosen[0] == 4) chosen[0] = 2, chosen[1] = 3;
    return;
  }
  if (selected.size() != parts + 1 || selected.front() != (parts == 2 ? 'h' : 'b'))
    throw Unsupported{"selector '." + std::string(selected) + "'"};
  for (unsigned i = 0; i < parts; ++i) {
    auto const digit = static_cast<unsigned>(selected[parts - i] - '0');
    if (digit >= 2 * parts) throw Unsupported{"selector '." + std::string(selected) + "'"};
    chosen[i] = static_cast<std::uint8_t>(digit);
  }
}
std::uint8_t mask_of(std::string_view selected, unsigned parts) {
  if (selected.empty()) return 0xf;
  unsigned mask = 0;
  for (char c : selected.substr(1)) {
    auto const digit = static_cast<unsigned>(c - '0');
    if (digit >= parts) throw Unsupported{"mask '." + std::string(selected) + "'"};
    mask |= 1u << digit;
  }
  return static_cast<std::uint8_t>(mask);
}

}  // namespace

bool is_video(ptx::Op op) {
  return find(op) != nullptr;
}

void Decoder::decode_video(Instruction const& i) {
  VerbName const& name = *find(i.opcode.op());
  auto operation = std::make_shared<V>();
  V& v = *operation;
  v.verb = name.verb;
  v.parts = name.parts;
  p_.classes[current_] = v.verb == V::Verb::multiply_add                                   ? Class::int_mul
                         : v.verb == V::Verb::shift_left || v.verb == V::Verb::shift_right ? Class::shift
                                                                                           : Class::int_add;
  std::vector<bool> signs;
  for (std::string_view m : i.modifiers) {
    bool known = true;
    if (m == "u32" || m == "s32")
      signs.push_back(m == "s32");
    else if (m == "sat")
      v.saturate = true;
    else if (m == "add")
      v.second = V::Second::add;
    else if (m == "min")
      v.second = V::Second::min;
    else if (m == "max")
      v.second = V::Second::max;
    else if (m == "wrap" || m == "clamp")
      v.wrap = m == "wrap";
    else if (m == "po")
      v.plus_one = true;
    else if (m == "shr7" || m == "shr15")
      v.scale = m == "shr7" ? 7 : 15;
    else
      known = false;
    for (std::size_t k = 0; k < std::size(comparisons); ++k)
      if (m == comparisons[k]) {
        v.comparison = static_cast<V::Comparison>(k);
        known = true;
      }
    if (!known) throw Unsupported{"video modifier '." + std::string(m) + "'"};
  }
  if (v.verb == V::Verb::set) signs.insert(signs.begin(), false);  // the result of a comparison is unsigned
  if (signs.size() != 3) throw Unsupported{"opcode '" + ptx::full_opcode(i) + "'"};
  v.d_signed = signs[0];
  v.a_signed = signs[1];
  v.b_signed = signs[2];
  Operand d = i.operands.at(0), a = i.operands.at(1), b = i.operands.at(2);
  std::string_view const of_d = selector(d, m_), of_a = selector(a, m_), of_b = selector(b, m_);
  if (v.parts == 1) {
    v.d = field(of_d);
    v.a = field(of_a);
    v.b = field(of_b);
  } else {
    v.mask = mask_of(of_d, v.parts);
    choose_parts(of_a, v.parts, v.a_part);
    choose_parts(of_b, v.parts, v.b_part);
  }
  v.negate_product = a.negated != b.negated;
  d.component = a.component = b.component = 0;
  a.negated = b.negated = false;
  std::vector<std::uint32_t> sources = {source(a, LaneType::u32), source(b, LaneType::u32)};
  if (i.operands.size() > 3) {
    Operand c = i.operands[3];
    v.negate_c = c.negated;
    c.negated = false;
    sources.push_back(source(c, LaneType::u32));
  } else if (v.d.bits != 32 || v.parts != 1 || v.second != V::Second::none || v.verb == V::Verb::multiply_add) {
    throw Unsupported{"opcode '" + ptx::full_opcode(i) + "' without its third operand"};
  }
  std::uint32_t const written = destination(d, LaneType::u32);
  p_.facts.push_back(operation);
  emit("#video", {written}, std::move(sources)).data = operation.get();
  finish();
}

}  // namespace kernelcast::emu
