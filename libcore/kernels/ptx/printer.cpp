#include "kernels/ptx/printer.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "kernels/ptx/names.hpp"

namespace kernelcast::ptx {

namespace {

// One function's names, made distinct because its scopes are flattened.
struct Names {
  std::vector<std::string> registers, variables, labels, prototypes, branch_targets, call_targets;
};

class Printer {
 public:
  explicit Printer(Module const& module, std::vector<std::uint32_t> const& left_out = {})
      : module_(module), left_out_(module.functions.size()) {
    for (auto const function : left_out) left_out_[function] = true;
  }
  std::string text(bool continued);

 private:
  template <class... A>
  void put(fmt::format_string<A...> format, A&&... arguments) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<A>(arguments)...);
  }
  void header();
  void linkage(Linkage);
  void variable(Variable const&, std::string_view name);
  enum class Progress : std::uint8_t { none, begun, declared, done };
  void module_variable(std::size_t index, std::vector<Progress>&);
  void module_variables();
  void initializers(Variable const&);
  std::string initializer(Initializer const&) const;
  void reference_fields(Variable const&);
  std::string parameter(Parameter const&) const;
  std::string parameters(std::vector<Parameter> const&) const;
  void signature(Function const&);
  std::size_t needs_declarations() const;
  void function(Function const&);
  void declarations(Function const&);
  void registers(Function const&);
  void instruction(Instruction const&);
  std::string operand(Operand const&, bool call) const;
  std::string base_name(Operand const&) const;
  std::string component(Operand const&) const;
  Names distinct_names(Function const&) const;

  Module const& module_;
  std::vector<bool> left_out_;
  std::string out_;
  Names names_;
  Function const* function_ = nullptr;
};

std::string signed_number(std::uint64_t bits) {
  return fmt::format("{}", static_cast<std::int64_t>(bits));
}

std::string with_offset(std::string base, std::uint64_t offset) {
  if (offset == 0) return base;
  auto const value = static_cast<std::int64_t>(offset);
  return base + (value < 0 ? "+-" + fmt::format("{}", 0 - offset) : "+" + fmt::format("{}", offset));
}

void Printer::header() {
  put(".version {}.{}\n.target {}\n", module_.version_major, module_.version_minor, fmt::join(module_.targets, ", "));
  if (module_.version_major > 2 || (module_.version_major == 2 && module_.version_minor >= 3))
    put(".address_size {}\n", module_.address_size);
}

void Printer::linkage(Linkage linkage) {
  static constexpr std::string_view words[] = {"", ".extern ", ".visible ", ".weak ", ".common "};
  out_ += words[static_cast<std::size_t>(linkage)];
}

std::string Printer::initializer(Initializer const& value) const {
  auto const& v = value.value;
  switch (v.kind) {
    case Operand::Kind::f32:
      return fmt::format("0f{:08X}", v.value);
    case Operand::Kind::f64:
      return fmt::format("0d{:016X}", v.value);
    case Operand::Kind::variable:
    case Operand::Kind::function: {
      std::string text(v.kind == Operand::Kind::function ? module_.functions[v.id].name
                       : v.local                         ? std::string_view(names_.variables[v.id])
                                                         : module_.variables[v.id].name);
      if (value.generic_address) text = "generic(" + text + ")";
      text = with_offset(std::move(text), v.value);
      if (value.mask_shift) text = fmt::format("{:#x}({})", std::uint64_t{0xFF} << *value.mask_shift, text);
      return text;
    }
    default:
      return signed_number(v.value);
  }
}

void Printer::initializers(Variable const& variable) {
  auto const bytes = size_bytes(variable.type);
  std::string_view const zero = variable.type == Type::f32   ? "0f00000000"
                                : variable.type == Type::f64 ? "0d0000000000000000"
                                                             : "0";
  std::uint64_t at = 0;
  std::string list;
  std::uint64_t index = 0;
  auto const item = [&](std::string_view text) {
    if (index) list += ", ";
    if (variable.vector > 1 && variable.array && index % variable.vector == 0) list += '{';
    list += text;
    if (variable.vector > 1 && variable.array && index % variable.vector == variable.vector - 1U) list += '}';
    ++index;
    at += bytes;
  };
  for (auto const& value : variable.initializers) {
    while (at < value.offset) item(zero);
    item(initializer(value));
  }
  while (variable.vector > 1 && index % variable.vector) item(zero);
  if (variable.array || variable.vector > 1)
    put(" = {{{}}}", list);
  else
    put(" = {}", list);
}

void Printer::reference_fields(Variable const& variable) {
  std::string list;
  for (auto const& [name, value] : variable.attributes) {
    if (name == "managed" || name == "unified") continue;
    list += fmt::format("{}{} = {}", list.empty() ? "" : ", ", name,
                        value >= 0x10000 ? std::string(module_.slice(value)) : fmt::format("{}", value));
  }
  if (!list.empty()) put(" = {{ {} }}", list);
}

void Printer::variable(Variable const& variable, std::string_view name) {
  linkage(variable.linkage);
  put(".{} ", ptx::name(variable.space));
  std::vector<std::uint64_t> unified;
  for (auto const& [attribute, value] : variable.attributes) {
    if (attribute == "managed") out_ += ".attribute(.managed) ";
    if (attribute == "unified") unified.push_back(value);
  }
  if (unified.size() == 2) put(".attribute(.unified({}, {})) ", unified[0], unified[1]);
  bool const reference =
      variable.type == Type::texref || variable.type == Type::samplerref || variable.type == Type::surfref;
  if (!reference && variable.space != StateSpace::tex) put(".align {} ", variable.align);
  if (variable.vector > 1) put(".v{} ", variable.vector);
  put(".{} {}", ptx::name(variable.type), name);
  auto const element = std::uint64_t{size_bytes(variable.type)} * variable.vector;
  if (variable.array) out_ += variable.size ? fmt::format("[{}]", variable.size / element) : "[]";
  if (reference) reference_fields(variable);
  if (!variable.initializers.empty()) initializers(variable);
  out_ += ";\n";
}

// Behind those whose addresses it holds. One that holds its own address, if only by way of others, is declared before.
void Printer::module_variable(std::size_t index, std::vector<Progress>& progress) {
  auto const& v = module_.variables[index];
  progress[index] = Progress::begun;
  for (auto const& initial : v.initializers) {
    auto const other = initial.value.id;
    if (initial.value.kind != Operand::Kind::variable || initial.value.local) continue;
    if (progress[other] == Progress::none) module_variable(other, progress);
    if (progress[other] != Progress::begun) continue;
    auto declaration = module_.variables[other];
    declaration.linkage = Linkage::external;
    declaration.initializers.clear();
    variable(declaration, declaration.name);
    progress[other] = Progress::declared;
  }
  variable(v, v.name);
  progress[index] = Progress::done;
}

void Printer::module_variables() {
  std::vector<Progress> progress(module_.variables.size());
  for (std::size_t v = 0; v < progress.size(); ++v)
    if (progress[v] == Progress::none) module_variable(v, progress);
}

std::string Printer::parameter(Parameter const& p) const {
  if (p.in_register) {
    auto const vector = function_ ? function_->registers[p.reg].vector : 1;
    return fmt::format(".reg {}.{} {}", vector > 1 ? fmt::format(".v{} ", vector) : "", name(p.type),
                       function_ ? names_.registers[p.reg] : p.name);
  }
  std::string out = ".param ";
  auto const element = std::max(1U, size_bytes(p.type));
  if (!p.pointer && p.align != element) out += fmt::format(".align {} ", p.align);
  out += fmt::format(".{} ", name(p.type));
  if (p.pointer) {
    out += ".ptr ";
    if (p.pointer_space != StateSpace::generic) out += fmt::format(".{} ", name(p.pointer_space));
    if (p.pointer_align) out += fmt::format(".align {} ", p.pointer_align);
  }
  out += p.name;
  if (p.size == 0)
    out += "[]";
  else if (p.size != element)
    out += fmt::format("[{}]", p.size / element);
  return out;
}

std::string Printer::parameters(std::vector<Parameter> const& list) const {
  std::string out = "(";
  for (auto const& p : list) out += (out.size() > 1 ? ", " : "") + parameter(p);
  return out + ")";
}

void Printer::signature(Function const& f) {
  function_ = f.registers.empty() ? nullptr : &f;
  names_ = distinct_names(f);
  linkage(f.linkage);
  out_ += f.entry ? ".entry " : ".func ";
  if (!f.results.empty()) out_ += parameters(f.results) + " ";
  put("{}", f.name);
  if (!f.parameters.empty() || !f.entry) out_ += parameters(f.parameters);
  for (auto const& [name, values] : f.directives) {
    put(" .{}", name);
    if (!values.empty()) put(" {}", fmt::join(values, ", "));
  }
}

Names Printer::distinct_names(Function const& f) const {
  std::unordered_set<std::string> taken;
  for (auto const& v : module_.variables) taken.emplace(v.name);
  for (auto const& other : module_.functions) taken.emplace(other.name);
  for (auto const* list : {&f.results, &f.parameters})
    for (auto const& p : *list)
      if (!p.in_register) taken.emplace(p.name);
  // A name in an inner block may have hidden a special register there; for the whole function it must not.
  auto const special = [](std::string const& text) { return find_special(text) || find_special(text + ".x"); };
  std::unordered_map<std::string_view, unsigned> tried;  // suffixes of a name: inner blocks may have thousands of one
  auto const distinct = [&](std::string_view name) {
    std::string text(name);
    while (special(text) || !taken.insert(text).second) text = fmt::format("{}$s{}", name, ++tried[name]);
    return text;
  };
  Names names;
  for (auto const& r : f.registers) names.registers.push_back(distinct(r.name));
  for (auto const& v : f.variables) names.variables.push_back(distinct(v.name));
  for (auto const& l : f.labels) names.labels.push_back(distinct(l.name));
  for (auto const& p : f.prototypes) names.prototypes.push_back(distinct(p.name));
  for (auto const& t : f.branch_targets) names.branch_targets.push_back(distinct(t.name));
  for (auto const& t : f.call_targets) names.call_targets.push_back(distinct(t.name));
  return names;
}

void Printer::registers(Function const& f) {
  std::size_t first = 0;  // those of the parameters are declared there
  for (auto const* list : {&f.results, &f.parameters})
    for (auto const& p : *list) first += p.in_register;
  for (auto i = first; i < f.registers.size(); ++i) {
    auto const& r = f.registers[i];
    bool const same = i > first && r.type == f.registers[i - 1].type && r.vector == f.registers[i - 1].vector;
    if (same) {
      put(", {}", names_.registers[i]);
    } else {
      put("{}.reg {}.{} {}", i > first ? ";\n" : "", r.vector > 1 ? fmt::format(".v{} ", r.vector) : "", name(r.type),
          names_.registers[i]);
    }
  }
  if (first < f.registers.size()) out_ += ";\n";
}

void Printer::declarations(Function const& f) {
  registers(f);
  for (std::size_t i = 0; i < f.variables.size(); ++i) variable(f.variables[i], names_.variables[i]);
  // The parameters of a prototype are none of this function's registers.
  auto const* const function = std::exchange(function_, nullptr);
  for (std::size_t i = 0; i < f.prototypes.size(); ++i) {
    auto const& p = f.prototypes[i];
    put("{}: .callprototype {} _ {}{};\n", names_.prototypes[i], p.results.empty() ? "" : parameters(p.results),
        parameters(p.parameters), p.noreturn ? " .noreturn" : "");
  }
  function_ = function;
  for (std::size_t i = 0; i < f.branch_targets.size(); ++i) {
    std::vector<std::string_view> list;
    for (auto id : f.branch_targets[i].ids) list.push_back(names_.labels[id]);
    put("{}: .branchtargets {};\n", names_.branch_targets[i], fmt::join(list, ", "));
  }
  for (std::size_t i = 0; i < f.call_targets.size(); ++i) {
    std::vector<std::string_view> list;
    for (auto id : f.call_targets[i].ids) list.push_back(module_.functions[id].name);
    put("{}: .calltargets {};\n", names_.call_targets[i], fmt::join(list, ", "));
  }
}

std::string Printer::component(Operand const& o) const {
  static constexpr std::string_view words[] = {"", ".x", ".y", ".z", ".w", ".b0", ".b1", ".b2", ".b3", ".h0", ".h1"};
  return o.component == 11 ? "." + std::string(module_.slice(o.value)) : std::string(words[o.component]);
}

std::string Printer::base_name(Operand const& o) const {
  auto const targets = [&]() -> std::string const& {
    return o.id < names_.branch_targets.size() ? names_.branch_targets[o.id] : names_.call_targets[o.id];
  };
  switch (o.kind) {
    case Operand::Kind::reg:
      return names_.registers[o.id] + component(o);
    case Operand::Kind::variable:
      return o.local ? names_.variables[o.id] : std::string(module_.variables[o.id].name);
    case Operand::Kind::parameter:
      return std::string((o.result ? function_->results : function_->parameters)[o.id].name);
    case Operand::Kind::function:
      return std::string(module_.functions[o.id].name);
    case Operand::Kind::label:
      return names_.labels[o.id];
    case Operand::Kind::prototype:
      return names_.prototypes[o.id];
    case Operand::Kind::targets:
      return targets();
    case Operand::Kind::special: {
      auto const special = static_cast<Special>(o.id);
      if (special == Special::other) return std::string(module_.slice(o.value));
      std::string text(name(special));
      if (special == Special::envreg || special == Special::pm) text += fmt::format("{}", o.value);
      return text;
    }
    default:
      return {};
  }
}

std::string Printer::operand(Operand const& o, bool call) const {
  std::vector<std::string> elements;
  for (auto const& e : o.elements) elements.push_back(operand(e, call));
  std::string text;
  switch (o.kind) {
    case Operand::Kind::integer:
      text = signed_number(o.value);
      break;
    case Operand::Kind::f32:
      text = fmt::format("0f{:08X}", o.value);
      break;
    case Operand::Kind::f64:
      text = fmt::format("0d{:016X}", o.value);
      break;
    case Operand::Kind::sink:
      text = "_";
      break;
    case Operand::Kind::vector:
      text = fmt::format("{{{}}}", fmt::join(elements, ", "));
      break;
    case Operand::Kind::list:
      text = call ? fmt::format("({})", fmt::join(elements, ", ")) : fmt::format("{}", fmt::join(elements, "|"));
      break;
    case Operand::Kind::variable:
    case Operand::Kind::parameter:
      text = with_offset(base_name(o), o.value);
      break;
    case Operand::Kind::address:
      if (o.elements[0].kind == Operand::Kind::integer)
        elements[0] = fmt::format("{}", o.elements[0].value + o.value);
      else
        elements[0] = with_offset(std::move(elements[0]), o.value);
      text = fmt::format("[{}]", fmt::join(elements, ", "));
      break;
    default:
      text = base_name(o);
      break;
  }
  if (!o.negated) return text;
  bool const predicate = o.kind == Operand::Kind::reg && function_->registers[o.id].type == Type::pred;
  return (predicate ? "!" : "-") + text;
}

void Printer::instruction(Instruction const& i) {
  if (i.guard.present) put("@{}{} ", i.guard.negated ? "!" : "", names_.registers[i.guard.reg]);
  out_ += full_opcode(i);
  bool const call = i.is_call();
  for (std::size_t k = 0; k < i.operands.size(); ++k) {
    auto const& o = i.operands[k];
    put("{}{}", k ? ", " : " ",
        call && o.kind == Operand::Kind::targets && k + 1 == i.operands.size() ? names_.call_targets[o.id]
                                                                               : operand(o, call));
  }
  out_ += ";\n";
}

void Printer::function(Function const& f) {
  signature(f);
  if (!f.has_body) {
    out_ += ";\n";
    return;
  }
  function_ = &f;
  out_ += "\n{\n";
  declarations(f);
  std::vector<std::uint32_t> labels(f.labels.size());
  for (std::uint32_t i = 0; i < labels.size(); ++i) labels[i] = i;
  std::sort(labels.begin(), labels.end(), [&f](auto a, auto b) {
    return std::pair(f.labels[a].instruction, a) < std::pair(f.labels[b].instruction, b);
  });
  auto next = labels.begin();
  SourcePosition source;
  auto const labels_at = [&](std::size_t instruction) {
    for (; next != labels.end() && f.labels[*next].instruction <= instruction; ++next)
      put("{}:\n", names_.labels[*next]);
  };
  for (std::size_t i = 0; i < f.instructions.size(); ++i) {
    labels_at(i);
    auto const& at = f.instructions[i].source;
    if (at.file != source.file || at.line != source.line || at.column != source.column) {
      source = at;
      put(".loc {} {} {}\n", at.file, at.line, at.column);
    }
    instruction(f.instructions[i]);
  }
  labels_at(f.instructions.size());
  out_ += "}\n";
}

// Functions that are named before their place are declared first, with all before them, so that every index stays as it
// is. Returns how many.
std::size_t Printer::needs_declarations() const {
  std::size_t declared = 0;
  auto const named = [&](std::size_t function, std::size_t from) {
    if (function > from) declared = std::max(declared, function + 1);
  };
  auto const named_by = [&](auto const& self, Operand const& operand, std::size_t from) -> void {
    if (operand.kind == Operand::Kind::function) named(operand.id, from);
    for (auto const& element : operand.elements) self(self, element, from);
  };
  for (auto const& v : module_.variables)
    for (auto const& value : v.initializers)
      if (value.value.kind == Operand::Kind::function) declared = std::max<std::size_t>(declared, value.value.id + 1);
  for (std::size_t i = 0; i < module_.functions.size(); ++i) {
    Function const& f = module_.functions[i];
    for (auto const& v : f.variables)
      for (auto const& value : v.initializers) named_by(named_by, value.value, i);
    for (auto const& list : f.call_targets)
      for (auto const id : list.ids) named(id, i);
    for (auto const& instruction : f.instructions)
      for (auto const& operand : instruction.operands) named_by(named_by, operand, i);
  }
  return declared;
}

std::string Printer::text(bool continued) {
  if (!continued) header();
  for (auto const& [number, path] : module_.files) put(".file {} \"{}\"\n", number, path);
  std::size_t const declared = needs_declarations();
  for (std::size_t i = 0; i < declared; ++i) {
    if (left_out_[i]) continue;
    signature(module_.functions[i]);
    out_ += ";\n";
  }
  module_variables();
  for (std::size_t i = 0; i < module_.functions.size(); ++i)
    if (!left_out_[i] && (i >= declared || module_.functions[i].has_body)) function(module_.functions[i]);
  for (auto const& f : module_.functions)
    if (f.alias_of) put(".alias {}, {};\n", f.name, module_.functions[*f.alias_of].name);
  return std::move(out_);
}

}  // namespace

std::string print(Module const& module) {
  return Printer(module).text(false);
}

std::string print_without(Module const& module, std::vector<std::uint32_t> const& kernels) {
  return Printer(module, kernels).text(false);
}

std::string print_continued(Module const& module) {
  return Printer(module).text(true);
}

}  // namespace kernelcast::ptx
