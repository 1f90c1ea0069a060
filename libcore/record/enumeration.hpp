// Enumerations whose values have names in records.
//
// An enumeration gets its names beside it, in the order of its enumerators, which count from 0:
//
//   enum class Scope : std::uint8_t { group, wave };
//   template <>
//   inline constexpr std::array names_of<Scope>{std::string_view("group"), std::string_view("wave")};
//
// Header only, and on nothing else, so that every folder may have vocabulary of records.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace kernelcast::record {

template <class E>
inline constexpr auto names_of = nullptr;

template <class E>
concept Named = requires { names_of<E>.size(); };

template <Named E>
inline constexpr std::size_t count_of = names_of<E>.size();

template <Named E>
constexpr std::size_t index_of(E value) {
  return static_cast<std::size_t>(value);
}

template <Named E>
constexpr std::string_view name(E value) {
  return names_of<E>[index_of(value)];
}

// The value of this name; none where no value has it.
template <Named E>
constexpr std::optional<E> value_named(std::string_view text) {
  for (std::size_t i = 0; i < count_of<E>; ++i)
    if (names_of<E>[i] == text) return static_cast<E>(i);
  return std::nullopt;
}

// All values in their order.
template <Named E>
inline constexpr auto values_of = [] {
  std::array<E, count_of<E>> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<E>(i);
  return all;
}();

// A T for each value of E, or for its first `count`.
template <Named E, class T, std::size_t count = count_of<E>>
struct PerValue {
  std::array<T, count> all{};

  constexpr T& operator[](E value) { return all[index_of(value)]; }
  constexpr T const& operator[](E value) const { return all[index_of(value)]; }
  constexpr auto begin() { return all.begin(); }
  constexpr auto end() { return all.end(); }
  constexpr auto begin() const { return all.begin(); }
  constexpr auto end() const { return all.end(); }
  friend bool operator==(PerValue const&, PerValue const&) = default;
};

}  // namespace kernelcast::record
