// Features of an operator of a neural network, as `mangrove operators` derives them from its sizes.
#pragma once

#include <string>

#include "records/table/schema.hpp"

namespace kernelcast::record {

// Columns have the names that NeuSight's measurements are published with.
struct OperatorFeature {
  std::string kernel, case_name;
  double flop = 0, special = 0, read_b = 0, write_b = 0, out = 0, intensity = 0;
  double inner = 0, rows = 0, cols = 0, reduce = 0, batch = 0, gemm = 0;

  static Schema<OperatorFeature> const& schema();
};

// What it is derived from.
struct OperatorSize {
  std::string kernel, case_name;

  static Schema<OperatorSize> const& schema();
};

}  // namespace kernelcast::record
