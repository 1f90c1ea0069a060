// kernelcast merge: the parts of a sweep, as --shard deals them out, put together again.
//
// Problem: parts that machines or tasks of a batch system made are to be what one run would have written, byte for
// byte, and a part that is incomplete, twice there or missing is to be named. Method: part i of N holds the points i, i
// + N, i + 2 N, ...: points are taken from the parts in turn. A point is a row, or, where rows have kernel and case,
// the rows that follow each other with the same case. Limits: which part a file is follows from the numbers in its
// name, or from its place. That the last parts are missing altogether cannot be seen without --parts.
#include <algorithm>
#include <cctype>
#include <map>
#include <memory>
#include <ranges>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/cli.hpp"
#include "csv/csv.hpp"
#include "verbs.hpp"

namespace kernelcast::front {

namespace {

using Row = std::vector<std::string>;
using Point = std::vector<Row>;

struct Part {
  std::string file;
  std::vector<Point> points;
};

struct Options {
  std::vector<std::string> files;
  std::size_t parts = 0;
};

// Digits as numbers: part2 before part10.
bool before(std::string const& a, std::string const& b) {
  auto const digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!digit(a[i]) || !digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    auto const number = [&](std::string const& text, std::size_t& at) {
      while (at + 1 < text.size() && text[at] == '0' && digit(text[at + 1])) ++at;
      std::size_t const begin = at;
      while (at < text.size() && digit(text[at])) ++at;
      return text.substr(begin, at - begin);
    };
    auto const x = number(a, i), y = number(b, j);
    if (x.size() != y.size()) return x.size() < y.size();
    if (x != y) return x < y;
  }
  return a.size() - i < b.size() - j;
}

Part read(std::string const& file, Row& header, cli::Streams& io) {
  auto csv = io.csv(file);
  Part out{cli::Streams::input_name(file), {}};
  if (header.empty()) header = csv.header();
  if (csv.header() != header)
    throw csv.header_error(0, "the columns are others than those of the first part",
                           "parts are of one sweep, made by one version");
  auto const column = [&](char const* name) {
    return static_cast<std::size_t>(std::ranges::find(header, name) - header.begin());
  };
  std::size_t const of_case = column("kernel") < header.size() ? column("case") : header.size();
  while (csv.next()) {
    Row row;
    for (std::size_t i = 0; i < csv.size(); ++i) row.emplace_back(csv[i]);
    bool const goes_on =
        of_case < header.size() && !out.points.empty() && out.points.back().front()[of_case] == row[of_case];
    if (!goes_on) out.points.emplace_back();
    out.points.back().push_back(std::move(row));
  }
  return out;
}

// A sweep deals its points out in turn: from some part on all have one fewer than the first.
void check_complete(std::vector<Part> const& parts) {
  std::size_t const most = parts.front().points.size();
  auto const text = [](std::size_t i, Part const& part) {
    return fmt::format("part {} ({}) has {} point{}", i, part.file, part.points.size(),
                       part.points.size() == 1 ? "" : "s");
  };
  std::vector<std::string> incomplete, misplaced;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    std::size_t const count = parts[i].points.size();
    if (count + 1 < most) incomplete.push_back(text(i, parts[i]));
    if (count > parts[i - 1].points.size()) misplaced.push_back(text(i, parts[i]));
  }
  auto const& wrong = incomplete.empty() ? misplaced : incomplete;
  if (!wrong.empty())
    throw Error(
        Status::bad_data, fmt::format("{}, and {}", fmt::join(wrong, ", "), text(0, parts.front())),
        "a part is not complete or not in its place: go on with --shard i/N --resume FILE -o FILE, and name the "
        "parts by their numbers");
}

void check_distinct(std::vector<Part> const& parts) {
  std::map<Point, std::size_t> seen;
  for (std::size_t i = 0; i < parts.size(); ++i)
    for (auto const& point : parts[i].points)
      if (auto const [at, is_new] = seen.emplace(point, i); !is_new)
        throw Error(Status::bad_data,
                    fmt::format("a point is twice there, in {} and in {}: {}", parts[at->second].file, parts[i].file,
                                fmt::join(std::views::take(point.front(), 4), ",")),
                    "is one part named twice, or do two overlap?");
}

void run(Options const& options, cli::Streams& io) {
  if (io.format() != record::Format::csv)
    throw Error(Status::usage, "merge writes CSV, the bytes of one run", "leave out --format");
  auto files = options.files;
  std::ranges::sort(files, before);
  if (options.parts > 0 && files.size() != options.parts)
    throw Error(Status::usage, fmt::format("{} parts of {} are named", files.size(), options.parts),
                "name each part once");
  Row header;
  std::vector<Part> parts;
  for (auto const& file : files) parts.push_back(read(file, header, io));
  check_distinct(parts);
  check_complete(parts);
  csv::Writer out(io.output());
  out.row(header);
  for (std::size_t point = 0; point < parts.front().points.size(); ++point)
    for (auto const& part : parts)
      if (point < part.points.size())
        for (auto const& row : part.points[point]) out.row(row);
}

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<Options>();
  auto& app = tool.app();
  app.add_option(
         "FILE", options->files,
         "the parts, made with --shard 0/N to N-1/N: in the order of the numbers in their names, or else as given")
      ->required();
  app.add_option("--parts", options->parts, "how many parts there are: an error where others are named")
      ->type_name("N")
      ->check(CLI::Range(1U, 1000000U));
  tool.run([options](cli::Streams& io) { run(*options, io); });
}

}  // namespace

int merge(int argc, char** argv) {
  cli::About const about{
      .name = "kernelcast merge",
      .summary = "put the parts of a sweep together",
      .description =
          "Joins what --shard 0/N, 1/N, ... of one program have written to what one run would have written, "
          "byte for byte. A part that is incomplete or named twice is an error that names it.",
      .operands = cli::Operands::none,
      .input = {},
      .output = {},
      .statuses = {},
      .see_also = {"miniemu(1)", "partsim(1)", "perdome(1)"},
      .examples = {{"kernelcast merge part*.csv > rows.csv", "what an array of jobs has made"},
                   {"kernelcast merge --parts 16 part*.csv > rows.csv", "the same, if all 16 are there"}}};
  return cli::tool_main(argc, argv, about, declare);
}

}  // namespace kernelcast::front
