#include "records/table/schema.hpp"

#include <ostream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/csv/csv.hpp"

namespace kernelcast::record {

namespace {

struct UnitFacts {
  std::string_view symbol, suffix;
};

UnitFacts facts_of(Unit unit) {
  switch (unit) {
    case Unit::seconds:
      return {"s", "_s"};
    case Unit::bytes:
      return {"B", "_bytes"};
    case Unit::hertz:
      return {"Hz", "_hz"};
    case Unit::watts:
      return {"W", "_w"};
    case Unit::joules:
      return {"J", "_j"};
    case Unit::cycles:
      return {"cycle", "_cycles"};
    case Unit::flop_per_s:
      return {"flop/s", "_flop_per_s"};
    case Unit::bytes_per_s:
      return {"B/s", "_bytes_per_s"};
    case Unit::percent:
      return {"%", "_pct"};
    case Unit::none:
    case Unit::lanes:
    case Unit::count:
      break;
  }
  return {"1", ""};
}

}  // namespace

std::string_view symbol(Unit unit) {
  return facts_of(unit).symbol;
}

std::string_view suffix(Unit unit) {
  return facts_of(unit).suffix;
}

ColumnDefinition const* Layout::find(std::string_view column) const {
  for (auto const& definition : columns_)
    if (definition.name == column) return &definition;
  return nullptr;
}

std::vector<std::string> Layout::column_names() const {
  std::vector<std::string> names;
  for (auto const& definition : columns_) names.push_back(definition.name);
  return names;
}

void Layout::add(ColumnDefinition definition) {
  if (find(definition.name)) throw std::logic_error("record " + name_ + " has two columns '" + definition.name + "'");
  columns_.push_back(std::move(definition));
}

void Layout::enumerate(Enumeration const& enumeration) {
  auto& column = columns_.back();
  column.enumeration = &enumeration;
  column.values.assign(enumeration.names.begin(), enumeration.names.end());
}

namespace {

// In place of a placeholder, which is not part of a longer one.
void put(std::string& pattern, std::string_view placeholder, std::string_view value) {
  auto const is_capital = [&](std::size_t i) { return i < pattern.size() && pattern[i] >= 'A' && pattern[i] <= 'Z'; };
  for (auto at = pattern.find(placeholder); at != pattern.npos; at = pattern.find(placeholder, at + 1))
    if (!is_capital(at - 1) && !is_capital(at + placeholder.size()))
      return void(pattern.replace(at, placeholder.size(), value));
}

}  // namespace

std::string Layout::name_of(std::string pattern, std::vector<Axis> const& axes,
                            std::vector<std::size_t> const& indices) {
  for (std::size_t i = 0; i < axes.size(); ++i) put(pattern, axes[i].placeholder, axes[i].values[indices[i]]);
  return pattern;
}

std::string Layout::meaning_of(std::string pattern, std::vector<Axis> const& axes,
                               std::vector<std::size_t> const& indices) {
  for (std::size_t i = 0; i < axes.size(); ++i)
    put(pattern, axes[i].placeholder, (axes[i].words.empty() ? axes[i].values : axes[i].words)[indices[i]]);
  return pattern;
}

std::string Layout::family_text(std::string const& name, std::vector<Axis> const& axes, std::string const& meaning) {
  auto text = name + '\n' + meaning;
  for (auto const& axis : axes) {
    text += fmt::format("; {}: ", axis.placeholder);
    for (std::size_t i = 0; i < axis.values.size(); ++i)
      text += fmt::format("{}{}{}", i ? ", " : "", axis.values[i],
                          axis.words.empty() ? "" : fmt::format(" ({})", axis.words[i]));
  }
  return text;
}

bool is_text(ColumnDefinition const& column) {
  return column.type == FieldType::text || column.type == FieldType::boolean || column.type == FieldType::enumeration;
}

std::string one_of(std::vector<std::string> const& names) {
  if (names.empty()) return "none";
  if (names.size() == 1) return names.front();
  return fmt::format("{} or {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

std::string described(ColumnDefinition const& column) {
  if (!column.enumeration && column.values.empty()) return column.meaning;
  return fmt::format("{}: {}", column.meaning, one_of(column.values));
}

namespace {

std::string_view shown_unit(ColumnDefinition const& column) {
  return is_text(column) ? std::string_view{} : symbol(column.unit);
}

}  // namespace

void describe(std::ostream& out, std::vector<Layout const*> const& layouts) {
  csv::Writer rows(out);
  rows.row({"record", "name", "unit", "required", "meaning"});
  for (auto const* layout : layouts)
    for (auto const& column : layout->columns())
      rows.row({layout->name(), column.name, std::string(shown_unit(column)), column.required ? "yes" : "no",
                described(column)});
}

// scdoc reads _ and * as markup and | as a table's delimiter.
std::string scdoc_escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    bool const table = c == '[' && out.empty();  // at the begin of a line
    if (c == '_' || c == '*' || c == '|' || c == '\\' || c == '#' || table) out += '\\';
    out += c;
  }
  return out;
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      out += '\\', out += c;
    else if (c == '\n')
      out += "\\n";
    else if (c == '\r')
      out += "\\r";
    else if (c == '\t')
      out += "\\t";
    else if (static_cast<unsigned char>(c) < 0x20)
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    else
      out += c;
  }
  return out += '"';
}

void describe_scdoc(std::ostream& out, Layout const& layout) {
  std::string_view family;
  for (auto const& column : layout.columns()) {
    if (!column.family.empty() && column.family == family) continue;
    family = column.family;
    auto const line = family.find('\n');
    auto const unit = shown_unit(column);
    out << '*' << scdoc_escaped(family.empty() ? column.name : family.substr(0, line)) << '*';
    if (!unit.empty() && unit != "1") out << " (" << scdoc_escaped(unit) << ')';
    out << "\n\t" << scdoc_escaped(family.empty() ? described(column) : family.substr(line + 1))
        << (column.required ? "" : " (optional)") << "\n";
  }
  out << '\n';
}

}  // namespace kernelcast::record
