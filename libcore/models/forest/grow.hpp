// Growing one tree.
#pragma once

#include "models/forest/forest.hpp"
#include "models/forest/random.hpp"

namespace kernelcast::forest {

// Samples by columns, in ascending order of their targets.
struct Columns {
  std::size_t features = 0;
  std::vector<float> x;   // [feature * samples + sample]
  std::vector<double> y;  // [sample]
};

// Adds to `importance` the tree's part: decrease of the criterion by each feature, all together 1.
Tree grow(Columns const&, Settings const&, Random, std::vector<double>& importance);

}  // namespace kernelcast::forest
