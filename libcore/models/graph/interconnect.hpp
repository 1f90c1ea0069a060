// The interconnect of a multi-GPU system.
//
// Problem: copies between GPUs and host memories share links; which links a copy uses and what each carries must be
// known before bandwidth can be allocated.
// Method: a graph of nodes (GPUs, host memories, switches) and links. A full-duplex link is two channels, one for each
// direction; a shared one is one channel for both. Every pair of endpoints (GPUs and hosts) has one route: fewest
// links, of those the widest, of those the first in the file. Data passes through switches only, never through a GPU
// or a host memory on the way.
// Limits: one route per pair; bandwidth does not depend on the size of a copy.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/csv/csv.hpp"
#include "base/diag/diag.hpp"
#include "records/link.hpp"

namespace kernelcast::graph {

struct Channel {
  std::string name;        // "pcie0 switch0->gpu0"; a shared link's own name
  std::string link_class;  // links that are varied together
  double bytes_per_s = 0;
  double latency_s = 0;
};

class Interconnect {
 public:
  // `where` gives each link's place for errors. Throws Error(bad_data): a node of no known kind, a bandwidth that is
  // not above 0, a link from a node to itself, a name that is duplicated, no GPU, no host, GPU or host numbers with
  // gaps, a pair of endpoints without a route.
  Interconnect(std::string name, std::vector<record::Link> links, std::vector<Where> where);

  std::string const& name() const { return name_; }
  std::size_t gpu_count() const { return gpus_; }
  std::size_t host_count() const { return hosts_; }
  std::size_t endpoint_count() const { return gpus_ + hosts_; }
  // Endpoints are numbered: GPUs 0 … gpu_count() - 1, then hosts.
  std::size_t host(std::size_t number) const { return gpus_ + number; }
  std::string endpoint_name(std::size_t endpoint) const;

  std::vector<Channel> const& channels() const { return channels_; }
  std::vector<double> const& capacities() const { return capacities_; }  // of the channels, bytes per second
  std::vector<record::Link> const& links() const { return links_; }
  std::vector<std::string> classes() const;  // in the order of the file, each once

  // A pair of endpoints, as one number.
  std::size_t pair(std::size_t from, std::size_t to) const { return from * endpoint_count() + to; }
  std::span<std::uint32_t const> route(std::size_t pair) const {
    return {route_links_.data() + route_begin_[pair], route_begin_[pair + 1] - route_begin_[pair]};
  }
  double latency_s(std::size_t pair) const { return route_latency_s_[pair]; }  // sum over the route
  double width(std::size_t pair) const { return route_width_[pair]; }          // narrowest channel, bytes per second

  std::size_t nearest_host(std::size_t gpu) const;  // number of the host with the shortest, then widest route

  // The same with all links of a class (all links where it is empty) at `factor` times their bandwidth. Routes are
  // found anew.
  Interconnect scaled(std::string const& link_class, double factor) const;

 private:
  struct Nodes;
  void add_nodes(record::Link const&, std::size_t at, Nodes&);
  void add_hops(record::Link const&, Nodes const&);
  void add_endpoints(char const* kind, std::map<std::size_t, std::size_t> const& links, Nodes const&);
  void build_routes();

  std::string name_;
  std::vector<record::Link> links_;
  std::vector<Where> where_;
  std::vector<std::string> node_names_;
  struct Hop {
    std::size_t node;
    std::uint32_t channel;
  };
  std::vector<std::vector<Hop>> hops_;  // [node]
  std::vector<std::size_t> endpoint_nodes_;
  std::vector<std::size_t> endpoint_links_;  // a link that touches the endpoint, for errors
  std::size_t gpus_ = 0, hosts_ = 0;
  std::vector<Channel> channels_;
  std::vector<double> capacities_;
  std::vector<std::uint32_t> route_begin_, route_links_;
  std::vector<double> route_latency_s_, route_width_;
};

// A system file; its name becomes the system's.
Interconnect read_system(csv::Reader& rows, std::string name);

// gpuN, hostN, switchN. False for anything else.
bool parse_node(std::string_view name, std::string_view& kind, std::size_t& number);

}  // namespace kernelcast::graph
