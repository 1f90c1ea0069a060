#include "models/graph/expression.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/diag/diag.hpp"

namespace kernelcast::graph {

namespace {

using Op = Expression::Op;

constexpr std::array<std::pair<std::string_view, std::pair<Op, int>>, 6> functions{{{"min", {Op::min, 2}},
                                                                                    {"max", {Op::max, 2}},
                                                                                    {"ceil", {Op::ceil, 1}},
                                                                                    {"floor", {Op::floor, 1}},
                                                                                    {"sqrt", {Op::sqrt, 1}},
                                                                                    {"log2", {Op::log2, 1}}}};
constexpr int max_depth = 200;

// Recursive descent: sum, product, sign, power, atom.
class ExpressionParser {
 public:
  ExpressionParser(std::string_view text, std::span<std::string_view const> variables,
                   std::vector<Expression::Step>& code)
      : text_(text), variables_(variables), code_(code) {}

  void all() {
    sum();
    if (peek() != '\0') throw refuse("unexpected '" + std::string(1, peek()) + "'", "an operator or the end");
  }

 private:
  char peek() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  ExpressionError refuse(std::string message, std::string hint) const {
    return {at_, std::move(message), std::move(hint)};
  }
  void emit(Op op) { code_.push_back({op, 0, 0}); }

  void sum() {
    if (++depth_ > max_depth) throw refuse("too deeply nested", "fewer parentheses");
    product();
    for (;;) {
      if (take('+'))
        product(), emit(Op::add);
      else if (take('-'))
        product(), emit(Op::subtract);
      else
        break;
    }
    --depth_;
  }
  void product() {
    sign();
    for (;;) {
      if (take('*'))
        sign(), emit(Op::multiply);
      else if (take('/'))
        sign(), emit(Op::divide);
      else
        break;
    }
  }
  void sign() {
    bool negative = false;
    while (take('-')) negative = !negative;
    power();
    if (negative) emit(Op::negate);
  }
  void power() {
    atom();
    if (!take('^')) return;
    if (++depth_ > max_depth) throw refuse("too deeply nested", "fewer powers");
    sign();
    --depth_;
    emit(Op::power);
  }
  void atom() {
    char const c = peek();
    if (take('(')) {
      sum();
      if (!take(')')) throw refuse("a parenthesis is not closed", "add )");
    } else if ((c >= '0' && c <= '9') || c == '.') {
      double value = 0;
      auto const result = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
      if (result.ec != std::errc()) throw refuse("no number", "for example 4 or 0.25");
      at_ = static_cast<std::size_t>(result.ptr - text_.data());
      code_.push_back({Op::number, value, 0});
    } else if ((c >= 'a' && c <= 'z') || c == '_') {
      word();
    } else {
      throw refuse(c == '\0' ? "the expression ends too early" : fmt::format("unexpected '{}'", c),
                   "a number, a name or a parenthesis");
    }
  }
  void word() {
    std::size_t const begin = at_;
    while (at_ < text_.size() &&
           ((text_[at_] >= 'a' && text_[at_] <= 'z') || text_[at_] == '_' || (text_[at_] >= '0' && text_[at_] <= '9')))
      ++at_;
    auto const name = text_.substr(begin, at_ - begin);
    for (auto const& [function, what] : functions) {
      if (name != function) continue;
      if (!take('(')) throw refuse(fmt::format("{} needs its arguments", name), "in parentheses");
      for (int i = 0; i < what.second; ++i) {
        if (i > 0 && !take(','))
          throw refuse(fmt::format("{} has {} arguments", name, what.second), "separated by commas");
        sum();
      }
      if (!take(')'))
        throw refuse(fmt::format("{} has {} argument{}", name, what.second, what.second > 1 ? "s" : ""),
                     "close with )");
      return emit(what.first);
    }
    auto const found = std::find(variables_.begin(), variables_.end(), name);
    if (found == variables_.end()) {
      at_ = begin;
      std::vector<std::string> known(variables_.begin(), variables_.end());
      throw refuse(fmt::format("unknown name '{}'", name), did_you_mean(name, known, 20));
    }
    code_.push_back({Op::variable, 0, static_cast<std::size_t>(found - variables_.begin())});
  }

  std::string_view text_;
  std::span<std::string_view const> variables_;
  std::vector<Expression::Step>& code_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Expression::Expression(std::string_view text, std::span<std::string_view const> variables) {
  ExpressionParser(text, variables, code_).all();
}

double Expression::operator()(std::span<double const> values) const {
  std::vector<double> stack;
  auto const pop = [&] {
    double const value = stack.back();
    stack.pop_back();
    return value;
  };
  for (auto const& step : code_) {
    if (step.op == Op::number || step.op == Op::variable) {
      stack.push_back(step.op == Op::number ? step.number : values[step.variable]);
      continue;
    }
    double const right = pop();
    switch (step.op) {
      case Op::negate:
        stack.push_back(-right);
        continue;
      case Op::ceil:
        stack.push_back(std::ceil(right));
        continue;
      case Op::floor:
        stack.push_back(std::floor(right));
        continue;
      case Op::sqrt:
        stack.push_back(std::sqrt(right));
        continue;
      case Op::log2:
        stack.push_back(std::log2(right));
        continue;
      default:
        break;
    }
    double const left = pop();
    switch (step.op) {
      case Op::add:
        stack.push_back(left + right);
        break;
      case Op::subtract:
        stack.push_back(left - right);
        break;
      case Op::multiply:
        stack.push_back(left * right);
        break;
      case Op::divide:
        stack.push_back(left / right);
        break;
      case Op::power:
        stack.push_back(std::pow(left, right));
        break;
      case Op::min:
        stack.push_back(std::min(left, right));
        break;
      default:
        stack.push_back(std::max(left, right));
        break;
    }
  }
  return stack.empty() ? 0 : stack.back();
}

}  // namespace kernelcast::graph
