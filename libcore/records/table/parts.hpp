// The parts of a sweep, as cli::Shard deals its points out, put together again.
//
// Problem: parts that machines or tasks of a batch system made are to be what one run would have written, byte for
// byte, and a part that is incomplete, twice there or missing is to be named. Method: part i of N holds the points i, i
// + N, i + 2 N, ...: points are taken from the parts in turn. A point is a row, or, where rows have kernel and case,
// the rows that follow each other with the same case. Limits: that the last parts are missing altogether cannot be seen
// in the others.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/csv/csv.hpp"

namespace kernelcast::record {

// Whether one file is an earlier part than another: by their names, in which digits are numbers (part2 before part10).
bool is_earlier_part(std::string_view a, std::string_view b);

class Parts {
 public:
  // In their order. Throws Error(bad_data) where the columns are others than those of the first part.
  void add(csv::Reader& part);
  // Throws Error(bad_data) where a part lacks points, has more than the one before it, or a point is twice there.
  void check() const;
  void write(std::ostream& out) const;

 private:
  using Row = std::vector<std::string>;
  using Point = std::vector<Row>;
  struct Part {
    std::string file;
    std::vector<Point> points;
  };
  void check_complete() const;
  void check_distinct() const;

  Row header_;
  std::vector<Part> parts_;
};

}  // namespace kernelcast::record
