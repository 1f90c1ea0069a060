#include "models/forest/flat.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "base/diag/diag.hpp"

namespace kernelcast::forest {

namespace {

constexpr std::size_t lanes = 16;
constexpr std::size_t block_bytes = std::size_t{2} << 20;  // of what a block of rows falls into

// Integers in the order of the numbers; either zero is the same.
std::uint32_t key(float value) {
  auto const bits = std::bit_cast<std::uint32_t>(value + 0.0F);
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000U;
}
constexpr std::uint32_t above_all = 0xffffffffU;

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
    if (!std::isfinite(threshold)) refuse("a threshold is not a number");
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

Flat::Flat(Forest const& forest) : features_(forest.features) {
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
      nodes_[root + at] = Node{above_all} << 32;
      leaf_of_node_[root + at] = leaves[which[i]];
      continue;
    }
    auto const left = static_cast<std::uint32_t>(queue.size());
    nodes_[root + at] = Node{key(tree.threshold[which[i]])} << 32 | (left - at) << step_shift | lanes * tree.split[i];
    queue.push_back(i + 1);
    queue.push_back(shape.nodes[i].right);
  }
}

namespace {

// 16 walks at once, from `at` on: of 16 trees where the lanes have one sample, of 16 samples where they have their own.
// keys: [16 * feature + lane].
template <bool OneSample>
void descend(std::uint64_t const* nodes, std::uint32_t const* keys, unsigned step_shift,
             std::array<std::size_t, lanes>& at) {
  constexpr int steps = 4;  // between looks whether all have arrived
  std::uint32_t moved = 1;
  while (moved != 0) {
    moved = 0;
#pragma GCC unroll 4
    for (int i = 0; i < steps; ++i)
#pragma GCC unroll 16
      for (std::size_t k = 0; k < lanes; ++k) {
        std::uint64_t const node = nodes[at[k]];
        auto const low = static_cast<std::uint32_t>(node);
        std::uint32_t const step = low >> step_shift;
        std::uint32_t const x = keys[(low & ((1U << step_shift) - 1)) + (OneSample ? 0 : k)];
        at[k] += std::size_t{step} + static_cast<std::size_t>(static_cast<std::uint32_t>(node >> 32) < x);
        if (i + 1 == steps) moved |= step;
      }
  }
}

}  // namespace

void Flat::find(std::span<float const> x, std::span<std::uint32_t> leaf_of_tree) const {
  std::array<std::uint32_t, lanes * max_feature_count> keys;
  for (std::size_t f = 0; f < features_; ++f) keys[lanes * f] = key(x[f]);
  for (std::size_t first = 0; first < roots_.size(); first += lanes) {
    std::size_t const count = std::min(lanes, roots_.size() - first);
    std::array<std::size_t, lanes> at;
    for (std::size_t k = 0; k < lanes; ++k) at[k] = roots_[first + std::min(k, count - 1)];
    descend<true>(nodes_.data(), keys.data(), step_shift, at);
    for (std::size_t k = 0; k < count; ++k) leaf_of_tree[tree_of_[first + k]] = leaf_of_node_[at[k]];
  }
}

// keys: [group of 16 rows][feature][row]; leaves: [tree, in the forest's order][row].
void Flat::find_block(std::span<std::uint32_t const> keys, std::size_t rows, std::span<std::uint32_t> leaves) const {
  for (std::size_t k = 0; k < roots_.size(); ++k)
    for (std::size_t first = 0; first < rows; first += lanes) {
      std::array<std::size_t, lanes> at{};
      descend<false>(nodes_.data() + roots_[k], keys.data() + first * features_, step_shift, at);
      auto* const out = leaves.data() + tree_of_[k] * rows + first;
      for (std::size_t lane = 0; lane < lanes; ++lane) out[lane] = leaf_of_node_[roots_[k] + at[lane]];
    }
}

void Flat::find_rows(std::span<float const> x,
                     std::function<void(std::size_t, std::span<std::uint32_t const>)> const& visit) const {
  std::size_t const all = x.size() / features_, trees = roots_.size();
  std::size_t const block = std::max<std::size_t>(1, block_bytes / (trees * lanes * sizeof(std::uint32_t))) * lanes;
  std::vector<std::uint32_t> keys, leaves, leaf_of_tree(lanes * trees);
  for (std::size_t begin = 0; begin < all; begin += block) {
    std::size_t const count = std::min(block, all - begin);
    std::size_t const rows = (count + lanes - 1) / lanes * lanes;  // the last one stands for those beyond
    keys.resize(rows * features_);
    leaves.resize(rows * trees);
    for (std::size_t row = 0; row < rows; ++row) {
      auto const* const from = x.data() + (begin + std::min(row, count - 1)) * features_;
      auto* const to = keys.data() + row / lanes * lanes * features_ + row % lanes;
      for (std::size_t f = 0; f < features_; ++f) to[lanes * f] = key(from[f]);
    }
    find_block(keys, rows, leaves);
    for (std::size_t first = 0; first < count; first += lanes) {
      for (std::size_t k = 0; k < trees; ++k)
        for (std::size_t lane = 0; lane < lanes; ++lane)
          leaf_of_tree[lane * trees + k] = leaves[k * rows + first + lane];
      for (std::size_t lane = 0; lane < std::min(lanes, count - first); ++lane)
        visit(begin + first + lane, std::span(leaf_of_tree).subspan(lane * trees, trees));
    }
  }
}

}  // namespace kernelcast::forest
