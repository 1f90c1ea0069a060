// The parser's insides: recursive descent over the tokens, one function per rule of the grammar.
// parser.cpp holds the module level, declarations.cpp variables and parameters, expressions.cpp constants and
// initialisers, body.cpp function bodies, operands.cpp operands, debug.cpp everything that serves a debugger.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/diag/diag.hpp"
#include "kernels/ptx/lexer.hpp"
#include "kernels/ptx/module.hpp"
#include "kernels/ptx/symbols.hpp"

namespace kernelcast::ptx {

// A folded constant. Integers keep their signedness, which decides /, %, >> and comparisons; reals are doubles until
// stored. A 0f constant keeps its bits.
struct Constant {
  enum class Kind : std::uint8_t { s64, u64, f64, f32_bits, f64_bits };
  Kind kind = Kind::s64;
  std::uint64_t bits = 0;
  double real = 0;

  bool is_integer() const { return kind == Kind::s64 || kind == Kind::u64; }
};

// What an operand is that is a symbol's name; a range of registers is none.
constexpr Operand::Kind operand_kind(Symbol::Kind kind) {
  using enum Operand::Kind;
  constexpr Operand::Kind kinds[] = {reg,      none,  variable,  variable, parameter, parameter,
                                     function, label, prototype, targets,  targets};
  return kinds[static_cast<std::size_t>(kind)];
}

class Parser {
 public:
  explicit Parser(Module& module);
  void run();

 private:
  // tokens
  void advance();
  Token peek() const;
  bool take(char punctuation);
  bool take_dot(std::string_view name);
  void expect(char punctuation, char const* after);
  std::string_view expect_word(char const* what);
  std::string_view expect_string(char const* what);
  [[noreturn]] void fail(std::string const& message, std::string hint = {}) const {
    fail_at(token_, message, std::move(hint));
  }
  [[noreturn]] void fail_at(Token const&, std::string const& message, std::string hint = {}) const;
  std::string shown(Token const&) const;
  TextPosition here() const { return {token_.line, token_.column}; }
  std::uint64_t slice(std::string_view words) const;

  // module level
  void header();
  void module_item();
  void target();
  void alias();
  void pragma();
  void function(Linkage, bool entry);
  std::uint32_t declare_function(Function&& signature, Token const& name);
  void performance_directive(Function&);
  bool at_performance_directive() const;

  // declarations
  void variables(Linkage);
  void variable_modifiers(Variable&);
  Variable one_variable(Variable const& common, Token& name);
  void numbered_variables(Variable const& first, Token name);
  void declare_variable(Variable&&, Token const& name);
  std::vector<Parameter> parameters(bool declare, bool results);
  Parameter parameter(bool declare, bool result, std::uint32_t index);
  void registers();
  std::vector<std::uint64_t> dimensions(bool& unsized);
  void attributes(std::vector<std::pair<std::string_view, std::uint64_t>>&);
  Type expect_type();
  std::uint64_t alignment();
  std::uint64_t checked_size(std::uint64_t element, std::vector<std::uint64_t> const& dims, Token const& at);

  // constants and initialisers
  Constant constant(unsigned precedence = 0);
  Constant unary();
  Constant primary();
  Constant binary(Token const& operation, Constant a, Constant b);
  std::uint64_t integer_constant(char const* what);  // any sign, two's complement
  std::uint64_t count_constant(char const* what, std::uint64_t most, bool whole_expression = true);
  Constant number(Token const&);
  Operand constant_operand(Constant const&, bool f32) const;
  struct Shape;
  void initializer(Variable&, std::vector<std::uint64_t> const& dims, bool unsized);
  std::uint64_t initializer_list(Variable&, Shape const&, std::size_t level, std::uint64_t offset);
  void initializer_value(Variable&, std::uint64_t offset, unsigned bytes);
  bool initializer_symbol(Variable&, Initializer&);
  void reference_attributes(Variable&);

  // function bodies
  void body(std::uint32_t function);
  void statement();
  void open_scope();
  void close_scope();
  void instruction(Guard);
  Guard guard();
  void label(Token const& name);
  void body_directive();
  void branch_targets(Token const& name);
  void call_targets(Token const& name);
  void call_prototype(Token const& name);

  // operands
  Operand operand();
  Operand named_operand();
  Operand second_destination(Operand);
  Operand negated_operand();
  Operand address_operand();
  Operand list_operand(char close, Operand::Kind);
  Operand resolve(Token const& name, bool may_be_label);
  void component(Operand&, Token const& name);
  void offset(Operand&);
  Operand indexed(Operand);
  Symbol const* find_symbol(std::string_view name);
  Operand special(Token const& name);
  [[noreturn]] void unknown_name(Token const& name) const;
  void forward(Token const& name, Operand&);

  // debugging
  void file();
  void loc();
  void section();
  void section_value();

  Module& module_;
  Lexer lexer_;
  Token token_;
  SymbolTable symbols_;
  SymbolTable prefixes_;  // of parameterised registers: a prefix may also be the name of something else
  unsigned depth_ = 0;    // of parentheses, braces and brackets

  // the function being parsed
  Function* function_ = nullptr;
  std::vector<RegisterRange> ranges_;
  bool nested_ranges_ = false;  // a range in an inner scope: names must be looked up twice
  SourcePosition source_;
  std::string_view fence_;      // a pragma, of the next barrier
  std::string_view wavefront_;  // of the next exchange among lanes
  Instruction* instruction_ = nullptr;
  bool f32_context_ = false, call_ = false;

  // A name that may be a label further down: bound when its scope closes.
  struct Forward {
    Token name;
    std::uint32_t instruction = 0, operand = 0;
    std::uint32_t target_list = 0;  // + 1 when it is element `operand` of a .branchtargets
  };
  std::vector<std::vector<Forward>> forwards_;  // by open scope of the body
  bool bind(Forward const&, std::uint32_t depth);

  struct Nesting {  // counts depth; throws when the text nests deeper than any compiler writes
    explicit Nesting(Parser& parser);
    ~Nesting() { --parser_.depth_; }
    Parser& parser_;
  };
};

}  // namespace kernelcast::ptx
