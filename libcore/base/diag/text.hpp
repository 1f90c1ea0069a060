// Pieces of a text: its parts, what blanks surround, and a number that is all there is.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

namespace kernelcast {

// Empty where the text has something before or after the number, or T cannot hold it. `base`: of integers.
template <class T, class... Base>
std::optional<T> to_number(std::string_view text, Base... base) {
  T value{};
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base...);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

// One part more than there are separators.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    auto const at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

// The names of a list, each but the last with a ; behind it.
inline std::vector<std::string_view> listed(std::string_view list) {
  auto names = split(list, ';');
  if (names.back().empty()) names.pop_back();
  return names;
}

// Without the blanks and line ends around it.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  auto const begin = text.find_first_not_of(blanks);
  return begin == std::string_view::npos ? text.substr(text.size())
                                         : text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

}  // namespace kernelcast
