#include "measure/flux/graph.hpp"

#include <algorithm>
#include <optional>

#include "kernels/ptx/inline.hpp"

namespace kernelcast::flux {

namespace {

using ptx::Instruction;
using ptx::Operand;

// Calls by address may go anywhere that a module hands out an address of.
bool ends_in_callee(ptx::Module const& module, Instruction const& i, std::vector<bool> const& may_end) {
  if (!i.is_call()) return false;
  if (auto const callee = ptx::callee_of(module, i)) return may_end[*callee];
  return std::find(may_end.begin(), may_end.end(), true) != may_end.end();
}

class Builder {
 public:
  Builder(ptx::Module const& module, ptx::Function const& function, std::vector<bool> const& may_end)
      : module_(module), f_(function), may_end_(may_end), count_(static_cast<std::uint32_t>(f_.instructions.size())) {}

  Graph run() {
    split();
    std::vector<ptx::CfgBlock> blocks = blocks_;
    for (std::uint32_t b = 0; b < blocks.size(); ++b) {
      for (Edge const& edge : edges_of(b)) {
        auto& block = blocks[b];
        if (edge.to == blocks_.size())
          block.exits = true;
        else if (std::find(block.successors.begin(), block.successors.end(), edge.to) == block.successors.end())
          block.successors.push_back(edge.to);
      }
    }
    Graph graph;
    graph.blocks = static_cast<std::uint32_t>(blocks.size());
    graph.cfg = ptx::analyse(std::move(blocks));
    graph.cfg.block_of = block_of_;
    graph.edges.push_back({graph.outside(), graph.blocks ? 0 : graph.outside(), Edge::Kind::entry, {}});
    for (std::uint32_t b = 0; b < graph.blocks; ++b)
      if (graph.cfg.blocks[b].reachable)
        for (Edge& edge : edges_of(b)) graph.edges.push_back(std::move(edge));
    return graph;
  }

 private:
  void split() {
    std::vector<bool> leader(count_ + 1, false);
    leader[0] = true;
    for (std::uint32_t i = 0; i < count_; ++i) {
      Instruction const& instruction = f_.instructions[i];
      if (instruction.is_branch() || instruction.ends_function() || ends_in_callee(module_, instruction, may_end_))
        leader[i + 1] = true;
      if (instruction.is_branch())
        for (auto const target : targets(instruction)) leader[target] = true;
    }
    for (std::uint32_t i = 0; i < count_; ++i) {
      if (leader[i]) blocks_.emplace_back().first = i;
      blocks_.back().last = i + 1;
      block_of_.push_back(static_cast<std::uint32_t>(blocks_.size() - 1));
    }
  }

  // Instructions that a branch may go to, by position in a table.
  std::vector<std::uint32_t> targets(Instruction const& branch) const {
    std::vector<std::uint32_t> out;
    for (auto const& operand : branch.operands) {
      if (operand.kind == Operand::Kind::label) out.push_back(f_.labels[operand.id].instruction);
      if (branch.is(ptx::Op::brx) && operand.kind == Operand::Kind::targets)
        for (auto const id : f_.branch_targets[operand.id].ids) out.push_back(f_.labels[id].instruction);
    }
    return out;
  }

  std::uint32_t node_at(std::uint32_t instruction) const {
    return instruction == count_ ? static_cast<std::uint32_t>(blocks_.size()) : block_of_[instruction];
  }

  std::vector<Edge> edges_of(std::uint32_t b) const {
    auto const& block = blocks_[b];
    Instruction const& last = f_.instructions[block.last - 1];
    auto const outside = static_cast<std::uint32_t>(blocks_.size());
    std::vector<Edge> out;
    auto const next = [&] {
      auto const to = node_at(block.last);
      out.push_back({b, to, to == outside ? Edge::Kind::end : Edge::Kind::next, {}});
    };
    if (last.is(ptx::Op::bra)) {
      if (last.guard.present) next();
      for (auto const target : targets(last)) out.push_back({b, node_at(target), Edge::Kind::branch, {}});
    } else if (last.is(ptx::Op::brx)) {
      if (last.guard.present) next();
      add_table(b, targets(last), out);
    } else if (last.ends_function()) {
      if (last.guard.present) next();
      out.push_back({b, outside, Edge::Kind::leave, {}});
    } else {
      next();
      if (ends_in_callee(module_, last, may_end_)) out.push_back({b, outside, Edge::Kind::lost, {}});
    }
    return out;
  }

  void add_table(std::uint32_t b, std::vector<std::uint32_t> const& instructions, std::vector<Edge>& out) const {
    auto const first = out.size();
    for (std::uint32_t position = 0; position < instructions.size(); ++position) {
      auto const to = node_at(instructions[position]);
      auto known = std::find_if(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                                [to](Edge const& e) { return e.to == to; });
      if (known == out.end()) known = out.insert(known, {b, to, Edge::Kind::table, {}});
      known->positions.push_back(position);
    }
  }

  ptx::Module const& module_;
  ptx::Function const& f_;
  std::vector<bool> const& may_end_;
  std::uint32_t count_;
  std::vector<ptx::CfgBlock> blocks_;
  std::vector<std::uint32_t> block_of_;
};

}  // namespace

std::vector<bool> may_end_caller(ptx::Module const& module) {
  std::vector<bool> may(module.functions.size(), false);
  for (std::size_t f = 0; f < may.size(); ++f)
    for (auto const& i : module.functions[f].instructions)
      if (i.is(ptx::Op::exit) && !module.functions[f].entry) may[f] = true;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t f = 0; f < may.size(); ++f) {
      if (may[f] || module.functions[f].entry) continue;
      for (auto const& i : module.functions[f].instructions)
        if (ends_in_callee(module, i, may)) may[f] = changed = true;
    }
  }
  return may;
}

Graph build_graph(ptx::Module const& module, ptx::Function const& function, std::vector<bool> const& may_end) {
  return Builder(module, function, may_end).run();
}

std::size_t find_edge(Graph const& graph, std::uint32_t from, Edge::Kind kind) {
  auto const at = std::find_if(graph.edges.begin(), graph.edges.end(),
                               [&](Edge const& e) { return e.from == from && e.kind == kind; });
  return static_cast<std::size_t>(at - graph.edges.begin());
}

}  // namespace kernelcast::flux
