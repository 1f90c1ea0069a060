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
#include <span>
#include <string>
#include <string_view>
#include <utility>

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

// How a column of records gets at an enumeration: the names, and a field of type E or std::optional<E>.
struct Enumeration {
  std::span<std::string_view const> names;
  void (*set)(void* field, std::size_t index);
  std::string_view (*get)(void const* field);  // the name; empty where an optional field is unset
};

template <class Field>
inline constexpr bool is_enumerated = Named<Field>;
template <Named E>
inline constexpr bool is_enumerated<std::optional<E>> = true;

template <Named E, class Field>
inline constexpr Enumeration enumeration_of{
    names_of<E>, [](void* field, std::size_t index) { *static_cast<Field*>(field) = static_cast<E>(index); },
    [](void const* field) -> std::string_view {
      if constexpr (Named<Field>)
        return name(*static_cast<Field const*>(field));
      else
        return *static_cast<Field const*>(field) ? name(**static_cast<Field const*>(field)) : std::string_view{};
    }};

// A name of E, or another: for columns that programs of others fill as well, whose names pass through.
template <Named E>
class OpenName {
 public:
  OpenName() = default;
  OpenName(E value) : text_(name(value)) {}  // NOLINT(google-explicit-constructor): every E is one
  explicit OpenName(std::string text) : text_(std::move(text)) {}

  std::string const& text() const { return text_; }
  bool empty() const { return text_.empty(); }

  friend bool operator==(OpenName const& a, E b) { return a.text_ == name(b); }
  friend bool operator==(OpenName const&, OpenName const&) = default;
  friend auto operator<=>(OpenName const&, OpenName const&) = default;

 private:
  std::string text_;  // alone: a column of records reads and writes it as text
};

template <class Field>
inline constexpr bool is_open_name = false;
template <Named E>
inline constexpr bool is_open_name<OpenName<E>> = true;

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
