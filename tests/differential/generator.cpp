#include "generator.hpp"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/statistics/splitmix64.hpp"

namespace kernelcast::differential {

namespace {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() { return next_splitmix64(state_); }
  unsigned below(unsigned bound) { return static_cast<unsigned>(bits() % bound); }
  bool one_in(unsigned n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

enum class Kind { is_unsigned, is_signed, floating };
struct Element {
  std::string_view name, other;  // other: the unsigned type of the same size
  unsigned bits;
  Kind kind;
};
constexpr std::array<Element, 10> elements{{{"uint", "uint", 32, Kind::is_unsigned},
                                            {"int", "uint", 32, Kind::is_signed},
                                            {"ulong", "ulong", 64, Kind::is_unsigned},
                                            {"long", "ulong", 64, Kind::is_signed},
                                            {"ushort", "ushort", 16, Kind::is_unsigned},
                                            {"short", "ushort", 16, Kind::is_signed},
                                            {"uchar", "uchar", 8, Kind::is_unsigned},
                                            {"char", "uchar", 8, Kind::is_signed},
                                            {"float", "uint", 32, Kind::floating},
                                            {"double", "ulong", 64, Kind::floating}}};
constexpr unsigned integers = 8;

struct Type {
  unsigned element = 0, width = 1;
  Element const& e() const { return elements[element]; }
  bool floating() const { return e().kind == Kind::floating; }
  bool is_signed() const { return e().kind == Kind::is_signed; }
  unsigned bits() const { return e().bits * width; }
  std::string with_width(std::string_view base) const {
    return width == 1 ? std::string(base) : fmt::format("{}{}", base, width);
  }
  std::string name() const { return with_width(e().name); }
  std::string other() const { return with_width(e().other); }
  friend bool operator==(Type const&, Type const&) = default;
};
constexpr Type uint_type{0, 1}, int_type{1, 1};

struct Variable {
  std::string name;
  Type type;
};

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed), kernel_{} {
    kernel_.seed = seed;
    kernel_.name = fmt::format("k{:x}", seed);
  }
  Kernel run();

 private:
  // ---- expressions
  std::string expr(Type t, int depth);
  std::string leaf(Type t);
  std::string literal(Type t);
  std::string element_literal(Element const& e);
  std::string integer_expr(Type t, int depth);
  std::string arithmetic(Type t, int depth);
  std::string builtin(Type t, int depth);
  std::string conversion(Type t, int depth);
  std::string choice(Type t, int depth);
  std::string float_expr(Type t, int depth);
  std::string condition(int depth);
  std::string pieces(Type t, int depth);

  // ---- statements
  std::string block(int depth, int indent);
  std::string statement(int depth, int indent);
  std::string assignment();
  std::string loop(int depth, int indent);
  std::string selection(int depth, int indent);
  std::string branch(int depth, int indent);
  std::string atomic();
  std::string exchange();  // through local memory, with barriers
  void helper();

  Type random_type() {
    unsigned const draw = random_.below(10);
    Type t{draw < 7 ? random_.below(integers) : 8 + random_.below(2), 1};
    if (random_.one_in(3)) t.width = std::array{2u, 4u, 4u, 8u}[random_.below(4)];
    return t;
  }
  std::string pad(int indent) const { return std::string(static_cast<std::size_t>(2 * indent), ' '); }
  Variable const* variable(Type t) {
    std::vector<Variable const*> fitting;
    for (auto const& v : variables_)
      if (v.type == t) fitting.push_back(&v);
    return fitting.empty() ? nullptr : fitting[random_.below(static_cast<unsigned>(fitting.size()))];
  }

  Random random_;
  Kernel kernel_;
  std::vector<Variable> variables_;
  std::vector<std::string> functions_;  // uint f(uint, int)
  int loops_ = 0, inside_loops_ = 0;
  bool in_switch_ = false, may_return_ = false, in_function_ = false;
};

// ---------------------------------------------------------------- expressions

std::string Generator::element_literal(Element const& e) {
  if (e.kind == Kind::floating) {
    std::string_view const suffix = e.bits == 32 ? "f" : "";
    switch (random_.below(6)) {
      case 0:
        return fmt::format("0x1.{:x}p{}{}", random_.below(16), static_cast<int>(random_.below(250)) - 125, suffix);
      case 1:
        return fmt::format("0.0{}", suffix);
      default:
        return fmt::format("{}{}.{}{}", random_.one_in(3) ? "-" : "", random_.below(100), random_.below(1000), suffix);
    }
  }
  std::uint64_t value = random_.bits();
  switch (random_.below(5)) {
    case 0:
      value = random_.below(8);
      break;
    case 1:
      value = std::uint64_t{1} << random_.below(64);
      break;
    case 2:
      value = (std::uint64_t{1} << random_.below(64)) - 1;
      break;
    default:
      break;
  }
  if (e.bits < 64) value &= (std::uint64_t{1} << e.bits) - 1;
  return fmt::format("({})0x{:x}{}", e.name, value, e.bits == 64 ? "ul" : "u");
}

std::string Generator::literal(Type t) {
  if (t.width == 1) return element_literal(t.e());
  std::string list;
  for (unsigned i = 0; i < t.width; ++i) list += (i ? ", " : "") + element_literal(t.e());
  return fmt::format("({})({})", t.name(), list);
}

std::string Generator::leaf(Type t) {
  if (t == uint_type && !in_function_) {
    if (random_.one_in(6)) return random_.one_in(2) ? "gid" : "lid";
    if (random_.one_in(6)) return fmt::format("input[({}) & 255]", leaf(uint_type));
    if (random_.one_in(8)) return fmt::format("v->array[({}) & 7]", leaf(uint_type));
  }
  Variable const* const v = variable(t);
  if (v && !random_.one_in(6)) return v->name;
  if (t.width == 1 && random_.one_in(3))  // a component of a vector
    for (auto const& other : variables_)
      if (other.type.element == t.element && other.type.width > 1)
        return fmt::format("{}.s{}", other.name, random_.below(other.type.width));
  return literal(t);
}

std::string Generator::arithmetic(Type t, int depth) {
  std::string const a = expr(t, depth - 1), b = expr(t, depth - 1);
  std::string_view const op = std::array<std::string_view, 6>{"+", "-", "*", "&", "|", "^"}[random_.below(6)];
  if (t.width == 1 && t.e().bits < 32) return fmt::format("({})((uint){} {} (uint){})", t.name(), a, op, b);
  if (!t.is_signed()) return fmt::format("({} {} {})", a, op, b);
  return fmt::format("as_{0}(as_{1}({2}) {3} as_{1}({4}))", t.name(), t.other(), a, op, b);
}

std::string Generator::builtin(Type t, int depth) {
  std::string const a = expr(t, depth - 1), b = expr(t, depth - 1), name = t.name();
  unsigned const bits = t.e().bits;
  bool const small = t.width == 1 && bits < 32;
  static constexpr std::array of_two{"min", "max", "add_sat", "sub_sat", "hadd", "rhadd", "mul_hi", "rotate"};
  auto const which = random_.below(17);
  if (which < of_two.size()) return fmt::format("{}({}, {})", of_two[which], a, b);
  switch (which) {
    case 8:
      return t.is_signed() ? fmt::format("as_{}(abs_diff({}, {}))", name, a, b) : fmt::format("abs_diff({}, {})", a, b);
    case 9:
      return t.is_signed() ? fmt::format("as_{}(abs({}))", name, a) : fmt::format("({})(~{})", name, a);
    case 10:
    case 11:
      return fmt::format("{}({})", which == 10 ? "clz" : "popcount", a);
    case 12:
    case 13:
      return fmt::format("{}({}, {}, {})", which == 12 ? "mad_sat" : "bitselect", a, b, expr(t, depth - 1));
    case 14: {  // left shift
      if (small) return fmt::format("({})((uint){} << ((uint){} & {}u))", name, a, b, bits - 1);
      return fmt::format("as_{0}(as_{1}({2}) << (as_{1}({3}) & ({1}){4}))", name, t.other(), a, b, bits - 1);
    }
    case 15:  // right shift, arithmetic for signed types
      return fmt::format("({0})({1} >> ({2} & ({0}){3}))", name, a, b, bits - 1);
    default:
      if (t.width == 1) return fmt::format("{}_{}({}, {})", random_.one_in(2) ? "divide" : "modulo", name, a, b);
      return fmt::format("({0} {1} as_{2}((as_{3}({4}) & ({3})0x7f) | ({3})1))", a, random_.one_in(2) ? "/" : "%", name,
                         t.other(), b);
  }
}

std::string Generator::pieces(Type t, int depth) {
  std::string const a = expr(t, depth - 1);
  if (random_.one_in(2)) {
    std::string list;
    for (unsigned i = 0; i < t.width; ++i) list += (i ? ", " : "") + expr({t.element, 1}, depth - 2);
    return fmt::format("({})({})", t.name(), list);
  }
  std::string order;
  for (unsigned i = 0; i < t.width; ++i) order += fmt::format("{:x}", random_.below(t.width));
  return fmt::format("({}).s{}", a, order);
}

// From any other type of the same width, or the bits of one of the same size.
std::string Generator::conversion(Type t, int depth) {
  Type from{random_.below(static_cast<unsigned>(elements.size())), t.width};
  if (random_.one_in(3)) {
    for (int tries = 0; tries < 8; ++tries) {
      Type const same{random_.below(integers), std::array{1u, 2u, 4u, 8u}[random_.below(4)]};
      if (same.bits() == t.bits()) return fmt::format("as_{}({})", t.name(), expr(same, depth - 1));
    }
  }
  std::string const value = expr(from, depth - 1);
  if (t.floating())
    return from.floating() || t.width > 1 || random_.one_in(2) ? fmt::format("convert_{}({})", t.name(), value)
                                                               : fmt::format("({})({})", t.name(), value);
  if (from.floating()) return fmt::format("convert_{}_sat{}({})", t.name(), random_.one_in(3) ? "_rte" : "", value);
  if (random_.one_in(2)) return fmt::format("convert_{}_sat({})", t.name(), value);
  return t.width == 1 && random_.one_in(2) ? fmt::format("({})({})", t.name(), value)
                                           : fmt::format("convert_{}({})", t.name(), value);
}

std::string Generator::condition(int depth) {
  Type const t{random_.below(static_cast<unsigned>(elements.size())), 1};
  std::string_view const op = std::array<std::string_view, 6>{"<", ">", "<=", ">=", "==", "!="}[random_.below(6)];
  if (depth > 0 && random_.one_in(4))
    return fmt::format("({} {} {})", condition(depth - 1), random_.one_in(2) ? "&&" : "||", condition(depth - 1));
  if (random_.one_in(2)) return fmt::format("(({} & {}u) != 0)", expr(uint_type, depth - 1), 1 + random_.below(7));
  return fmt::format("({} {} {})", expr(t, depth - 1), op, expr(t, depth - 1));
}

std::string Generator::choice(Type t, int depth) {
  std::string const a = expr(t, depth - 1), b = expr(t, depth - 1);
  if (t.width == 1) return fmt::format("({})({} ? {} : {})", t.name(), condition(depth - 1), a, b);
  if (t.floating()) return fmt::format("({} < {} ? {} : {})", a, expr(t, depth - 1), b, a);
  return fmt::format("select({}, {}, {})", a, b, expr(t, depth - 1));
}

std::string Generator::float_expr(Type t, int depth) {
  std::string const a = expr(t, depth - 1), b = expr(t, depth - 1);
  switch (random_.below(10)) {
    case 0:
      return fmt::format("fma({}, {}, {})", a, b, expr(t, depth - 1));
    case 1:
      return fmt::format("{}({})", std::array{"fabs", "floor", "ceil", "trunc", "rint"}[random_.below(5)], a);
    case 2:  // of two zeros either may come
      return fmt::format("({}({}, {}) + ({})0)", random_.one_in(2) ? "fmin" : "fmax", a, b, t.name());
    case 3:
      return fmt::format("copysign({}, {})", a, literal(t));  // a NaN has no sign to rely on
    case 4:
      return choice(t, depth);
    case 5:
      return conversion(t, depth);
    case 6:
      if (t.width > 1) return pieces(t, depth);
      [[fallthrough]];
    default:
      return fmt::format("({} {} {})", a, std::array{"+", "-", "*"}[random_.below(3)], b);
  }
}

std::string Generator::integer_expr(Type t, int depth) {
  unsigned const draw = random_.below(20);
  if (draw < 7) return arithmetic(t, depth);
  if (draw < 13) return builtin(t, depth);
  if (draw < 16) return conversion(t, depth);
  if (draw < 18) return choice(t, depth);
  if (t.width > 1) return pieces(t, depth);
  if (t == uint_type && !functions_.empty() && random_.one_in(2))
    return fmt::format("{}({}, {})", functions_[random_.below(static_cast<unsigned>(functions_.size()))],
                       expr(uint_type, depth - 1), expr(int_type, depth - 1));
  return fmt::format("({})({})", t.name(), condition(depth - 1));
}

std::string Generator::expr(Type t, int depth) {
  if (depth <= 0 || random_.one_in(5)) return leaf(t);
  return t.floating() ? float_expr(t, depth) : integer_expr(t, depth);
}

// ---------------------------------------------------------------- statements

std::string Generator::assignment() {
  Variable const& v = variables_[random_.below(static_cast<unsigned>(variables_.size()))];
  if (!in_function_ && random_.one_in(8))
    return fmt::format("v->array[({}) & 7] = {};\n", expr(uint_type, 1), expr(uint_type, 2));
  if (v.type.width > 1 && random_.one_in(4))
    return fmt::format("{}.s{} = {};\n", v.name, random_.below(v.type.width), expr({v.type.element, 1}, 2));
  return fmt::format("{} = {};\n", v.name, expr(v.type, 3));
}

std::string Generator::loop(int depth, int indent) {
  int const number = loops_++;
  std::string const limit = random_.one_in(2)
                                ? fmt::format("({}) & {}u", expr(uint_type, 1), random_.one_in(3) ? 15 : 3)
                                : fmt::format("{}u", 1 + random_.below(5));
  std::string text = fmt::format("for (uint i{0} = 0, n{0} = {1}; i{0} < n{0}; ++i{0}) {{\n", number, limit);
  bool const outer_switch = in_switch_;
  in_switch_ = false;
  ++inside_loops_;
  text += fmt::format("{0}{1} += i{2};\n", pad(indent + 1), variables_[0].name, number);
  text += block(depth - 1, indent + 1);
  --inside_loops_;
  in_switch_ = outer_switch;
  return text + pad(indent) + "}\n";
}

std::string Generator::branch(int depth, int indent) {
  std::string text = fmt::format("if ({}) {{\n{}{}}}", condition(2), block(depth - 1, indent + 1), pad(indent));
  if (random_.one_in(2)) text += fmt::format(" else {{\n{}{}}}", block(depth - 1, indent + 1), pad(indent));
  return text + "\n";
}

std::string Generator::selection(int depth, int indent) {
  bool const outer = in_switch_;
  in_switch_ = true;
  std::string text = fmt::format("switch ({} & {}u) {{\n", expr(uint_type, 2), random_.one_in(2) ? 3 : 7);
  unsigned const cases = 2 + random_.below(4);
  for (unsigned c = 0; c < cases; ++c) {
    text += fmt::format("{}case {}: {{\n{}{}}}", pad(indent), c, block(depth - 1, indent + 1), pad(indent));
    text += random_.one_in(4) ? "\n" : " break;\n";
  }
  if (random_.one_in(2))
    text += fmt::format("{}default: {{\n{}{}}}\n", pad(indent), block(depth - 1, indent + 1), pad(indent));
  in_switch_ = outer;
  return text + pad(indent) + "}\n";
}

std::string Generator::atomic() {
  static constexpr std::array<std::string_view, 6> names{"add", "min", "max", "and", "or", "xor"};
  unsigned const which = random_.below(6);
  return fmt::format("atomic_{}(sums + {} + (({}) & 7), {});\n", names[which], 8 * which, expr(uint_type, 1),
                     expr(uint_type, 2));
}

// Every work-item passes here: each stores, and reads what another one stored.
std::string Generator::exchange() {
  Variable const* const v = variable(uint_type);
  std::string const to = v ? v->name : "v->array[3]";
  if (random_.one_in(3)) {
    static constexpr std::array<std::string_view, 4> names{"add", "max", "or", "xor"};
    return fmt::format(
        "shared[lid] = lid;\n  barrier(CLK_LOCAL_MEM_FENCE);\n  atomic_{}(shared + (({}) & 15), {});\n"
        "  barrier(CLK_LOCAL_MEM_FENCE);\n  {} = shared[({}) % {}u];\n  barrier(CLK_LOCAL_MEM_FENCE);\n",
        names[random_.below(4)], expr(uint_type, 1), expr(uint_type, 2), to, expr(uint_type, 1), group_items);
  }
  if (random_.one_in(4))
    return fmt::format(
        "for (uint s = {0}u; s > 0; s /= 2) {{\n    shared[lid] = {1};\n    barrier(CLK_LOCAL_MEM_FENCE);\n"
        "    {1} += shared[(lid + s) % {0}u];\n    barrier(CLK_LOCAL_MEM_FENCE);\n  }}\n",
        group_items, to);
  return fmt::format(
      "shared[lid] = {};\n  barrier(CLK_LOCAL_MEM_FENCE);\n  {} = shared[({}) % {}u];\n"
      "  barrier(CLK_LOCAL_MEM_FENCE);\n",
      expr(uint_type, 2), to, expr(uint_type, 1), group_items);
}

std::string Generator::statement(int depth, int indent) {
  unsigned const draw = random_.below(20);
  if (depth > 0 && draw < 3) return loop(depth, indent);
  if (depth > 0 && draw < 6) return branch(depth, indent);
  if (depth > 0 && draw < 8) return selection(depth, indent);
  if (inside_loops_ > 0 && !in_switch_ && draw < 9)
    return fmt::format("if ({}) {};\n", condition(1), random_.one_in(2) ? "break" : "continue");
  if (!in_function_ && draw < 11) return atomic();
  if (may_return_ && draw < 12)
    return in_function_ ? fmt::format("if ({}) return {};\n", condition(1), expr(uint_type, 1))
                        : fmt::format("if ({}) return;\n", condition(1));
  return assignment();
}

std::string Generator::block(int depth, int indent) {
  std::string text;
  for (unsigned n = 1 + random_.below(2); n > 0; --n) text += pad(indent) + statement(depth, indent);
  return text;
}

void Generator::helper() {
  std::string const name = fmt::format("f{:x}_{}", kernel_.seed, functions_.size());
  auto const outer = std::move(variables_);
  variables_ = {{"a", uint_type}, {"b", int_type}, {"c", random_type()}};
  in_function_ = may_return_ = true;
  std::string text =
      fmt::format("{}uint {}(uint a, int b) {{\n", random_.one_in(2) ? "__attribute__((noinline)) " : "", name);
  text += fmt::format("  {} c = {};\n", variables_[2].type.name(), literal(variables_[2].type));
  text += block(2, 1);
  text += fmt::format("  return {} ^ (uint)hash({});\n}}\n", expr(uint_type, 1), "c");
  in_function_ = may_return_ = false;
  variables_ = outer;
  functions_.push_back(name);
  kernel_.helpers += text;
}

Kernel Generator::run() {
  for (unsigned n = random_.below(2); n > 0; --n) helper();
  unsigned const count = 4 + random_.below(4);
  auto const declare = [this](Type t, std::string const& value) {
    std::string const name = fmt::format("v{}", variables_.size());
    kernel_.members += fmt::format("  {} {};\n", t.name(), name);
    kernel_.declarations += fmt::format("  v->{} = {};\n", name, value);
    variables_.push_back({"v->" + name, t});
  };
  declare(uint_type, "input[gid & 255]");
  for (unsigned i = 1; i < count; ++i) {
    Type const t = random_type();
    declare(t, expr(t, 2));
  }
  for (unsigned n = 1 + random_.below(2); n > 0; --n) {
    for (unsigned m = 1 + random_.below(2); m > 0; --m) kernel_.statements.push_back({"  " + statement(3, 1)});
    if (random_.one_in(2)) kernel_.statements.push_back({"  " + exchange(), true});
  }
  for (unsigned i = 0; i < count; ++i)
    kernel_.results += fmt::format("    result[{} * gid + {}] = hash(v->v{});\n", result_words, i, i);
  kernel_.results +=
      fmt::format("    result[{} * gid + {}] = v->array[0] + v->array[5] * 3ul PLANT;\n", result_words, count);
  // No barrier comes any more: work-items may leave.
  may_return_ = true;
  if (random_.one_in(2)) kernel_.statements.push_back({block(2, 1)});
  return std::move(kernel_);
}

}  // namespace

namespace {

// A function of the kernel with its wrapper, which copies the variables in and out.
std::string part(std::string const& kernel, std::string const& number, std::string const& text) {
  return fmt::format(
      "static __attribute__((always_inline)) void {0}_{1}_inside(struct {0}_variables* v, __global const uint* input, "
      "__global uint* sums, uint gid, uint lid, uint n) {{\n{2}}}\n"
      "PART {0}_{1}(__global struct {0}_variables* all, __global const uint* input, __global uint* sums, uint gid, "
      "uint lid, uint n) {{\n  struct {0}_variables variables = *all;\n"
      "  {0}_{1}_inside(&variables, input, sums, gid, lid, n);\n  *all = variables;\n}}\n",
      kernel, number, text);
}

// The kernel's functions, then what it does.
std::pair<std::string, std::string> text_of(Kernel const& kernel) {
  std::string const& name = kernel.name;
  std::string functions =
      fmt::format("struct {}_variables {{\n{}  uint array[8];\n}};\n{}", name, kernel.members, kernel.helpers);
  std::string const first =
      "  uint const values[8] = {gid, lid, n, 3, 4, 5, 6, 7};\n"
      "  for (int i = 0; i < 8; ++i) v->array[i] = values[i];\n" +
      kernel.declarations;
  functions += part(name, "first", first);
  std::string body = fmt::format(
      "    __global struct {0}_variables* v = (__global struct {0}_variables*)(memory + VARIABLE_BYTES * gid);\n"
      "    {0}_first(v, input, sums, gid, lid, n);\n    shared[lid] = 0;\n",
      name);
  for (std::size_t i = 0; i < kernel.statements.size(); ++i) {
    if (kernel.statements[i].with_barrier) {
      body += kernel.statements[i].text;
      continue;
    }
    functions += part(name, std::to_string(i), kernel.statements[i].text);
    body += fmt::format("    {}_{}(v, input, sums, gid, lid, n);\n", name, i);
  }
  return {functions, body + kernel.results};
}

std::string preamble() {
  std::string text = "#pragma OPENCL FP_CONTRACT OFF\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n";
  text += "#ifdef APART\n#define PART __attribute__((noinline)) void\n#else\n";
  text += "#define PART __attribute__((always_inline)) void\n#endif\n";
  text += "#ifdef PLANTED\n#define PLANT + (gid == 5)\n#else\n#define PLANT\n#endif\n";
  for (unsigned i = 0; i < integers; ++i) {
    auto const name = elements[i].name;
    text += fmt::format("{0} divide_{0}({0} a, {0} b) {{ return b == 0 || b == ({0})-1 ? a : ({0})(a / b); }}\n", name);
    text += fmt::format("{0} modulo_{0}({0} a, {0} b) {{ return b == 0 || b == ({0})-1 ? b : ({0})(a % b); }}\n", name);
  }
  for (auto const& e : elements) {
    bool const floating = e.kind == Kind::floating;
    text += fmt::format("ulong __attribute__((overloadable)) hash({} x) {{ return {}; }}\n", e.name,
                        floating ? fmt::format("isnan(x) ? 7ul : (ulong)as_{}(x)", e.other) : "(ulong)x");
    for (unsigned const width : {2u, 4u, 8u}) {
      text += fmt::format("ulong __attribute__((overloadable)) hash({}{} x) {{ ulong h = 0;", e.name, width);
      for (unsigned i = 0; i < width; ++i) text += fmt::format(" h = h * 31 + hash(x.s{});", i);
      text += " return h; }\n";
    }
  }
  return text;
}

}  // namespace

Kernel random_kernel(std::uint64_t seed) {
  return Generator(seed).run();
}

std::string source_of(std::vector<Kernel> const& kernels) {
  std::string functions = preamble() + fmt::format("#define VARIABLE_BYTES {}\n", variable_bytes);
  std::string all = fmt::format(
      "__kernel void everything(__global ulong* results, __global const uint* input, __global uint* all_sums, "
      "__global uchar* memory, uint n) {{\n"
      "  const uint gid = get_global_id(0), lid = get_local_id(0);\n  __local uint shared[{}];\n",
      group_items);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    auto const [before, body] = text_of(kernels[i]);
    functions += before;
    all += fmt::format(
        "  {{\n    __global ulong* result = results + {};\n    __global uint* sums = all_sums + {};\n{}  }}\n",
        i * result_words * group_items * groups, i * sum_words, body);
  }
  return functions + all + "}\n";
}

}  // namespace kernelcast::differential
