#include "models/graph/interconnect.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/diag/text.hpp"
#include "records/table/table.hpp"

namespace kernelcast::graph {

bool parse_node(std::string_view name, std::string_view& kind, std::size_t& number) {
  for (std::string_view const known : {"gpu", "host", "switch"}) {
    if (!name.starts_with(known)) continue;
    auto const digits = name.substr(known.size());
    auto const read = to_number<std::size_t>(digits);
    if (!read || (digits.size() > 1 && digits[0] == '0') || *read >= 65536) return false;
    number = *read;
    kind = known;
    return true;
  }
  return false;
}

namespace {

// Numbers of one kind must run from 0 without gaps: the place of a GPU in lists is its number.
std::size_t counted(std::map<std::size_t, std::size_t> const& numbers, std::string const& kind,
                    std::vector<Where> const& where, std::string const& system) {
  if (numbers.empty())
    throw Error(Status::bad_data, where.empty() ? Where{system, 0, 0} : Where{where.front().file, 0, 0},
                fmt::format("the system has no {}", kind), fmt::format("name one {}0", kind));
  std::size_t expected = 0;
  for (auto const& [number, link] : numbers) {
    if (number != expected)
      throw Error(Status::bad_data, where.at(link),
                  fmt::format("there is {}{} but no {}{}", kind, number, kind, expected),
                  "numbers run from 0 without gaps");
    ++expected;
  }
  return expected;
}

void check_link(record::Link const& link, Where const& where) {
  auto const refuse = [&](std::string const& message, std::string const& hint) {
    return Error(Status::bad_data, where, message, hint);
  };
  if (link.from == link.to) throw refuse("a link from a node to itself", "from and to are two nodes");
  if (!(link.bandwidth_bytes_per_s > 0))
    throw refuse(fmt::format("link '{}' has no bandwidth", link.link), "bytes per second, above 0");
  if (link.latency_s && *link.latency_s < 0)
    throw refuse(fmt::format("link '{}' has a negative latency", link.link), "empty: unknown");
  if (link.duplex != "full" && link.duplex != "shared")
    throw refuse(fmt::format("duplex is '{}'", link.duplex),
                 "full: the bandwidth in each direction; shared: both directions together");
}

// "gpu-host": the kinds of both nodes, in the order of the alphabet.
std::string class_between(std::string const& from, std::string const& to) {
  auto const kind = [](std::string const& node) { return node.substr(0, node.find_first_of("0123456789")); };
  return fmt::format("{}-{}", std::min(kind(from), kind(to)), std::max(kind(from), kind(to)));
}

}  // namespace

struct Interconnect::Nodes {
  std::map<std::string, std::size_t> index;                // by name
  std::map<std::size_t, std::size_t> gpu_link, host_link;  // by number: a link that names it
};

Interconnect::Interconnect(std::string name, std::vector<record::Link> links, std::vector<Where> where)
    : name_(std::move(name)), links_(std::move(links)), where_(std::move(where)) {
  Nodes nodes;
  std::set<std::string> names;
  for (std::size_t i = 0; i < links_.size(); ++i) {
    auto& link = links_[i];
    if (!names.insert(link.link).second)
      throw Error(Status::bad_data, where_.at(i), fmt::format("link '{}' is duplicated", link.link),
                  "each link has a name of its own");
    add_nodes(link, i, nodes);
    check_link(link, where_.at(i));
    if (link.link_class.empty()) link.link_class = class_between(link.from, link.to);
    add_hops(link, nodes);
  }
  gpus_ = counted(nodes.gpu_link, "gpu", where_, name_);
  hosts_ = counted(nodes.host_link, "host", where_, name_);
  add_endpoints("gpu", nodes.gpu_link, nodes);
  add_endpoints("host", nodes.host_link, nodes);
  build_routes();
}

void Interconnect::add_nodes(record::Link const& link, std::size_t at, Nodes& nodes) {
  for (auto const& end : {link.from, link.to}) {
    std::string_view kind;
    std::size_t number = 0;
    if (!parse_node(end, kind, number)) {
      auto const near = nearest(end, {"gpu0", "host0", "switch0"});
      throw Error(Status::bad_data, where_.at(at), fmt::format("unknown node '{}'", end),
                  (near.empty() ? std::string() : did_you_mean(end, near) + " ") + "nodes are gpuN, hostN and switchN");
    }
    if (kind == "gpu") nodes.gpu_link.try_emplace(number, at);
    if (kind == "host") nodes.host_link.try_emplace(number, at);
    if (nodes.index.try_emplace(end, nodes.index.size()).second) {
      node_names_.push_back(end);
      hops_.emplace_back();
    }
  }
}

// One channel for each direction, or one for both.
void Interconnect::add_hops(record::Link const& link, Nodes const& nodes) {
  auto const channel = [&](std::string channel_name) {
    channels_.push_back(
        {std::move(channel_name), link.link_class, link.bandwidth_bytes_per_s, link.latency_s.value_or(0)});
    capacities_.push_back(link.bandwidth_bytes_per_s);
    return static_cast<std::uint32_t>(channels_.size() - 1);
  };
  std::size_t const a = nodes.index.at(link.from), b = nodes.index.at(link.to);
  bool const full = link.duplex == "full";
  auto const there = channel(full ? fmt::format("{} {}->{}", link.link, link.from, link.to) : link.link);
  auto const back = full ? channel(fmt::format("{} {}->{}", link.link, link.to, link.from)) : there;
  hops_[a].push_back({b, there});
  hops_[b].push_back({a, back});
}

void Interconnect::add_endpoints(char const* kind, std::map<std::size_t, std::size_t> const& links,
                                 Nodes const& nodes) {
  for (auto const& [number, link] : links) {
    endpoint_nodes_.push_back(nodes.index.at(fmt::format("{}{}", kind, number)));
    endpoint_links_.push_back(link);
  }
}

// From each endpoint outwards, level by level: fewest links, then the widest, then what stands first.
void Interconnect::build_routes() {
  std::size_t const endpoints = endpoint_count();
  constexpr std::size_t far = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> endpoint_of(hops_.size(), far);
  for (std::size_t e = 0; e < endpoints; ++e) endpoint_of[endpoint_nodes_[e]] = e;
  struct Reached {
    std::size_t level, before;
    std::uint32_t channel;
    double width;
  };
  route_begin_.assign(1, 0);
  for (std::size_t e = 0; e < endpoints; ++e) {
    std::vector<Reached> reached(hops_.size(), {far, 0, 0, 0});
    std::size_t const start = endpoint_nodes_[e];
    reached[start] = {0, start, 0, std::numeric_limits<double>::infinity()};
    std::vector<std::size_t> level{start};
    while (!level.empty()) {
      std::vector<std::size_t> next;
      for (std::size_t const node : level) {
        if (node != start && endpoint_of[node] != far) continue;  // no way through GPUs and memories
        for (auto const& hop : hops_[node]) {
          auto& there = reached[hop.node];
          double const width = std::min(reached[node].width, capacities_[hop.channel]);
          if (there.level == far) next.push_back(hop.node);
          if (there.level == far || (there.level == reached[node].level + 1 && width > there.width))
            there = {reached[node].level + 1, node, hop.channel, width};
        }
      }
      level = std::move(next);
    }
    for (std::size_t to = 0; to < endpoints; ++to) {
      auto const& end = reached[endpoint_nodes_[to]];
      if (end.level == far) {
        bool const to_is_gpu = to < gpus_;
        std::size_t const lost = to_is_gpu ? to : e;
        throw Error(Status::bad_data, where_.at(endpoint_links_[lost]),
                    fmt::format("{} cannot be reached from {}", endpoint_name(lost), endpoint_name(to_is_gpu ? e : to)),
                    "a route passes through switches only; is a link missing?");
      }
      std::vector<std::uint32_t> backwards;
      double latency_s = 0;
      for (std::size_t node = endpoint_nodes_[to]; node != start; node = reached[node].before) {
        backwards.push_back(reached[node].channel);
        latency_s += channels_[reached[node].channel].latency_s;
      }
      route_links_.insert(route_links_.end(), backwards.rbegin(), backwards.rend());
      route_begin_.push_back(static_cast<std::uint32_t>(route_links_.size()));
      route_latency_s_.push_back(latency_s);
      route_width_.push_back(end.width);
    }
  }
}

std::string Interconnect::endpoint_name(std::size_t endpoint) const {
  return endpoint < gpus_ ? fmt::format("gpu{}", endpoint) : fmt::format("host{}", endpoint - gpus_);
}

std::vector<std::string> Interconnect::classes() const {
  std::vector<std::string> out;
  for (auto const& link : links_)
    if (std::find(out.begin(), out.end(), link.link_class) == out.end()) out.push_back(link.link_class);
  return out;
}

std::size_t Interconnect::nearest_host(std::size_t gpu) const {
  std::size_t best = 0;
  for (std::size_t h = 1; h < hosts_; ++h) {
    auto const a = pair(host(h), gpu), b = pair(host(best), gpu);
    if (route(a).size() < route(b).size() || (route(a).size() == route(b).size() && width(a) > width(b))) best = h;
  }
  return best;
}

Interconnect Interconnect::scaled(std::string const& link_class, double factor) const {
  auto links = links_;
  for (auto& link : links)
    if (link_class.empty() || link.link_class == link_class) link.bandwidth_bytes_per_s *= factor;
  return Interconnect(name_, std::move(links), where_);
}

Interconnect read_system(csv::Reader& rows, std::string name) {
  record::Reader<record::Link> reader(rows);
  std::vector<record::Link> links;
  std::vector<Where> where;
  for (record::Link link; reader.next(link);) {
    // What can be said with the cell itself.
    for (auto const* column : {"from", "to"}) {
      std::string_view kind;
      std::size_t number = 0;
      auto const& node = std::string_view(column) == "from" ? link.from : link.to;
      if (parse_node(node, kind, number)) continue;
      auto const near = nearest(node, {"gpu0", "host0", "switch0"});
      throw reader.error(
          column, fmt::format("unknown node '{}'", node),
          (near.empty() ? std::string() : did_you_mean(node, near) + " ") + "nodes are gpuN, hostN and switchN");
    }
    if (!(link.bandwidth_bytes_per_s > 0))
      throw reader.error("bandwidth_bytes_per_s", fmt::format("link '{}' has no bandwidth", link.link),
                         "bytes per second, above 0");
    if (link.duplex != "full" && link.duplex != "shared")
      throw reader.error("duplex", fmt::format("expected full or shared, got '{}'", link.duplex),
                         "full: the bandwidth in each direction; shared: both directions together");
    where.push_back(reader.where("link"));
    links.push_back(link);
  }
  if (links.empty())
    throw Error(Status::bad_data, Where{rows.file(), 0, 0}, "a system without links", "one row is one link");
  return Interconnect(std::move(name), std::move(links), std::move(where));
}

}  // namespace kernelcast::graph
