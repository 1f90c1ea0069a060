// Which launches of a CUDA application are new, and how often each was made.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "intercept/cuda/abi.hpp"
#include "intercept/launch_policy.hpp"

namespace kernelcast::cudart {

struct Sizes {
  Dim3 grid, block;
  std::size_t dynamic_shared_bytes;
};

class LaunchPolicy {
 public:
  LaunchPolicy(std::string const& spool, std::string const& every) : policy_(intercept::Spool(spool), every) {}

  using Counted = intercept::LaunchPolicy::Counted;
  // Counts this launch. Kernels are told apart by address.
  Counted count(void const* kernel, Sizes const& sizes, std::uint64_t allocated_bytes) {
    auto const& [grid, block, shared_bytes] = sizes;
    return policy_.count(histories_[kernel], {3, {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared_bytes},
                         allocated_bytes);
  }
  static void take_back(Counted const& counted) { intercept::LaunchPolicy::take_back(counted); }
  double* totals(std::uint64_t configuration) { return policy_.totals(configuration); }
  intercept::Spool const& spool() const { return policy_.spool(); }

 private:
  intercept::LaunchPolicy policy_;
  std::map<void const*, intercept::History> histories_;
};

}  // namespace kernelcast::cudart
