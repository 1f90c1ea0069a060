// Operations per execution level along the schedule of a sequential kernel; a line per kernel and case.
#include <map>

#include "figure/kinds.hpp"
#include "record/profile.hpp"

namespace kernelcast::figure {

void draw_parallelism(Rows& rows, Script& script) {
  std::map<std::string, std::vector<std::vector<std::string>>> lines;
  for (auto const& row : rows.all<record::Profile>()) {
    if (row.quantity != record::quantity::level_profile || row.invocation != "total" || !row.low || !row.high) continue;
    auto const levels = static_cast<double>(*row.high - *row.low);
    lines[row.case_name.empty() ? row.kernel : row.kernel + " " + row.case_name].push_back(
        {number(static_cast<double>(*row.low)), number(static_cast<double>(row.count) / levels)});
  }
  if (lines.empty())
    throw Error(Status::bad_data, "no row of quantity level_profile", "profiles are written by seqprof");
  script.set_title("Operations per execution level");
  script.line("set xlabel \"execution level\"");
  script.line("set ylabel \"operations that can run at once\"");
  script.line("set logscale y");
  script.line("set grid");
  script.line("set key {}", lines.size() > 1 ? "outside bottom center horizontal" : "top right");
  std::size_t i = 0;
  for (auto const& [name, cells] : lines) {
    script.curve("{} using 1:2 with steps lw 1.5 lc rgb {} title {}", script.data(cells), quote(colour(i)),
                 quote(name));
    ++i;
  }
  script.plot();
}

}  // namespace kernelcast::figure
