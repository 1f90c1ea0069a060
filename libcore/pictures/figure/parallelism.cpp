// Operations per execution level along the schedule of a sequential kernel; a line per kernel and case. From 0, or
// logarithmic where the levels differ much.
#include <algorithm>
#include <limits>
#include <map>

#include "base/diag/names.hpp"
#include "pictures/figure/kinds.hpp"
#include "records/profile.hpp"

namespace kernelcast::figure {
namespace {

constexpr double linear_range = 50;

}  // namespace

void draw_parallelism(Rows& rows, Script& script) {
  struct Step {
    double low, high, operations;
  };
  std::map<std::string, std::vector<Step>> lines;
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (auto const& row : rows.all<record::Profile>()) {
    if (row.quantity != record::quantity::level_profile || row.invocation != "total" || !row.low || !row.high) continue;
    auto const levels = static_cast<double>(*row.high - *row.low);
    double const operations = static_cast<double>(row.count) / levels;
    least = std::min(least, operations);
    most = std::max(most, operations);
    auto const name = function_name(row.kernel);
    lines[row.case_name.empty() ? name : name + " " + row.case_name].push_back(
        {static_cast<double>(*row.low), static_cast<double>(*row.high), operations});
  }
  if (lines.empty())
    throw Error(Status::bad_data, "no row of quantity level_profile", "profiles are written by seqprof");
  script.set_title("Operations per execution level");
  script.line("set xlabel \"execution level\"");
  script.line("set ylabel \"operations that can run at once\"");
  if (least > 0 && most / least > linear_range) {
    script.line("set logscale y");
    script.line("set yrange [{}:{}]", number(std::min(1., least)), number(most * 2));
  } else {
    script.line("set yrange [0:{}]", number(most * 1.15));
  }
  script.line("set grid");
  script.line("set key {}", lines.size() > 1 ? "outside top left horizontal reverse Left" : "top right");
  std::size_t i = 0;
  for (auto const& [name, steps] : lines) {
    std::vector<std::vector<std::string>> cells;
    for (auto const& step : steps) cells.push_back({number(step.low), number(step.operations)});
    cells.push_back({number(steps.back().high), number(steps.back().operations)});  // the last level has a width, too
    auto const data = script.data(cells);
    if (lines.size() == 1)
      script.curve("{} using 1:2 with fillsteps fs transparent solid 0.2 noborder lc rgb {} notitle", data,
                   quote(colour(i)));
    script.curve("{} using 1:2 with steps lw 2 lc rgb {} title {}", data, quote(colour(i)), quote(name));
    ++i;
  }
  script.plot();
}

}  // namespace kernelcast::figure
