// Pieces of text: expressions, ${…}, sizes, groups, buffer files.

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>

#include <fmt/format.h>

#include "base/diag/text.hpp"
#include "emulator/launch/launch.hpp"

namespace kernelcast::launch {

Error refuse(Text const& text, std::string const& message, std::string hint) {
  if (text.where.line == 0) return Error(Status::usage, text.where, message, std::move(hint));
  return Error(Status::bad_data, text.where, message, std::move(hint), text.line);
}

namespace {

constexpr std::size_t max_text_bytes = std::size_t{16} << 20;

// Recursive descent, one function per level of precedence.
class Evaluator {
 public:
  Evaluator(std::string_view text, Variables const& variables, Text const& place)
      : text_(text), variables_(variables), place_(place) {}

  std::int64_t all() {
    std::int64_t const value = either();
    if (skip_blanks(); at_ < text_.size()) fail(fmt::format("unexpected '{}'", text_.substr(at_)));
    return value;
  }

 private:
  using Integer = std::int64_t;

  [[noreturn]] void fail(std::string const& what) const {
    throw refuse(place_, fmt::format("expression '{}': {}", text_, what),
                 "integers, parameters, variables of `for`, + - * / % << >> & | ^, comparisons, && || and parentheses");
  }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(std::string_view sign) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(sign)) return false;
    at_ += sign.size();
    return true;
  }

  // A sign of one character that does not begin a longer one.
  bool take_single(char sign) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != sign) return false;
    char const next = at_ + 1 < text_.size() ? text_[at_ + 1] : ' ';
    if (next == sign || ((sign == '<' || sign == '>') && next == '=')) return false;
    ++at_;
    return true;
  }

  // As in C, but that both sides are evaluated.
  Integer either() {
    Integer left = both();
    while (take("||")) {
      Integer const right = both();
      left = left != 0 || right != 0;
    }
    return left;
  }
  Integer both() {
    Integer left = bits(0);
    while (take("&&")) {
      Integer const right = bits(0);
      left = left != 0 && right != 0;
    }
    return left;
  }
  Integer equal() {
    Integer left = ordered();
    for (;;) {
      bool const same = take("==");
      if (!same && !take("!=")) return left;
      left = (left == ordered()) == same;
    }
  }
  Integer ordered() {
    Integer left = shift();
    for (;;) {
      if (take("<="))
        left = left <= shift();
      else if (take(">="))
        left = left >= shift();
      else if (take_single('<'))
        left = left < shift();
      else if (take_single('>'))
        left = left > shift();
      else
        return left;
    }
  }

  // |, ^, & from loose to tight.
  Integer bits(unsigned level) {
    static constexpr char signs[] = {'|', '^', '&'};
    if (level == 3) return equal();
    Integer left = bits(level + 1);
    while (take_single(signs[level])) {
      Integer const right = bits(level + 1);
      left = level == 0 ? left | right : level == 1 ? left ^ right : left & right;
    }
    return left;
  }

  Integer shift() {
    Integer left = sum();
    for (;;) {
      bool const up = take("<<");
      if (!up && !take(">>")) return left;
      Integer const by = sum();
      if (by < 0 || by > 62) fail(fmt::format("shift by {}", by));
      if (!up)
        left >>= by;
      else if (__builtin_mul_overflow(left, Integer{1} << by, &left))
        fail("the value does not fit in 64 bits");
    }
  }

  Integer sum() {
    Integer left = product();
    for (;;) {
      if (take("+")) {
        if (__builtin_add_overflow(left, product(), &left)) fail("the value does not fit in 64 bits");
      } else if (take("-")) {
        if (__builtin_sub_overflow(left, product(), &left)) fail("the value does not fit in 64 bits");
      } else {
        return left;
      }
    }
  }

  Integer product() {
    Integer left = unary();
    for (;;) {
      if (take("*")) {
        if (__builtin_mul_overflow(left, unary(), &left)) fail("the value does not fit in 64 bits");
        continue;
      }
      bool const divide = take("/");
      if (!divide && !take("%")) return left;
      Integer const right = unary();
      if (right == 0) fail("division by zero");
      if (right == -1 && left == std::numeric_limits<Integer>::min()) fail("the value does not fit in 64 bits");
      left = divide ? left / right : left % right;
    }
  }

  Integer unary() {
    if (++depth_ > 100) fail("nested too deeply");
    Integer value = 0;
    if (take("-")) {
      if (__builtin_sub_overflow(Integer{0}, unary(), &value)) fail("the value does not fit in 64 bits");
    } else if (take("(")) {
      value = either();
      if (!take(")")) fail("a ')' is missing");
    } else {
      value = atom();
    }
    --depth_;
    return value;
  }

  Integer atom() {
    skip_blanks();
    auto const is_name = [](char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
    auto const is_digit = [](char c) { return c >= '0' && c <= '9'; };
    std::size_t end = at_;
    while (end < text_.size() && (is_name(text_[end]) || is_digit(text_[end]))) ++end;
    std::string_view const word = text_.substr(at_, end - at_);
    if (word.empty())
      fail(at_ < text_.size() ? fmt::format("unexpected '{}'", text_.substr(at_)) : "it ends too early");
    at_ = end;
    if (is_digit(word.front())) {
      bool const hex = word.starts_with("0x") || word.starts_with("0X");
      Integer value = 0;
      auto const digits = hex ? word.substr(2) : word;
      auto const [stop, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
      if (code == std::errc::result_out_of_range) fail(fmt::format("{} does not fit in 64 bits", word));
      if (code != std::errc() || stop != digits.data() + digits.size()) fail(fmt::format("'{}' is not a number", word));
      return value;
    }
    auto const found = variables_.find(word);
    if (found != variables_.end()) {
      if (auto const* const integer = std::get_if<Integer>(&found->second)) return *integer;
      fail(fmt::format("'{}' is not an integer", word));
    }
    std::vector<std::string> names;
    for (auto const& [name, value] : variables_) names.push_back(name);
    throw refuse(place_, fmt::format("expression '{}': unknown variable '{}'", text_, word),
                 names.empty()
                     ? "variables are declared by `for = { k = [0, 10] }`, parameters by [parameters]; texts have ${k}"
                     : did_you_mean(word, names));
  }

  std::string_view text_;
  Variables const& variables_;
  Text const& place_;
  std::size_t at_ = 0;
  unsigned depth_ = 0;
};

BufferFile parse_buffer_file(std::string const& text, std::string_view option, std::string_view form) {
  auto const equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw Error(Status::usage, fmt::format("{}: '{}' is not {}", option, text, form),
                "N is a buffer's number, counted from 0, or its name in the launch file or the kernel");
  return {text.substr(0, equals), text.substr(equals + 1), 0, fmt::format("{} {}", option, text)};
}

}  // namespace

std::int64_t evaluate(std::string_view expression, Variables const& variables, Text const& place) {
  return Evaluator(expression, variables, place).all();
}

Text substitute(Text const& text, Variables const& variables) {
  Text result{{}, text.where, text.line};
  std::string_view rest = text.text;
  for (;;) {
    auto const begin = rest.find("${");
    result.text += rest.substr(0, begin);
    if (begin == std::string_view::npos) return result;
    auto const end = rest.find('}', begin);
    if (end == std::string_view::npos)
      throw refuse(text, fmt::format("'{}': ${{ without }}", text.text), "write ${k} or ${1 << k}");
    auto const inside = rest.substr(begin + 2, end - begin - 2);
    if (auto const named = variables.find(inside); named != variables.end())
      std::visit([&](auto const& value) { fmt::format_to(std::back_inserter(result.text), "{}", value); },
                 named->second);
    else
      result.text += std::to_string(evaluate(inside, variables, text));
    if (result.text.size() > max_text_bytes)
      throw refuse(text, fmt::format("${{…}} makes more than {} MiB", max_text_bytes >> 20), "shorten the parameters");
    rest.remove_prefix(end + 1);
  }
}

Size parse_size(Text const& text, std::uint32_t least) {
  Size size;
  std::uint32_t* const parts[] = {&size.size.x, &size.size.y, &size.size.z};
  auto const wrong = [&](std::string const& why) {
    return refuse(text, fmt::format("size '{}': {}", text.text, why),
                  fmt::format("one to three numbers from {}, such as 1024,16", least));
  };
  for (auto const side : split(text.text, ',')) {
    if (size.dimensions == 3) throw wrong("more than three dimensions");
    std::int64_t const value = evaluate(side, {}, text);
    if (value < least || value > std::numeric_limits<std::uint32_t>::max())
      throw wrong(fmt::format("{} is out of range", value));
    *parts[size.dimensions++] = static_cast<std::uint32_t>(value);
  }
  return size;
}

GroupChoice parse_groups(std::string_view text) {
  using enum GroupChoice::Kind;
  if (text == "spread") return {spread};
  if (text == "first") return {even, 1};
  if (text == "all") return {all};
  bool const resident = text.starts_with("resident:");
  std::string_view const number = resident ? text.substr(text.find(':') + 1) : text;
  auto const count = to_number<std::uint64_t>(number);
  if (count.value_or(0) == 0)
    throw Error(Status::usage,
                fmt::format("--groups: '{}' is not spread, first, all, resident:N or a number from 1", text),
                did_you_mean(text, {"spread", "first", "all", "resident:8"}));
  return {resident ? neighbours : even, *count};
}

std::string text_of(GroupChoice const& choice) {
  switch (choice.kind) {
    case GroupChoice::Kind::all:
      return "all";
    case GroupChoice::Kind::neighbours:
      return fmt::format("resident:{}", choice.count);
    case GroupChoice::Kind::even:
      return fmt::format("{}", choice.count);
    case GroupChoice::Kind::spread:
    case GroupChoice::Kind::only:
      break;
  }
  return "spread";
}

std::vector<std::uint64_t> choose_groups(GroupChoice const& choice, std::uint64_t total) {
  using enum GroupChoice::Kind;
  if (choice.kind == only) {
    auto groups = choice.only;
    std::erase_if(groups, [total](std::uint64_t group) { return group >= total; });
    return groups;
  }
  std::uint64_t const count = choice.kind == all ? total : std::min(choice.count, total);
  std::vector<std::uint64_t> groups(count);
  // floor(i · total / count).
  for (std::uint64_t i = 0; i < count; ++i)
    groups[i] = choice.kind == neighbours ? i : total / count * i + (total % count) * i / count;
  return groups;
}

BufferFile parse_dump(std::string const& text) {
  return parse_buffer_file(text, "--dump", "N=FILE");
}

BufferFile parse_check(std::string const& text) {
  BufferFile check = parse_buffer_file(text, "--check", "N=FILE or N=FILE:tolerance");
  auto const colon = check.path.rfind(':');
  if (colon == std::string::npos || colon == 0) return check;
  auto const tolerance = to_number<double>(std::string_view(check.path).substr(colon + 1));
  if (!tolerance) return check;  // a colon of the file's name
  if (!(*tolerance >= 0) || !std::isfinite(*tolerance))
    throw Error(Status::usage, fmt::format("{}: the tolerance is not a number from 0", check.text),
                "write for example --check 2=expected.bin:1e-5");
  check.tolerance = *tolerance;
  check.path.resize(colon);
  return check;
}

}  // namespace kernelcast::launch
