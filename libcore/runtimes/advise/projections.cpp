#include "runtimes/advise/projections.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "models/rank.hpp"

namespace kernelcast::advise {

Projections project(record::Kernel const& kernel, std::vector<device::Device const*> const& devices,
                    model::queue::Options const& options) {
  Projections out;
  std::vector<record::Projection> projected, timed;
  model::queue::Kernel const ready(kernel);
  for (auto const* const device : devices) projected.push_back(ready.project(*device, options));
  std::copy_if(projected.begin(), projected.end(), std::back_inserter(timed),
               [](record::Projection const& p) { return p.time_s.has_value(); });
  out.ranking = model::rank(timed, model::Together::model, model::Orders(devices));
  std::map<std::string, std::size_t> place;
  for (std::size_t i = 0; i < out.ranking.size(); ++i) place[out.ranking[i].device] = i;
  std::vector<std::pair<std::size_t, std::size_t>> order;  // place, and which row
  for (std::size_t i = 0; i < projected.size(); ++i) {
    auto const at = place.find(projected[i].device);
    order.emplace_back(at == place.end() ? place.size() : at->second, i);
  }
  std::sort(order.begin(), order.end());
  for (auto const& [rank, i] : order) out.rows.push_back(std::move(projected[i]));
  return out;
}

}  // namespace kernelcast::advise
