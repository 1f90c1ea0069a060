// Finds where rows of a CSV stream begin and end, and refuses what no CSV may hold.
//
// Problem: libcsv says neither where it is nor what is wrong, and would buffer a field of any size.
// Method: a row without quotes ends at the next LF (memchr); any other goes through a state machine that keeps its
// state over refills, so that a field is refused as soon as it passes the limit.
#pragma once

#include <cstddef>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "diag/diag.hpp"

namespace kernelcast::csv {

// A row as read from the input, without its line end.
struct RawRow {
  std::string_view text;
  std::size_t line = 0;  // of its first byte
  bool plain = false;    // no quote in it: its fields are what stands between the commas
};

// Offset of the first byte of field `index`; the end of the text when there are fewer.
std::size_t field_offset(std::string_view text, std::size_t index);

// An error about the byte at `offset` of a row.
Error error_at(std::string const& file, RawRow row, std::size_t offset, std::string const& message, std::string hint);
Where where_at(std::string const& file, RawRow row, std::size_t offset);

class Scanner {
 public:
  Scanner(std::istream& in, std::string file) : in_(&in), file_(std::move(file)) {}

  std::string const& file() const { return file_; }

  // Skips a byte order mark and the lines that begin with '#'.
  void skip_preamble();

  // The next row, valid until the next call; false at the end. Blank lines are rows with empty text.
  bool next(RawRow& row);

 private:
  enum class State { field_start, unquoted, quoted, after_quote };

  std::string_view pending() const { return {buffer_.data() + begin_, end_ - begin_}; }
  bool refill();
  bool take();  // without its error messages
  bool ends_without_quotes(RawRow& row);
  void scan_quoted(RawRow& row);
  std::size_t skip_text(std::size_t from, std::size_t field, State state, std::size_t& newlines);
  void end_row(RawRow& row, std::size_t at);
  void finish(RawRow& row, std::size_t length, std::size_t line_end);
  void check_bytes(RawRow row) const;
  [[noreturn]] void refuse(std::size_t offset, std::string const& message, std::string hint) const;

  std::istream* in_;
  std::string file_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // pending bytes of the buffer
  std::size_t consumed_ = 0;         // bytes of the last row, dropped on the next call
  std::size_t line_ = 1, next_line_ = 1;
  bool at_end_ = false;  // of the stream
};

}  // namespace kernelcast::csv
