#include "flux/classify.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <unordered_map>

namespace kernelcast::flux {

namespace {

using ptx::StateSpace;

bool has(ptx::Instruction const& i, std::string_view modifier) {
  return std::find(i.modifiers.begin(), i.modifiers.end(), modifier) != i.modifiers.end();
}

// The opcodes whose kind does not depend on their modifiers. `arithmetic`: by the type.
enum class Entry : std::uint8_t { arithmetic, matrix, logic, special, convert, memory, control, sync, exchange, other };

Entry entry_of(std::string_view opcode) {
  // Never destroyed: attached applications are counted until their very end.
  static auto const& table = *[] {
    auto* const t = new std::unordered_map<std::string_view, Entry>;
    auto const put = [t](Entry entry, std::initializer_list<std::string_view> words) {
      for (auto const word : words) t->emplace(word, entry);
    };
    put(Entry::arithmetic,
        {"add",   "addc",   "sub",       "subc",  "mul",    "mul24",     "mad",   "mad24", "madc",  "fma",
         "div",   "rem",    "abs",       "neg",   "min",    "max",       "sad",   "dp4a",  "dp2a",  "popc",
         "clz",   "bfind",  "fns",       "brev",  "bfe",    "bfi",       "bmsk",  "szext", "set",   "setp",
         "slct",  "testp",  "copysign",  "vadd",  "vsub",   "vabsdiff",  "vmin",  "vmax",  "vset",  "vmad",
         "vshl",  "vshr",   "vadd2",     "vsub2", "vavrg2", "vabsdiff2", "vmin2", "vmax2", "vset2", "vadd4",
         "vsub4", "vavrg4", "vabsdiff4", "vmin4", "vmax4",  "vset4"});
    put(Entry::matrix, {"mma", "wmma", "wgmma", "tcgen05"});
    put(Entry::logic, {"and", "or", "xor", "not", "cnot", "lop3", "shl", "shr", "shf"});
    put(Entry::special, {"sin", "cos", "ex2", "lg2", "tanh", "rcp", "sqrt", "rsqrt"});
    put(Entry::convert, {"cvt"});
    put(Entry::memory, {"ld", "ldu", "st", "atom", "red", "multimem", "tex", "tld4", "suld", "sust", "sured", "cp",
                        "ldmatrix", "stmatrix", "movmatrix"});
    put(Entry::control, {"bra", "brx", "call", "ret", "exit", "trap", "brkpt"});
    put(Entry::sync, {"bar", "barrier", "membar", "fence", "mbarrier", "nanosleep", "griddepcontrol", "elect"});
    put(Entry::exchange, {"shfl", "vote", "match", "redux", "activemask"});
    return t;
  }();
  auto const found = table.find(opcode);
  return found == table.end() ? Entry::other : found->second;
}

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

StateSpace space_of(ptx::Instruction const& i) {
  for (auto const m : i.modifiers) {
    auto const word = m.substr(0, m.find(':'));
    if (word == "global") return StateSpace::global;
    if (word == "shared") return StateSpace::shared;
    if (word == "local") return StateSpace::local;
    if (word == "const") return StateSpace::constant;
    if (word == "param") return StateSpace::param;
  }
  return StateSpace::generic;
}

std::uint64_t vector_elements(ptx::Instruction const& i) {
  for (auto const m : i.modifiers)
    if (m == "v2" || m == "v4" || m == "v8") return static_cast<std::uint64_t>(m[1] - '0');
  return 1;
}

// ldmatrix and stmatrix: each of 1, 2 or 4 matrices of 8 rows of 16 bytes, by 32 work-items.
std::uint64_t matrix_bytes(ptx::Instruction const& i) {
  return has(i, "x4") ? 16 : has(i, "x2") ? 8 : 4;
}

void classify_memory(ptx::Instruction const& i, ptx::Function const& function, Traits& t) {
  t.space = space_of(i);
  auto const type = operand_type(i);
  t.bytes = vector_elements(i) * type.bits / 8 * type.elements;
  if (i.opcode == "ld" || i.opcode == "ldu") {
    t.kind = Kind::load;
    if (t.space == StateSpace::param && function.entry && i.operands.size() > 1 && !i.operands[1].elements.empty())
      t.kernel_parameter = i.operands[1].elements[0].kind == ptx::Operand::Kind::parameter;
  } else if (i.opcode == "st") {
    t.kind = Kind::store;
  } else if (i.opcode == "atom") {
    t.kind = Kind::atomic;
  } else if (i.opcode == "red" || i.opcode == "multimem") {
    t.kind = i.opcode == "multimem" && has(i, "ld_reduce") ? Kind::atomic : Kind::reduction;
  } else if (i.opcode == "tex" || i.opcode == "tld4") {
    t.kind = Kind::texture;
    t.bytes = 0;
  } else if (i.opcode == "suld" || i.opcode == "sust") {
    t.kind = i.opcode == "suld" ? Kind::surface_load : Kind::surface_store;
  } else if (i.opcode == "sured") {
    t.kind = Kind::surface_reduction;
  } else if (i.opcode == "ldmatrix" || i.opcode == "stmatrix") {
    t.kind = i.opcode == "ldmatrix" ? Kind::load : Kind::store;
    t.space = StateSpace::shared;
    t.bytes = matrix_bytes(i);
  } else if (i.opcode == "movmatrix") {
    t.kind = Kind::exchange;
  } else if (i.opcode == "cp") {
    bool const copies = has(i, "async") && i.operands.size() >= 2;
    t.kind = copies ? Kind::copy : Kind::sync;  // cp.async.commit_group, wait_group
    t.space = StateSpace::global;
    bool const constant = copies && i.operands.size() > 2 && i.operands[2].kind == ptx::Operand::Kind::integer;
    t.bytes = constant ? i.operands[2].value : 0;
  }
}

Operation operation_of(ptx::Instruction const& i) {
  if (i.opcode == "add") return Operation::add;
  if (i.opcode == "sub") return Operation::subtract;
  if (i.opcode == "mul") return Operation::multiply;
  if (i.opcode == "fma" || i.opcode == "mad") return Operation::fma;
  return Operation::other;
}

Kind arithmetic_kind(TypeFacts const& type) {
  if (type.letter != 'f') return Kind::integer;
  return type.bits == 64 ? Kind::fp64 : type.bits == 32 ? Kind::fp32 : Kind::fp16;
}

// wmma.load and wmma.store move a fragment; how much of it belongs to one work-item depends on the shape.
void classify_matrix(ptx::Instruction const& i, Traits& t) {
  t.kind = Kind::matrix;
  if (i.opcode == "wmma" && (has(i, "load") || has(i, "store"))) {
    t.kind = has(i, "load") ? Kind::load : Kind::store;
    t.space = space_of(i);
    std::uint64_t registers = 0;
    for (auto const& o : i.operands)
      if (o.kind == ptx::Operand::Kind::vector) registers = o.elements.size();
    t.bytes = registers * (operand_type(i).bits == 64 ? 8 : 4);
  } else if (i.opcode != "mma" && (has(i, "fence") || has(i, "commit_group") || has(i, "wait_group"))) {
    t.kind = Kind::sync;
  }
}

}  // namespace

Traits traits_of(ptx::Instruction const& i, ptx::Function const& function) {
  Traits t;
  auto const type = operand_type(i);
  t.type_bits = type.bits;
  t.elements = type.elements;
  switch (entry_of(i.opcode)) {
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
