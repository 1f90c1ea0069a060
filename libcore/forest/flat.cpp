#include "forest/flat.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "diag/diag.hpp"

namespace kernelcast::forest {

namespace {

constexpr std::size_t lanes = 16;

[[noreturn]] void refuse(std::string const& what) {
  throw Error(Status::bad_data, "the forest is damaged: " + what, "train the model again");
}

// The tree with children instead of an order, as the pre-order says.
struct Shape {
  struct Node {
    std::uint32_t right = 0;  // left is the next
    std::uint32_t depth = 0;
  };
  std::vector<Node> nodes;
  std::uint32_t depth = 0;
};

Shape shape_of(Tree const& tree) {
  Shape out;
  out.nodes.resize(tree.split.size());
  std::vector<std::uint32_t> waiting;  // inner nodes whose right child has not come yet
  std::uint32_t depth = 0;
  for (std::uint32_t i = 0; i < tree.split.size(); ++i) {
    out.nodes[i].depth = depth;
    out.depth = std::max(out.depth, depth);
    if (tree.split[i] != Tree::leaf) {
      waiting.push_back(i);
      ++depth;
      continue;
    }
    if (waiting.empty()) {
      if (i + 1 != tree.split.size()) refuse("a tree ends before its nodes do");
      return out;
    }
    auto const parent = waiting.back();
    waiting.pop_back();
    out.nodes[parent].right = i + 1;
    depth = out.nodes[parent].depth + 1;
  }
  refuse("a tree lacks leaves");
}

void check(Tree const& tree, Forest const& forest) {
  auto const leaves = static_cast<std::size_t>(std::count(tree.split.begin(), tree.split.end(), Tree::leaf));
  if (tree.threshold.size() + leaves != tree.split.size()) refuse("not one threshold for each inner node");
  if (tree.leaf_size.size() != leaves) refuse("not one size for each leaf");
  for (auto const feature : tree.split)
    if (feature != Tree::leaf && feature >= forest.features) refuse("a node asks for a feature that does not exist");
  for (float const threshold : tree.threshold)
    if (!std::isfinite(threshold)) refuse("a threshold is no number");
  if (tree.members.size() != forest.targets.size()) refuse("a tree has not every sample as its member once");
  std::vector<bool> seen(forest.targets.size());
  for (auto const member : tree.members) {
    if (member >= seen.size() || seen[member]) refuse("a tree has not every sample as its member once");
    seen[member] = true;
  }
  std::size_t all = 0;
  for (auto const size : tree.leaf_size) {
    if (size == 0) refuse("a leaf is empty");
    all += size;
  }
  if (all != tree.members.size()) refuse("the sizes of the leaves do not add up");
}

double value_of(std::span<std::uint32_t const> members, Forest const& forest) {
  std::vector<std::uint32_t> sorted(members.begin(), members.end());
  std::sort(sorted.begin(), sorted.end());  // targets ascend
  auto const n = sorted.size();
  auto const target = [&](std::size_t i) { return forest.targets[sorted[i]]; };
  if (target(0) == target(n - 1)) return target(0);
  if (forest.settings.criterion == Criterion::mae) return (target((n - 1) / 2) + target(n / 2)) / 2;
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += target(i);
  return std::clamp(sum / static_cast<double>(n), target(0), target(n - 1));
}

}  // namespace

std::vector<double> leaf_values(Tree const& tree, Forest const& forest) {
  std::vector<double> out;
  std::uint32_t begin = 0;
  for (auto const size : tree.leaf_size) {
    out.push_back(value_of({tree.members.data() + begin, size}, forest));
    begin += size;
  }
  return out;
}

Flat::Flat(Forest const& forest) {
  if (forest.trees.empty()) refuse("it has no tree");
  std::vector<std::uint32_t> depth_of;
  for (auto const& tree : forest.trees) {
    check(tree, forest);
    depth_of.push_back(shape_of(tree).depth);
  }
  tree_of_.resize(forest.trees.size());
  std::iota(tree_of_.begin(), tree_of_.end(), 0U);
  std::sort(tree_of_.begin(), tree_of_.end(),
            [&](auto a, auto b) { return depth_of[a] != depth_of[b] ? depth_of[a] < depth_of[b] : a < b; });
  for (auto const k : tree_of_) {
    roots_.push_back(nodes_.size());
    depths_.push_back(depth_of[k]);
    add(forest.trees[k], forest);
  }
}

// Breadth first, so that children stand side by side and the upper levels together.
void Flat::add(Tree const& tree, Forest const& forest) {
  auto const shape = shape_of(tree);
  // What pre-order position i has: its threshold or its leaf.
  std::vector<std::uint32_t> which(tree.split.size());
  std::uint32_t inner = 0, outer = 0;
  for (std::size_t i = 0; i < tree.split.size(); ++i) which[i] = tree.split[i] == Tree::leaf ? outer++ : inner++;
  std::vector<std::uint32_t> leaves;  // what the nodes of the leaves lead to
  std::uint32_t begin = 0;
  for (auto const size : tree.leaf_size) {
    std::span const members(tree.members.data() + begin, size);
    begin += size;
    if (size == 1) {
      leaves.push_back(members.front());
      continue;
    }
    leaves.push_back(several | static_cast<std::uint32_t>(leaves_.size()));
    leaves_.push_back({value_of(members, forest), static_cast<std::uint32_t>(members_.size()), size});
    members_.insert(members_.end(), members.begin(), members.end());
  }
  auto const root = nodes_.size();
  std::vector<std::uint32_t> queue{0};
  nodes_.resize(root + tree.split.size());
  leaf_of_node_.resize(nodes_.size());
  for (std::uint32_t at = 0; at < queue.size(); ++at) {
    auto const i = queue[at];
    if (tree.split[i] == Tree::leaf) {
      nodes_[root + at] = {std::numeric_limits<float>::infinity(), 0};
      leaf_of_node_[root + at] = leaves[which[i]];
      continue;
    }
    auto const left = static_cast<std::uint32_t>(queue.size());
    nodes_[root + at] = {tree.threshold[which[i]], (left - at) << 8 | tree.split[i]};
    queue.push_back(i + 1);
    queue.push_back(shape.nodes[i].right);
  }
}

double Flat::mean_depth() const {
  return static_cast<double>(std::accumulate(depths_.begin(), depths_.end(), std::size_t{0})) /
         static_cast<double>(depths_.size());
}

void Flat::find(std::span<float const> x, std::span<std::uint32_t> leaf_of_tree) const {
  Node const* const nodes = nodes_.data();
  float const* const values = x.data();
  for (std::size_t first = 0; first < roots_.size(); first += lanes) {
    std::size_t const count = std::min(lanes, roots_.size() - first);
    std::array<std::size_t, lanes> at;
    for (std::size_t k = 0; k < lanes; ++k) at[k] = roots_[first + std::min(k, count - 1)];
    std::size_t moved = 1;
    while (moved != 0) {
      moved = 0;
#pragma GCC unroll 16
      for (std::size_t k = 0; k < lanes; ++k) {
        auto const& node = nodes[at[k]];
        std::size_t const by = (node.step_and_feature >> 8) +
                               static_cast<std::size_t>(values[node.step_and_feature & 255] > node.threshold);
        moved |= by;
        at[k] += by;
      }
    }
    for (std::size_t k = 0; k < count; ++k) leaf_of_tree[tree_of_[first + k]] = leaf_of_node_[at[k]];
  }
}

}  // namespace kernelcast::forest
