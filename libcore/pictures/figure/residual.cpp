// Errors of the fitted times of each model, as box plots over applications and over systems; Figures 3.13 and 3.14 of
// [braun].
#include "pictures/figure/boxplot.hpp"
#include "pictures/figure/kinds.hpp"
#include "records/fit.hpp"

namespace kernelcast::figure {

void draw_residual(Rows& rows, Script& script) {
  Boxes by_app, by_system;
  std::map<std::string, int> models;
  auto const all = rows.all<record::Residual>();
  for (auto const& row : all) ++models[row.model];
  for (auto const& row : all) {
    std::string const model = models.size() > 1 ? "\n" + row.model : "";
    by_app[row.app + model].push_back(row.error_pct);
    by_system[row.system + model].push_back(row.error_pct);
  }
  draw_boxes(script, "error of the fitted time (%)", by_app, "by application", by_system, "by system");
}

}  // namespace kernelcast::figure
