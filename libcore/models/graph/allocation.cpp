#include "models/graph/allocation.hpp"

#include <algorithm>
#include <limits>

namespace kernelcast::graph {

std::string_view name(Allocation allocation) {
  switch (allocation) {
    case Allocation::maxmin:
      return "maxmin";
    case Allocation::seed:
      return "seed";
    case Allocation::rounds:
      break;
  }
  return "rounds";
}

std::size_t Allocator::allocate(Allocation allocation, std::vector<double> const& capacities,
                                std::vector<Route> const& routes, std::vector<double>& rates) {
  rates.assign(routes.size(), 0);
  if (routes.empty()) return 0;
  return allocation == Allocation::maxmin ? maxmin(capacities, routes, rates)
                                          : listing(allocation == Allocation::rounds, capacities, routes, rates);
}

std::size_t Allocator::maxmin(std::vector<double> const& capacities, std::vector<Route> const& routes,
                              std::vector<double>& rates) {
  left_.resize(capacities.size());
  users_.assign(capacities.size(), 0);
  full_.resize(capacities.size());
  used_.clear();
  for (auto const& route : routes)
    for (auto const channel : route)
      if (users_[channel]++ == 0) {
        used_.push_back(channel);
        left_[channel] = capacities[channel];
      }
  open_.resize(routes.size());
  for (std::size_t i = 0; i < routes.size(); ++i) open_[i] = static_cast<std::uint32_t>(i);

  std::size_t rounds = 0;
  while (!open_.empty()) {
    ++rounds;
    double share = std::numeric_limits<double>::infinity();
    std::size_t kept = 0;
    for (auto const channel : used_) {
      if (users_[channel] == 0) continue;
      used_[kept++] = channel;
      share = std::min(share, left_[channel] / users_[channel]);
    }
    used_.resize(kept);
    // Channels that fill up together, in spite of rounding.
    double const limit = share * (1 + 1e-12);
    for (auto const channel : used_) full_[channel] = left_[channel] <= limit * users_[channel];
    kept = 0;
    for (auto const connection : open_) {
      auto const& route = routes[connection];
      bool stops = false;
      for (auto const channel : route) stops |= full_[channel] != 0;
      if (!stops) {
        open_[kept++] = connection;
        continue;
      }
      rates[connection] = share;
      for (auto const channel : route) {
        left_[channel] = std::max(0.0, left_[channel] - share);
        --users_[channel];
      }
    }
    open_.resize(kept);
  }
  return rounds;
}

std::size_t Allocator::listing(bool drop, std::vector<double> const& capacities, std::vector<Route> const& routes,
                               std::vector<double>& rates) {
  constexpr double unchanged = 1e-12;
  constexpr std::size_t max_rounds = 100'000;
  left_ = capacities;
  std::vector<double> available(capacities.size());
  std::vector<char> stopped(routes.size(), 0);
  std::size_t rounds = 0;
  for (bool changed = true; changed && rounds < max_rounds; ++rounds) {
    users_.assign(capacities.size(), 0);
    for (std::size_t i = 0; i < routes.size(); ++i) {
      if (drop)
        for (auto const channel : routes[i]) stopped[i] |= left_[channel] <= unchanged * capacities[channel];
      if (stopped[i]) continue;
      for (auto const channel : routes[i]) ++users_[channel];
    }
    for (std::size_t c = 0; c < capacities.size(); ++c) available[c] = users_[c] ? left_[c] / users_[c] : 0;
    changed = false;
    for (std::size_t i = 0; i < routes.size(); ++i) {
      if (stopped[i]) continue;
      double share = std::numeric_limits<double>::infinity();
      for (auto const channel : routes[i]) share = std::min(share, available[channel]);
      share = std::max(share, 0.0);
      rates[i] += share;
      changed |= share > unchanged * rates[i];
      for (auto const channel : routes[i]) left_[channel] -= share;
    }
  }
  return rounds;
}

}  // namespace kernelcast::graph
