// All kinds of figure, and the rows they get.
#include <algorithm>
#include <array>

#include "pictures/figure/figure.hpp"
#include "pictures/figure/kinds.hpp"
#include "records/execution_cost.hpp"
#include "records/fit.hpp"
#include "records/forest.hpp"
#include "records/measurement.hpp"
#include "records/partition.hpp"
#include "records/profile.hpp"
#include "records/ranking.hpp"
#include "records/simulation.hpp"

namespace kernelcast::figure {
namespace {

template <class R>
record::Layout const& layout() {
  return R::schema();
}

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (auto const& known : kinds()) out.emplace_back(known.name);
  return out;
}

}  // namespace

std::span<Kind const> kinds() {
  static constexpr std::array all{
      Kind{"bottlenecks", "what bounds each device, as parts of the time", layout<record::ExecutionCost>,
           draw_bottlenecks},
      Kind{"errors", "how far held-out predictions are off, boxes and shares", layout<record::HeldOut>, draw_errors},
      Kind{"latency", "latency of a load over the working set", layout<record::Measurement>, draw_latency},
      Kind{"occupancy", "bandwidth over occupancy", layout<record::Measurement>, draw_occupancy},
      Kind{"parallelism", "operations per execution level of a sequential kernel", layout<record::Profile>,
           draw_parallelism},
      Kind{"penalty", "what the choices of fitted models lose, as box plots", layout<record::Penalty>, draw_penalty},
      Kind{"perdome", "bounds of all code partitions over the intensities of two parts", layout<record::Bound>,
           draw_perdome},
      Kind{"predicted", "measured against predicted values of held-out samples", layout<record::HeldOut>,
           draw_predicted},
      Kind{"ranking", "relative time of each device, a panel per kernel and case", layout<record::Ranking>,
           draw_ranking},
      Kind{"residual", "errors of fitted times, as box plots", layout<record::Residual>, draw_residual},
      Kind{"roofline", "kernels below the roofs of devices", layout<record::Bound>, draw_roofline},
      Kind{"scaling", "time over the number of GPUs, a line per size", layout<record::Simulation>, draw_scaling},
      Kind{"schedule", "which device runs which kernel when", layout<record::Assignment>, draw_schedule},
      Kind{"stack-distance", "references over their stack distance", layout<record::Profile>, draw_stack_distance},
      Kind{"timeline", "another name of schedule", layout<record::Assignment>, draw_schedule},
  };
  return all;
}

Kind const& kind(std::string_view name) {
  for (auto const& known : kinds())
    if (known.name == name) return known;
  throw Error(Status::usage, fmt::format("no figure of kind '{}'", name), did_you_mean(name, names(), 30));
}

std::vector<record::Layout const*> inputs() {
  std::vector<record::Layout const*> out;
  for (auto const& known : kinds())
    if (auto const* input = &known.input(); std::find(out.begin(), out.end(), input) == out.end()) out.push_back(input);
  return out;
}

Rows::Selection Rows::selection_of(std::vector<std::string> const& conditions) {
  Selection out;
  for (auto const& condition : conditions) {
    auto const at = condition.find('=');
    if (at == std::string::npos || at == 0)
      throw Error(Status::usage, fmt::format("--where takes COLUMN=VALUE, not '{}'", condition),
                  "for example --where kernel=mmul");
    out[condition.substr(0, at)].push_back(condition.substr(at + 1));
  }
  return out;
}

Rows::Places Rows::places_of(csv::Reader const& csv) const {
  Places out;
  for (auto const& [column, values] : selection_) {
    auto const& header = csv.header();
    auto const found = std::find(header.begin(), header.end(), column);
    if (found == header.end())
      throw csv.header_error(0, fmt::format("no column '{}' to select by", column), did_you_mean(column, header));
    out.emplace_back(static_cast<std::size_t>(found - header.begin()), &values);
  }
  return out;
}

bool Rows::selected(csv::Reader const& csv, Places const& places) {
  return std::all_of(places.begin(), places.end(), [&](auto const& place) {
    return std::find(place.second->begin(), place.second->end(), csv[place.first]) != place.second->end();
  });
}

void Rows::refuse_nothing() const {
  throw Error(Status::bad_data, Where{paths_.front() == "-" ? "<stdin>" : paths_.front(), 0, 0}, "no row to draw",
              selection_.empty() ? "the input has a header only" : "no row has the values of --where");
}

}  // namespace kernelcast::figure
