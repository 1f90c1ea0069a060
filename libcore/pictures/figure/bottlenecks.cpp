// The terms of the execution-cost model as parts of the whole: a stacked bar per kernel, case and device.
#include <array>

#include "base/diag/names.hpp"
#include "pictures/figure/kinds.hpp"
#include "records/execution_cost.hpp"

namespace kernelcast::figure {

void draw_bottlenecks(Rows& rows, Script& script) {
  using Cost = record::ExecutionCost;
  struct Term {
    std::optional<double> Cost::* time_s;
    char const* name;
  };
  static constexpr std::array terms{Term{&Cost::t_comp_s, "compute"},         Term{&Cost::t_fast_s, "on-chip memory"},
                                    Term{&Cost::t_slow_s, "off-chip memory"}, Term{&Cost::t_latency_s, "latency"},
                                    Term{&Cost::t_sync_s, "synchronization"}, Term{&Cost::t_transfer_s, "transfer"}};
  std::vector<std::vector<std::string>> cells;
  std::string kernel;
  bool transfers = false;
  rows.each<Cost>([&](auto const&, Cost&& row) {
    if (!row.time_s) return;
    if (!kernel.empty() && kernel != row.kernel)
      cells.push_back({cell(""), "0", "0", "0", "0", "0", "0"});  // a gap between kernels
    kernel = row.kernel;
    std::vector<std::string> bar{cell(function_name(row.kernel) + " " + row.device)};
    for (auto const& term : terms) bar.push_back(number(100 * (row.*term.time_s).value_or(0) / *row.time_s));
    transfers |= row.t_transfer_s.value_or(0) > 0;
    cells.push_back(std::move(bar));
  });
  if (cells.empty())
    throw Error(Status::bad_data, "no projection with a time", "projections with these terms are written by execcost");
  script.set_title("What bounds each device");
  script.width_px = std::max(script.width_px, 120 + 22 * static_cast<int>(cells.size()));
  script.line("set style data histograms");
  script.line("set style histogram rowstacked");
  script.line("set style fill solid 0.85 noborder");
  script.line("set boxwidth 0.8");
  script.line("set yrange [0:100]");
  script.line("set ylabel \"part of the time (%)\"");
  script.line("set xtics rotate by -60 scale 0 font \",9\"");
  script.line("set grid y");
  script.line("set key outside bottom center horizontal samplen 1");
  auto const data = script.data(cells);
  for (std::size_t i = 0; i < terms.size() - (transfers ? 0 : 1); ++i)
    script.curve("{} using {}{} lc rgb {} title {}", data, i + 2, i == 0 ? ":xtic(1)" : "", quote(colour(i)),
                 quote(terms[i].name));
  script.plot();
}

}  // namespace kernelcast::figure
