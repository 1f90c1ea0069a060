// Records in and out: rows of CSV to structs and back, and JSON or a table for people.
//
//   record::Reader<Projection> rows(csv_reader);
//   Projection row;
//   while (rows.next(row)) …  throw rows.error("time_s", "must be positive", "…");
//   record::Writer<Ranking> out(stream, Format::csv);
//   out.write(ranking);  …  out.finish();
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/csv/csv.hpp"
#include "base/diag/diag.hpp"
#include "records/table/schema.hpp"

namespace kernelcast::record {

enum class Format { csv, json, table };

// Columns are found by name, in any order. Throws Error(bad_data) for a missing or duplicate column, an empty cell
// that may not be empty, and a cell that is not of its column's type; inf and nan are not numbers here.
class RowReader {
 public:
  RowReader(Layout const&, csv::Reader&);

  // False at the end of the input. `record` is an object of the type that the layout describes.
  bool next(void* record);

  // next() in two steps, for a reader that looks at cells before it decides.
  bool advance() { return reader_->next(); }
  void parse(void* record) const;
  // A cell of the current row as it stands, by the number of its column in the schema; empty without that column.
  std::string_view cell(std::size_t column) const {
    return field_of_[column] == absent ? std::string_view() : (*reader_)[field_of_[column]];
  }

  bool has(std::string_view column) const;  // whether the input has this column of the schema
  Where where(std::string_view column) const;
  // An error about this cell of the current row, with its place and the line.
  Error error(std::string_view column, std::string const& message, std::string hint = {}) const;

  // Columns of the input that the schema does not know, and their cells in the current row: for tools whose rows map
  // one to one and which therefore pass them through.
  std::vector<std::string> const& extra_names() const { return extra_names_; }
  std::vector<std::string> extras() const;

 private:
  std::size_t index_of(std::string_view column) const;
  [[noreturn]] void refuse_missing(ColumnDefinition const&) const;
  void parse(ColumnDefinition const&, std::size_t field, void* record) const;

  static constexpr std::size_t absent = static_cast<std::size_t>(-1);
  Layout const* layout_;
  csv::Reader* reader_;
  std::vector<std::size_t> field_of_;  // [column of the schema] -> field of the input, or absent
  std::vector<std::string> extra_names_;
  std::vector<std::size_t> extra_fields_;
};

template <class R>
class Reader : public RowReader {
 public:
  explicit Reader(csv::Reader& reader) : RowReader(R::schema(), reader) {}
  bool next(R& record) {
    record = R{};
    return RowReader::next(&record);
  }
};

// All rows of a file that is small.
template <class R>
std::vector<R> read_rows(csv::Reader& csv) {
  Reader<R> reader(csv);
  std::vector<R> rows;
  for (R row; reader.next(row);) rows.push_back(row);
  return rows;
}
template <class R>
std::vector<R> read_rows(std::istream& in, std::string const& name) {
  csv::Reader csv(in, name);
  return read_rows<R>(csv);
}

// CSV: one header row, with the first row or finish(), LF. JSON: an array of objects, unknown values null. Table:
// aligned, with scaled units; kept in memory until finish().
class RowWriter {
 public:
  // `rows`, where given, counts the rows written. `extra_names` are columns passed through after the record's own.
  RowWriter(Layout const&, std::ostream&, Format, std::uint64_t* rows = nullptr,
            std::vector<std::string> extra_names = {});
  ~RowWriter();
  RowWriter(RowWriter&&) noexcept;

  void write(void const* record, std::vector<std::string> const& extras = {});
  // Finished rows of CSV, for a writer of very many; only with Format::csv.
  void write_csv_lines(std::string_view text, std::uint64_t rows);
  void leave_out_header();  // before the first row: what is written are lines for another writer
  void finish();            // closes the array or prints the table; also right for no rows at all

 private:
  struct State;
  std::unique_ptr<State> state_;
};

template <class R>
class Writer : public RowWriter {
 public:
  explicit Writer(std::ostream& out, Format format = Format::csv, std::uint64_t* rows = nullptr,
                  std::vector<std::string> extra_names = {})
      : RowWriter(R::schema(), out, format, rows, std::move(extra_names)) {}
  void write(R const& record, std::vector<std::string> const& extras = {}) { RowWriter::write(&record, extras); }
};

// Few rows as text.
template <class R>
std::string rows_text(std::vector<R> const& rows, Format format = Format::csv) {
  std::ostringstream out;
  Writer<R> writer(out, format);
  for (auto const& row : rows) writer.write(row);
  writer.finish();
  return std::move(out).str();
}

// A double below 2^53 without fraction as an integer, else the shortest form that reads back as the same double.
// Throws std::logic_error for inf and nan: a record has no such value.
std::string number_text(double);
using NumberText = std::array<char, 24>;       // the longest
std::size_t number_text(double, NumberText&);  // the same there; its size

// "12.3 us", "4.1 GB/s", "64 kB": three significant digits with a decimal prefix, for people.
std::string scaled_text(double value, Unit);

}  // namespace kernelcast::record
