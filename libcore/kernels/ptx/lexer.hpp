// PTX text to tokens. One pass over the bytes with a table of character classes; no allocation, no look-ahead buffer:
// a Lexer is a few words, so a copy of it is a saved position.
//
// `.name` is one token (directives, types, modifiers, components), with its `::name` parts: `.shared::cta`.
#pragma once

#include <cstdint>
#include <string_view>

#include "kernels/ptx/module.hpp"

namespace kernelcast::ptx {

struct Token {
  enum class Kind : std::uint8_t {
    end,
    word,
    dot_word,
    integer,
    real,
    real32,
    real64,
    string,
    punctuation,
    invalid,  // `text` begins at the offending character
  };
  Kind kind = Kind::end;
  char mark = 0;          // punctuation: the character; l << , r >> , L <= , R >= , e == , n != , A && , O ||
  std::string_view text;  // dot_word: without the dot; string: without the quotes
  std::uint32_t line = 1, column = 1;
  char const* problem = nullptr;  // invalid: what is wrong

  bool is(char punctuation) const { return mark == punctuation; }
  bool is_word() const { return kind == Kind::word; }
  bool is_dot(std::string_view name) const { return kind == Kind::dot_word && text == name; }
};

class Lexer {
 public:
  explicit Lexer(std::string_view text)
      : begin_(text.data()), at_(text.data()), end_(at_ + text.size()), line_begin_(at_) {}
  Token next();

 private:
  bool skip_blanks();  // false: `problem_` says what is wrong
  Token number(Token token);
  Token punctuation(Token token);
  Token invalid(Token token, char const* problem);

  char const* begin_;
  char const* at_;
  char const* end_;
  char const* line_begin_;
  std::uint32_t line_ = 1;
};

}  // namespace kernelcast::ptx
