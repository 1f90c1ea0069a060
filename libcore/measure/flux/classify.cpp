#include "measure/flux/classify.hpp"

#include <array>
#include <charconv>
#include <string_view>

namespace kernelcast::flux {

namespace {

using ptx::StateSpace;

using ptx::Op;

// The opcodes whose kind does not depend on their modifiers. `arithmetic`: by the type.
enum class Entry : std::uint8_t { arithmetic, matrix, logic, special, convert, memory, control, sync, exchange, other };

constexpr auto entries = [] {
  std::array<Entry, ptx::op_count> table{};
  table.fill(Entry::other);
  auto const put = [&](Entry entry, std::initializer_list<Op> ops) {
    for (Op const op : ops) table[static_cast<std::size_t>(op)] = entry;
  };
  put(Entry::arithmetic,
      {Op::add,      Op::addc,  Op::sub,   Op::subc,     Op::mul,       Op::mul24,     Op::mad,   Op::mad24,
       Op::madc,     Op::fma,   Op::div,   Op::rem,      Op::abs,       Op::neg,       Op::min,   Op::max,
       Op::sad,      Op::dp4a,  Op::dp2a,  Op::popc,     Op::clz,       Op::bfind,     Op::fns,   Op::brev,
       Op::bfe,      Op::bfi,   Op::bmsk,  Op::szext,    Op::set,       Op::setp,      Op::slct,  Op::testp,
       Op::copysign, Op::vadd,  Op::vsub,  Op::vabsdiff, Op::vmin,      Op::vmax,      Op::vset,  Op::vmad,
       Op::vshl,     Op::vshr,  Op::vadd2, Op::vsub2,    Op::vavrg2,    Op::vabsdiff2, Op::vmin2, Op::vmax2,
       Op::vset2,    Op::vadd4, Op::vsub4, Op::vavrg4,   Op::vabsdiff4, Op::vmin4,     Op::vmax4, Op::vset4});
  put(Entry::matrix, {Op::mma, Op::wmma, Op::wgmma, Op::tcgen05});
  put(Entry::logic, {Op::and_, Op::or_, Op::xor_, Op::not_, Op::cnot, Op::lop3, Op::shl, Op::shr, Op::shf});
  put(Entry::special, {Op::sin, Op::cos, Op::ex2, Op::lg2, Op::tanh, Op::rcp, Op::sqrt, Op::rsqrt});
  put(Entry::convert, {Op::cvt});
  put(Entry::memory, {Op::ld, Op::ldu, Op::st, Op::atom, Op::red, Op::multimem, Op::tex, Op::tld4, Op::suld, Op::sust,
                      Op::sured, Op::cp, Op::tensormap, Op::ldmatrix, Op::stmatrix, Op::movmatrix});
  put(Entry::control, {Op::bra, Op::brx, Op::call, Op::ret, Op::exit, Op::trap, Op::brkpt});
  put(Entry::sync,
      {Op::bar, Op::barrier, Op::membar, Op::fence, Op::mbarrier, Op::nanosleep, Op::griddepcontrol, Op::elect});
  put(Entry::exchange, {Op::shfl, Op::vote, Op::match, Op::redux, Op::activemask});
  return table;
}();

struct TypeFacts {
  char letter = 0;  // f, s, u, b, p
  unsigned bits = 0, elements = 1;
};
TypeFacts type_of(std::string_view word) {
  if (word.starts_with("bf16")) return {'f', 16, word == "bf16x2" ? 2u : 1u};
  if (word == "tf32") return {'f', 32, 1};
  if (word.size() < 2 || std::string_view("fsub").find(word[0]) == std::string_view::npos) return {};
  TypeFacts facts{word[0], 0, 1};
  auto const [end, error] = std::from_chars(word.data() + 1, word.data() + word.size(), facts.bits);
  if (error != std::errc{}) return {};
  std::string_view const rest(end, static_cast<std::size_t>(word.data() + word.size() - end));
  if (rest == "x2") facts.elements = 2;
  if (rest == "x4") facts.elements = 4;
  return rest.empty() || facts.elements > 1 ? facts : TypeFacts{};
}

// The type of the operands: the last one, which on set and cvt is that of the source.
TypeFacts operand_type(ptx::Instruction const& i) {
  for (auto m = i.modifiers.rbegin(); m != i.modifiers.rend(); ++m)
    if (auto const facts = type_of(*m); facts.bits) return facts;
  return {};
}

// ldmatrix and stmatrix: each of 1, 2 or 4 matrices of 8 rows of 16 bytes, by 32 work-items.
std::uint64_t matrix_bytes(ptx::Instruction const& i) {
  return i.has("x4") ? 16 : i.has("x2") ? 8 : 4;
}

void classify_memory(ptx::Instruction const& i, ptx::Function const& function, Traits& t) {
  t.space = i.space();
  auto const type = operand_type(i);
  t.bytes = std::uint64_t{i.elements()} * type.bits / 8 * type.elements;
  if (i.is_load()) {
    t.kind = Kind::load;
    if (t.space == StateSpace::param && function.entry && i.operands.size() > 1 && !i.operands[1].elements.empty())
      t.kernel_parameter = i.operands[1].elements[0].kind == ptx::Operand::Kind::parameter;
  } else if (i.is(Op::st)) {
    t.kind = Kind::store;
  } else if (i.is(Op::atom)) {
    t.kind = Kind::atomic;
  } else if (i.is(Op::red, Op::multimem)) {
    t.kind = i.is(Op::multimem) && i.has("ld_reduce") ? Kind::atomic : Kind::reduction;
  } else if (i.is(Op::tex, Op::tld4)) {
    t.kind = Kind::texture;
    t.bytes = 0;
  } else if (i.is(Op::suld, Op::sust)) {
    t.kind = i.is(Op::suld) ? Kind::surface_load : Kind::surface_store;
  } else if (i.is(Op::sured)) {
    t.kind = Kind::surface_reduction;
  } else if (i.is(Op::ldmatrix, Op::stmatrix)) {
    t.kind = i.is(Op::ldmatrix) ? Kind::load : Kind::store;
    t.space = StateSpace::shared;
    t.bytes = matrix_bytes(i);
  } else if (i.is(Op::movmatrix)) {
    t.kind = Kind::exchange;
  } else if (i.is(Op::cp)) {
    bool const copies = i.has("async") && i.operands.size() >= 2;
    t.kind = copies ? Kind::copy : Kind::sync;  // cp.async.commit_group, wait_group
    t.space = StateSpace::global;
    bool const constant = copies && i.operands.size() > 2 && i.operands[2].kind == ptx::Operand::Kind::integer;
    t.bytes = constant ? i.operands[2].value : 0;
  }
}

Operation operation_of(ptx::Instruction const& i) {
  if (i.is(Op::add)) return Operation::add;
  if (i.is(Op::sub)) return Operation::subtract;
  if (i.is(Op::mul)) return Operation::multiply;
  if (i.is(Op::fma, Op::mad)) return Operation::fma;
  return Operation::other;
}

Kind arithmetic_kind(TypeFacts const& type) {
  if (type.letter != 'f') return Kind::integer;
  return type.bits == 64 ? Kind::fp64 : type.bits == 32 ? Kind::fp32 : Kind::fp16;
}

// wmma.load and wmma.store move a fragment; how much of it belongs to one work-item depends on the shape.
void classify_matrix(ptx::Instruction const& i, Traits& t) {
  t.kind = Kind::matrix;
  if (i.is(Op::wmma) && (i.has("load") || i.has("store"))) {
    t.kind = i.has("load") ? Kind::load : Kind::store;
    t.space = i.space();
    std::uint64_t registers = 0;
    for (auto const& o : i.operands)
      if (o.kind == ptx::Operand::Kind::vector) registers = o.elements.size();
    t.bytes = registers * (operand_type(i).bits == 64 ? 8 : 4);
  } else if (!i.is(Op::mma) && (i.has("fence") || i.has("commit_group") || i.has("wait_group"))) {
    t.kind = Kind::sync;
  }
}

}  // namespace

Traits traits_of(ptx::Instruction const& i, ptx::Function const& function) {
  Traits t;
  auto const type = operand_type(i);
  t.type_bits = type.bits;
  t.elements = type.elements;
  switch (entries[static_cast<std::size_t>(i.opcode.op())]) {
    case Entry::arithmetic:
      t.kind = arithmetic_kind(type);
      t.operation = operation_of(i);
      break;
    case Entry::matrix:
      classify_matrix(i, t);
      break;
    case Entry::logic:
      t.kind = Kind::logic;
      break;
    case Entry::special:
      t.kind = Kind::special;
      break;
    case Entry::convert:
      t.kind = Kind::convert;
      break;
    case Entry::memory:
      classify_memory(i, function, t);
      break;
    case Entry::control:
      t.kind = Kind::control;
      break;
    case Entry::sync:
      t.kind = Kind::sync;
      break;
    case Entry::exchange:
      t.kind = Kind::exchange;
      break;
    case Entry::other:
      break;
  }
  return t;
}

}  // namespace kernelcast::flux
