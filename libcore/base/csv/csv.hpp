// CSV in and out, as all programs of the suite read and write it.
//
// Problem: RFC 4180 tables from files and pipes, with every error reported at its line and byte column.
// Method: libcsv parses every row with quotes, line by line; a row without quotes is cut at its commas where it stands,
// for speed (see reader.cpp). Positions inside a row are computed only when requested, from the row's raw text.
// Limits: comma and double quote only; LF or CRLF; UTF-8, a byte order mark is skipped; one field at most 16 MiB, one
// row or comment at most 64 MiB, so that no input can exhaust the memory; rows may come without end.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/diag/diag.hpp"

namespace kernelcast::csv {

inline constexpr std::size_t max_field_bytes = std::size_t{16} << 20;
inline constexpr std::size_t max_row_bytes = std::size_t{64} << 20;

// Reads from any stream, pipes included; takes what the stream has instead of waiting for a full buffer.
// Lines that begin with `#` before the header are skipped. The header is read by the constructor.
// Everything wrong with the input is Error(bad_data) with its place: no header, an empty or duplicate column name, a
// row of another length than the header, a blank line between rows, a stray or unterminated quote (with the place
// where it opened), a bare carriage return, NUL, bytes that are not UTF-8, a field or row over the limit.
class Reader {
 public:
  Reader(std::istream& in, std::string file);
  ~Reader();
  Reader(Reader&&) noexcept;
  Reader& operator=(Reader&&) noexcept;

  std::string const& file() const;
  std::vector<std::string> const& header() const;

  // The next row; false at the end. The fields are valid until the next call.
  bool next();
  std::size_t size() const;  // fields in a row
  std::string_view operator[](std::size_t field) const;

  Where where(std::size_t field) const;         // of the current row: first byte of the field
  Where header_where(std::size_t field) const;  // of the header row
  // Errors that show the row, or the header, with a caret below the field.
  Error error(std::size_t field, std::string const& message, std::string hint = {}) const;
  Error header_error(std::size_t field, std::string const& message, std::string hint = {}) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// One row, quoted where needed, LF at its end. A row of one empty field is written as "", so as not to be a blank line.
class Writer {
 public:
  explicit Writer(std::ostream& out) : out_(&out) {}
  void field(std::string_view text);
  void end_row();
  void row(std::vector<std::string> const& fields);

 private:
  std::ostream* out_;
  std::string line_;
  bool first_ = true;
};

// Appends `text` to `out` as one CSV field, quoted where it must be.
void append_field(std::string& out, std::string_view text);
bool needs_quotes(std::string_view text);

}  // namespace kernelcast::csv
