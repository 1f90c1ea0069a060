#include "kernels/ptx/cfg.hpp"

#include <algorithm>

namespace kernelcast::ptx {

namespace {

// Instructions that a branch may jump to, possibly repeated.
std::vector<std::uint32_t> targets(Function const& function, Instruction const& branch) {
  std::vector<std::uint32_t> out;
  auto const label = [&](std::uint32_t id) { out.push_back(function.labels[id].instruction); };
  for (auto const& operand : branch.operands) {
    if (operand.kind == Operand::Kind::label) label(operand.id);
    if (branch.is(Op::brx) && operand.kind == Operand::Kind::targets)
      for (auto id : function.branch_targets[operand.id].ids) label(id);
  }
  return out;
}

std::vector<bool> leaders(Function const& function, CfgOptions options) {
  auto const& instructions = function.instructions;
  std::vector<bool> leader(instructions.size() + 1, false);
  leader[0] = true;
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    auto const& instruction = instructions[i];
    if (instruction.is_branch()) {
      leader[i + 1] = true;
      for (auto target : targets(function, instruction)) leader[target] = true;
    } else if (instruction.ends_function()) {
      leader[i + 1] = true;
    } else if (options.barriers_end_blocks && instruction.is_barrier()) {
      leader[i] = leader[i + 1] = true;
    }
  }
  return leader;
}

// A graph and its root, for the one dominator algorithm that serves both directions.
struct Graph {
  std::vector<std::vector<std::uint32_t>> const& next;
  std::vector<std::vector<std::uint32_t>> const& previous;
  std::uint32_t root;
};

std::vector<std::uint32_t> post_order(std::vector<std::vector<std::uint32_t>> const& next, std::uint32_t root) {
  std::vector<std::uint32_t> order;
  std::vector<bool> seen(next.size(), false);
  std::vector<std::pair<std::uint32_t, std::size_t>> stack{{root, 0}};
  seen[root] = true;
  while (!stack.empty()) {
    auto& [node, edge] = stack.back();
    if (edge == next[node].size()) {
      order.push_back(node);
      stack.pop_back();
      continue;
    }
    auto const to = next[node][edge++];
    if (seen[to]) continue;
    seen[to] = true;
    stack.emplace_back(to, 0);
  }
  return order;
}

// Immediate dominators; the root's is itself, an unreachable node's is no_block.
std::vector<std::uint32_t> dominators(Graph const& graph) {
  auto const order = post_order(graph.next, graph.root);
  std::vector<std::uint32_t> number(graph.next.size(), no_block), dominator(graph.next.size(), no_block);
  for (std::uint32_t i = 0; i < order.size(); ++i) number[order[i]] = i;
  dominator[graph.root] = graph.root;
  auto const meet = [&](std::uint32_t a, std::uint32_t b) {
    while (a != b) {
      while (number[a] < number[b]) a = dominator[a];
      while (number[b] < number[a]) b = dominator[b];
    }
    return a;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (auto i = order.size(); i-- > 0;) {
      auto const node = order[i];
      if (node == graph.root) continue;
      std::uint32_t best = no_block;
      for (auto from : graph.previous[node])
        if (dominator[from] != no_block) best = best == no_block ? from : meet(from, best);
      if (best != dominator[node]) dominator[node] = best, changed = true;
    }
  }
  return dominator;
}

// Marks blocks that can reach the exit, and joins one block of every endless part to it.
void join_endless(Cfg& cfg) {
  std::vector<bool> ends(cfg.blocks.size(), false);
  std::vector<std::uint32_t> stack;
  auto const spread = [&](std::uint32_t from) {
    ends[from] = true;
    stack.push_back(from);
    while (!stack.empty()) {
      auto const block = stack.back();
      stack.pop_back();
      for (auto p : cfg.blocks[block].predecessors)
        if (!ends[p] && cfg.blocks[p].reachable) ends[p] = true, stack.push_back(p);
    }
  };
  for (auto block : cfg.reverse_post_order)
    if (cfg.blocks[block].exits && !ends[block]) spread(block);
  // The last block in reverse post-order lies at the bottom of a loop, so the loop's body still post-dominates its top.
  for (auto i = cfg.reverse_post_order.size(); i-- > 0;) {
    auto const block = cfg.reverse_post_order[i];
    if (ends[block]) continue;
    cfg.blocks[block].endless = true;
    spread(block);
  }
}

void find_dominators(Cfg& cfg) {
  auto const count = static_cast<std::uint32_t>(cfg.blocks.size());
  std::vector<std::vector<std::uint32_t>> next(count + 1), previous(count + 1);
  for (auto block : cfg.reverse_post_order) {
    for (auto to : cfg.blocks[block].successors) {
      next[block].push_back(to);
      previous[to].push_back(block);
    }
  }
  auto const dominator = dominators({next, previous, 0});
  for (auto block : cfg.reverse_post_order)
    if (block != 0) cfg.blocks[block].dominator = dominator[block];
  for (auto block : cfg.reverse_post_order) {
    if (!cfg.blocks[block].exits && !cfg.blocks[block].endless) continue;
    next[block].push_back(count);
    previous[count].push_back(block);
  }
  auto const post = dominators({previous, next, count});
  for (auto block : cfg.reverse_post_order)
    if (post[block] != count) cfg.blocks[block].post_dominator = post[block];
}

void find_loops(Cfg& cfg) {
  std::vector<std::uint32_t> position(cfg.blocks.size(), 0);
  for (std::uint32_t i = 0; i < cfg.reverse_post_order.size(); ++i) position[cfg.reverse_post_order[i]] = i;
  for (auto header : cfg.reverse_post_order) {  // outer headers come before inner ones
    std::vector<std::uint32_t> stack;
    std::vector<bool> inside;
    for (auto from : cfg.blocks[header].predecessors) {
      if (!cfg.blocks[from].reachable || position[from] < position[header]) continue;
      if (inside.empty()) inside.resize(cfg.blocks.size()), inside[header] = true;
      if (!cfg.dominates(header, from))
        cfg.irreducible = true;
      else if (!inside[from] || from == header)
        inside[from] = true, stack.push_back(from);
    }
    if (stack.empty()) continue;
    while (!stack.empty()) {
      auto const block = stack.back();
      stack.pop_back();
      if (block == header) continue;
      for (auto p : cfg.blocks[block].predecessors)
        if (cfg.blocks[p].reachable && !inside[p]) inside[p] = true, stack.push_back(p);
    }
    Loop loop;
    loop.header = header;
    loop.parent = cfg.blocks[header].loop;
    loop.depth = cfg.blocks[header].loop_depth + 1;
    auto const id = static_cast<std::uint32_t>(cfg.loops.size());
    for (std::uint32_t block = 0; block < cfg.blocks.size(); ++block) {
      if (!inside[block]) continue;
      loop.blocks.push_back(block);
      cfg.blocks[block].loop = id;
      cfg.blocks[block].loop_depth = loop.depth;
    }
    cfg.loops.push_back(std::move(loop));
  }
}

}  // namespace

bool Cfg::dominates(std::uint32_t a, std::uint32_t b) const {
  for (; b != no_block; b = blocks[b].dominator)
    if (a == b) return true;
  return false;
}

bool Cfg::post_dominates(std::uint32_t a, std::uint32_t b) const {
  for (; b != no_block; b = blocks[b].post_dominator)
    if (a == b) return true;
  return false;
}

Cfg analyse(std::vector<CfgBlock> blocks) {
  Cfg cfg;
  cfg.blocks = std::move(blocks);
  if (cfg.blocks.empty()) return cfg;
  std::vector<std::vector<std::uint32_t>> next;
  for (std::uint32_t i = 0; i < cfg.blocks.size(); ++i) {
    for (auto to : cfg.blocks[i].successors) cfg.blocks[to].predecessors.push_back(i);
    next.push_back(cfg.blocks[i].successors);
  }
  cfg.reverse_post_order = post_order(next, 0);
  std::reverse(cfg.reverse_post_order.begin(), cfg.reverse_post_order.end());
  for (auto block : cfg.reverse_post_order) cfg.blocks[block].reachable = true;
  join_endless(cfg);
  find_dominators(cfg);
  find_loops(cfg);
  return cfg;
}

Cfg build_cfg(Function const& function, CfgOptions options) {
  auto const count = static_cast<std::uint32_t>(function.instructions.size());
  if (count == 0) return {};
  auto const leader = leaders(function, options);
  std::vector<CfgBlock> blocks;
  std::vector<std::uint32_t> block_of(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    if (leader[i]) blocks.emplace_back().first = i;
    blocks.back().last = i + 1;
    block_of[i] = static_cast<std::uint32_t>(blocks.size() - 1);
  }
  std::vector<std::uint32_t> added_by(blocks.size(), no_block);
  for (std::uint32_t b = 0; b < blocks.size(); ++b) {
    auto& block = blocks[b];
    auto const& last = function.instructions[block.last - 1];
    auto const go_to = [&](std::uint32_t instruction) {
      if (instruction == count) {  // the end of the text returns
        block.exits = true;
      } else if (auto const to = block_of[instruction]; added_by[to] != b) {
        added_by[to] = b;
        block.successors.push_back(to);
      }
    };
    bool const jumps = last.is_branch() || last.ends_function();
    if (!jumps || last.guard.present) go_to(block.last);
    if (last.is_branch())
      for (auto target : targets(function, last)) go_to(target);
    else if (last.ends_function())
      block.exits = true;
  }
  auto cfg = analyse(std::move(blocks));
  cfg.block_of = std::move(block_of);
  return cfg;
}

}  // namespace kernelcast::ptx
