// The bytes of a CSV stream, row by row: refuses what no CSV may hold, and tells places in rows.
//
// Method: a row without quotes ends at the next LF (memchr) and needs no parser. Any other is left to the reader, which
// says where it ends.
#pragma once

#include <cstddef>
#include <cstring>
#include <istream>
#include <string>
#include <string_view>
#include <vector>

#include "base/diag/diag.hpp"

namespace kernelcast::csv {

// A row as read from the input, without its line end.
struct RawRow {
  std::string_view text;
  std::size_t line = 0;  // of its first byte
  bool plain = false;    // no quote in it: its fields are what stands between the commas
};

// Offset of the first `c` from there on, npos where there is none.
inline std::size_t find(std::string_view text, char c, std::size_t from = 0) {
  if (from >= text.size()) return std::string_view::npos;
  auto const* at = static_cast<char const*>(std::memchr(text.data() + from, c, text.size() - from));
  return at ? static_cast<std::size_t>(at - text.data()) : std::string_view::npos;
}

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

  // Goes to the next row; false at the end. A row is valid until the next call. Blank lines are rows with empty text.
  bool next();
  // The row, where it has no quotes and its end is near; false: nothing is taken.
  bool take_plain(RawRow& row);
  // What has been read from the row's first byte on.
  std::string_view pending() const { return {buffer_.data() + begin_, end_ - begin_}; }
  bool refill();  // more of it; false at the end of the input
  // The row has so many bytes, over so many lines; the next begins at `next` of what is pending.
  RawRow take(std::size_t bytes, std::size_t next, std::size_t lines);

  [[noreturn]] void refuse(std::size_t offset, std::string const& message, std::string hint) const;
  [[noreturn]] void refuse_carriage_return(std::size_t offset) const;

 private:
  bool read();  // without its error messages
  void check_bytes(RawRow row) const;

  std::istream* in_;
  std::string file_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // pending bytes of the buffer
  std::size_t consumed_ = 0;         // bytes of the last row, dropped on the next call
  std::size_t line_ = 1, next_line_ = 1;
  bool at_end_ = false;  // of the stream
};

}  // namespace kernelcast::csv
