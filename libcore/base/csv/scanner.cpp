#include "base/csv/scanner.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>

#include "base/csv/csv.hpp"

namespace kernelcast::csv {

namespace {

constexpr std::size_t first_buffer_bytes = std::size_t{1} << 12;  // doubled while the input fills it, up to the next
constexpr std::size_t large_buffer_bytes = std::size_t{1} << 18;
constexpr std::size_t max_scan_bytes = std::size_t{1} << 16;  // a longer row goes through the parser

// True when every byte is ASCII and none is NUL, eight bytes at a time.
bool plain_ascii(std::string_view text) {
  constexpr std::uint64_t high = 0x8080808080808080, ones = 0x0101010101010101;
  std::uint64_t bad = 0;
  std::size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    std::uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    bad |= (word | (word - ones)) & high;  // a byte 0 borrows into its top bit; a byte 128 or more has it
  }
  for (; i < text.size(); ++i) bad |= (text[i] == 0 || (text[i] & 0x80)) ? high : 0;
  return bad == 0;
}

// Length of the UTF-8 sequence that begins at `i`, 0 when it is none (RFC 3629: no overlong forms, no surrogates).
std::size_t sequence_length(std::string_view text, std::size_t i) {
  auto const byte = [&](std::size_t k) -> unsigned {
    return k < text.size() ? static_cast<unsigned char>(text[k]) : 0u;
  };
  unsigned const lead = byte(i);
  if (lead < 0x80) return 1;
  auto const continues = [&](std::size_t k) { return (byte(k) & 0xC0) == 0x80; };
  if (lead >= 0xC2 && lead <= 0xDF) return continues(i + 1) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    unsigned const second = byte(i + 1);
    if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F)) return 0;
    return continues(i + 1) && continues(i + 2) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    unsigned const second = byte(i + 1);
    if ((lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F)) return 0;
    return continues(i + 1) && continues(i + 2) && continues(i + 3) ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::size_t field_offset(std::string_view text, std::size_t index) {
  bool quoted = false;
  for (std::size_t i = 0; i < text.size() && index > 0; ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (text[i] == ',' && !quoted && --index == 0) return i + 1;
  }
  return index == 0 ? 0 : text.size();
}

Where where_at(std::string const& file, RawRow row, std::size_t offset) {
  auto const before = row.text.substr(0, offset);
  auto const newline = before.rfind('\n');
  return {file, row.line + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')),
          (newline == std::string_view::npos ? offset : offset - newline - 1) + 1};
}

Error error_at(std::string const& file, RawRow row, std::size_t offset, std::string const& message, std::string hint) {
  auto const newline = row.text.substr(0, offset).rfind('\n');
  std::size_t const begin = newline == std::string_view::npos ? 0 : newline + 1;
  std::size_t const end = std::min(row.text.find('\n', begin), row.text.size());
  // The caret's surroundings suffice; a line can have megabytes.
  std::size_t const most = std::min(end, std::max(offset, begin) + 1024);
  return Error(Status::bad_data, where_at(file, row, offset), message, std::move(hint),
               std::string(row.text.substr(begin, most - begin)));
}

void Scanner::refuse(std::size_t offset, std::string const& message, std::string hint) const {
  throw error_at(file_, {pending(), line_}, offset, message, std::move(hint));
}

void Scanner::refuse_carriage_return(std::size_t offset) const {
  refuse(offset, "a carriage return inside a row", "rows end in LF or CRLF; quote a field that holds line breaks");
}

bool Scanner::refill() {
  bool const small = end_ == buffer_.size() && end_ < large_buffer_bytes;
  if (begin_ > 0 && begin_ >= buffer_.size() / 2) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (small || end_ == buffer_.size()) buffer_.resize(std::max(first_buffer_bytes, 2 * buffer_.size()));
  try {
    return read();
  } catch (std::ios_base::failure const& error) {  // of a file stream; it does not know the file's name
    throw Error(Status::io, Where{file_}, fmt::format("cannot read: {}", error.what()), "check the file and the disk");
  }
}

bool Scanner::read() {
  auto* const source = in_->rdbuf();
  // The end is final: a terminal would go on after it.
  at_end_ = at_end_ || source == nullptr || source->sgetc() == std::char_traits<char>::eof();
  if (at_end_) return false;
  // What is there now: waiting for a full buffer would hold up the rows of a slow producer.
  auto const ready = std::max<std::streamsize>(source->in_avail(), 1);
  auto const room = static_cast<std::streamsize>(buffer_.size() - end_);
  end_ += static_cast<std::size_t>(source->sgetn(buffer_.data() + end_, std::min(ready, room)));
  return true;
}

void Scanner::skip_preamble() {
  while (end_ - begin_ < 3 && refill()) {
  }
  if (pending().substr(0, 3) == "\xEF\xBB\xBF") begin_ += 3;
  if (pending().substr(0, 2) == "\xFF\xFE" || pending().substr(0, 2) == "\xFE\xFF")
    refuse(0, "the input is UTF-16, not UTF-8", "convert it, for example with: iconv -f UTF-16 -t UTF-8");
  while ((begin_ < end_ || refill()) && buffer_[begin_] == '#') {
    std::size_t newline, bytes = 0;
    while ((newline = find(pending(), '\n')) == std::string_view::npos) {
      bytes += end_ - begin_;
      if (bytes > max_row_bytes)
        throw Error(Status::bad_data, {file_, next_line_, 1}, "a comment of more than " + mebibytes(max_row_bytes),
                    "is this CSV with line ends?");
      begin_ = end_;
      if (!refill()) return;
    }
    begin_ += newline + 1;
    ++next_line_;
  }
}

bool Scanner::next() {
  begin_ += consumed_;
  consumed_ = 0;
  line_ = next_line_;
  if (begin_ < end_) return true;
  begin_ = end_ = 0;
  return refill();
}

bool Scanner::take_plain(RawRow& row) {
  std::size_t scanned = 0;
  for (;;) {
    auto text = pending();
    std::size_t const newline = find(text, '\n', scanned);
    bool const at_end = newline == std::string_view::npos;
    if (at_end) {
      scanned = text.size();
      if (scanned > max_scan_bytes) return false;
      if (refill()) continue;
      text = pending();  // the end of the input was found, and what stands before it may have moved
    }
    std::size_t length = at_end ? text.size() : newline;
    if (find(text.substr(0, length), '"') != std::string_view::npos) return false;
    std::size_t const next = length + (at_end ? 0 : 1);
    if (length > 0 && text[length - 1] == '\r') --length;
    if (std::size_t const bare = find(text.substr(0, length), '\r'); bare != std::string_view::npos)
      refuse_carriage_return(bare);
    row = take(length, next, 1);
    row.plain = true;
    return true;
  }
}

RawRow Scanner::take(std::size_t bytes, std::size_t next, std::size_t lines) {
  RawRow const row{pending().substr(0, bytes), line_, false};
  consumed_ = next;
  next_line_ += lines;
  check_bytes(row);
  return row;
}

void Scanner::check_bytes(RawRow row) const {
  if (plain_ascii(row.text)) return;
  for (std::size_t i = 0; i < row.text.size();) {
    if (row.text[i] == 0) throw error_at(file_, row, i, "a NUL byte", "the input is not text");
    std::size_t const length = sequence_length(row.text, i);
    if (length == 0)
      throw error_at(file_, row, i,
                     fmt::format("byte 0x{:02X} is not valid UTF-8", static_cast<unsigned char>(row.text[i])),
                     "convert the input to UTF-8, for example with: iconv -f LATIN1 -t UTF-8");
    i += length;
  }
}

}  // namespace kernelcast::csv
