// Arrays of numbers as text: little-endian bytes in base64 (RFC 4648).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kernelcast::forest {

static_assert(std::endian::native == std::endian::little, "model files hold little-endian numbers");

namespace base64 {

inline constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

inline std::string encode(unsigned char const* bytes, std::size_t size) {
  std::string out;
  out.reserve((size + 2) / 3 * 4);
  for (std::size_t i = 0; i < size; i += 3) {
    std::size_t const have = std::min<std::size_t>(3, size - i);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < have ? bytes[i + k] : 0U);
    for (std::size_t k = 0; k < 4; ++k) out += k <= have ? letters[bits >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

// Empty for what is not base64.
inline std::optional<std::vector<unsigned char>> decode(std::string_view text) {
  static constexpr auto value_of = [] {
    std::array<std::int8_t, 256> table{};
    table.fill(-1);
    for (std::size_t i = 0; i < letters.size(); ++i)
      table[static_cast<unsigned char>(letters[i])] = static_cast<std::int8_t>(i);
    return table;
  }();
  if (text.size() % 4 != 0) return std::nullopt;
  std::size_t const padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  std::vector<unsigned char> out;
  out.reserve(text.size() / 4 * 3);
  for (std::size_t i = 0; i < text.size(); i += 4) {
    std::size_t const have = i + 4 == text.size() ? 4 - padding : 4;
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      int const value = k < have ? value_of[static_cast<unsigned char>(text[i + k])] : 0;
      if (value < 0) return std::nullopt;
      bits = bits << 6 | static_cast<std::uint32_t>(value);
    }
    for (std::size_t k = 0; k + 1 < have; ++k) out.push_back(static_cast<unsigned char>(bits >> (16 - 8 * k)));
  }
  return out;
}

}  // namespace base64

template <class T>
std::string packed(std::vector<T> const& values) {
  return base64::encode(reinterpret_cast<unsigned char const*>(values.data()), values.size() * sizeof(T));
}

// Empty when it is not base64 or no whole number of values.
template <class T>
std::optional<std::vector<T>> unpacked(std::string_view text) {
  auto const bytes = base64::decode(text);
  if (!bytes || bytes->size() % sizeof(T) != 0) return std::nullopt;
  std::vector<T> out(bytes->size() / sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), bytes->data(), bytes->size());
  return out;
}

}  // namespace kernelcast::forest
