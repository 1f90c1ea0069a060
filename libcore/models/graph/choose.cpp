#include "models/graph/choose.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <unordered_set>

#include "base/statistics/splitmix64.hpp"

namespace kernelcast::graph {

namespace {

// Quantities within some 5 % of each other are alike.
std::uint64_t about(double value) {
  return value > 0 ? splitmix64(static_cast<std::uint64_t>(std::llround(std::log(value) * 20) + 100000)) : 0;
}

// Colour refinement over the nodes of the interconnect and the parts mapped to its GPUs.
class Signatures {
 public:
  Signatures(Interconnect const& system, Graph const& graph, std::vector<double> const& kernel_s) : system_(system) {
    std::map<std::string, std::size_t> index;
    auto const node = [&](std::string const& name) {
      auto const [at, is_new] = index.try_emplace(name, nodes_.size());
      if (is_new) nodes_.push_back(splitmix64(name[0] == 'g' ? 1 : name[0] == 'h' ? 2 : 3));
      return at->second;
    };
    for (auto const& link : system.links()) {
      std::uint64_t const label = splitmix64(about(link.bandwidth_bytes_per_s) + (link.duplex == "full" ? 1 : 2) +
                                             3 * about(1 + 1e9 * link.latency_s.value_or(0)));
      links_.push_back({node(link.from), node(link.to), label});
    }
    for (std::size_t e = 0; e < system.endpoint_count(); ++e) endpoint_.push_back(index.at(system.endpoint_name(e)));

    // What a part does, and what it sends to each other part.
    parts_.assign(graph.parts, 0);
    std::vector<double> compute(graph.parts), in(graph.parts), out(graph.parts);
    std::map<std::pair<std::uint32_t, std::uint32_t>, double> sent;
    for (auto const& task : graph.tasks) switch (task.kind) {
        case TaskKind::kernel:
          compute[task.part] += kernel_s[task.kernel];
          break;
        case TaskKind::h2d:
          in[task.part] += task.amount;
          break;
        case TaskKind::d2h:
          out[task.part] += task.amount;
          break;
        case TaskKind::d2d:
          sent[{task.part, task.to}] += task.amount;
          break;
        case TaskKind::join:
          break;
      }
    for (std::uint32_t p = 0; p < graph.parts; ++p)
      parts_[p] = splitmix64(about(compute[p]) + splitmix64(about(in[p]) + 5) + splitmix64(about(out[p]) + 7));
    for (auto const& [ends, bytes] : sent) traffic_.push_back({ends.first, ends.second, about(bytes)});
  }

  // Of parts 0 … map.size() - 1 on their GPUs with host buffers in `buffer`; the other parts are not there yet.
  std::uint64_t operator()(std::vector<std::size_t> const& map, HostBuffer const& buffer) {
    colour_ = nodes_;
    if (buffer.host) colour_[endpoint_[system_.host(*buffer.host)]] = splitmix64(4);
    colour_.insert(colour_.end(), parts_.begin(), parts_.end());
    std::size_t const first_part = nodes_.size();
    for (int round = 0; round < 6; ++round) {
      next_.assign(colour_.size(), 0);
      auto const meet = [&](std::size_t a, std::size_t b, std::uint64_t there, std::uint64_t back) {
        next_[a] += splitmix64(colour_[b] + there);
        next_[b] += splitmix64(colour_[a] + back);
      };
      for (auto const& link : links_) meet(link.a, link.b, link.label, link.label);
      for (std::size_t p = 0; p < map.size(); ++p) meet(first_part + p, endpoint_[map[p]], 11, 12);
      for (auto const& t : traffic_) meet(first_part + t.a, first_part + t.b, t.label + 13, t.label + 14);
      for (std::size_t i = 0; i < colour_.size(); ++i) colour_[i] = splitmix64(colour_[i] + next_[i]);
    }
    std::uint64_t sum = buffer.host ? 1 : 2;
    for (auto const colour : colour_) sum += splitmix64(colour);
    return sum;
  }

 private:
  struct Edge {
    std::size_t a, b;
    std::uint64_t label;
  };
  Interconnect const& system_;
  std::vector<std::uint64_t> nodes_, parts_, colour_, next_;
  std::vector<std::size_t> endpoint_;
  std::vector<Edge> links_, traffic_;
};

using Maps = std::vector<std::vector<std::size_t>>;

// One of each kind of map of all parts, or nothing where there are more than `most` on the way.
Maps distinct_maps(Signatures& signature, std::size_t gpus, std::uint32_t parts, HostBuffer const& buffer,
                   std::size_t most) {
  Maps level{{}};
  for (std::uint32_t part = 0; part < parts; ++part) {
    Maps next;
    std::unordered_set<std::uint64_t> seen;
    for (auto const& map : level)
      for (std::size_t gpu = 0; gpu < gpus; ++gpu) {
        if (std::find(map.begin(), map.end(), gpu) != map.end()) continue;
        auto longer = map;
        longer.push_back(gpu);
        if (!seen.insert(signature(longer, buffer)).second) continue;
        next.push_back(std::move(longer));
        if (next.size() > most) return {};
      }
    level = std::move(next);
  }
  return level;
}

// The first GPUs in order, and GPUs as far from one another as the numbering has them.
Maps starting_maps(std::size_t gpus, std::uint32_t parts) {
  std::vector<std::size_t> compact(parts), spread(parts);
  std::iota(compact.begin(), compact.end(), 0);
  for (std::uint32_t p = 0; p < parts; ++p) spread[p] = p * gpus / parts;
  return compact == spread ? Maps{compact} : Maps{compact, spread};
}

bool faster(Candidate const& a, Candidate const& b) {
  return a.time_s != b.time_s ? a.time_s < b.time_s : a.parts < b.parts;
}

class Search {
 public:
  Search(Study& study, double n, std::uint32_t parts, ChooseOptions const& options, double lower_bound_s)
      : study_(study), n_(n), parts_(parts), options_(options), bound_s_(lower_bound_s) {
    best_.parts = parts;
    best_.time_s = std::numeric_limits<double>::infinity();
  }

  Candidate run() {
    auto const& system = study_.system();
    auto const& graph = study_.graph(n_, parts_, std::min<std::uint32_t>(study_.iterations(), 2));
    Signatures signature(system, graph, study_.times(graph));
    std::unordered_set<std::uint64_t> seen;
    std::vector<Candidate> starts;  // of local searches
    for (auto const& buffer : options_.buffers) {
      auto maps = distinct_maps(signature, system.gpu_count(), parts_, buffer, options_.max_maps);
      bool const all = !maps.empty();
      if (!all) maps = starting_maps(system.gpu_count(), parts_);
      for (auto& map : maps) {
        if (!seen.insert(signature(map, buffer)).second) continue;
        Candidate candidate{parts_, std::move(map), buffer, 0, all};
        if (all) {
          consider(candidate);
          if (met()) break;
        } else {
          candidate.time_s = estimate(candidate);
          starts.push_back(candidate);
        }
      }
      if (met()) break;
    }
    if (!met() && !starts.empty()) {
      auto start = *std::min_element(starts.begin(), starts.end(), faster);
      consider(start);
      improve(start);
      consider(start);
    }
    best_.exhaustive = starts.empty() || met();
    return best_;
  }

 private:
  void consider(Candidate candidate) {
    candidate.time_s = study_.simulate(n_, parts_, study_.placement(candidate.map, candidate.buffer)).time_s;
    if (candidate.time_s < best_.time_s * (1 - 1e-12)) best_ = std::move(candidate);
  }
  double estimate(Candidate const& c) { return study_.estimate_s(n_, parts_, study_.placement(c.map, c.buffer)); }
  bool met() const { return best_.time_s <= bound_s_ * (1 + 1e-6); }

  // Exchanges the GPUs of two parts, or takes an unused one, while that helps by estimate; first improvement.
  void improve(Candidate& c) {
    std::size_t const gpus = study_.system().gpu_count();
    c.time_s = estimate(c);
    auto left = 2 * gpus * gpus;  // estimates
    for (bool better = true; better;) {
      better = false;
      for (std::size_t p = 0; p < c.map.size(); ++p)
        for (std::size_t gpu = 0; gpu < gpus; ++gpu) {
          auto const other = std::find(c.map.begin(), c.map.end(), gpu);
          if (other != c.map.end() && static_cast<std::size_t>(other - c.map.begin()) <= p) continue;
          if (left-- == 0) return;
          auto trial = c;
          if (other != c.map.end()) trial.map[static_cast<std::size_t>(other - c.map.begin())] = c.map[p];
          trial.map[p] = gpu;
          trial.time_s = estimate(trial);
          if (trial.time_s >= c.time_s * (1 - 1e-9)) continue;
          c = trial;
          better = true;
        }
    }
  }

  Study& study_;
  double n_;
  std::uint32_t parts_;
  ChooseOptions const& options_;
  double bound_s_;
  Candidate best_;
};

}  // namespace

Choice choose(Study& study, double n, ChooseOptions const& options) {
  Choice out;
  std::vector<std::pair<double, std::uint32_t>> order;  // lower bound, number of GPUs
  for (auto const parts : options.gpus) {
    if (auto const reason = study.infeasible(n, parts); !reason.empty())
      out.reasons.push_back(std::to_string(parts) + " GPUs: " + reason);
    else
      order.emplace_back(study.lower_bound_s(n, parts), parts);
  }
  std::sort(order.begin(), order.end());
  if (!order.empty()) out.lower_bound_s = order.front().first;
  for (auto const& [bound_s, parts] : order) {
    if (out.best.size() >= 2 && bound_s > out.best[1].time_s) break;  // nor can those after it
    out.best.push_back(Search(study, n, parts, options, bound_s).run());
    std::sort(out.best.begin(), out.best.end(), faster);
  }
  for (auto const& c : out.best) out.exhaustive &= c.exhaustive;
  if (!out.best.empty() && out.best.front().time_s <= out.lower_bound_s * (1 + 1e-6)) out.exhaustive = true;
  return out;
}

Candidate choose_again(Study& study, double n, std::vector<Candidate> candidates) {
  for (auto& c : candidates) c.time_s = study.simulate(n, c.parts, study.placement(c.map, c.buffer)).time_s;
  return *std::min_element(candidates.begin(), candidates.end(), faster);
}

}  // namespace kernelcast::graph
