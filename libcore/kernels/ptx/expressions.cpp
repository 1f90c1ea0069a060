// Constant expressions (PTX ISA "Constant Expressions") and initialisers.
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "kernels/ptx/parsing.hpp"

namespace kernelcast::ptx {

namespace {

using ConstantKind = Constant::Kind;

Constant integer(std::uint64_t bits, bool is_unsigned) {
  return {is_unsigned ? ConstantKind::u64 : ConstantKind::s64, bits, 0};
}
Constant truth(bool value) {
  return integer(value, false);
}

double as_real(Constant const& c) {
  switch (c.kind) {
    case ConstantKind::s64:
      return static_cast<double>(static_cast<std::int64_t>(c.bits));
    case ConstantKind::u64:
      return static_cast<double>(c.bits);
    case ConstantKind::f64:
      return c.real;
    case ConstantKind::f32_bits:
      return std::bit_cast<float>(static_cast<std::uint32_t>(c.bits));
    case ConstantKind::f64_bits:
      return std::bit_cast<double>(c.bits);
  }
  return 0;
}

bool as_truth(Constant const& c) {
  return c.is_integer() ? c.bits != 0 : as_real(c) != 0;
}

unsigned precedence_of(Token const& token) {
  switch (token.mark) {
    case 'O':
      return 1;
    case 'A':
      return 2;
    case '|':
      return 3;
    case '^':
      return 4;
    case '&':
      return 5;
    case 'e':
    case 'n':
      return 6;
    case '<':
    case '>':
    case 'L':
    case 'R':
      return 7;
    case 'l':
    case 'r':
      return 8;
    case '+':
    case '-':
      return 9;
    case '*':
    case '/':
    case '%':
      return 10;
    default:
      return 0;
  }
}

template <class T>
Constant compare(char mark, T a, T b) {
  switch (mark) {
    case 'e':
      return truth(a == b);
    case 'n':
      return truth(a != b);
    case '<':
      return truth(a < b);
    case '>':
      return truth(a > b);
    case 'L':
      return truth(a <= b);
    default:
      return truth(a >= b);
  }
}

bool is_comparison(char mark) {
  return std::string_view("en<>LR").find(mark) != std::string_view::npos;
}

}  // namespace

Constant Parser::number(Token const& token) {
  auto text = token.text;
  auto const* end = text.data() + text.size();
  if (token.kind == Token::Kind::real) {
    Constant c{ConstantKind::f64, 0, 0};
    auto const result = std::from_chars(text.data(), end, c.real);
    if (result.ec == std::errc::result_out_of_range)
      fail_at(token, fmt::format("{} is outside the range of .f64", shown(token)));
    if (result.ec != std::errc() || result.ptr != end) fail_at(token, fmt::format("{} is not a number", shown(token)));
    return c;
  }
  if (token.kind == Token::Kind::real32 || token.kind == Token::Kind::real64) {
    Constant c{token.kind == Token::Kind::real32 ? ConstantKind::f32_bits : ConstantKind::f64_bits, 0, 0};
    std::from_chars(text.data() + 2, end, c.bits, 16);
    return c;
  }
  bool is_unsigned = text.ends_with('U');
  if (is_unsigned) --end;
  int base = 10;
  auto const* begin = text.data();
  if (text.size() > 1 && text[0] == '0') {
    char const second = static_cast<char>(text[1] | 0x20);
    base = second == 'x' ? 16 : second == 'b' ? 2 : 8;
    if (base != 8) begin += 2;
    if (base == 8 && begin + 1 == end) base = 10;  // 0U
  }
  std::uint64_t value = 0;
  auto const result = std::from_chars(begin, end, value, base);
  if (result.ec == std::errc::result_out_of_range)
    fail_at(token, fmt::format("{} does not fit into 64 bits", shown(token)));
  if (result.ec != std::errc() || result.ptr != end)
    fail_at(token, fmt::format("{} is not a number of base {}", shown(token), base));
  return integer(value, is_unsigned || value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
}

Constant Parser::primary() {
  Token const token = token_;
  switch (token.kind) {
    case Token::Kind::integer:
    case Token::Kind::real:
    case Token::Kind::real32:
    case Token::Kind::real64:
      advance();
      return number(token);
    case Token::Kind::dot_word: {  // .5
      if (token.text[0] < '0' || token.text[0] > '9') break;
      Token with_dot = token;
      with_dot.kind = Token::Kind::real;
      with_dot.text = {token.text.data() - 1, token.text.size() + 1};
      advance();
      return number(with_dot);
    }
    case Token::Kind::word:
      if (token.text != "WARP_SZ") break;
      advance();
      return integer(32, false);
    default:
      break;
  }
  if (!token.is('(')) fail(fmt::format("expected a constant, got {}", shown(token)));
  Nesting const nesting(*this);
  advance();
  bool const to_signed = take_dot("s64"), to_unsigned = !to_signed && take_dot("u64");
  if (to_signed || to_unsigned) {
    expect(')', "after a cast");
    Constant c = unary();
    if (!c.is_integer()) {
      double const real = as_real(c);
      if (!(real > -9.3e18 && real < 1.8e19)) fail_at(token, "this number does not fit into 64 bits");
      c.bits =
          real < 0 ? static_cast<std::uint64_t>(static_cast<std::int64_t>(real)) : static_cast<std::uint64_t>(real);
    }
    return integer(c.bits, to_unsigned);
  }
  Constant const c = constant();
  expect(')', "after an expression");
  return c;
}

Constant Parser::unary() {
  char const mark = token_.mark;
  if (mark != '-' && mark != '+' && mark != '~' && mark != '!') return primary();
  Token const at = token_;
  Nesting const nesting(*this);
  advance();
  Constant c = unary();
  if (mark == '!') return truth(!as_truth(c));
  if (mark == '+') return c;
  if (mark == '~') {
    if (!c.is_integer()) fail_at(at, "'~' needs an integer");
    c.bits = ~c.bits;
    return c;
  }
  if (c.is_integer())
    c.bits = 0 - c.bits;
  else if (c.kind == ConstantKind::f32_bits)
    c.bits ^= 0x80000000U;
  else if (c.kind == ConstantKind::f64_bits)
    c.bits ^= std::uint64_t{1} << 63;
  else
    c.real = -c.real;
  return c;
}

Constant Parser::binary(Token const& operation, Constant a, Constant b) {
  char const mark = operation.mark;
  if (mark == 'A') return truth(as_truth(a) && as_truth(b));
  if (mark == 'O') return truth(as_truth(a) || as_truth(b));
  if (!a.is_integer() || !b.is_integer()) {
    double const x = as_real(a), y = as_real(b);
    if (is_comparison(mark)) return compare(mark, x, y);
    switch (mark) {
      case '+':
        return {ConstantKind::f64, 0, x + y};
      case '-':
        return {ConstantKind::f64, 0, x - y};
      case '*':
        return {ConstantKind::f64, 0, x * y};
      case '/':
        return {ConstantKind::f64, 0, x / y};
      default:
        fail_at(operation, fmt::format("'{}' needs integers", operation.text));
    }
  }
  bool const u = a.kind == ConstantKind::u64 || b.kind == ConstantKind::u64;
  auto const x = a.bits, y = b.bits;
  auto const sx = static_cast<std::int64_t>(x), sy = static_cast<std::int64_t>(y);
  if (is_comparison(mark)) return u ? compare(mark, x, y) : compare(mark, sx, sy);
  switch (mark) {
    case '+':
      return integer(x + y, u);
    case '-':
      return integer(x - y, u);
    case '*':
      return integer(x * y, u);
    case '&':
      return integer(x & y, u);
    case '|':
      return integer(x | y, u);
    case '^':
      return integer(x ^ y, u);
    // The shift count is unsigned and does not take part in the result's type.
    case 'l':
      return {a.kind, y > 63 ? 0 : x << y, 0};
    case 'r':
      if (a.kind == ConstantKind::u64) return {a.kind, y > 63 ? 0 : x >> y, 0};
      return {a.kind, static_cast<std::uint64_t>(sx >> (y > 63 ? 63 : y)), 0};
    default:
      break;
  }
  if (y == 0) fail_at(operation, "division by zero");
  if (u) return integer(mark == '/' ? x / y : x % y, true);
  if (sy == -1) return integer(mark == '/' ? 0 - x : 0, false);
  return integer(static_cast<std::uint64_t>(mark == '/' ? sx / sy : sx % sy), false);
}

Constant Parser::constant(unsigned precedence) {
  Constant left = unary();
  while (unsigned const next = precedence_of(token_)) {
    if (next <= precedence) break;
    Token const operation = token_;
    advance();
    left = binary(operation, left, constant(next));
  }
  if (precedence == 0 && token_.is('?')) {
    Nesting const nesting(*this);
    advance();
    Constant const yes = constant();
    expect(':', "in '? :'");
    Constant const no = constant();
    return as_truth(left) ? yes : no;
  }
  return left;
}

std::uint64_t Parser::integer_constant(char const* what) {
  Token const at = token_;
  Constant const c = constant();
  if (!c.is_integer()) fail_at(at, fmt::format("expected {}, got a floating-point number", what));
  return c.bits;
}

std::uint64_t Parser::count_constant(char const* what, std::uint64_t most, bool whole_expression) {
  Token const at = token_;
  Constant const c = whole_expression ? constant() : unary();
  if (!c.is_integer()) fail_at(at, fmt::format("expected {}, got a floating-point number", what));
  if (c.kind == ConstantKind::s64 && static_cast<std::int64_t>(c.bits) < 0)
    fail_at(at, fmt::format("expected {}, got a negative number", what));
  if (c.bits > most) fail_at(at, fmt::format("{} is too large: {} is at most {}", c.bits, what, most));
  return c.bits;
}

Operand Parser::constant_operand(Constant const& c, bool f32) const {
  Operand operand;
  switch (c.kind) {
    case ConstantKind::s64:
    case ConstantKind::u64:
      operand.kind = Operand::Kind::integer;
      operand.value = c.bits;
      break;
    case ConstantKind::f32_bits:
      operand.kind = Operand::Kind::f32;
      operand.value = c.bits;
      break;
    case ConstantKind::f64_bits:
      operand.kind = Operand::Kind::f64;
      operand.value = c.bits;
      break;
    case ConstantKind::f64:
      operand.kind = f32 ? Operand::Kind::f32 : Operand::Kind::f64;
      operand.value =
          f32 ? std::bit_cast<std::uint32_t>(static_cast<float>(c.real)) : std::bit_cast<std::uint64_t>(c.real);
      break;
  }
  return operand;
}

// ---------------------------------------------------------------- initialisers

// Levels of an initialiser: the dimensions of the array, then the elements of a vector type.
struct Parser::Shape {
  std::vector<std::uint64_t> counts;   // 0 = as many as are given (the first dimension only)
  std::vector<std::uint64_t> strides;  // bytes from one item of the level to the next
};

void Parser::initializer(Variable& variable, std::vector<std::uint64_t> const& dims, bool unsized) {
  Token const at = token_;
  if (variable.type == Type::samplerref || variable.type == Type::texref || variable.type == Type::surfref)
    if (!variable.array) return reference_attributes(variable);
  Shape shape;
  shape.counts = dims;
  if (variable.vector > 1) shape.counts.push_back(variable.vector);
  shape.strides.resize(shape.counts.size());
  std::uint64_t stride = size_bytes(variable.type);
  for (auto i = shape.counts.size(); i-- > 0;) {
    shape.strides[i] = stride;
    stride *= shape.counts[i];
  }
  if (shape.counts.empty()) {
    bool const braces = take('{');
    initializer_value(variable, 0, size_bytes(variable.type));
    if (braces) expect('}', "after the value");
    return;
  }
  if (!token_.is('{')) fail(fmt::format("expected '{{' before the values of an array, got {}", shown(token_)));
  auto const bytes = initializer_list(variable, shape, 0, 0);
  if (unsized) {
    variable.size = bytes;
    if (bytes == 0) fail_at(at, "an array without a size needs values");
  }
}

// Returns the bytes covered, whole items of this level.
std::uint64_t Parser::initializer_list(Variable& variable, Shape const& shape, std::size_t level,
                                       std::uint64_t offset) {
  Nesting const nesting(*this);
  expect('{', "before a list of values");
  auto const stride = shape.strides[level], element = shape.strides.back();
  auto const end = shape.counts[level] ? stride * shape.counts[level] : std::numeric_limits<std::uint64_t>::max();
  std::uint64_t at = 0;
  while (!token_.is('}')) {
    auto const round_up = [&at](std::uint64_t unit) { at = (at + unit - 1) / unit * unit; };
    if (token_.is('{')) round_up(stride);
    if (at >= end) fail("more values than the array has elements");
    if (token_.is('{')) {
      if (level + 1 == shape.counts.size()) fail("braces nest deeper than the array has dimensions");
      initializer_list(variable, shape, level + 1, offset + at);
      at += stride;
    } else {
      initializer_value(variable, offset + at, static_cast<unsigned>(element));
      at += element;
    }
    if (!take(',')) break;
  }
  expect('}', "after the values");
  return (at + stride - 1) / stride * stride;
}

bool Parser::initializer_symbol(Variable& variable, Initializer& value) {
  if (!token_.is_word() || token_.text == "WARP_SZ") return false;
  Nesting const nesting(*this);
  Token const name = token_;
  advance();
  if (name.text == "generic" && take('(')) {
    value.generic_address = true;
    if (!initializer_symbol(variable, value)) fail("expected a name in generic(…)");
    expect(')', "after generic(…");
  } else {
    auto const* symbol = symbols_.find(name.text);
    if (!symbol) unknown_name(name);
    switch (symbol->kind) {
      case Symbol::Kind::module_variable:
        value.value.kind = Operand::Kind::variable;
        break;
      case Symbol::Kind::variable:
        value.value.kind = Operand::Kind::variable, value.value.local = true;
        break;
      case Symbol::Kind::function:
        value.value.kind = Operand::Kind::function;
        break;
      default:
        fail_at(name, fmt::format("'{}' has no address", name.text), "a variable or a function has one");
    }
    value.value.id = symbol->id;
  }
  while (token_.is('+') || token_.is('-')) {
    bool const minus = token_.is('-');
    advance();
    Constant const c = constant(9);
    if (!c.is_integer()) fail("an offset is an integer");
    value.value.value += minus ? 0 - c.bits : c.bits;
  }
  return true;
}

void Parser::initializer_value(Variable& variable, std::uint64_t offset, unsigned bytes) {
  Initializer value;
  value.offset = offset;
  value.bytes = static_cast<std::uint8_t>(bytes);
  if (!initializer_symbol(variable, value)) {
    Token const at = token_;
    if (token_.kind == Token::Kind::integer && peek().is('(')) {  // 0xFF00(name)
      auto const mask = number(token_).bits;
      auto const shift = mask ? std::countr_zero(mask) : 0;
      if (mask != std::uint64_t{0xFF} << shift || shift % 8)
        fail_at(at, "a mask selects one byte", "0xFF, 0xFF00, 0xFF0000, …");
      value.mask_shift = static_cast<std::uint8_t>(shift);
      advance();
      advance();
      if (!initializer_symbol(variable, value)) fail("expected a name after a mask");
      expect(')', "after a masked name");
    } else {
      Constant c = constant();
      bool const real_type = variable.type == Type::f32 || variable.type == Type::f64;
      if (c.is_integer() && real_type) c = {Constant::Kind::f64, 0, as_real(c)};
      if (c.kind == Constant::Kind::f32_bits && variable.type == Type::f64) c = {Constant::Kind::f64, 0, as_real(c)};
      if (c.kind == Constant::Kind::f64_bits && variable.type == Type::f32) c = {Constant::Kind::f64, 0, as_real(c)};
      value.value = constant_operand(c, bytes == 4);
    }
  }
  variable.initializers.push_back(std::move(value));
}

// { addr_mode_0 = wrap, filter_mode = linear, … } of a samplerref, texref or surfref.
void Parser::reference_attributes(Variable& variable) {
  expect('{', "before the fields of a reference");
  while (!token_.is('}')) {
    auto const field = expect_word("a field such as filter_mode");
    expect('=', "after a field's name");
    if (token_.is_word()) {
      variable.attributes.emplace_back(field, slice(token_.text));
      advance();
    } else {
      std::uint64_t const value = integer_constant("a value");
      if (value > 0xffff) fail(fmt::format("the value {} of '{}' is beyond 65535", value, field));
      variable.attributes.emplace_back(field, value);
    }
    if (!take(',')) break;
  }
  expect('}', "after the fields");
}

}  // namespace kernelcast::ptx
