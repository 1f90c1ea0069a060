// References over their LRU stack distance; those of first references are at the right end. A line per kernel, case and
// granularity.
#include <algorithm>
#include <map>

#include "base/diag/names.hpp"
#include "pictures/figure/kinds.hpp"
#include "records/profile.hpp"

namespace kernelcast::figure {

void draw_stack_distance(Rows& rows, Script& script) {
  struct Line {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> points;  // distance in bytes, references
    std::uint64_t cold = 0, total = 0;
  };
  std::map<std::string, Line> lines;
  std::uint64_t farthest = 1;
  bool cold = false;
  for (auto const& row : rows.all<record::Profile>()) {
    if (row.quantity != record::quantity::stack_distance || row.invocation != "total" || !row.granularity_bytes)
      continue;
    auto& line = lines[fmt::format("{}{}{}, {} B", function_name(row.kernel), row.case_name.empty() ? "" : " ",
                                   row.case_name, *row.granularity_bytes)];
    line.total += row.count;
    if (!row.low) {
      line.cold += row.count;
      cold = true;
      continue;
    }
    line.points.emplace_back((*row.low + 1) * *row.granularity_bytes, row.count);
    farthest = std::max(farthest, line.points.back().first);
  }
  if (lines.empty())
    throw Error(Status::bad_data, "no row of quantity stack_distance", "profiles are written by seqprof");
  script.set_title("Stack distances");
  script.line("set xlabel \"memory that would hold the reference\"");
  script.line("set ylabel \"part of the references\"");
  script.line("set logscale xy");
  script.line("set format x \"%.0s %cB\"");
  script.line("set format y \"%g\"");
  script.line("set grid");
  script.line("set key outside top left horizontal reverse Left");
  auto const edge = static_cast<double>(farthest) * 2;
  script.line("set arrow from {0}, graph 0 to {0}, graph 1 nohead lc rgb \"#999999\"", number(edge));
  if (cold) script.line("set label \"first references\" at {}, graph 0.97 left offset 0.6,0 font \",9\"", number(edge));
  std::size_t i = 0;
  for (auto const& [name, line] : lines) {
    std::vector<std::vector<std::string>> cells;
    auto const share = [&](std::uint64_t n) {
      return number(static_cast<double>(n) / static_cast<double>(line.total));
    };
    for (auto const& [bytes, n] : line.points) cells.push_back({number(static_cast<double>(bytes)), share(n)});
    if (line.cold > 0) cells.push_back({number(edge * 2), share(line.cold)});
    script.curve("{} using 1:2 with impulses lw 2 lc rgb {} title {}", script.data(cells), quote(colour(i)),
                 quote(name));
    ++i;
  }
  script.plot();
}

}  // namespace kernelcast::figure
