// A forest laid out for prediction.
//
// Problem: walking 512 trees node by node waits for memory and mispredicts every branch.
// Method: nodes of 8 bytes without branches: the next node is `at + step + (threshold < x)`; a leaf leads to itself,
// its step is 0 and its threshold above all numbers. Numbers are compared as integers in the same order. For one sample
// 16 trees of similar depth go down together, so that their loads overlap; for many samples 16 of them go down one tree
// after the other, which stays in the nearest cache, a third of the time.
// Limits: gathers of AVX2 and AVX-512 were measured for both: 2 to 3 times slower than 16 scalar lanes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "models/forest/forest.hpp"

namespace kernelcast::forest {

// Of each leaf of a tree, in its order: mean (squared error) or median (absolute error) of its members' targets.
std::vector<double> leaf_values(Tree const&, Forest const&);

class Flat {
 public:
  // Throws Error(bad_data), with a message, for invalid trees: counts that do not match, a feature
  // or member that does not exist, a threshold that is not a number.
  explicit Flat(Forest const&);

  // A leaf with several members.
  struct Leaf {
    double value = 0;         // mean (squared error) or median (absolute error) of its members' targets
    std::uint32_t begin = 0;  // its members in members()
    std::uint32_t size = 0;
  };

  // What a sample falls into: mostly a leaf of one member, which then is the number itself.
  static constexpr std::uint32_t several = std::uint32_t{1} << 31;  // else: this bit and the place in leaves()

  std::size_t trees() const { return roots_.size(); }
  std::size_t depth() const { return depths_.empty() ? 0 : depths_.back(); }  // of the deepest tree
  std::vector<Leaf> const& leaves() const { return leaves_; }  // tree by tree, in the order of their depth
  std::vector<std::uint32_t> const& members() const { return members_; }

  // For each tree, in the forest's order, what `x` falls into. x has all features, none is NaN.
  void find(std::span<float const> x, std::span<std::uint32_t> leaf_of_tree) const;
  // The same for rows of features one after the other: calls visit(row, leaf_of_tree) for each in order.
  void find_rows(std::span<float const> x,
                 std::function<void(std::size_t, std::span<std::uint32_t const>)> const& visit) const;

 private:
  using Node = std::uint64_t;  // threshold << 32 | left child's place less the node's own << 12 | 16 * feature
  static constexpr unsigned step_shift = 12;
  void add(Tree const&, Forest const&);
  void find_block(std::span<std::uint32_t const> keys, std::size_t rows, std::span<std::uint32_t> leaves) const;

  std::size_t features_ = 0;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> leaf_of_node_;
  std::vector<Leaf> leaves_;
  std::vector<std::uint32_t> members_;
  std::vector<std::size_t> roots_;      // in order of depth
  std::vector<std::size_t> depths_;     // the same
  std::vector<std::uint32_t> tree_of_;  // the same -> the forest's order
};

}  // namespace kernelcast::forest
