// Samples with what cross-validation and several devices need to know of them.
#pragma once

#include <cstddef>
#include <vector>

#include "models/forest/folds.hpp"
#include "models/forest/forest.hpp"

namespace kernelcast::forest {

// Samples with their targets in their own unit. Where the target is a rate, `work` is what a prediction is multiplied
// by to be compared with `measured`; else empty. Rows of a group are tested together; without groups each row is one.
struct Data {
  Samples samples;
  std::vector<double> measured;
  std::vector<double> work;
  Groups groups = {};
  // Only for several devices: rows of one kernel and case, rows of one device, and how many features (the first ones)
  // belong to the kernel.
  Groups configurations = {}, devices = {};
  std::size_t kernel_features = 0;
};

Data subset(Data const&, std::vector<std::size_t> const& rows);

}  // namespace kernelcast::forest
