#include "bench.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace conduct {

void expect(bool good, std::string const& what, Outcome const* outcome) {
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

Directory::Directory(std::string const& prefix) {
  std::string name = (fs::temp_directory_path() / (prefix + ".XXXXXX")).string();
  if (mkdtemp(name.data()) == nullptr) throw Failure{"no temporary directory"};
  path_ = name;
}

Directory::~Directory() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
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

std::vector<std::string> words_of(std::string const& text) {
  std::vector<std::string> out;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (auto const at = word.find("$SOURCE"); at != std::string::npos) word.replace(at, 7, std::getenv("SOURCE"));
    out.push_back(word);
  }
  return out;
}

Bench::Bench(Table table) : table_(std::move(table)), command_(words_of(table_["command"])) {}

Run Bench::valid(std::vector<std::string> const& more) const {
  Run run;
  run.arguments = command_;
  run.arguments.insert(run.arguments.end(), more.begin(), more.end());
  run.directory = directory().string();
  run.input = table_.input;
  return run;
}

Run Bench::on_file(std::string const& content, std::vector<std::string> const& more) const {
  std::ofstream(directory_ / "in.csv", std::ios::binary) << content;
  auto run = valid(more);
  run.arguments.emplace_back("in.csv");
  run.input.clear();
  return run;
}

Run Bench::bare(std::vector<std::string> const& arguments) const {
  Run run;
  run.arguments = {name()};
  run.arguments.insert(run.arguments.end(), arguments.begin(), arguments.end());
  run.directory = directory().string();
  return run;
}

std::vector<std::string> Bench::files() const {
  std::vector<std::string> names;
  for (auto const& entry : fs::directory_iterator(directory_)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

Outcome good(Run const& run) {
  auto outcome = conduct::run(run);
  expect(!outcome.too_slow, "it did not end", &outcome);
  expect(outcome.status == 0 && outcome.signal == 0, "it should succeed", &outcome);
  expect(outcome.err.empty(), "a successful run must not write to standard error", &outcome);
  return outcome;
}

Outcome refused(Run const& run, int status, std::vector<std::string> const& expected) {
  auto outcome = conduct::run(run);
  expect(!outcome.too_slow, "it did not end", &outcome);
  expect(outcome.status == status, "it should exit with status " + std::to_string(status), &outcome);
  for (auto const& part : expected)
    expect(contains(outcome.err, part), "standard error should say '" + part + "'", &outcome);
  expect(contains(outcome.err, "error: "), "standard error should hold an error", &outcome);
  expect(contains(outcome.err, "\nhint: "), "standard error should hold a hint", &outcome);
  return outcome;
}

std::string place(Where const& where) {
  return "in.csv:" + std::to_string(where.line) + ":" + std::to_string(where.column) + ": error: ";
}

Where cell_place(std::string const& text, std::size_t column) {
  std::istringstream in(text);
  kernelcast::csv::Reader reader(in, "in.csv");
  reader.next();
  return reader.where(column);
}

Where header_place(std::string const& text, std::size_t column) {
  std::istringstream in(text);
  return kernelcast::csv::Reader(in, "in.csv").header_where(column);
}

}  // namespace conduct
