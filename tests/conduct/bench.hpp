// One program in a directory of its own, and what a check needs: runs, expectations, places in CSV.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/csv/csv.hpp"
#include "process.hpp"

namespace conduct {

namespace fs = std::filesystem;
using kernelcast::Where;
using Rows = std::vector<std::vector<std::string>>;

// A program's table; see README.md.
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

Table read_table(fs::path const& path);  // throws Failure

struct Failure {
  std::string text;
};

// Throws Failure with these words, and with what the program said.
void expect(bool good, std::string const& what, Outcome const* outcome = nullptr);

bool contains(std::string const& text, std::string const& part);
std::string slurp(fs::path const& path);

// A directory of its own, removed at the end. Not libcore's: what is tested here does not judge itself.
class Directory {
 public:
  explicit Directory(std::string const& prefix);  // throws Failure
  ~Directory();
  Directory(Directory const&) = delete;
  Directory& operator=(Directory const&) = delete;
  operator fs::path const&() const { return path_; }
  fs::path operator/(std::string const& name) const { return path_ / name; }

 private:
  fs::path path_;
};

// Separated by blanks; $SOURCE is the folder of the sources.
std::vector<std::string> words_of(std::string const& text);

Rows parse(std::string const& text);  // the header is the first row
std::string unparse(Rows const& rows);
std::size_t column_of(Rows const& rows, std::string const& name);  // throws Failure

// One program in a directory of its own.
class Bench {
 public:
  explicit Bench(Table table);

  Table const& table() const { return table_; }
  fs::path const& directory() const { return directory_; }
  std::string const& name() const { return command_.front(); }

  // The valid command, its CSV by a pipe.
  Run valid(std::vector<std::string> const& more = {}) const;
  // The same with this CSV as file in.csv.
  Run on_file(std::string const& content, std::vector<std::string> const& more = {}) const;
  // The program with these arguments and no others.
  Run bare(std::vector<std::string> const& arguments) const;
  std::vector<std::string> files() const;  // in its directory

 private:
  Table table_;
  Directory directory_{"conduct"};
  std::vector<std::string> command_;
};

// Runs it: it must succeed, with nothing on standard error.
Outcome good(Run const& run);
// It must end with this status, and say an error, a hint and these words.
Outcome refused(Run const& run, int status, std::vector<std::string> const& expected);

std::string place(Where const& where);  // "in.csv:1:2: error: "
// Where field `column` of the first data row of this text stands.
Where cell_place(std::string const& text, std::size_t column);
// Where field `column` of the header stands.
Where header_place(std::string const& text, std::size_t column);

}  // namespace conduct
