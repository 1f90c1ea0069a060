// Operands: names, constants, addresses, vectors and lists.
#include <fmt/format.h>

#include "kernels/ptx/names.hpp"
#include "kernels/ptx/parsing.hpp"

namespace kernelcast::ptx {

void Parser::unknown_name(Token const& name) const {
  auto known = symbols_.names();
  if (name.text.starts_with('%')) {
    for (auto& special : special_names()) known.push_back(std::move(special));
    if (function_) {
      auto const digits = name.text.find_last_not_of("0123456789") + 1;
      auto const* range = prefixes_.find(name.text.substr(0, digits));
      if (range && digits < name.text.size())
        fail_at(name, fmt::format("register '{}' is not declared", name.text),
                fmt::format(".reg declares {}<{}>", name.text.substr(0, digits), ranges_[range->id].count));
    }
  }
  fail_at(name, fmt::format("unknown name '{}'", name.text.substr(0, 200)),
          did_you_mean(name.text.substr(0, 200), known, 8));
}

// The innermost declaration of a name; a register of a range is made when it is first named.
Symbol const* Parser::find_symbol(std::string_view name) {
  auto const* symbol = symbols_.find(name);
  if (symbol && !nested_ranges_) return symbol;
  char const last = name.back();
  if (last < '0' || last > '9') return symbol;
  auto const digits = name.find_last_not_of("0123456789") + 1;
  if (digits == 0 || (name[digits] == '0' && digits + 1 != name.size()) || name.size() - digits > 9) return symbol;
  auto const* range = prefixes_.find(name.substr(0, digits));
  if (!range || (symbol && symbol->depth >= range->depth)) return symbol;
  std::uint64_t index = 0;
  for (char c : name.substr(digits)) index = index * 10 + static_cast<std::uint64_t>(c - '0');
  auto const& registers = ranges_[range->id];
  if (index >= registers.count) return symbol;
  auto const id = static_cast<std::uint32_t>(function_->registers.size());
  function_->registers.push_back({name, registers.type, registers.vector});
  symbols_.declare(name, Symbol::Kind::reg, id, range->depth);
  return symbols_.find(name);
}

Operand Parser::special(Token const& name) {
  Operand operand;
  operand.kind = Operand::Kind::special;
  std::string_view word = name.text;
  if (token_.kind == Token::Kind::dot_word && token_.text.size() == 1) {
    // One word in the text too, unless blanks stand between.
    if (token_.text.data() == word.data() + word.size() + 1) {
      std::string_view const whole(word.data(), word.size() + 2);
      if (token_.text == "w" && find_special(word)) {  // always zero
        advance();
        operand.kind = Operand::Kind::integer;
        return operand;
      }
      if (find_special(whole)) {
        word = whole;
        advance();
      }
    }
  }
  auto const found = find_special(word);
  if (!found) unknown_name(name);
  operand.id = static_cast<std::uint32_t>(found->first);
  operand.value = found->first == Special::other ? slice(word) : found->second;
  return operand;
}

void Parser::forward(Token const& name, Operand& operand) {
  operand.kind = Operand::Kind::label;
  forwards_.back().push_back({name, static_cast<std::uint32_t>(function_->instructions.size() - 1),
                              static_cast<std::uint32_t>(instruction_->operands.size()), 0});
}

// A name that is read already. `may_be_label`: it is a whole operand, so it may name something further down.
Operand Parser::resolve(Token const& name, bool may_be_label) {
  auto const* symbol = find_symbol(name.text);
  Operand operand;
  if (!symbol) {
    if (name.text[0] == '%') return special(name);  // labels do not begin with '%'
    if (!may_be_label) unknown_name(name);
    forward(name, operand);
    return operand;
  }
  operand.id = symbol->id;
  operand.kind = operand_kind(symbol->kind);
  operand.local = symbol->kind == Symbol::Kind::variable;
  operand.result = symbol->kind == Symbol::Kind::result;
  if (operand.kind == Operand::Kind::none) unknown_name(name);
  // An inner scope may still declare a label of this name, which would be meant then.
  if (operand.kind == Operand::Kind::label && symbol->depth < symbols_.depth() && may_be_label) forward(name, operand);
  return operand;
}

void Parser::component(Operand& operand, Token const& name) {
  static constexpr std::string_view vector[] = {"x", "y", "z", "w", "r", "g", "b", "a"};
  static constexpr std::string_view video[] = {"b0", "b1", "b2", "b3", "h0", "h1"};
  auto const word = token_.text;
  for (std::uint8_t i = 0; i < 8; ++i)
    if (word == vector[i]) operand.component = static_cast<std::uint8_t>(i % 4 + 1);
  for (std::uint8_t i = 0; i < 6; ++i)
    if (word == video[i]) operand.component = static_cast<std::uint8_t>(5 + i);
  if (!operand.component && word.size() > 2 && (word[0] == 'b' || word[0] == 'h') &&
      word.find_first_not_of("01234567", 1) == std::string_view::npos) {
    operand.component = 11;
    operand.value = slice(word);
  }
  if (!operand.component)
    fail(fmt::format("'{}' has no component {}", name.text, shown(token_)),
         "known: .x .y .z .w .r .g .b .a .b0 … .b3 .h0 .h1");
  if (operand.component <= 4 && operand.component > function_->registers[operand.id].vector)
    fail(fmt::format("'{}' has {} element(s), not {}", name.text, function_->registers[operand.id].vector,
                     shown(token_)));
  advance();
}

// Any number of `+ constant` and `- constant`.
void Parser::offset(Operand& operand) {
  while (token_.is('+') || token_.is('-')) {
    Token const at = token_;
    advance();
    Constant const c = constant(9);
    if (!c.is_integer()) fail_at(at, "an offset is an integer");
    operand.value += at.is('-') ? 0 - c.bits : c.bits;
  }
}

// a[3] of the manual's "Arrays as Operands": the address of an element, or its contents in ld, st and the like.
Operand Parser::indexed(Operand variable) {
  Token const at = token_;
  advance();
  auto const& declared = variable.local ? function_->variables[variable.id] : module_.variables[variable.id];
  Operand address;
  address.kind = Operand::Kind::address;
  Constant const c = constant();
  if (!c.is_integer()) fail_at(at, "an index is an integer");
  expect(']', "after an index");
  auto const bytes = c.bits * size_bytes(declared.type) * declared.vector;
  if (instruction_->is(Op::mov, Op::cvta)) {
    variable.value += bytes;
    return variable;
  }
  address.value = bytes;
  address.elements.push_back(std::move(variable));
  return address;
}

Operand Parser::named_operand() {
  Token const name = token_;
  if (name.text == "WARP_SZ") return constant_operand(constant(), false);
  advance();
  Operand operand;
  if (name.text == "_")
    operand.kind = Operand::Kind::sink;
  else
    operand = resolve(name, depth_ == 0);
  if (operand.kind == Operand::Kind::reg && token_.kind == Token::Kind::dot_word) component(operand, name);
  if (operand.kind == Operand::Kind::variable && token_.is('[')) return indexed(std::move(operand));
  if ((operand.kind == Operand::Kind::variable || operand.kind == Operand::Kind::parameter) && depth_ == 0)
    offset(operand);
  return second_destination(std::move(operand));
}

// d|p: two destinations.
Operand Parser::second_destination(Operand operand) {
  if (!token_.is('|')) return operand;
  advance();
  Operand both;
  both.kind = Operand::Kind::list;
  both.elements.push_back(std::move(operand));
  Token const second = token_;
  expect_word("the second destination");
  Operand other;
  if (second.text == "_")
    other.kind = Operand::Kind::sink;
  else
    other = resolve(second, false);
  both.elements.push_back(std::move(other));
  return both;
}

Operand Parser::negated_operand() {
  Token const next = peek();
  if (!next.is_word() || next.text == "WARP_SZ") return constant_operand(constant(), f32_context_);
  advance();
  Operand operand = named_operand();
  if (operand.kind != Operand::Kind::reg)
    fail_at(next, fmt::format("'{}' is not a register", next.text), "only registers and constants can be negated");
  operand.negated = true;
  return operand;
}

Operand Parser::address_operand() {
  Nesting const nesting(*this);
  advance();
  Operand address;
  address.kind = Operand::Kind::address;
  Operand base;
  if (token_.is_word() && token_.text != "WARP_SZ") {
    base = named_operand();
    if (base.kind == Operand::Kind::address) fail("an address within an address");
    offset(address);
  } else {
    base.kind = Operand::Kind::integer;
    address.value = integer_constant("an address");
  }
  address.elements.push_back(std::move(base));
  while (take(',')) address.elements.push_back(operand());
  expect(']', "after an address");
  return address;
}

Operand Parser::list_operand(char close, Operand::Kind kind) {
  Nesting const nesting(*this);
  advance();
  Operand list;
  list.kind = kind;
  if (take(close)) return list;
  do list.elements.push_back(operand());
  while (take(','));
  expect(close, kind == Operand::Kind::vector ? "after the elements of a vector" : "after arguments");
  return list;
}

Operand Parser::operand() {
  if (token_.is_word()) return named_operand();
  switch (token_.mark) {
    case '[':
      return address_operand();
    case '{':
      return second_destination(list_operand('}', Operand::Kind::vector));
    case '(':
      if (call_) return list_operand(')', Operand::Kind::list);
      break;
    case '!':
    case '-':
      return negated_operand();
    default:
      break;
  }
  return constant_operand(constant(), f32_context_);
}

}  // namespace kernelcast::ptx
