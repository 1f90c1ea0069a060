#include "models/graph/kernel_parts.hpp"

#include <algorithm>
#include <limits>

namespace kernelcast::graph {

namespace {

constexpr int max_rounds = 8;
constexpr double gain = 1e-9;  // relative; less is rounding

}  // namespace

KernelParts choose_kernel_parts(Study& study, double n, std::uint32_t parts, Placement const& placement) {
  KernelParts best;
  study.set_kernel_parts(best);
  auto const time_of = [&](KernelParts const& tried) {
    study.set_kernel_parts(tried);
    return study.infeasible(n, parts).empty() ? study.simulate(n, parts, placement).time_s
                                              : std::numeric_limits<double>::infinity();
  };
  double min_s = time_of(best);
  auto const kernels = study.kernels();
  bool changed = true;
  for (int round = 0; changed && round < max_rounds; ++round) {
    changed = false;
    for (auto const& kernel : kernels) {
      auto const before = best;
      for (std::uint32_t count = 1; count <= parts; count = count < parts ? std::min(2 * count, parts) : parts + 1) {
        auto tried = before;
        tried.erase(kernel);
        if (count < parts) tried[kernel] = count;
        if (tried == best) continue;
        double const time_s = time_of(tried);
        if (!(time_s < min_s * (1 - gain))) continue;
        min_s = time_s;
        best = tried;
        changed = true;
      }
    }
  }
  study.set_kernel_parts(best);
  return best;
}

}  // namespace kernelcast::graph
