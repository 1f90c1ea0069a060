// Problem: libcsv says neither where it is nor what is wrong, and would buffer a field of any size.
// Method: it is given a line at a time; what it refuses is at the byte where it stops, and what it takes although CSV
// does not is looked for only in rows that have a carriage return or are as long as the limits.
//
// Why it does not parse rows without quotes: it looks at each byte, calls functions of ours for it (its defaults strip
// blanks and end rows at CR), and copies each field. Instructions a row (callgrind), and millions of rows a second of
// processor time, for 3 fields of 20 bytes together, for 17 of 97, and for 3 of 29, the first quoted:
//
//                                          20 bytes      97 bytes      29 bytes, quotes
//   libcsv alone, with these settings       988   9.0    4615  1.8     1282  7.2
//   this reader, if libcsv took all rows   1938   5.9    7487  1.3     2305  4.8
//   this reader                             581  24.2    1543  7.9     2432  4.6
#include <csv.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <unordered_map>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <fmt/format.h>

#include "base/csv/csv.hpp"
#include "base/csv/scanner.hpp"

namespace kernelcast::csv {

namespace {

// libcsv's default is to strip blanks around fields and to end rows at CR; neither is wanted here.
int is_blank(unsigned char) {
  return 0;
}
int ends_row(unsigned char c) {
  return c == '\n';
}

// Appends the offset of every comma of `text`.
void find_commas(std::string_view text, std::vector<std::size_t>& commas) {
  std::size_t i = 0;
#ifdef __SSE2__
  __m128i const comma = _mm_set1_epi8(',');
  for (; i + 16 <= text.size(); i += 16) {
    __m128i const bytes = _mm_loadu_si128(reinterpret_cast<__m128i const*>(text.data() + i));
    auto found = static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, comma)));
    for (; found; found &= found - 1) commas.push_back(i + static_cast<std::size_t>(std::countr_zero(found)));
  }
#endif
  for (; i < text.size(); ++i)
    if (text[i] == ',') commas.push_back(i);
}

}  // namespace

struct Reader::State {
  State(std::istream& in, std::string file) : scanner(in, std::move(file)) {
    if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI) != 0) throw std::bad_alloc();
    csv_set_space_func(&parser, is_blank);
    csv_set_term_func(&parser, ends_row);
    csv_set_blk_size(&parser, std::size_t{1} << 20);  // its buffer grows by 128 bytes at a time by default
  }
  ~State() { csv_free(&parser); }
  State(State const&) = delete;
  State& operator=(State const&) = delete;

  static void take_field(void* text, std::size_t size, void* self) {
    auto& state = *static_cast<State*>(self);
    state.fields.append(static_cast<char const*>(text), size);
    state.ends.push_back(state.fields.size());
  }
  static void take_row(int, void*) {}

  bool next();
  void parse();
  void feed(std::size_t from, std::size_t to);
  void check(std::size_t to);

  std::string_view field(std::size_t index) const {
    std::string_view const text = raw.plain ? raw.text : fields;
    std::size_t const begin = index == 0 ? 0 : ends[index - 1] + (raw.plain ? 1 : 0);
    return text.substr(begin, ends[index] - begin);
  }

  void read_header();
  bool read_row();

  Scanner scanner;
  csv_parser parser{};
  RawRow raw;
  std::string fields;             // of a row with quotes, without them, one after the other
  std::vector<std::size_t> ends;  // where each ends, in `fields` or in the row as it stands
  std::vector<std::string> header;
  std::string header_text;
  std::size_t header_line = 1;

  // How far check() is in the row that is being parsed, and where the field begins that it is in.
  struct {
    std::size_t at = 0, field = 0;
    bool quoted = false;
  } checked;
};

bool Reader::State::next() {
  if (!scanner.next()) return false;
  if (!scanner.take_plain(raw)) {
    parse();
    return true;
  }
  ends.clear();
  find_commas(raw.text, ends);
  ends.push_back(raw.text.size());
  return true;
}

// A row ends at the first line end after an even number of quotes. Each line is parsed when it is there, so that a
// quote too many is found in its own line.
void Reader::State::parse() {
  fields.clear();
  ends.clear();
  checked = {};
  std::size_t parsed = 0, lines = 1;
  for (bool open = false;;) {
    auto const text = scanner.pending();
    std::size_t const newline = find(text, '\n', parsed);
    bool const at_end = newline == std::string_view::npos;
    std::size_t const stop = at_end ? text.size() : newline;
    std::size_t const end = stop - (stop > parsed && text[stop - 1] == '\r' ? 1 : 0);
    feed(parsed, end);
    if (std::count(text.begin() + static_cast<std::ptrdiff_t>(parsed), text.begin() + static_cast<std::ptrdiff_t>(end),
                   '"') %
            2 !=
        0)
      open = !open;
    parsed = end;
    if (at_end && scanner.refill()) continue;
    if (!at_end && open) {
      feed(parsed, newline + 1);
      parsed = newline + 1;
      ++lines;
      continue;
    }
    if (open) {
      check(parsed);
      scanner.refuse(checked.field, "a quoted field is not closed before the end of the input",
                     "add the closing quote");
    }
    csv_parse(&parser, "\n", 1, take_field, take_row, this);
    raw = scanner.take(parsed, stop + (at_end ? 0 : 1), lines);
    return;
  }
}

void Reader::State::feed(std::size_t from, std::size_t to) {
  auto const text = scanner.pending().substr(0, to);
  std::size_t const at = from + csv_parse(&parser, text.data() + from, to - from, take_field, take_row, this);
  if (at > max_field_bytes || find(text.substr(0, at), '\r', from) != std::string_view::npos) check(at);
  if (at == to) return;
  if (csv_error(&parser) != CSV_EPARSE) throw std::bad_alloc();
  if (text[at] == '\r') scanner.refuse_carriage_return(at);
  if (text[at] == '"')
    scanner.refuse(at, "a quote inside an unquoted field", "quote the whole field and double the quotes inside it");
  scanner.refuse(at, "text after the closing quote of a field", "double a quote that belongs to the text");
}

// What the parser takes and CSV does not, before `to`: fields and rows over the limit, carriage returns.
void Reader::State::check(std::size_t to) {
  auto const text = scanner.pending();
  auto& [at, field, quoted] = checked;
  for (;; ++at) {
    if (at - field > max_field_bytes)
      scanner.refuse(field, "a field of more than " + mebibytes(max_field_bytes),
                     "is a closing quote missing, or is this no CSV?");
    if (at > max_row_bytes)
      scanner.refuse(0, "a row of more than " + mebibytes(max_row_bytes), "is this CSV with line ends?");
    if (at == to) return;
    if (text[at] == '"') quoted = !quoted;
    if (quoted) continue;
    if (text[at] == '\r') scanner.refuse_carriage_return(at);
    if (text[at] == ',') field = at + 1;
  }
}

void Reader::State::read_header() {
  scanner.skip_preamble();
  if (!next())
    throw Error(Status::bad_data, {scanner.file(), 1, 1}, "no header row: the input is empty",
                "the first row names the columns");
  if (raw.text.empty())
    throw error_at(scanner.file(), raw, 0, "a blank line where the header row should be",
                   "the first row names the columns");
  header_text = raw.text;
  header_line = raw.line;
  std::unordered_map<std::string, std::size_t> seen;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    std::string name(field(i));
    std::size_t const at = field_offset(raw.text, i);
    if (name.empty())
      throw error_at(scanner.file(), raw, at, fmt::format("column {} has no name", i + 1),
                     i == 0 ? "name it; pandas leaves its index out with to_csv(..., index=False)" : "name it");
    auto const [first, fresh] = seen.emplace(name, i);
    if (!fresh)
      throw error_at(scanner.file(), raw, at, fmt::format("duplicate column '{}'", name),
                     fmt::format("it is already column {}; remove or rename one of them", first->second + 1));
    header.push_back(std::move(name));
  }
}

bool Reader::State::read_row() {
  if (!next()) return false;
  if (raw.text.empty()) {
    RawRow const blank = raw;
    while (next())
      if (!raw.text.empty())
        throw Error(Status::bad_data, {scanner.file(), blank.line, 1}, "a blank line inside the data",
                    "remove it; an empty field in a table of one column is written \"\"");
    return false;  // blank lines at the end only
  }
  if (ends.size() == header.size()) {
    if (raw.text != header_text || header.size() == 1) return true;
    throw error_at(scanner.file(), raw, 0, "the header row again, inside the data",
                   "files were joined with their headers: name them all instead, or leave out the first row of each "
                   "but the first");
  }
  bool const more = ends.size() > header.size();
  auto const count = [](std::size_t n) { return fmt::format("{} field{}", n, n == 1 ? "" : "s"); };
  throw error_at(scanner.file(), raw, more ? field_offset(raw.text, header.size()) : raw.text.size(),
                 fmt::format("{} where the header has {}", count(ends.size()), header.size()),
                 more ? "quote a field that holds a comma"
                      : fmt::format("column '{}' and those after it are missing here", header[ends.size()]));
}

Reader::Reader(std::istream& in, std::string file) : state_(std::make_unique<State>(in, std::move(file))) {
  state_->read_header();
}
Reader::~Reader() = default;
Reader::Reader(Reader&&) noexcept = default;
Reader& Reader::operator=(Reader&&) noexcept = default;

std::string const& Reader::file() const {
  return state_->scanner.file();
}
std::vector<std::string> const& Reader::header() const {
  return state_->header;
}
bool Reader::next() {
  return state_->read_row();
}
std::size_t Reader::size() const {
  return state_->header.size();
}
std::string_view Reader::operator[](std::size_t field) const {
  return state_->field(field);
}

Where Reader::where(std::size_t field) const {
  return where_at(file(), state_->raw, field_offset(state_->raw.text, field));
}

Where Reader::header_where(std::size_t field) const {
  return where_at(file(), {state_->header_text, state_->header_line}, field_offset(state_->header_text, field));
}

Error Reader::error(std::size_t field, std::string const& message, std::string hint) const {
  return error_at(file(), state_->raw, field_offset(state_->raw.text, field), message, std::move(hint));
}

Error Reader::header_error(std::size_t field, std::string const& message, std::string hint) const {
  return error_at(file(), {state_->header_text, state_->header_line}, field_offset(state_->header_text, field), message,
                  std::move(hint));
}

}  // namespace kernelcast::csv
