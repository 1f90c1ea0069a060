// A forest that the device database brings along: a row of devdb/forests/index.csv.
#pragma once

#include <cstdint>
#include <string>

#include "records/table/schema.hpp"

namespace kernelcast::record {

// A factor is exp(mean |ln(predicted/measured)|) of held-out samples: 1.2 is 20 % too long or as much too short.
struct ShippedForest {
  std::string device, data_set, file;
  std::uint64_t kernels = 0, samples = 0, trees = 0, seed = 0;
  std::string unseen;  // what was left out together for the unseen_ columns: kernel or program
  double case_factor = 0;
  std::string case_trivial;
  double case_trivial_factor = 0;
  double unseen_factor = 0;
  std::string unseen_trivial;
  double unseen_trivial_factor = 0;
  std::string features;  // joined by ;
  std::string source, license, features_hash, targets_hash;

  static Schema<ShippedForest> const& schema();
};

}  // namespace kernelcast::record
