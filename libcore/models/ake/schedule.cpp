#include "models/ake/schedule.hpp"

#include <algorithm>
#include <unordered_map>

namespace kernelcast::model::ake {

namespace {

struct Edge {
  std::uint32_t to;
  Ticks latency;
};

struct Graph {
  std::vector<std::vector<Edge>> successors;
  std::vector<std::uint32_t> predecessors;  // how many
};

// What a compiler expects of an access: the second-level cache for global memory.
Ticks expected_latency(Instruction const& i, Machine const& m) {
  Class const c = i.type.instruction_class;
  if (c == Class::gmem_load_l1 && i.type.kind == Kind::load) return m.of(Class::gmem_load_l2).latency;
  return m.of(c).latency;
}

bool is_access(Instruction const& i) {
  return i.type.kind == Kind::load || i.type.kind == Kind::store || i.type.kind == Kind::atomic ||
         i.type.kind == Kind::copy || i.type.kind == Kind::product;
}
bool is_ordered_with_all(Instruction const& i) {
  return i.type.fence || i.type.kind == Kind::barrier;
}
bool may_alias(Space a, Space b) {
  return a == b || a == Space::generic || b == Space::generic;
}
// Everything stays on its side of it: a branch, and what makes the results of products readable.
bool stays_last(Instruction const& i) {
  return i.type.instruction_class == Class::control || (i.type.kind == Kind::wait && i.type.queue == Queue::products);
}

class Builder {
 public:
  Builder(std::vector<Instruction> const& block, Machine const& machine) : block_(block), machine_(machine) {
    graph_.successors.resize(block.size());
    graph_.predecessors.assign(block.size(), 0);
  }

  Graph build() {
    for (std::uint32_t i = 0; i < block_.size(); ++i) {
      registers(i);
      memory(i);
      if (stays_last(block_[i])) {
        for (std::uint32_t before = last_ + 1; before-- > first_free_;)
          if (before < i) edge(before, i, 0);
        barrier_ = i;
        has_barrier_ = true;
        first_free_ = i;
      } else if (has_barrier_) {
        edge(barrier_, i, 0);
      }
      last_ = i;
    }
    return std::move(graph_);
  }

 private:
  void edge(std::uint32_t from, std::uint32_t to, Ticks latency) {
    if (from == to) return;
    graph_.successors[from].push_back({to, latency});
    ++graph_.predecessors[to];
  }

  void registers(std::uint32_t i) {
    Instruction const& instruction = block_[i];
    for (std::uint32_t const r : instruction.sources) {
      if (auto const w = writer_.find(r); w != writer_.end())
        edge(w->second, i, expected_latency(block_[w->second], machine_));
      readers_[r].push_back(i);
    }
    for (std::uint32_t const r : instruction.destinations) {
      if (auto const w = writer_.find(r); w != writer_.end()) edge(w->second, i, 0);
      auto& readers = readers_[r];
      for (std::uint32_t const reader : readers) edge(reader, i, 0);
      readers.clear();
      writer_[r] = i;
    }
  }

  void memory(std::uint32_t i) {
    Instruction const& instruction = block_[i];
    bool const all = is_ordered_with_all(instruction);
    if (!is_access(instruction) && !all) return;
    bool const writes = instruction.type.kind != Kind::load || all;
    for (std::uint32_t const before : accesses_) {
      Instruction const& other = block_[before];
      bool const ordered =
          all || is_ordered_with_all(other) ||
          ((writes || other.type.kind != Kind::load) && may_alias(instruction.type.space, other.type.space));
      if (ordered) edge(before, i, 0);
    }
    if (all) accesses_.clear();
    accesses_.push_back(i);
  }

  std::vector<Instruction> const& block_;
  Machine const& machine_;
  Graph graph_;
  std::unordered_map<std::uint32_t, std::uint32_t> writer_;
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> readers_;
  std::vector<std::uint32_t> accesses_;
  std::uint32_t barrier_ = 0, last_ = 0, first_free_ = 0;
  bool has_barrier_ = false;
};

// Values alive, as instructions are taken one by one.
class Pressure {
 public:
  Pressure(std::vector<Instruction> const& block, std::vector<bool> const& outlives)
      : block_(block), outlives_(outlives) {
    for (Instruction const& i : block)
      for (std::uint32_t const r : i.sources) ++uses_[r];
  }

  // By how much taking it changes the number of values alive.
  int change(std::uint32_t i) const {
    int sum = 0;
    for (std::uint32_t const r : block_[i].sources)
      if (auto const u = uses_.find(r); u != uses_.end() && u->second == 1 && alive_.contains(r)) --sum;
    for (std::uint32_t const r : block_[i].destinations)
      if (!alive_.contains(r) && (outlives_[i] || uses_.contains(r))) ++sum;
    return sum;
  }
  void take(std::uint32_t i) {
    for (std::uint32_t const r : block_[i].sources) {
      auto const u = uses_.find(r);
      if (u != uses_.end() && --u->second == 0) {
        uses_.erase(u);
        if (auto const a = alive_.find(r); a != alive_.end() && !a->second) alive_.erase(a);
      }
    }
    for (std::uint32_t const r : block_[i].destinations)
      if (outlives_[i] || uses_.contains(r)) alive_[r] = outlives_[i];
    max_alive_ = std::max(max_alive_, alive_.size());
  }
  std::size_t alive() const { return alive_.size(); }
  std::size_t most() const { return max_alive_; }

 private:
  std::vector<Instruction> const& block_;
  std::vector<bool> const& outlives_;
  std::unordered_map<std::uint32_t, std::uint32_t> uses_;
  std::unordered_map<std::uint32_t, bool> alive_;  // and whether it outlives the block
  std::size_t max_alive_ = 0;
};

std::vector<Ticks> heights(std::vector<Instruction> const& block, Graph const& graph, Machine const& machine) {
  std::vector<Ticks> height(block.size(), 0);
  for (std::size_t i = block.size(); i-- > 0;)  // edges run forwards
    for (Edge const& e : graph.successors[i])
      height[i] = std::max(height[i], height[e.to] + std::max(e.latency, machine.issue_gap));
  return height;
}

}  // namespace

std::vector<std::uint32_t> list_order(std::vector<Instruction> const& block, Machine const& machine,
                                      std::vector<bool> const& outlives, std::uint64_t registers) {
  Graph graph = Builder(block, machine).build();
  auto const height = heights(block, graph, machine);
  std::size_t limit = ~std::size_t{0};
  if (registers != 0) {
    Pressure program(block, outlives);
    for (std::uint32_t i = 0; i < block.size(); ++i) program.take(i);
    limit = std::max<std::size_t>(registers, program.most());
  }
  Pressure pressure(block, outlives);
  std::vector<Ticks> earliest(block.size(), 0);
  std::vector<std::uint32_t> ready, order;
  order.reserve(block.size());
  for (std::uint32_t i = 0; i < block.size(); ++i)
    if (graph.predecessors[i] == 0) ready.push_back(i);
  Ticks now = 0;
  while (!ready.empty()) {
    bool const full = pressure.alive() >= limit;
    // Smaller is better: what frees registers when there are none left, then what need not wait, then long chains.
    auto const better = [&](std::uint32_t a, std::uint32_t b) {
      if (full) {
        int const x = pressure.change(a), y = pressure.change(b);
        if (x != y) return x < y;
      }
      Ticks const wait_a = std::max<Ticks>(0, earliest[a] - now), wait_b = std::max<Ticks>(0, earliest[b] - now);
      if (wait_a != wait_b) return wait_a < wait_b;
      if (height[a] != height[b]) return height[a] > height[b];
      return a < b;
    };
    auto const best = std::min_element(ready.begin(), ready.end(), better);
    std::uint32_t const i = *best;
    *best = ready.back();
    ready.pop_back();
    order.push_back(i);
    pressure.take(i);
    now = std::max(now, earliest[i]);
    for (Edge const& e : graph.successors[i]) {
      earliest[e.to] = std::max(earliest[e.to], now + e.latency);
      if (--graph.predecessors[e.to] == 0) ready.push_back(e.to);
    }
    now += machine.issue_gap;
  }
  return order;
}

}  // namespace kernelcast::model::ake
