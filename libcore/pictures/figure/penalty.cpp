// What the choices of each model lose, as box plots over applications and over systems; Figures 3.15 and 3.16 of
// [braun].
#include "pictures/figure/boxplot.hpp"
#include "pictures/figure/kinds.hpp"
#include "records/fit.hpp"

namespace kernelcast::figure {

void draw_penalty(Rows& rows, Script& script) {
  Boxes by_app, by_system;
  std::map<std::string, int> models;
  auto const all = rows.all<record::Penalty>();
  for (auto const& row : all) ++models[row.model];
  for (auto const& row : all) {
    std::string const model = models.size() > 1 ? "\n" + row.model : "";
    by_app[row.app + model].push_back(1 + row.penalty_pct / 100);
    by_system[row.system + model].push_back(1 + row.penalty_pct / 100);
  }
  draw_boxes(script, "time of the choice / least time", by_app, "by application", by_system, "by system");
}

}  // namespace kernelcast::figure
