#include <csv.h>

#include <bit>
#include <cstdint>
#include <unordered_map>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <fmt/format.h>

#include "csv/csv.hpp"
#include "csv/scanner.hpp"

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

  // A row without quotes is cut at its commas where it stands; any other goes through libcsv, which copies.
  void split() {
    ends.clear();
    if (raw.plain) {
      find_commas(raw.text, ends);
      ends.push_back(raw.text.size());
      return;
    }
    fields.clear();
    auto const feed = [&](char const* data, std::size_t size) {
      if (csv_parse(&parser, data, size, take_field, take_row, this) != size)
        throw error_at(scanner.file(), raw, 0, csv_strerror(csv_error(&parser)), "see RFC 4180 for the format");
    };
    feed(raw.text.data(), raw.text.size());
    feed("\n", 1);
  }

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
};

void Reader::State::read_header() {
  scanner.skip_preamble();
  if (!scanner.next(raw))
    throw Error(Status::bad_data, {scanner.file(), 1, 1}, "no header row: the input is empty",
                "the first row names the columns");
  if (raw.text.empty())
    throw error_at(scanner.file(), raw, 0, "a blank line where the header row should be",
                   "the first row names the columns");
  split();
  header_text = raw.text;
  header_line = raw.line;
  std::unordered_map<std::string, std::size_t> seen;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    std::string name(field(i));
    std::size_t const at = field_offset(raw.text, i);
    if (name.empty()) throw error_at(scanner.file(), raw, at, fmt::format("column {} has no name", i + 1), "name it");
    auto const [first, fresh] = seen.emplace(name, i);
    if (!fresh)
      throw error_at(scanner.file(), raw, at, fmt::format("duplicate column '{}'", name),
                     fmt::format("it is already column {}; remove or rename one of them", first->second + 1));
    header.push_back(std::move(name));
  }
}

bool Reader::State::read_row() {
  if (!scanner.next(raw)) return false;
  if (raw.text.empty()) {
    RawRow const blank = raw;
    while (scanner.next(raw))
      if (!raw.text.empty())
        throw Error(Status::bad_data, {scanner.file(), blank.line, 1}, "a blank line inside the data",
                    "remove it; an empty field in a table of one column is written \"\"");
    return false;  // blank lines at the end only
  }
  split();
  if (ends.size() == header.size()) return true;
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
