#include "kernels/ptx/lexer.hpp"

#include <array>
#include <cstring>

namespace kernelcast::ptx {

namespace {

enum : std::uint8_t { letter = 1, digit = 2, name_begin = 4, blank = 8, hex = 16, name_rest = letter | digit | 32 };

constexpr std::array<std::uint8_t, 256> classes = [] {
  std::array<std::uint8_t, 256> table{};
  for (int c = 'a'; c <= 'z'; ++c) table[c] = table[c - 32] = letter | name_begin;
  for (int c = '0'; c <= '9'; ++c) table[c] = digit | hex;
  for (int c = 'a'; c <= 'f'; ++c) table[c] |= hex, table[c - 32] |= hex;
  table['_'] = table['$'] = name_begin | 32;
  table['%'] = name_begin;
  for (char c : {' ', '\t', '\r', '\v', '\f'}) table[static_cast<unsigned char>(c)] = blank;
  return table;
}();

bool is(char c, std::uint8_t set) {
  return classes[static_cast<unsigned char>(c)] & set;
}

}  // namespace

Token Lexer::invalid(Token token, char const* problem) {
  token.kind = Token::Kind::invalid;
  token.problem = problem;
  token.text = {at_, at_ < end_ ? std::size_t{1} : 0};
  at_ = end_;  // nothing after it would make sense
  return token;
}

bool Lexer::skip_blanks() {
  while (at_ < end_) {
    char const c = *at_;
    if (is(c, blank)) {
      ++at_;
    } else if (c == '\n') {
      line_begin_ = ++at_;
      ++line_;
    } else if (c == '/' && at_ + 1 < end_ && at_[1] == '/') {
      auto const* stop = static_cast<char const*>(std::memchr(at_, '\n', end_ - at_));
      at_ = stop ? stop : end_;
    } else if (c == '/' && at_ + 1 < end_ && at_[1] == '*') {
      char const* stop = at_ + 2;
      while (stop + 1 < end_ && !(stop[0] == '*' && stop[1] == '/')) ++stop;
      if (stop + 1 >= end_) return false;
      for (char const* p = at_; p < stop; ++p)
        if (*p == '\n') line_begin_ = p + 1, ++line_;
      at_ = stop + 2;
    } else if (c == '#' || (c == '@' && end_ - at_ >= 7 && std::memcmp(at_, "@@DWARF", 7) == 0)) {
      // Preprocessor lines, and the debug lines of PTX 1.x and 2.x, stand alone on a line.
      for (char const* p = line_begin_; p < at_; ++p)
        if (!is(*p, blank)) return true;
      auto const* stop = static_cast<char const*>(std::memchr(at_, '\n', end_ - at_));
      at_ = stop ? stop : end_;
    } else {
      break;
    }
  }
  return true;
}

Token Lexer::next() {
  bool const blanks_end = skip_blanks();
  Token token;
  token.line = line_;
  token.column = static_cast<std::uint32_t>(at_ - line_begin_) + 1;
  if (!blanks_end) return invalid(token, "this comment has no end");
  if (at_ == end_) {
    token.text = {at_, at_};
    return token;
  }
  char const c = *at_;
  char const* begin = at_;
  if (is(c, name_begin)) {
    do ++at_;
    while (at_ < end_ && is(*at_, name_rest));
    if (c == '%' && at_ - begin == 1)
      return token.mark = '%', token.kind = Token::Kind::punctuation, token.text = {begin, 1}, token;
    token.kind = Token::Kind::word;
    token.text = {begin, static_cast<std::size_t>(at_ - begin)};
    return token;
  }
  if (is(c, digit)) return number(token);
  if (c == '.' && at_ + 1 < end_ && is(at_[1], name_rest)) {
    ++at_;
    while (at_ < end_) {
      if (is(*at_, name_rest))
        ++at_;
      else if (end_ - at_ > 2 && at_[0] == ':' && at_[1] == ':' && is(at_[2], name_rest))
        at_ += 2;
      else
        break;
    }
    token.kind = Token::Kind::dot_word;
    token.text = {begin + 1, static_cast<std::size_t>(at_ - begin - 1)};
    return token;
  }
  if (c == '"') {
    char const* stop = at_ + 1;
    while (stop < end_ && *stop != '"' && *stop != '\n')
      stop += *stop == '\\' && stop + 1 < end_ && stop[1] != '\n' ? 2 : 1;
    if (stop >= end_ || *stop != '"') return invalid(token, "this string has no end on its line");
    token.kind = Token::Kind::string;
    token.text = {begin + 1, static_cast<std::size_t>(stop - begin - 1)};
    at_ = stop + 1;
    return token;
  }
  return punctuation(token);
}

Token Lexer::number(Token token) {
  char const* begin = at_;
  auto const run = [this](std::uint8_t set) {
    char const* from = at_;
    while (at_ < end_ && is(*at_, set)) ++at_;
    return at_ - from;
  };
  token.kind = Token::Kind::integer;
  char const kind = *at_ == '0' && at_ + 1 < end_ ? static_cast<char>(at_[1] | 0x20) : '\0';
  if (kind == 'f' || kind == 'd') {
    at_ += 2;
    auto const digits = run(hex);
    if (digits != (kind == 'f' ? 8 : 16))
      return at_ = begin, invalid(token, kind == 'f' ? "0f must be followed by 8 hexadecimal digits"
                                                     : "0d must be followed by 16 hexadecimal digits");
    token.kind = kind == 'f' ? Token::Kind::real32 : Token::Kind::real64;
  } else if (kind == 'x' || kind == 'b') {
    at_ += 2;
    if (run(kind == 'x' ? hex : digit) == 0) return at_ = begin, invalid(token, "this number has no digits");
  } else {
    run(digit);
    if (at_ < end_ && *at_ == '.' && !(at_ + 1 < end_ && is(at_[1], name_begin) && (at_[1] | 0x20) != 'e')) {
      ++at_;
      run(digit);
      token.kind = Token::Kind::real;
    }
    if (at_ < end_ && (*at_ | 0x20) == 'e') {
      ++at_;
      if (at_ < end_ && (*at_ == '+' || *at_ == '-')) ++at_;
      if (run(digit) == 0) return at_ = begin, invalid(token, "this number's exponent has no digits");
      token.kind = Token::Kind::real;
    }
  }
  token.text = {begin, static_cast<std::size_t>(at_ - begin)};
  if (token.kind == Token::Kind::integer && at_ < end_ && *at_ == 'U') ++at_;
  if (token.kind == Token::Kind::integer && at_[-1] == 'U') token.text = {begin, static_cast<std::size_t>(at_ - begin)};
  if (at_ < end_ && is(*at_, name_rest)) return invalid(token, "this character cannot follow a number");
  return token;
}

Token Lexer::punctuation(Token token) {
  char const c = *at_;
  char const second = at_ + 1 < end_ ? at_[1] : '\0';
  token.kind = Token::Kind::punctuation;
  token.mark = c;
  std::size_t length = 1;
  auto const pair = [&](char follows, char mark) {
    if (second == follows) token.mark = mark, length = 2;
  };
  switch (c) {
    case '<':
      second == '<' ? pair('<', 'l') : pair('=', 'L');
      break;
    case '>':
      second == '>' ? pair('>', 'r') : pair('=', 'R');
      break;
    case '=':
      pair('=', 'e');
      break;
    case '!':
      pair('=', 'n');
      break;
    case '&':
      pair('&', 'A');
      break;
    case '|':
      pair('|', 'O');
      break;
    case '(':
    case ')':
    case '[':
    case ']':
    case '{':
    case '}':
    case ',':
    case ';':
    case ':':
    case '+':
    case '-':
    case '*':
    case '/':
    case '~':
    case '^':
    case '?':
    case '@':
    case '.':
      break;
    default:
      return invalid(token, "this character means nothing in PTX");
  }
  token.text = {at_, length};
  at_ += length;
  return token;
}

}  // namespace kernelcast::ptx
