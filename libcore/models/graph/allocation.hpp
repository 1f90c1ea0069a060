// Bandwidth of connections that share channels.
//
// Problem: connections, each along a route of channels of given capacity, all with unlimited demand.
// Method, one of
//   max-min  progressive filling: all rates grow together, a connection stops when a channel of its route is full.
//            The result is the max-min fair allocation: no rate can grow without taking from one that is not larger.
//   seed     Listing 3.1 of [braun] as printed, repeated until nothing changes: each round splits what is left of a
//            channel among all its connections, also those that can take no more. Converges geometrically; unfair.
//   rounds   the listing, but a connection stops to count where a channel of its route is full.
// Limits: every route has at least one channel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace kernelcast::graph {

enum class Allocation { maxmin, seed, rounds };
std::string_view name(Allocation);

// Keeps its working memory from call to call.
class Allocator {
 public:
  using Route = std::span<std::uint32_t const>;

  // Rates in the unit of the capacities, one per route, in their order. Returns the number of rounds.
  std::size_t allocate(Allocation, std::vector<double> const& capacities, std::vector<Route> const& routes,
                       std::vector<double>& rates);

 private:
  std::size_t maxmin(std::vector<double> const&, std::vector<Route> const&, std::vector<double>&);
  std::size_t listing(bool drop, std::vector<double> const&, std::vector<Route> const&, std::vector<double>&);

  std::vector<double> left_;
  std::vector<std::uint32_t> users_, used_, open_;
  std::vector<char> full_;
};

}  // namespace kernelcast::graph
