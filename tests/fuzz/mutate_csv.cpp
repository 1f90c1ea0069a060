// How libFuzzer changes CSV: rows and columns are swapped, doubled and left out, cells get odd numbers, quotes, long
// texts and other cells' content, the header other names. The first byte, which chooses the reader, stays before the
// header.
#include "base/diag/text.hpp"
#include "mutate.hpp"

namespace kernelcast::fuzz {

namespace {

using Row = std::vector<std::string>;

auto const odd = split(
    "|0|-0|1|-1|nan|inf|-inf|1e308|-1e308|1e-308|5e-324|1e999|0.1|4294967296|18446744073709551615|"
    "18446744073709551616|9223372036854775808|9007199254740993|0x10| 1|1 |+1|1,5|true|yes|no|\"\"|"
    "\"a,b\"|\"a\"\"b\"|\"a\nb\"|\"|a\"b|1;2;3|1:2|\xef\xbb\xbf|\xff|\xc3\xa9|\r|#",
    '|');

// A cell keeps its quotes; a line may end within quotes.
std::vector<Row> rows_of(std::string_view text) {
  std::vector<Row> rows;
  bool quoted = false, begins = true;
  for (char const c : text) {
    if (begins) rows.emplace_back(1);
    begins = false;
    if (c == '"') quoted = !quoted;
    if (c == ',' && !quoted)
      rows.back().emplace_back();
    else if (c == '\n' && !quoted)
      begins = true;
    else
      rows.back().back() += c;
  }
  return rows;
}

std::string text_of(std::vector<Row> const& rows, std::string_view end) {
  std::string out;
  for (auto const& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) out += (i ? "," : "") + row[i];
    out += end;
  }
  return out;
}

// Where the cell is: an iterator of the row, or its end.
Row::iterator cell_at(Row& row, std::size_t column) {
  return row.begin() + static_cast<std::ptrdiff_t>(std::min(column, row.size()));
}

void change_column(std::vector<Row>& rows, Random& random) {
  std::size_t const at = random.below(rows.front().size()), to = random.below(rows.front().size());
  std::size_t const how = random.below(3);
  for (auto& row : rows) {
    if (at >= row.size() || to >= row.size()) continue;
    if (how == 0) std::swap(row[at], row[to]);
    if (how == 1) row.insert(cell_at(row, to), std::string(row[at]));
    if (how == 2 && row.size() > 1) row.erase(cell_at(row, at));
  }
}

void change_row(std::vector<Row>& rows, Random& random) {
  std::size_t const at = random.below(rows.size()), to = random.below(rows.size());
  auto const place = [&](std::size_t row) { return rows.begin() + static_cast<std::ptrdiff_t>(row); };
  switch (random.below(3)) {
    case 0:
      std::swap(rows[at], rows[to]);
      break;
    case 1:
      rows.insert(place(to), Row(rows[at]));
      break;
    default:
      rows.erase(place(at));
  }
}

void change_cell(std::vector<Row>& rows, Random& random) {
  auto& row = rows[random.below(rows.size())];
  auto& cell = row[random.below(row.size())];
  switch (random.below(6)) {
    case 0:
      cell = random.of(random.of(rows));
      break;
    case 1:
      cell = '"' + cell + '"';
      break;
    case 2:
      cell.append(1 + random.below(1000), 'x');
      break;
    default:
      cell = random.of(odd);
  }
}

}  // namespace

std::string changed(std::string const& text, Random& random) {
  auto rows = rows_of(std::string_view(text).substr(std::min<std::size_t>(1, text.size())));
  if (rows.empty()) return text;
  switch (random.below(6)) {
    case 0:
      change_column(rows, random);
      break;
    case 1:
      change_row(rows, random);
      break;
    default:
      change_cell(rows, random);
  }
  return text.front() + text_of(rows, random.below(64) == 0 ? "\r\n" : "\n");
}

}  // namespace kernelcast::fuzz
