// How every program must behave, whatever it computes: one list of checks, run for each table in tools/.
//
//   conduct TABLE CHECK      with BIN and SOURCE in the environment; README.md describes tables and checks
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>

#include <nlohmann/json.hpp>

#include "csv/csv.hpp"
#include "process.hpp"

namespace fs = std::filesystem;
using conduct::Outcome;
using conduct::Run;
using conduct::Skip;
using kernelcast::Where;

namespace {

using Rows = std::vector<std::vector<std::string>>;

struct Table {
  std::map<std::string, std::string> values;
  std::string input;
  std::string operator[](std::string const& key) const {
    auto const found = values.find(key);
    return found == values.end() ? std::string() : found->second;
  }
  bool reads_csv() const { return (*this)["reads"] == "csv"; }
  bool writes_records() const { return (*this)["writes"] != "picture"; }
};

struct Failure {
  std::string text;
};

void expect(bool good, std::string const& what, Outcome const* outcome = nullptr) {
  if (good) return;
  std::string text = what + '\n';
  if (outcome)
    text += "status " + std::to_string(outcome->status) + ", signal " + std::to_string(outcome->signal) +
            ", standard error:\n" + outcome->err + "\nstandard output begins:\n" + outcome->out.substr(0, 400) + '\n';
  throw Failure{text};
}

bool contains(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

std::string slurp(fs::path const& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

Table read_table(fs::path const& path) {
  std::ifstream in(path);
  if (!in) throw Failure{"cannot read " + path.string()};
  Table table;
  bool in_input = false;
  for (std::string line; std::getline(in, line);) {
    if (line == "=== input")
      in_input = true;
    else if (in_input)
      table.input += line + '\n';
    else if (auto const at = line.find(" = "); at != std::string::npos && line[0] != '#')
      table.values[line.substr(0, at)] = line.substr(at + 3);
  }
  return table;
}

Rows parse(std::string const& text) {
  std::istringstream in(text);
  kernelcast::csv::Reader reader(in, "output");
  Rows rows{reader.header()};
  while (reader.next()) {
    rows.emplace_back();
    for (std::size_t i = 0; i < reader.size(); ++i) rows.back().emplace_back(reader[i]);
  }
  return rows;
}

std::string unparse(Rows const& rows) {
  std::ostringstream out;
  kernelcast::csv::Writer writer(out);
  for (auto const& row : rows) writer.row(row);
  return out.str();
}

std::size_t column_of(Rows const& rows, std::string const& name) {
  auto const found = std::find(rows.at(0).begin(), rows.at(0).end(), name);
  if (found == rows[0].end()) throw Failure{"the table's input has no column '" + name + "'"};
  return static_cast<std::size_t>(found - rows[0].begin());
}

// One program in a directory of its own.
class Bench {
 public:
  explicit Bench(Table table) : table_(std::move(table)) {
    std::string name = (fs::temp_directory_path() / "conduct.XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw Failure{"no temporary directory"};
    directory_ = name;
    std::istringstream words(table_["command"]);
    for (std::string word; words >> word;) {
      if (auto const at = word.find("$SOURCE"); at != std::string::npos) word.replace(at, 7, std::getenv("SOURCE"));
      command_.push_back(word);
    }
  }
  ~Bench() {
    std::error_code ignored;
    fs::remove_all(directory_, ignored);
  }
  Bench(Bench const&) = delete;

  Table const& table() const { return table_; }
  fs::path const& directory() const { return directory_; }
  std::string const& name() const { return command_.front(); }

  // The valid command, its CSV by a pipe.
  Run valid(std::vector<std::string> const& more = {}) const {
    Run run;
    run.arguments = command_;
    run.arguments.insert(run.arguments.end(), more.begin(), more.end());
    run.directory = directory_.string();
    run.input = table_.input;
    return run;
  }
  // The same with this CSV as file in.csv.
  Run on_file(std::string const& content, std::vector<std::string> const& more = {}) const {
    std::ofstream(directory_ / "in.csv", std::ios::binary) << content;
    auto run = valid(more);
    run.arguments.push_back("in.csv");
    run.input.clear();
    return run;
  }
  Run bare(std::vector<std::string> const& arguments) const {
    Run run;
    run.arguments = {name()};
    run.arguments.insert(run.arguments.end(), arguments.begin(), arguments.end());
    run.directory = directory_.string();
    return run;
  }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (auto const& entry : fs::directory_iterator(directory_)) names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  Table table_;
  fs::path directory_;
  std::vector<std::string> command_;
};

Outcome good(Run const& run) {
  auto outcome = conduct::run(run);
  expect(!outcome.too_slow, "it did not end", &outcome);
  expect(outcome.status == 0 && outcome.signal == 0, "it should succeed", &outcome);
  expect(outcome.err.empty(), "a successful run must not write to standard error", &outcome);
  return outcome;
}

Outcome refused(Run const& run, int status, std::vector<std::string> const& said) {
  auto outcome = conduct::run(run);
  expect(!outcome.too_slow, "it did not end", &outcome);
  expect(outcome.status == status, "it should end with status " + std::to_string(status), &outcome);
  for (auto const& part : said)
    expect(contains(outcome.err, part), "standard error should say '" + part + "'", &outcome);
  expect(contains(outcome.err, "error: "), "standard error should hold an error", &outcome);
  expect(contains(outcome.err, "\nhint: "), "standard error should hold a hint", &outcome);
  return outcome;
}

std::string place(Where const& where) {
  return "in.csv:" + std::to_string(where.line) + ":" + std::to_string(where.column) + ": error: ";
}

// Where field `column` of the first data row stands in this text.
Where cell_place(std::string const& text, std::size_t column) {
  std::istringstream in(text);
  kernelcast::csv::Reader reader(in, "in.csv");
  reader.next();
  return reader.where(column);
}

// Where field `column` of the header stands.
Where header_place(std::string const& text, std::size_t column) {
  std::istringstream in(text);
  return kernelcast::csv::Reader(in, "in.csv").header_where(column);
}

// ---------------------------------------------------------------- checks for every program

void help(Bench const& bench) {
  for (std::string const option : {"--help", "-h"}) {
    auto const outcome = good(bench.bare({option}));
    expect(outcome.out.rfind("Usage: " + bench.name() + " ", 0) == 0, "help begins with the usage", &outcome);
    for (std::string const part : {"\nExit status:\n", "\nCommon options:\n", "--format", "See also: "})
      expect(contains(outcome.out, part), "help should hold '" + part + "'", &outcome);
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);)
      expect(line.empty() || line.back() != ' ', "blanks at a line's end");
  }
}

void version(Bench const& bench) {
  auto const outcome = good(bench.bare({"--version"}));
  expect(outcome.out.rfind(bench.name() + " (kernelcast) ", 0) == 0, "version", &outcome);
}

void columns(Bench const& bench) {
  auto const rows = parse(good(bench.bare({"--columns"})).out);
  expect(rows.at(0) == std::vector<std::string>{"record", "name", "unit", "required", "meaning"},
         "header of --columns");
  expect(rows.size() > 1, "--columns lists no column");
  auto const output = parse(good(bench.valid()).out);
  for (auto const& name : output.at(0))
    expect(std::any_of(rows.begin(), rows.end(), [&](auto const& row) { return row[1] == name; }),
           "--columns lacks '" + name + "', which the output has");
}

void manual(Bench const& bench) {
  for (std::string const option : {"--man-options", "--man-columns", "--man-statuses"})
    if (option != "--man-columns" || bench.table().writes_records())
      expect(!good(bench.bare({option})).out.empty(), option + " prints nothing");
}

void formats(Bench const& bench) {
  auto const csv = parse(good(bench.valid({"--format", "csv"})).out);
  auto const json = nlohmann::json::parse(good(bench.valid({"--format=json"})).out);
  expect(json.is_array() && json.size() + 1 == csv.size(), "JSON has one object per row");
  for (auto const& name : csv.at(0)) expect(json.at(0).contains(name), "JSON lacks '" + name + "'");
  expect(!good(bench.valid({"--format", "table"})).out.empty(), "a table");
  refused(bench.valid({"--format", "xml"}), 2, {"--format"});
}

void full_disk(Bench const& bench) {
  auto run = bench.valid();
  run.out = Run::Stdout::full;
  refused(run, 4, {"No space left"});
  auto help_run = bench.bare({"--help"});
  help_run.out = Run::Stdout::full;
  refused(help_run, 4, {"No space left"});
  refused(bench.valid({"-o", "/dev/full"}), 4, {"No space left"});
}

void closed_stdout(Bench const& bench) {
  auto run = bench.valid();
  run.out = Run::Stdout::closed;
  refused(run, 4, {"standard output"});
  run = bench.bare({"--version"});
  run.out = Run::Stdout::closed;
  refused(run, 4, {"standard output"});
}

void broken_pipe(Bench const& bench) {
  auto run = bench.valid();
  run.out = Run::Stdout::broken_pipe;
  auto const outcome = conduct::run(run);
  expect(outcome.signal == SIGPIPE, "a broken pipe ends it by SIGPIPE", &outcome);
  expect(outcome.err.empty(), "and quietly", &outcome);
}

void head(Bench const& bench) {
  auto run = bench.valid();
  std::string command = "exec 3<&0;";
  for (auto const& word : run.arguments) command += " '" + word + "'";
  run.arguments = {"sh", "-c", command + " <&3 | head -1"};
  auto const outcome = good(run);
  expect(std::count(outcome.out.begin(), outcome.out.end(), '\n') == 1, "one line", &outcome);
}

void comma_locale(Bench const& bench) {
  auto const locales = bench.directory() / "locales";
  fs::create_directory(locales);
  std::string const command = "localedef -i de_DE -f UTF-8 '" + (locales / "de_DE.UTF-8").string() +
                              "' >/dev/null 2>&1; LOCPATH='" + locales.string() +
                              "' LC_ALL=de_DE.UTF-8 locale decimal_point 2>/dev/null | grep -qx ,";
  if (std::system(command.c_str()) != 0) throw Skip{"no comma locale can be made here (package locales)"};
  auto const plain = good(bench.valid());
  auto run = bench.valid();
  run.environment = {{"LOCPATH", locales.string()}, {"LC_ALL", "de_DE.UTF-8"}, {"LANG", "de_DE.UTF-8"}};
  expect(good(run).out == plain.out, "the output depends on the locale");
}

void no_color(Bench const& bench) {
  auto run = bench.bare({"--no-such-option"});
  run.terminal_on_stderr = true;
  auto const said = [&](std::string const& name, std::string const& value) {
    run.environment = {{"TERM", "xterm"}, {"NO_COLOR", ""}};
    run.environment.emplace_back(name, value);
    return conduct::run(run).err;
  };
  expect(contains(said("TERM", "xterm"), "\x1b["), "on a terminal an error is in colour");
  expect(!contains(said("NO_COLOR", "1"), "\x1b"), "NO_COLOR is honoured");
  expect(!contains(said("TERM", "dumb"), "\x1b"), "TERM=dumb is honoured");
  run.terminal_on_stderr = false;
  expect(!contains(said("TERM", "xterm"), "\x1b"), "no colour in a file");
}

void unknown_option(Bench const& bench) {
  refused(bench.valid({"--formt=csv"}), 2, {"'--formt'", "did you mean '--format'"});
  refused(bench.valid({"--zzzzzzzzzz"}), 2, {"'--zzzzzzzzzz'", "--help"});
  refused(bench.valid({"--threads", "many"}), 2, {"--threads"});
  refused(bench.valid({"--threads", "0"}), 2, {"--threads"});
  refused(bench.valid({"--seed", "-1"}), 2, {"--seed", "0 or more"});
}

void configuration(Bench const& bench) {
  std::ofstream(bench.directory() / "bad.toml") << "formt = \"json\"\n";
  std::string const format = bench.table().writes_records() ? "json" : "gnuplot";
  std::ofstream(bench.directory() / "good.toml") << "format = \"" + format + "\"\n";
  refused(bench.valid({"--config", "bad.toml"}), 2, {"formt", "did you mean 'format'"});
  refused(bench.valid({"--config", "none.toml"}), 4, {"none.toml"});
  std::ofstream(bench.directory() / "help.toml") << "help = true\n";
  refused(bench.valid({"--config", "help.toml"}), 2, {"'help'", "configuration file"});
  std::ofstream(bench.directory() / "section.toml") << "[more]\nformat = \"json\"\n";
  refused(bench.valid({"--config", "section.toml"}), 2, {"'more'"});
  auto const out = good(bench.valid({"--config", "good.toml"})).out;
  if (bench.table().writes_records()) expect(nlohmann::json::parse(out).is_array(), "the key takes effect");
}

void output_file(Bench const& bench) {
  auto const plain = good(bench.valid()).out;
  expect(good(bench.valid({"-o", "out"})).out.empty(), "-o leaves standard output empty");
  expect(slurp(bench.directory() / "out") == plain, "-o writes the same");
  expect(bench.files() == std::vector<std::string>{"out"}, "-o leaves nothing beside its file");
  refused(bench.valid({"-o", "no/such/folder/out"}), 4, {"no/such/folder/out"});
  refused(bench.valid({"-o", "."}), 4, {"directory"});
  expect(good(bench.valid({"-o", "-"})).out == plain, "-o - is standard output");
  expect(good(bench.valid({"-o", "/dev/stdout"})).out == plain, "-o /dev/stdout is standard output");
  auto closed = bench.valid({"-o", "/dev/stdout"});
  closed.out = Run::Stdout::closed;
  refused(closed, 4, {"standard output"});
  refused(bench.valid({"-o", ""}), 2, {"--output"});
  refused(bench.valid({"-o", "same", "--meta", "same"}), 2, {"--meta", "--output"});
  refused(bench.valid({"--meta", "-"}), 2, {"--meta"});
}

void meta(Bench const& bench) {
  auto const plain = good(bench.valid({"--meta", "m.json", "--seed", "7"})).out;
  auto const meta = nlohmann::json::parse(slurp(bench.directory() / "m.json"));
  auto const tool = meta.at("tool").get<std::string>();  // "mangrove predict": a verb may follow
  expect(tool == bench.name() || tool.starts_with(bench.name() + " "), "tool");
  expect(meta.at("rows") == (bench.table().writes_records() ? parse(plain).size() - 1 : 0), "rows");
  expect(meta.at("seed") == 7, "seed");
  expect(meta.at("argv").size() > 4, "argv");
  expect(!meta.at("inputs").empty() && meta.at("inputs").at(0).at("xxh3_64").get<std::string>().size() == 16, "inputs");
  for (char const* key : {"version", "schema_versions", "host", "device", "utc", "threads"})
    expect(meta.contains(key), std::string("meta lacks ") + key);
}

void threads(Bench const& bench) {
  auto const one = good(bench.valid({"--threads", "1"})).out;
  expect(good(bench.valid({"--threads", "2"})).out == one, "the output depends on --threads");
  expect(good(bench.valid({"--threads", "7"})).out == one, "the output depends on --threads");
}

// ---------------------------------------------------------------- checks for programs that read CSV

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
  for (std::size_t r = 0; r < rows.size(); ++r) rows[r].insert(rows[r].begin(), r == 0 ? "stranger" : "x,y");
  auto const outcome = good(bench.on_file(unparse(rows))).out;
  if (bench.table()["passes_through"] == "yes")
    expect(contains(outcome, "stranger") && contains(outcome, "\"x,y\""), "unknown columns pass through");
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
    run.give_up_after_s = 20;
    refused(run, 3, {"<stdin>:2:1: error: ", "more than 16 MiB"});
  }
}

void failed_output(Bench const& bench) {
  std::ofstream(bench.directory() / "old") << "old\n";
  auto run = bench.on_file(bench.table().input + "x\n", {"-o", "old", "--meta", "m.json"});
  refused(run, 3, {});
  expect(slurp(bench.directory() / "old") == "old\n", "the old file stays");
  expect(bench.files() == std::vector<std::string>{"in.csv", "old"}, "nothing is left beside it");
  auto ended = bench.valid({"-o", "old"});
  ended.terminate_after_s = 0.5;
  auto const outcome = conduct::run(ended);
  expect(outcome.signal == SIGTERM, "SIGTERM ends it", &outcome);
  expect(slurp(bench.directory() / "old") == "old\n", "the old file stays after a signal");
  expect(bench.files() == std::vector<std::string>{"in.csv", "old"}, "nothing is left after a signal");
}

// The rows below the header, sorted.
std::vector<std::string> sorted_rows(std::string const& csv) {
  std::istringstream in(csv);
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) out.push_back(line);
  out.erase(out.begin());
  std::sort(out.begin(), out.end());
  return out;
}

// Shards put together and sorted are the serial run; rows that are there are not made again.
void sweep(Bench const& bench) {
  std::vector<std::string> command{bench.name()};
  std::istringstream words(bench.table()["sweep"]);
  for (std::string word; words >> word;) command.push_back(word);
  auto const run = [&](std::vector<std::string> const& more) {
    auto out = bench.bare({});
    out.arguments = command;
    out.arguments.insert(out.arguments.end(), more.begin(), more.end());
    return out;
  };
  auto const serial = good(run({})).out;
  expect(sorted_rows(serial).size() > 3, "a sweep has more than three rows");
  std::string together, first;
  for (std::string const shard : {"0/3", "1/3", "2/3"}) {
    auto const part = good(run({"--shard", shard})).out;
    if (first.empty()) first = part;
    together += together.empty() ? part : part.substr(part.find('\n') + 1);
  }
  expect(sorted_rows(together) == sorted_rows(serial), "three shards are the whole");

  auto task = run({"--shard", "slurm"});
  task.environment = {{"SLURM_ARRAY_TASK_ID", "0"}, {"SLURM_ARRAY_TASK_COUNT", "3"}};
  expect(good(task).out == first, "task 0 of an array job");
  task.environment = {{"SLURM_ARRAY_TASK_ID", "5"}, {"SLURM_ARRAY_TASK_COUNT", "3"}, {"SLURM_ARRAY_TASK_MIN", "5"}};
  expect(good(task).out == first, "the first task of an array job that counts from 5");
  task.arguments = command;
  expect(good(task).out == serial, "an array job alone changes nothing");
  refused(run({"--shard", "slurm"}), 2, {"SLURM_ARRAY_TASK_ID"});
  for (std::string const bad : {"3/3", "1", "-1/3", "a/b", "1/0"}) refused(run({"--shard", bad}), 2, {"--shard"});

  std::ofstream(bench.directory() / "part") << first;
  expect(good(run({"--resume", "part"})).out == serial, "what is there is taken, the rest is made");
  good(run({"--resume", "part", "-o", "part"}));
  expect(slurp(bench.directory() / "part") == serial, "in place, too");
  refused(run({"--resume", "none"}), 4, {"none"});
}

struct Check {
  char const* name;
  bool needs_csv;
  void (*run)(Bench const&);
};

constexpr Check checks[] = {{"help", false, help},
                            {"version", false, version},
                            {"columns", false, columns},
                            {"manual", false, manual},
                            {"formats", false, formats},
                            {"full_disk", false, full_disk},
                            {"closed_stdout", false, closed_stdout},
                            {"broken_pipe", false, broken_pipe},
                            {"head", false, head},
                            {"comma_locale", false, comma_locale},
                            {"no_color", false, no_color},
                            {"unknown_option", false, unknown_option},
                            {"configuration", false, configuration},
                            {"output_file", false, output_file},
                            {"meta", false, meta},
                            {"threads", false, threads},
                            {"sweep", false, sweep},
                            {"closed_stdin", true, closed_stdin},
                            {"terminal_stdin", true, terminal_stdin},
                            {"missing_file", true, missing_file},
                            {"dashes", true, dashes},
                            {"unknown_column", true, unknown_column},
                            {"duplicate_column", true, duplicate_column},
                            {"missing_column", true, missing_column},
                            {"text_in_a_number", true, text_in_a_number},
                            {"empty_file", true, empty_file},
                            {"header_only", true, header_only},
                            {"line_ends", true, line_ends},
                            {"quoted_newline", true, quoted_newline},
                            {"broken_rows", true, broken_rows},
                            {"huge_field", true, huge_field},
                            {"failed_output", true, failed_output}};

int run_check(fs::path const& path, std::string const& name) {
  for (auto const& check : checks) {
    if (name != check.name) continue;
    Bench const bench(read_table(path));
    if (check.needs_csv && !bench.table().reads_csv()) throw Failure{"this program reads no CSV"};
    check.run(bench);
    return 0;
  }
  throw Failure{"no such check: " + name};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 || !std::getenv("BIN") || !std::getenv("SOURCE")) {
    std::cerr << "conduct: run this by ctest\n";
    return 2;
  }
  setenv("PATH", (std::string(std::getenv("BIN")) + ":" + std::getenv("PATH")).c_str(), 1);
  for (char const* name : {"LC_ALL", "LANG", "NO_COLOR"}) unsetenv(name);
  try {
    return run_check(argv[1], argv[2]);
  } catch (Skip const& skip) {
    std::cout << "kernelcast-skipped: " << skip.why << '\n';
    return 0;
  } catch (Failure const& failure) {
    std::cout << failure.text;
  } catch (std::exception const& error) {
    std::cout << error.what() << '\n';
  }
  return 1;
}
