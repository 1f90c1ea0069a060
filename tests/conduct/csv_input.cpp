// What programs read: standard input and files, columns, cells, odd and broken text.
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "checks.hpp"

namespace conduct {

namespace {

void closed_stdin(Bench const& bench) {
  auto run = bench.valid();
  run.in = Run::Stdin::closed;
  refused(run, 4, {"standard input"});
}

void terminal_stdin(Bench const& bench) {
  auto run = bench.valid();
  run.in = Run::Stdin::terminal;
  run.input.clear();
  auto const outcome = conduct::run(run);
  expect(contains(outcome.err, "terminal"), "it should say that it waits for the terminal", &outcome);
  expect(outcome.status == 3, "an empty terminal is an empty input", &outcome);
}

void missing_file(Bench const& bench) {
  refused(bench.valid({"nofile.csv"}), 4, {"nofile.csv"});
  refused(bench.valid({"."}), 4, {"directory"});
}

void dashes(Bench const& bench) {
  auto const plain = good(bench.valid()).out;
  expect(good(bench.valid({"-"})).out == plain, "- is standard input");
  refused(bench.valid({"-", "-"}), 2, {"twice"});
  auto run = bench.on_file(bench.table().input);
  run.arguments.insert(run.arguments.end() - 1, "--");
  expect(good(run).out == plain, "-- ends the options");
}

void unknown_column(Bench const& bench) {
  auto const plain = good(bench.valid()).out;
  auto rows = parse(bench.table().input);
  for (std::size_t r = 0; r < rows.size(); ++r) rows[r].insert(rows[r].begin(), r == 0 ? "extra_column" : "x,y");
  auto const outcome = good(bench.on_file(unparse(rows))).out;
  if (bench.table()["passes_through"] == "yes")
    expect(contains(outcome, "extra_column") && contains(outcome, "\"x,y\""), "unknown columns pass through");
  else
    expect(outcome == plain, "an unknown column changes nothing");
}

void duplicate_column(Bench const& bench) {
  auto rows = parse(bench.table().input);
  std::string const name = rows[0][0];
  for (auto& row : rows) row.push_back(row[0]);
  auto const text = unparse(rows);
  // Where the reader finds it when it has another name.
  rows[0].back() += "2";
  auto const where = header_place(unparse(rows), rows[0].size() - 1);
  refused(bench.on_file(text), 3, {place(where), "duplicate column '" + name + "'"});
}

void missing_column(Bench const& bench) {
  auto const original = parse(bench.table().input);
  std::string const name = bench.table()["required"];
  std::size_t const column = column_of(original, name);
  auto rows = original;
  for (auto& row : rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
  refused(bench.on_file(unparse(rows)), 3, {"in.csv:1:", "missing column '" + name + "'"});
  rows = original;
  rows[0][column] += "x";
  auto const where = header_place(unparse(rows), column);
  refused(bench.on_file(unparse(rows)), 3, {place(where), "'" + name + "x'", "did you mean '" + name + "'"});
}

void text_in_a_number(Bench const& bench) {
  for (std::string const bad : {"1.5ms", "nan", "inf", "0x10", "1,5"}) {
    auto rows = parse(bench.table().input);
    std::string const name = bench.table()["number"];
    std::size_t const column = column_of(rows, name);
    rows.at(1)[column] = bad;
    auto const text = unparse(rows);
    refused(bench.on_file(text), 3, {place(cell_place(text, column)), "column '" + name + "'", "'" + bad + "'", "^"});
  }
}

// The largest numbers there are, in one column after the other: a result without inf and nan, or an error with its
// place.
void huge_numbers(Bench const& bench) {
  auto const original = parse(bench.table().input);
  for (std::size_t column = 0; column < original[0].size(); ++column)
    for (std::string const huge : {"1e308", "18446744073709551615"}) {
      auto rows = original;
      bool any = false;
      for (std::size_t r = 1; r < rows.size(); ++r)
        if (auto& cell = rows[r][column]; !cell.empty() && cell[0] >= '0' && cell[0] <= '9') cell = huge, any = true;
      if (!any) continue;
      auto const outcome = conduct::run(bench.on_file(unparse(rows)));
      auto const what = "with " + huge + " in column '" + original[0][column] + "'";
      expect(!outcome.too_slow && outcome.signal == 0, what + " it should end", &outcome);
      expect(outcome.status == 0 || contains(outcome.err, "\nhint: "), what + " it should name a status", &outcome);
      expect(outcome.status != 70, what + " it should know what is wrong", &outcome);
      if (outcome.status != 0 || !bench.table().writes_records()) continue;
      for (auto const& row : parse(outcome.out))
        for (auto const& cell : row)
          expect(cell != "inf" && cell != "-inf" && cell != "nan", what + " no cell is " + cell, &outcome);
    }
}

// What an edited or cut file may hold: it ends with a result or with an error, never by a signal.
void survives(Bench const& bench, Rows const& rows, std::string const& what) {
  auto const outcome = conduct::run(bench.on_file(unparse(rows)));
  expect(!outcome.too_slow && outcome.signal == 0, what + ": it should end", &outcome);
  expect(outcome.status != 70, what + ": it should know what is wrong", &outcome);
  expect(outcome.status == 0 || contains(outcome.err, "\nhint: "), what + ": it should say what is wrong", &outcome);
}

void missing_row(Bench const& bench) {
  auto const original = parse(bench.table().input);
  for (std::size_t row = 1; row < original.size(); ++row) {
    auto rows = original;
    rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(row));
    survives(bench, rows, "without row " + std::to_string(row));
  }
}

// Each cell in turn takes what the next row has in its column, or nothing.
void foreign_cell(Bench const& bench) {
  auto const original = parse(bench.table().input);
  for (std::size_t column = 0; column < original[0].size(); ++column)
    for (std::size_t row = 1; row < original.size(); ++row)
      for (auto const& other : {original[row + 1 < original.size() ? row + 1 : 1][column], std::string()}) {
        if (other == original[row][column]) continue;
        auto rows = original;
        rows[row][column] = other;
        survives(bench, rows, "row " + std::to_string(row) + ", " + original[0][column] + " = '" + other + "'");
      }
}

void empty_file(Bench const& bench) {
  refused(bench.on_file(""), 3, {"in.csv:1:1: error: ", "empty"});
  auto run = bench.valid();
  run.input.clear();
  refused(run, 3, {"<stdin>:1:1: error: ", "empty"});
}

void header_only(Bench const& bench) {
  auto const input = bench.table().input;
  auto const outcome = good(bench.on_file(input.substr(0, input.find('\n') + 1)));
  expect(parse(outcome.out).size() == 1, "no rows in, no rows out, but a header", &outcome);
}

void line_ends(Bench const& bench) {
  auto const plain = good(bench.valid()).out;
  std::string crlf;
  for (char c : bench.table().input) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  expect(good(bench.on_file(crlf)).out == plain, "CRLF is read");
  expect(good(bench.on_file(crlf.substr(0, crlf.size() - 2))).out == plain, "the last line end may be absent");
  expect(good(bench.on_file("\xEF\xBB\xBF# a comment\n" + bench.table().input)).out == plain, "BOM and comments");
}

void quoted_newline(Bench const& bench) {
  auto rows = parse(bench.table().input);
  std::size_t const column = column_of(rows, bench.table()["text"]);
  std::string const odd = "two\nlines, \"quoted\"";
  for (std::size_t r = 1; r < rows.size(); ++r) rows[r][column] = odd;
  auto const out = parse(good(bench.on_file(unparse(rows))).out);
  auto const cells = out.at(1);
  expect(std::find(cells.begin(), cells.end(), odd) != cells.end(), "the text comes out as it went in");
}

void broken_rows(Bench const& bench) {
  auto const input = bench.table().input;
  auto const lines = 1 + std::count(input.begin(), input.end(), '\n');
  std::string const last = "in.csv:" + std::to_string(lines) + ":";
  auto const header = input.substr(0, input.find('\n') + 1);
  auto const second = input.substr(header.size());
  refused(bench.on_file(header + "\n" + second), 3, {"in.csv:2:1: error: ", "blank line"});
  refused(bench.on_file(input + "x\n"), 3, {last, "1 field where the header has"});
  refused(bench.on_file(input + "\"x\n"), 3, {last + "1: error: ", "not closed"});
  refused(bench.on_file(input + "x\xFF\n"), 3, {last + "2: error: ", "UTF-8"});
  refused(bench.on_file(input + std::string("x\0y\n", 4)), 3, {last + "2: error: ", "NUL"});
}

void huge_field(Bench const& bench) {
  if (std::getenv("KERNELCAST_SANITIZED") != nullptr) throw Skip{"the sanitizers need more address space"};
  auto const header = bench.table().input.substr(0, bench.table().input.find('\n') + 1);
  for (std::string const start : {"", "\""}) {
    auto run = bench.valid();
    run.input = header + start;
    run.endless_bytes = std::uint64_t{1} << 30;
    run.memory_bytes = std::uint64_t{768} << 20;
    refused(run, 3, {"<stdin>:2:1: error: ", "more than 16 MiB"});
  }
}

bool has_open_file_in(pid_t process, fs::path const& folder) {
  std::error_code error;
  auto const prefix = fs::canonical(folder).string() + '/';
  for (auto const& entry : fs::directory_iterator("/proc/" + std::to_string(process) + "/fd", error))
    if (fs::read_symlink(entry.path(), error).string().starts_with(prefix)) return true;
  return false;
}

void failed_output(Bench const& bench) {
  std::ofstream(bench.directory() / "old") << "old\n";
  auto run = bench.on_file(bench.table().input + "x\n", {"-o", "old", "--meta", "m.json"});
  refused(run, 3, {});
  expect(slurp(bench.directory() / "old") == "old\n", "the old file stays");
  expect(bench.files() == std::vector<std::string>{"in.csv", "old"}, "nothing is left beside it");
  auto ended = bench.valid({"-o", "old"});
  // What it writes is there, with a name beside its file or without one.
  ended.terminate_when = [&](pid_t process) { return has_open_file_in(process, bench.directory()); };
  auto const outcome = conduct::run(ended);
  expect(!outcome.too_slow, "no file is written where the output will be", &outcome);
  expect(outcome.signal == SIGTERM, "SIGTERM ends it", &outcome);
  expect(slurp(bench.directory() / "old") == "old\n", "the old file stays after a signal");
  expect(bench.files() == std::vector<std::string>{"in.csv", "old"}, "nothing is left after a signal");
}

constexpr Check checks_of_input[] = {{"closed_stdin", closed_stdin},     {"terminal_stdin", terminal_stdin},
                                     {"missing_file", missing_file},     {"dashes", dashes},
                                     {"unknown_column", unknown_column}, {"duplicate_column", duplicate_column},
                                     {"missing_column", missing_column}, {"text_in_a_number", text_in_a_number},
                                     {"huge_numbers", huge_numbers},     {"missing_row", missing_row},
                                     {"foreign_cell", foreign_cell},     {"empty_file", empty_file},
                                     {"header_only", header_only},       {"line_ends", line_ends},
                                     {"quoted_newline", quoted_newline}, {"broken_rows", broken_rows},
                                     {"huge_field", huge_field},         {"failed_output", failed_output}};

}  // namespace

std::span<Check const> checks_of_csv_input() {
  return checks_of_input;
}

}  // namespace conduct
