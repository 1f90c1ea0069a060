#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <ostream>
#include <utility>

#include <fmt/format.h>

#include "records/table/table.hpp"

namespace kernelcast::record {

namespace {

// A wider record is printed one column per line.
constexpr std::size_t widest_table_columns = 24;

struct Cell {
  std::string_view text;
  bool known = true;
  bool is_text = false;  // quoted in JSON, and in CSV where it must be
};

// Texts of the numbers written last. Cells of neighbouring rows, and of one row, often hold the same number, and the
// shortest text that reads back takes long to find.
class NumberTexts {
 public:
  struct Entry {
    std::uint64_t bits = 0;
    std::size_t size = 0;
    NumberText text{};
  };
  Entry const& of(double value) {
    auto const bits = std::bit_cast<std::uint64_t>(value);
    auto& entry = entries_[bits * 0x9E3779B97F4A7C15 >> 58];
    if (entry.bits != bits || entry.size == 0) entry.size = number_text(value, entry.text), entry.bits = bits;
    return entry;
  }

 private:
  std::array<Entry, 64> entries_;
};

// The CSV of a column's last text: neighbouring rows often have the same.
class FieldText {
 public:
  std::string_view of(std::string_view text) {
    if (text != text_) {
      text_ = text;
      quoted_.clear();
      if (csv::needs_quotes(text)) csv::append_field(quoted_, text);
    }
    return quoted_.empty() ? text_ : quoted_;
  }

 private:
  std::string text_, quoted_;
};

// A row of CSV. A number is copied with what lies behind it in its entry: a copy of fixed size needs no call.
class Line {
 public:
  void clear() { used_ = 0; }
  void number(NumberTexts::Entry const& entry) {
    std::memcpy(end(entry.text.size()), entry.text.data(), entry.text.size());
    used_ += entry.size;
  }
  void text(std::string_view text) {
    if (text.empty()) return;
    std::memcpy(end(text.size()), text.data(), text.size());
    used_ += text.size();
  }
  void character(char c) { *end(1) = c, ++used_; }
  char& back() { return text_[used_ - 1]; }
  std::string_view view() const { return std::string_view(text_).substr(0, used_); }

 private:
  char* end(std::size_t more) {
    if (text_.size() - used_ < more) text_.resize(2 * text_.size() + more);
    return text_.data() + used_;
  }

  std::string text_;
  std::size_t used_ = 0;
};

// Columns on a terminal: code points, control characters made visible.
std::string printable(std::string_view text) {
  std::string out;
  for (char c : text) out += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c;
  return out;
}

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

struct RowWriter::State {
  Layout const* layout;
  std::ostream* out;
  Format format;
  std::uint64_t* rows;
  std::vector<std::string> extra_names;
  std::uint64_t written = 0;
  bool begun = false, finished = false;
  std::string line;
  std::vector<std::vector<std::string>> table;
  NumberTexts numbers;
  Line csv_line;
  std::vector<FieldText> fields;  // [column]
  std::string scratch;            // the text of a cell

  void put(std::string_view text) { out->write(text.data(), static_cast<std::streamsize>(text.size())); }
  std::vector<std::string> names() const {
    auto names = layout->column_names();
    names.insert(names.end(), extra_names.begin(), extra_names.end());
    return names;
  }
  void begin();
  Cell cell_of(ColumnDefinition const& column, void const* record);  // valid until the next one
  void write_csv(void const* record, std::vector<std::string> const& extras);
  void write_json(void const* record, std::vector<std::string> const& extras);
  void keep(void const* record, std::vector<std::string> const& extras);
  void print_table();
  void print_list();
};

// The header comes with the first row: what fails before it writes nothing.
void RowWriter::State::begin() {
  if (!std::exchange(begun, true) && format == Format::csv) csv::Writer(*out).row(names());
}

Cell RowWriter::State::cell_of(ColumnDefinition const& column, void const* record) {
  void const* const field = static_cast<char const*>(record) + column.offset;
  auto const number = [&](double value) -> Cell {
    if (format != Format::table) {
      auto const& entry = numbers.of(value);
      return {{entry.text.data(), entry.size}};
    }
    scratch = scaled_text(value, column.unit);
    return {scratch};
  };
  auto const integer = [&](std::uint64_t value) -> Cell {
    std::array<char, 24> text;
    if (format == Format::table)
      scratch = scaled_text(static_cast<double>(value), column.unit);
    else
      scratch.assign(text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr);
    return {scratch};
  };
  switch (column.type) {
    case FieldType::text: {
      auto const& text = *static_cast<std::string const*>(field);
      return {text, !(text.empty() && column.may_be_empty), true};
    }
    case FieldType::boolean: {
      bool const value = *static_cast<bool const*>(field);
      if (format == Format::json) return {value ? "true" : "false"};
      return {value ? "yes" : "no"};
    }
    case FieldType::number:
      return number(*static_cast<double const*>(field));
    case FieldType::integer:
      return integer(*static_cast<std::uint64_t const*>(field));
    case FieldType::optional_number: {
      auto const& value = *static_cast<std::optional<double> const*>(field);
      return value ? number(*value) : Cell{{}, false};
    }
    case FieldType::optional_integer: {
      auto const& value = *static_cast<std::optional<std::uint64_t> const*>(field);
      return value ? integer(*value) : Cell{{}, false};
    }
    case FieldType::enumeration: {
      auto const name = column.enumeration->get(field);
      return {name, !name.empty(), true};
    }
  }
  return {};
}

void RowWriter::State::write_csv(void const* record, std::vector<std::string> const& extras) {
  auto& row = csv_line;
  row.clear();
  auto const& columns = layout->columns();
  fields.resize(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    auto const& column = columns[i];
    void const* const field = static_cast<char const*>(record) + column.offset;
    if (column.type == FieldType::number) {
      row.number(numbers.of(*static_cast<double const*>(field)));
    } else if (column.type == FieldType::optional_number) {
      if (auto const& value = *static_cast<std::optional<double> const*>(field)) row.number(numbers.of(*value));
    } else {
      auto const cell = cell_of(column, record);
      row.text(cell.is_text ? fields[i].of(cell.text) : cell.text);
    }
    row.character(',');
  }
  for (auto const& extra : extras) {
    scratch.clear();
    csv::append_field(scratch, extra);
    row.text(scratch);
    row.character(',');
  }
  row.back() = '\n';
  put(row.view().size() == 1 ? "\"\"\n" : row.view());
}

void RowWriter::State::write_json(void const* record, std::vector<std::string> const& extras) {
  line = written == 0 ? "[\n  {" : ",\n  {";
  bool first = true;
  auto const member = [&](std::string const& name, std::string_view value) {
    line += fmt::format("{}{}: {}", first ? "" : ", ", json_string(name), value);
    first = false;
  };
  for (auto const& column : layout->columns()) {
    auto const cell = cell_of(column, record);
    if (cell.known && cell.is_text)
      member(column.name, json_string(cell.text));
    else
      member(column.name, cell.known ? cell.text : "null");
  }
  for (std::size_t i = 0; i < extra_names.size(); ++i)
    member(extra_names[i], extras[i].empty() ? "null" : json_string(extras[i]));
  line += '}';
  put(line);
}

void RowWriter::State::keep(void const* record, std::vector<std::string> const& extras) {
  std::vector<std::string> cells;
  cells.reserve(layout->columns().size() + extras.size());
  for (auto const& column : layout->columns()) cells.push_back(printable(cell_of(column, record).text));
  for (auto const& extra : extras) cells.push_back(printable(extra));
  table.push_back(std::move(cells));
}

void RowWriter::State::print_table() {
  auto const titles = names();
  std::vector<std::size_t> width;
  for (auto const& title : titles) width.push_back(code_points(title));
  for (auto const& cells : table)
    for (std::size_t i = 0; i < cells.size(); ++i) width[i] = std::max(width[i], code_points(cells[i]));
  auto const print = [&](std::vector<std::string> const& cells) {
    line.clear();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      bool const left = i >= layout->columns().size() || is_text(layout->columns()[i]);
      std::string const blanks(width[i] - code_points(cells[i]), ' ');
      if (i > 0) line += "  ";
      line += left ? cells[i] + blanks : blanks + cells[i];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    line += '\n';
    put(line);
  };
  print(titles);
  for (auto const& cells : table) print(cells);
}

void RowWriter::State::print_list() {
  auto const titles = names();
  std::size_t width = 0;
  for (auto const& title : titles) width = std::max(width, code_points(title));
  for (std::size_t row = 0; row < table.size(); ++row) {
    if (row > 0) put("\n");
    for (std::size_t i = 0; i < titles.size(); ++i)
      if (!table[row][i].empty()) put(fmt::format("{:<{}}  {}\n", titles[i], width, table[row][i]));
  }
}

RowWriter::RowWriter(Layout const& layout, std::ostream& out, Format format, std::uint64_t* rows,
                     std::vector<std::string> extra_names)
    : state_(std::make_unique<State>(
          State{&layout, &out, format, rows, std::move(extra_names), 0, false, false, {}, {}, {}, {}, {}, {}})) {
  for (auto const& name : state_->extra_names)
    if (layout.find(name))
      throw Error(Status::bad_data, fmt::format("column '{}' of the input is also a column of the output", name),
                  "rename it in the input");
}

RowWriter::~RowWriter() = default;
RowWriter::RowWriter(RowWriter&&) noexcept = default;

void RowWriter::write(void const* record, std::vector<std::string> const& extras) {
  if (extras.size() != state_->extra_names.size()) throw std::logic_error("a row with other extra cells than names");
  state_->begin();
  switch (state_->format) {
    case Format::csv:
      state_->write_csv(record, extras);
      break;
    case Format::json:
      state_->write_json(record, extras);
      break;
    case Format::table:
      state_->keep(record, extras);
      break;
  }
  ++state_->written;
  if (state_->rows) ++*state_->rows;
}

void RowWriter::write_csv_lines(std::string_view text, std::uint64_t rows) {
  if (state_->format != Format::csv) throw std::logic_error("finished lines of CSV for another format");
  state_->begin();
  state_->out->write(text.data(), static_cast<std::streamsize>(text.size()));
  state_->written += rows;
  if (state_->rows) *state_->rows += rows;
}

void RowWriter::leave_out_header() {
  state_->begun = true;
}

void RowWriter::finish() {
  if (std::exchange(state_->finished, true)) return;
  state_->begin();
  if (state_->format == Format::json) state_->put(state_->written ? "\n]\n" : "[]\n");
  if (state_->format == Format::table)
    state_->names().size() > widest_table_columns ? state_->print_list() : state_->print_table();
}

}  // namespace kernelcast::record
