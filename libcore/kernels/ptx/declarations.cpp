// Variables, parameters and registers.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "kernels/ptx/names.hpp"
#include "kernels/ptx/parsing.hpp"

namespace kernelcast::ptx {

namespace {

constexpr std::uint64_t max_variable_bytes = std::uint64_t{1} << 40;
constexpr std::uint64_t max_parameter_bytes = std::uint64_t{1} << 20;
constexpr std::uint64_t max_registers = std::uint64_t{1} << 24;
constexpr std::uint64_t max_numbered = std::uint64_t{1} << 16;
constexpr std::size_t max_dimensions = 16;

std::optional<unsigned> vector_elements(Token const& token) {
  if (token.is_dot("v2")) return 2;
  if (token.is_dot("v4")) return 4;
  if (token.is_dot("v8")) return 8;
  return std::nullopt;
}

StateSpace space_of(std::string_view word) {
  for (auto space : {StateSpace::constant, StateSpace::global, StateSpace::local, StateSpace::param, StateSpace::shared,
                     StateSpace::tex, StateSpace::sreg, StateSpace::reg})
    if (name(space) == word) return space;
  return StateSpace::generic;
}

std::vector<std::string> type_names() {
  std::vector<std::string> names;
  for (int i = 1; i <= static_cast<int>(Type::surfref); ++i)
    names.push_back("." + std::string(name(static_cast<Type>(i))));
  return names;
}

}  // namespace

Type Parser::expect_type() {
  if (token_.kind == Token::Kind::dot_word)
    if (auto const type = find_type(token_.text)) return advance(), *type;
  auto const written = token_.kind == Token::Kind::dot_word ? "." + std::string(token_.text) : std::string(token_.text);
  fail(fmt::format("expected a type, got {}", shown(token_)), did_you_mean(written, type_names(), 40));
}

std::uint64_t Parser::alignment() {
  Token const at = token_;
  auto const align = count_constant("an alignment", std::uint64_t{1} << 20);
  if (!std::has_single_bit(align)) fail_at(at, fmt::format("an alignment is a power of two, not {}", align));
  return align;
}

std::uint64_t Parser::checked_size(std::uint64_t element, std::vector<std::uint64_t> const& dims, Token const& at) {
  auto size = element;
  for (auto count : dims) {
    if (count != 0 && size > max_variable_bytes / count)
      fail_at(at, fmt::format("'{}' is too large", at.text), "a variable holds at most 2^40 bytes");
    size *= count;
  }
  return size;
}

// [4][2], [], [][3]. The first dimension alone may be left out; it counts 0 then.
std::vector<std::uint64_t> Parser::dimensions(bool& unsized) {
  std::vector<std::uint64_t> dims;
  unsized = false;
  while (take('[')) {
    if (dims.size() == max_dimensions) fail(fmt::format("more than {} dimensions", max_dimensions));
    if (token_.is(']')) {
      if (!dims.empty()) fail("only the first dimension can be left out");
      unsized = true;
      dims.push_back(0);
    } else {
      Token const at = token_;
      dims.push_back(count_constant("a number of elements", max_variable_bytes));
      if (dims.back() == 0) {
        if (dims.size() > 1) fail_at(at, "an array without elements");
        unsized = true;
      }
    }
    expect(']', "after a number of elements");
  }
  return dims;
}

// .attribute(.managed, .unified(1, 2))
void Parser::attributes(std::vector<std::pair<std::string_view, std::uint64_t>>& out) {
  expect('(', "after .attribute");
  do {
    if (!token_.is_dot("managed") && !token_.is_dot("unified"))
      fail(fmt::format("unknown attribute {}", shown(token_)), did_you_mean(token_.text, {"managed", "unified"}));
    auto const name = token_.text;
    advance();
    std::uint64_t value = 1;
    if (take('(')) {
      value = integer_constant("half of a UUID");
      if (take(',')) {
        out.emplace_back(name, value);
        value = integer_constant("half of a UUID");
      }
      expect(')', "after a UUID");
    }
    out.emplace_back(name, value);
  } while (take(','));
  expect(')', "after attributes");
}

void Parser::variable_modifiers(Variable& variable) {
  for (;;) {
    if (take_dot("align")) {
      variable.align = alignment();
    } else if (auto const elements = vector_elements(token_)) {
      variable.vector = static_cast<std::uint8_t>(*elements);
      advance();
    } else if (take_dot("attribute")) {
      attributes(variable.attributes);
    } else if (take_dot("ptr")) {
      fail(".ptr belongs to a parameter of a kernel");
    } else {
      return;
    }
  }
}

Variable Parser::one_variable(Variable const& common, Token& name) {
  Variable variable = common;
  name = token_;
  variable.at = here();
  variable.name = expect_word("the name of a variable");
  bool unsized = false;
  auto dims = dimensions(unsized);
  variable.array = !dims.empty();
  auto const element = std::uint64_t{size_bytes(variable.type)} * variable.vector;
  variable.size = checked_size(element, dims, name);
  if (!variable.align) variable.align = std::max<std::uint64_t>(1, element);
  bool const initialised = token_.is('=');
  if (unsized && !initialised && variable.linkage != Linkage::external && variable.space != StateSpace::param &&
      variable.space != StateSpace::shared)
    fail_at(name, fmt::format("array '{}' has no size", name.text), "an .extern array may have none");
  if (initialised) {
    if (variable.space != StateSpace::global && variable.space != StateSpace::constant)
      fail(fmt::format("a .{} variable cannot have an initial value", ptx::name(variable.space)),
           ".global and .const ones can");
    if (variable.linkage == Linkage::external) fail("an .extern variable cannot have an initial value");
    advance();
    initializer(variable, dims, unsized);
  }
  return variable;
}

// The rest of `.param .u64 %P<2>`, which declares %P0 and %P1.
void Parser::numbered_variables(Variable const& first, Token name) {
  Token const at = name;
  auto const count = count_constant("a number of variables", max_numbered, false);
  expect('>', "after a number of variables");
  for (std::uint64_t number = 0; number < count; ++number) {
    auto variable = first;
    variable.name = name.text = module_.numbered_names.emplace_back(fmt::format("{}{}", at.text, number));
    declare_variable(std::move(variable), name);
  }
}

void Parser::declare_variable(Variable&& variable, Token const& name) {
  if (function_) {
    auto const id = static_cast<std::uint32_t>(function_->variables.size());
    function_->variables.push_back(std::move(variable));
    if (!symbols_.declare(name.text, Symbol::Kind::variable, id))
      fail_at(name, fmt::format("'{}' is declared already", name.text));
    return;
  }
  // Functions before the variable have taken the name for the register.
  if (find_special(name.text) || find_special(std::string(name.text) + ".x"))
    fail_at(name, fmt::format("'{}' is a special register", name.text), "call the variable otherwise");
  auto const id = static_cast<std::uint32_t>(module_.variables.size());
  if (symbols_.declare(name.text, Symbol::Kind::module_variable, id)) {
    module_.variables.push_back(std::move(variable));
    return;
  }
  auto const* old = symbols_.find(name.text);
  if (old->kind == Symbol::Kind::module_variable) {
    auto& known = module_.variables[old->id];
    bool const weak = known.linkage == Linkage::external || variable.linkage == Linkage::external ||
                      (known.linkage == Linkage::common && variable.linkage == Linkage::common);
    if (weak && known.space == variable.space && known.type == variable.type) {
      if (variable.linkage != Linkage::external) known = std::move(variable);
      return;
    }
  }
  fail_at(name, fmt::format("'{}' is declared already", name.text));
}

void Parser::variables(Linkage linkage) {
  Variable common;
  common.linkage = linkage;
  common.space = space_of(token_.text);
  advance();
  if (common.space == StateSpace::constant && take('[')) {  // constant banks of PTX 1.x and 2.x
    if (!take(']')) {
      count_constant("a constant bank", 10);
      expect(']', "after a constant bank");
    }
  }
  variable_modifiers(common);
  common.type = expect_type();
  variable_modifiers(common);  // PTX 1.x also wrote .v4 after the type
  if (common.type == Type::pred) fail("a predicate lives in a register", "use .reg .pred");
  do {
    Token name;
    auto variable = one_variable(common, name);
    if (take('<'))
      numbered_variables(variable, name);
    else
      declare_variable(std::move(variable), name);
  } while (take(','));
  expect(';', "after a variable");
}

// (.param .u64 .ptr .global .align 4 a, .param .align 8 .b8 b[16], .reg .u32 c). `declare` = names become visible.
std::vector<Parameter> Parser::parameters(bool declare, bool results) {
  std::vector<Parameter> out;
  expect('(', "before parameters");
  if (take(')')) return out;
  do out.push_back(parameter(declare, results, static_cast<std::uint32_t>(out.size())));
  while (take(','));
  expect(')', "after parameters");
  return out;
}

Parameter Parser::parameter(bool declare, bool result, std::uint32_t index) {
  Parameter p;
  if (take_dot("reg"))
    p.in_register = true;
  else if (!take_dot("param"))
    fail(fmt::format("expected .param or .reg, got {}", shown(token_)));
  unsigned vector = 1;
  auto const modifiers = [&] {
    for (;;) {
      if (take_dot("align")) {
        (p.pointer ? p.pointer_align : p.align) = alignment();
      } else if (auto const elements = vector_elements(token_)) {
        vector = *elements;
        advance();
      } else if (take_dot("ptr")) {
        p.pointer = true;
        if (token_.kind == Token::Kind::dot_word && space_of(token_.text) != StateSpace::generic) {
          p.pointer_space = space_of(token_.text);
          advance();
        }
      } else {
        return;
      }
    }
  };
  modifiers();
  p.type = expect_type();
  modifiers();
  Token const name = token_;
  p.name = expect_word("the name of a parameter");
  bool unsized = false;
  auto const dims = dimensions(unsized);
  auto const element = std::uint64_t{size_bytes(p.type)} * vector;
  p.size = checked_size(element, dims, name);
  if (p.size > max_parameter_bytes)
    fail_at(name, fmt::format("parameter '{}' is too large", name.text), "at most 2^20 bytes");
  if (!p.align) p.align = std::max<std::uint64_t>(1, element);
  if (p.type == Type::pred && !p.in_register) fail_at(name, "a predicate cannot be passed in .param");
  if (!declare) return p;
  if (p.in_register) {
    p.reg = static_cast<std::uint32_t>(function_->registers.size());
    function_->registers.push_back({p.name, p.type, static_cast<std::uint8_t>(vector)});
    if (p.name != "_" && !symbols_.declare(p.name, Symbol::Kind::reg, p.reg))
      fail_at(name, fmt::format("'{}' is declared already", name.text));
  } else if (p.name != "_" &&
             !symbols_.declare(p.name, result ? Symbol::Kind::result : Symbol::Kind::parameter, index)) {
    fail_at(name, fmt::format("'{}' is declared already", name.text));
  }
  return p;
}

// .reg .u32 a, b, %r<100>;  .reg .v4 .f32 v;
void Parser::registers() {
  Register reg;
  auto const modifiers = [&] {
    for (;;) {
      if (auto const elements = vector_elements(token_))
        reg.vector = static_cast<std::uint8_t>(*elements), advance();
      else if (take_dot("align"))
        alignment();
      else
        return;
    }
  };
  modifiers();
  reg.type = expect_type();
  modifiers();
  do {
    Token const name = token_;
    reg.name = expect_word("the name of a register");
    bool fresh = false;
    if (take('<')) {
      auto const count = count_constant("a number of registers", max_registers, false);
      expect('>', "after a number of registers");
      fresh = prefixes_.declare(name.text, Symbol::Kind::range, static_cast<std::uint32_t>(ranges_.size()));
      ranges_.push_back({count, reg.type, reg.vector});
      if (symbols_.depth() > 2) nested_ranges_ = true;
    } else {
      fresh = symbols_.declare(name.text, Symbol::Kind::reg, static_cast<std::uint32_t>(function_->registers.size()));
      function_->registers.push_back(reg);
    }
    if (!fresh) fail_at(name, fmt::format("'{}' is declared already", name.text));
  } while (take(','));
  expect(';', "after registers");
}

}  // namespace kernelcast::ptx
