// Arithmetic in the text of an application file: "4 * rows * n".
//
// Numbers, named variables, + - * / ^ (right to left), parentheses, and min, max, ceil, floor, sqrt, log2. Parsed once,
// evaluated with a value for each variable.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kernelcast::graph {

class Expression {
 public:
  Expression() = default;  // 0
  // Throws ExpressionError for anything that cannot be parsed and for names not among the variables.
  Expression(std::string_view text, std::span<std::string_view const> variables);

  // `values` in the order of the variables.
  double operator()(std::span<double const> values) const;
  bool empty() const { return code_.empty(); }

  enum class Op : std::uint8_t {
    number,
    variable,
    add,
    subtract,
    multiply,
    divide,
    power,
    negate,
    min,
    max,
    ceil,
    floor,
    sqrt,
    log2
  };
  struct Step {
    Op op;
    double number;
    std::size_t variable;
  };

 private:
  std::vector<Step> code_;  // in postfix order
};

struct ExpressionError {
  std::size_t column;  // from 0, in the text
  std::string message, hint;
};

}  // namespace kernelcast::graph
