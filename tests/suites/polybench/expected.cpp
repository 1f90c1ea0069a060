#include "expected.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "scenario.hpp"

namespace kernelcast::suites {

std::vector<std::string> const& polybench_workloads() {
  static std::vector<std::string> const names{"2dconv", "2mm",     "3dconv",      "3mm",      "adi",      "atax",
                                              "bicg",   "corr",    "covar",       "doitgen",  "fdtd2d",   "gemm",
                                              "gemver", "gesummv", "gramschmidt", "jacobi1d", "jacobi2d", "lu",
                                              "mvt",    "syr2k",   "syrk"};
  return names;
}

Expected expect_polybench(std::string_view workload, launch::Plan const& plan, Buffers const& before,
                          Buffers const& after) {
  Scenario const scenario(plan, before, after);
  for (auto const expect : {expect_product, expect_solver, expect_stencil})
    if (auto expected = expect(workload, scenario); !expected.empty()) return expected;
  throw std::out_of_range(fmt::format("no workload '{}'", workload));
}

Comparison compare(Expected const& expected, Buffers const& before, Buffers const& after) {
  Comparison result;
  auto const differs = [&](std::string text) {
    if (result.equal) result.mismatch = std::move(text);
    result.equal = false;
  };
  for (auto const& [name, bytes] : after) {
    auto const found = expected.find(name);
    if (found == expected.end()) {
      if (bytes != before.at(name)) differs(fmt::format("{} has changed", name));
      continue;
    }
    if (bytes.size() != found->second.size() * sizeof(float)) {
      differs(fmt::format("{} has {} bytes", name, bytes.size()));
      continue;
    }
    double largest = 0, bound = 0;
    for (std::size_t i = 0; i < found->second.size(); ++i) {
      Rounded const want = found->second[i];
      float got = 0;
      std::memcpy(&got, &bytes[i * sizeof got], sizeof got);
      largest = std::max(largest, std::abs(want.value()));
      bound = std::max(bound, want.error());
      if (got == want.value()) continue;
      double const ratio = std::abs(got - want.value()) / want.error();
      result.worst = std::max(result.worst, ratio);
      // Written so that a NaN fails.
      if (!(ratio <= 1))
        differs(fmt::format("{}[{}]: {}, expected {} +- {}", name, i, got, want.value(), want.error()));
    }
    result.loosest = std::max(result.loosest, bound / largest);
  }
  return result;
}

}  // namespace kernelcast::suites
