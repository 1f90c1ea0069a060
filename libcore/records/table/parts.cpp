#include "records/table/parts.hpp"

#include <algorithm>
#include <map>
#include <ranges>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diag/diag.hpp"

namespace kernelcast::record {

bool is_earlier_part(std::string_view a, std::string_view b) {
  auto const digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (!digit(a[i]) || !digit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i, ++j;
      continue;
    }
    auto const number = [&](std::string_view text, std::size_t& at) {
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

void Parts::add(csv::Reader& csv) {
  if (parts_.empty()) header_ = csv.header();
  if (csv.header() != header_)
    throw csv.header_error(0, "the columns are others than those of the first part",
                           "parts are of one sweep, made by one version");
  auto const column = [&](char const* name) {
    return static_cast<std::size_t>(std::ranges::find(header_, name) - header_.begin());
  };
  std::size_t const of_case = column("kernel") < header_.size() ? column("case") : header_.size();
  auto& points = parts_.emplace_back(csv.file(), std::vector<Point>{}).points;
  while (csv.next()) {
    Row row;
    for (std::size_t i = 0; i < csv.size(); ++i) row.emplace_back(csv[i]);
    bool const goes_on = of_case < header_.size() && !points.empty() && points.back().front()[of_case] == row[of_case];
    if (!goes_on) points.emplace_back();
    points.back().push_back(std::move(row));
  }
}

void Parts::check() const {
  check_distinct();
  check_complete();
}

// A sweep deals its points out in turn: from some part on all have one fewer than the first.
void Parts::check_complete() const {
  std::size_t const most = parts_.front().points.size();
  auto const text = [](std::size_t i, Part const& part) {
    return fmt::format("part {} ({}) has {} point{}", i, part.file, part.points.size(),
                       part.points.size() == 1 ? "" : "s");
  };
  std::vector<std::string> incomplete, misplaced;
  for (std::size_t i = 1; i < parts_.size(); ++i) {
    std::size_t const count = parts_[i].points.size();
    if (count + 1 < most) incomplete.push_back(text(i, parts_[i]));
    if (count > parts_[i - 1].points.size()) misplaced.push_back(text(i, parts_[i]));
  }
  auto const& wrong = incomplete.empty() ? misplaced : incomplete;
  if (!wrong.empty())
    throw Error(
        Status::bad_data, fmt::format("{}, and {}", fmt::join(wrong, ", "), text(0, parts_.front())),
        "a part is not complete or not in its place: go on with --shard i/N --resume FILE -o FILE, and name the "
        "parts by their numbers");
}

void Parts::check_distinct() const {
  std::map<Point, std::size_t> seen;
  for (std::size_t i = 0; i < parts_.size(); ++i)
    for (auto const& point : parts_[i].points)
      if (auto const [at, is_new] = seen.emplace(point, i); !is_new)
        throw Error(Status::bad_data,
                    fmt::format("a point is twice there, in {} and in {}: {}", parts_[at->second].file, parts_[i].file,
                                fmt::join(std::views::take(point.front(), 4), ",")),
                    "is one part named twice, or do two overlap?");
}

void Parts::write(std::ostream& out) const {
  csv::Writer rows(out);
  rows.row(header_);
  for (std::size_t point = 0; point < parts_.front().points.size(); ++point)
    for (auto const& part : parts_)
      if (point < part.points.size())
        for (auto const& row : part.points[point]) rows.row(row);
}

}  // namespace kernelcast::record
