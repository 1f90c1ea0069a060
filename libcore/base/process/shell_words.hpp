// A command line in one string, as a shell splits it: blanks part, quotes and backslashes protect. Nothing is expanded.
// And words as a shell takes them.
// Alone in a header, so that libraries inside of other people's programs need nothing more of this folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kernelcast {

inline std::vector<std::string> shell_words(std::string_view text) {
  std::vector<std::string> out;
  bool in_word = false;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char const c = text[i];
    if (!quote && (c == ' ' || c == '\t' || c == '\n' || c == '\r')) {
      in_word = false;
      continue;
    }
    if (!in_word) out.emplace_back();
    in_word = true;
    if (quote ? c == quote : (c == '"' || c == '\''))
      quote = quote ? 0 : c;
    else if (c == '\\' && quote != '\'' && i + 1 < text.size())
      out.back() += text[++i];
    else
      out.back() += c;
  }
  return out;
}

// In single quotes.
inline std::string in_single_quotes(std::string_view text) {
  std::string out = "'";
  for (char const c : text)
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  return out + "'";
}

// In quotes where it needs them.
inline std::string shell_word(std::string_view word) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";
  bool const is_plain = !word.empty() && word.find_first_not_of(plain) == std::string_view::npos;
  return is_plain ? std::string(word) : in_single_quotes(word);
}

}  // namespace kernelcast
