// The rows of each launch configuration (kernel, sizes, shared memory), in the order of the first launch; and what
// follows from a module's text for each kernel.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/ptx/module.hpp"
#include "records/count.hpp"

namespace kernelcast::flux {

template <class T>
class Configurations {
 public:
  T& of(record::CountedLaunch const& launch) {
    for (auto& [known, value] : all_)
      if (sizes_of(known) == sizes_of(launch)) return value;
    return all_.emplace_back(launch, T{}).second;
  }
  auto begin() { return all_.begin(); }
  auto end() { return all_.end(); }

 private:
  static auto sizes_of(record::CountedLaunch const& l) {
    return std::tie(l.kernel, l.grid_x, l.grid_y, l.grid_z, l.block_x, l.block_y, l.block_z, l.shared_bytes);
  }
  std::vector<std::pair<record::CountedLaunch, T>> all_;
};

// Blocks and minimal counters of a kernel and all device functions of its module.
struct Static {
  std::uint64_t blocks = 0, counters = 0;
};
std::map<std::string, Static, std::less<>> statics_of(ptx::Module const&);  // by kernel

}  // namespace kernelcast::flux
