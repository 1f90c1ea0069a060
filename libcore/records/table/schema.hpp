// A record type, defined once.
//
// Problem: a CSV column's name, type, unit and meaning are needed by the writer, the parser, `--columns`, JSON, the
// table for people and the man page; written twice they drift apart.
// Method: a record is a plain struct R with `static Schema<R> const& schema()`, a list of columns built once. A column
// stores where its field lies inside R and of which type it is, so that one reader and one writer serve every record.
// Limits: a field has one of the types of FieldType (an enumeration has names, records/table/enumeration.hpp) and lies
// inside R itself (members and arrays; nothing behind a pointer).
//
//   struct Share {
//     std::string model, kernel, device;
//     double share = 0;
//     static Schema<Share> const& schema();
//   };
//   Schema<Share> const& Share::schema() {
//     static auto const schema = Schema<Share>("share", "how much of the work each device takes")
//         .column("model", &Share::model, Unit::none, "the model that made the projection")
//         …
//         .column("share", &Share::share, Unit::none, "part of the work, all devices together 1");
//     return schema;
//   }
// Columns that are alike are a family, see Schema::family.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iosfwd>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "records/table/enumeration.hpp"

namespace kernelcast::record {

enum class Unit { none, seconds, bytes, hertz, watts, joules, cycles, flop_per_s, bytes_per_s, percent, lanes, count };

// "s", "B", "Hz", "W", "J", "cycle", "flop/s", "B/s", "%"; "1" for none, lanes and count.
std::string_view symbol(Unit);
// The ending that a column with this unit has: "_s", "_bytes", …; empty where it needs none.
std::string_view suffix(Unit);

enum class FieldType { text, number, integer, boolean, optional_number, optional_integer, enumeration };

struct ColumnDefinition {
  std::string name;
  FieldType type = FieldType::text;
  Unit unit = Unit::none;
  std::string meaning;
  bool required = true;                      // an input without this column is refused
  bool may_be_empty = false;                 // an empty cell is read as "unknown", not refused
  std::vector<std::string> aliases;          // other names under which an input may have it
  std::size_t offset = 0;                    // of the field inside the record
  Enumeration const* enumeration = nullptr;  // of the type enumeration
  std::vector<std::string>
      values;          // of the type enumeration: the names that a cell may have; of text: those it has here
  std::string family;  // of a column that is one of many: what the manual says of all, "name\nmeaning"
};

// What the name of a family of columns varies in: `placeholder` stands for each of `values`, in the meaning for `words`
// (the same where there are none).
struct Axis {
  std::string placeholder;
  std::vector<std::string> values, words = {};
};
// Each of an enumeration's names that is chosen.
template <Named E>
Axis axis_of(std::string placeholder, bool (*chosen)(E)) {
  Axis axis{std::move(placeholder), {}};
  for (E const value : values_of<E>)
    if (chosen(value)) axis.values.emplace_back(name(value));
  return axis;
}

bool is_text(ColumnDefinition const&);                      // cells are words, without a unit
std::string one_of(std::vector<std::string> const& names);  // "a, b or c"
// The meaning, and the names that a cell may have.
std::string described(ColumnDefinition const&);

// What is common to the schemas of all records; the readers and writers work on this.
class Layout {
 public:
  std::string const& name() const { return name_; }
  std::string const& summary() const { return summary_; }
  int version() const { return version_; }  // raised when a column is renamed or changes its meaning
  std::vector<ColumnDefinition> const& columns() const { return columns_; }
  ColumnDefinition const* find(std::string_view column) const;
  std::vector<std::string> column_names() const;

 protected:
  Layout(std::string name, std::string summary) : name_(std::move(name)), summary_(std::move(summary)) {}
  void add(ColumnDefinition);  // throws std::logic_error for a name that is already there
  void enumerate(Enumeration const&);
  static std::string name_of(std::string pattern, std::vector<Axis> const&, std::vector<std::size_t> const& indices);
  static std::string meaning_of(std::string pattern, std::vector<Axis> const&, std::vector<std::size_t> const& indices);
  static std::string family_text(std::string const& name, std::vector<Axis> const&, std::string const& meaning);

  std::string name_;
  std::string summary_;
  int version_ = 1;
  std::vector<ColumnDefinition> columns_;
};

template <class T>
constexpr FieldType field_type() {
  if constexpr (std::same_as<T, std::string> || is_open_name<T>)
    return FieldType::text;
  else if constexpr (std::same_as<T, double>)
    return FieldType::number;
  else if constexpr (std::same_as<T, std::uint64_t>)
    return FieldType::integer;
  else if constexpr (std::same_as<T, bool>)
    return FieldType::boolean;
  else if constexpr (std::same_as<T, std::optional<double>>)
    return FieldType::optional_number;
  else if constexpr (std::same_as<T, std::optional<std::uint64_t>>)
    return FieldType::optional_integer;
  else if constexpr (is_enumerated<T>)
    return FieldType::enumeration;
  else
    static_assert(!sizeof(T), "a record field is a string, number, bool, enumeration or an optional of them");
}

template <class R>
class Schema : public Layout {
 public:
  explicit Schema(std::string name, std::string summary = {}) : Layout(std::move(name), std::move(summary)) {}

  // The same columns, of which an input may have any, and leave any empty: what is empty keeps its value.
  Schema with_all_optional() const {
    Schema out = *this;
    for (auto& column : out.columns_) column.required = false, column.may_be_empty = true;
    return out;
  }

  // `field` is a member pointer or a callable R& -> T&.
  template <class Field>
  Schema& column(std::string name, Field field, Unit unit, std::string meaning) {
    auto const prototype = std::make_unique<R>();
    auto& value = std::invoke(field, *prototype);
    using T = std::remove_cvref_t<decltype(value)>;
    auto const* const begin = reinterpret_cast<char const*>(prototype.get());
    auto const offset = reinterpret_cast<char const*>(&value) - begin;
    if (offset < 0 || static_cast<std::size_t>(offset) + sizeof(T) > sizeof(R))
      throw std::logic_error("column '" + name + "' lies outside its record");
    constexpr FieldType type = field_type<T>();
    constexpr bool is_optional = type == FieldType::optional_number || type == FieldType::optional_integer ||
                                 (type == FieldType::enumeration && !Named<T>);
    add({std::move(name),
         type,
         unit,
         std::move(meaning),
         true,
         is_optional,
         {},
         static_cast<std::size_t>(offset),
         nullptr,
         {},
         {}});
    if constexpr (Named<T>)
      enumerate(enumeration_of<T, T>);
    else if constexpr (type == FieldType::enumeration)
      enumerate(enumeration_of<typename T::value_type, T>);
    return *this;
  }

  // Like column, but an input may lack it; the field then keeps its default.
  template <class Field>
  Schema& optional_column(std::string name, Field field, Unit unit, std::string meaning) {
    column(std::move(name), field, unit, std::move(meaning));
    columns_.back().required = false;
    if (columns_.back().type == FieldType::text) columns_.back().may_be_empty = true;  // as it is without the column
    return *this;
  }

  // Columns named after a pattern, such as issues_CLASS_wN: of one axis or two, the last varies first. `field` is
  // called with the record and an index for each axis. The manual describes them together.
  template <class Field>
  Schema& family(std::string const& name, std::vector<Axis> const& axes, Field field, Unit unit,
                 std::string const& meaning) {
    for (std::size_t i = 0; i < axes[0].values.size(); ++i)
      if constexpr (std::invocable<Field, R&, std::size_t>) {
        column(
            name_of(name, axes, {i}), [&](R& r) -> auto& { return field(r, i); }, unit, meaning_of(meaning, axes, {i}));
        columns_.back().family = family_text(name, axes, meaning);
      } else {
        for (std::size_t j = 0; j < axes[1].values.size(); ++j) {
          column(
              name_of(name, axes, {i, j}), [&](R& r) -> auto& { return field(r, i, j); }, unit,
              meaning_of(meaning, axes, {i, j}));
          columns_.back().family = family_text(name, axes, meaning);
        }
      }
    return *this;
  }

  // The columns from this one on are optional.
  Schema& may_be_missing(std::size_t first) {
    for (auto i = first; i < columns_.size(); ++i) columns_[i].required = false;
    return *this;
  }

  // These change the column added last.
  template <Named E>
  Schema& among(std::span<E const> values) {  // only these of the names
    columns_.back().values.clear();
    for (E const value : values) columns_.back().values.emplace_back(record::name(value));
    return *this;
  }
  template <Named E>
  Schema& among(std::initializer_list<E> values) {
    return among(std::span<E const>(values.begin(), values.size()));
  }
  Schema& may_be_empty() {
    columns_.back().may_be_empty = true;
    return *this;
  }
  Schema& accepts(std::string alias) {
    columns_.back().aliases.push_back(std::move(alias));
    return *this;
  }

  Schema& version(int number) {
    version_ = number;
    return *this;
  }
  using Layout::version;
};

// For --columns: CSV with the columns record,name,unit,required,meaning.
void describe(std::ostream&, std::vector<Layout const*> const&);
template <class R>
void describe(std::ostream& out) {
  describe(out, {&R::schema()});
}

// The columns as scdoc, for the man page.
void describe_scdoc(std::ostream&, Layout const&);
std::string scdoc_escaped(std::string_view text);

// In quotes, as JSON has a string.
std::string json_string(std::string_view text);

}  // namespace kernelcast::record
