#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diag/text.hpp"
#include "records/table/table.hpp"

namespace kernelcast::record {

namespace {

std::string shown(std::string_view text) {
  constexpr std::size_t most = 60;
  if (text.size() <= most) return std::string(text);
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return fmt::format("{}…", text.substr(0, end));
}

// Null when the text was read, else what was expected.
char const* parse_number(std::string_view text, double& out) {
  // Most counts are short whole numbers, which are read several times as fast as such.
  constexpr std::size_t max_digits = 15;  // of a double
  if (text.size() <= max_digits)
    if (auto const whole = to_number<std::uint64_t>(text)) {
      out = static_cast<double>(*whole);
      return nullptr;
    }
  auto const result = std::from_chars(text.data(), text.data() + text.size(), out);
  if (result.ec == std::errc::result_out_of_range && result.ptr == text.data() + text.size())
    return "expected a number within the range of a double";
  if (result.ec != std::errc{} || result.ptr != text.data() + text.size()) return "expected a number";
  return std::isfinite(out) ? nullptr : "expected a finite number";
}

char const* parse_integer(std::string_view text, std::uint64_t& out) {
  auto const whole = to_number<std::uint64_t>(text);
  out = whole.value_or(0);
  return whole ? nullptr : "expected a whole number, 0 or more";
}

char const* parse_boolean(std::string_view text, bool& out) {
  if (text != "yes" && text != "no") return "expected yes or no";
  out = text == "yes";
  return nullptr;
}

constexpr char const* one_of_its_names = "expected one of the column's names";

char const* parse_name(ColumnDefinition const& column, std::string_view text, void* field) {
  if (std::find(column.values.begin(), column.values.end(), text) == column.values.end()) return one_of_its_names;
  auto const& names = column.enumeration->names;
  column.enumeration->set(field, static_cast<std::size_t>(std::find(names.begin(), names.end(), text) - names.begin()));
  return nullptr;
}

// Null when the text was read, else what was expected.
char const* parse_cell(ColumnDefinition const& column, std::string_view text, void* field) {
  switch (column.type) {
    case FieldType::text:
      static_cast<std::string*>(field)->assign(text);
      return nullptr;
    case FieldType::number:
      return parse_number(text, *static_cast<double*>(field));
    case FieldType::integer:
      return parse_integer(text, *static_cast<std::uint64_t*>(field));
    case FieldType::boolean:
      return parse_boolean(text, *static_cast<bool*>(field));
    case FieldType::optional_number:
      return parse_number(text, static_cast<std::optional<double>*>(field)->emplace());
    case FieldType::optional_integer:
      return parse_integer(text, static_cast<std::optional<std::uint64_t>*>(field)->emplace());
    case FieldType::enumeration:
      return parse_name(column, text, field);
  }
  return "expected a known type";
}

// Quantities that are not negative. Seconds are checked by the programs: most require them to be above 0.
bool at_least_zero(Unit unit) {
  return unit != Unit::none && unit != Unit::seconds && unit != Unit::percent;
}

bool is_negative(FieldType type, void const* field) {
  if (type == FieldType::number) return *static_cast<double const*>(field) < 0;
  return type == FieldType::optional_number && *static_cast<std::optional<double> const*>(field) < 0.0;
}

std::string hint_for(ColumnDefinition const& column, std::string_view text) {
  switch (column.type) {
    case FieldType::enumeration:
      if (auto const near = nearest(text, column.values); !near.empty())
        return fmt::format("did you mean '{}'?", near.front());
      [[fallthrough]];
    case FieldType::text:
      return {};
    case FieldType::boolean:
      return fmt::format("{}: {}", column.name, column.meaning);
    case FieldType::number:
    case FieldType::integer:
    case FieldType::optional_number:
    case FieldType::optional_integer:
      break;
  }
  auto const unit = symbol(column.unit);
  return fmt::format("numbers are plain decimals{}, with a point and without a suffix{}",
                     unit == "1" ? std::string{} : fmt::format(" in {}", unit),
                     column.may_be_empty ? "; an unknown value is an empty cell" : "");
}

}  // namespace

RowReader::RowReader(Layout const& layout, csv::Reader& reader)
    : layout_(&layout), reader_(&reader), field_of_(layout.columns().size(), absent) {
  auto const& header = reader.header();
  auto const& columns = layout.columns();
  std::vector<bool> known(header.size(), false);
  auto const bind = [&](std::size_t column, std::string const& name) {
    for (std::size_t field = 0; field < header.size(); ++field) {
      if (header[field] != name) continue;
      field_of_[column] = field;
      known[field] = true;
      return true;
    }
    return false;
  };
  for (std::size_t column = 0; column < columns.size(); ++column) {
    bool found = bind(column, columns[column].name);
    for (auto const& alias : columns[column].aliases) found = found || bind(column, alias);
    if (!found && columns[column].required) refuse_missing(columns[column]);
  }
  for (std::size_t field = 0; field < header.size(); ++field) {
    if (known[field]) continue;
    extra_fields_.push_back(field);
    extra_names_.push_back(header[field]);
  }
}

namespace {

// A record by a column that it alone has, and the program that makes something else of it.
struct Recognised {
  std::string_view column, record, next;
};
constexpr Recognised recognised[] = {
    {"groups_emulated", "kernel", "perfcast makes projections of them: miniemu ... | perfcast | rank"},
    {"relative_time", "ranking", "rank has made them of projections: leave it out, or draw them with figure"},
    {"time_low_s", "projection", "perfcast and akemu have made them: rank ranks them"},
    {"addresses", "trace", "akemu makes projections of them: miniemu --emit trace ... | akemu | rank"},
    {"quantity", "profile", "execcost makes projections of them: seqprof ... | execcost | rank"},
    {"threads_per_cta", "feature", "mangrove predict makes projections of them"},
    {"executed", "count", "flux-count has made them; --emit kernel of miniemu has what perfcast reads"},
    {"word_bytes", "measurement", "devprobe has made them: --devdb reads them in curves/ of a device database"},
};

}  // namespace

void RowReader::refuse_missing(ColumnDefinition const& column) const {
  auto const& header = reader_->header();
  if (header.size() == 1 && header[0].find('\t') != std::string::npos)
    throw reader_->header_error(0, "columns are separated by tabs, not by commas",
                                "mlr --itsv --ocsv cat FILE, or sep=',' where it is written");
  if (header.size() == 1 && header[0].find(';') != std::string::npos)
    throw reader_->header_error(0, "columns are separated by ';', not by commas",
                                "mlr --icsv --ifs semicolon --ocsv cat FILE, or sep=',' where it is written");
  for (auto const& known : recognised)
    if (layout_->name() != known.record && !layout_->find(known.column) &&
        std::find(header.begin(), header.end(), known.column) != header.end())
      throw reader_->header_error(
          0, fmt::format("these are {} records, and {} records are needed", known.record, layout_->name()),
          std::string(known.next));
  std::vector<std::string> unknown;  // a misspelt column is not one of the record's
  for (auto const& name : header)
    if (!layout_->find(name)) unknown.push_back(name);
  auto const near = nearest(column.name, unknown);
  std::size_t field = 0;
  while (!near.empty() && header[field] != near.front()) ++field;
  throw reader_->header_error(
      field, fmt::format("missing column '{}' of record '{}'", column.name, layout_->name()),
      near.empty()
          ? fmt::format("{}: {}; the input has: {}", column.name, column.meaning,
                        fmt::join(header.begin(), header.begin() + std::min<std::size_t>(header.size(), 12), ", "))
          : fmt::format("the input has '{}': did you mean '{}'?", near.front(), column.name));
}

bool RowReader::next(void* record) {
  if (!advance()) return false;
  parse(record);
  return true;
}

void RowReader::parse(void* record) const {
  auto const& columns = layout_->columns();
  for (std::size_t column = 0; column < columns.size(); ++column)
    if (field_of_[column] != absent) parse(columns[column], field_of_[column], record);
}

void RowReader::parse(ColumnDefinition const& column, std::size_t field, void* record) const {
  auto const text = (*reader_)[field];
  void* const target = static_cast<char*>(record) + column.offset;
  if (text.empty()) {
    if (!column.may_be_empty)
      throw reader_->error(field, fmt::format("column '{}': empty, but a value is needed", column.name),
                           fmt::format("{}: {}", column.name, column.meaning));
    return;  // the field keeps its default: unknown
  }
  auto const* expected = parse_cell(column, text, target);
  if (!expected && at_least_zero(column.unit) && is_negative(column.type, target)) expected = "expected 0 or more";
  if (!expected) return;
  auto const wanted = expected == one_of_its_names ? "expected " + one_of(column.values) : std::string(expected);
  throw reader_->error(field, fmt::format("column '{}': {}, got '{}'", column.name, wanted, shown(text)),
                       hint_for(column, text));
}

std::size_t RowReader::index_of(std::string_view column) const {
  auto const& columns = layout_->columns();
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i].name == column) return field_of_[i];
  throw std::logic_error(fmt::format("record {} has no column '{}'", layout_->name(), column));
}

bool RowReader::has(std::string_view column) const {
  return index_of(column) != absent;
}

Where RowReader::where(std::string_view column) const {
  auto const field = index_of(column);
  return reader_->where(field == absent ? 0 : field);
}

Error RowReader::error(std::string_view column, std::string const& message, std::string hint) const {
  auto const field = index_of(column);
  return reader_->error(field == absent ? 0 : field, fmt::format("column '{}': {}", column, message), std::move(hint));
}

std::vector<std::string> RowReader::extras() const {
  std::vector<std::string> cells;
  cells.reserve(extra_fields_.size());
  for (std::size_t const field : extra_fields_) cells.emplace_back((*reader_)[field]);
  return cells;
}

}  // namespace kernelcast::record
