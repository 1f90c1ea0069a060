// Figures 6a and 6b of [panwar]: how the cost of emulating one group grows with the input, counted in instructions, so
// that no clock decides: constant for the reduction, linear in the width for the matrix product.
#include <fmt/format.h>

#include "catch.hpp"
#include "emulator/launch/launch.hpp"
#include "launches.hpp"

using namespace kernelcast;

namespace {

std::string const suite_folder = KERNELCAST_SOURCE_DIR "/bench-suites/panwar/";

record::Kernel first_group(launch::CommandLine const& line) {
  auto const report = launch::run(launch::plan_of(line), with_groups("first"));
  REQUIRE(report.rows.size() == 1);
  REQUIRE(report.rows[0].groups_emulated == 1);
  return report.rows[0];
}

record::Kernel reduction(std::uint64_t elements) {
  return first_group({.path = suite_folder + "reduction.cl",
                      .kernel = "reduce",
                      .global = fmt::format("{}", elements / 8),
                      .local = "256",
                      .arguments = {fmt::format("buf:u32:{}:random", elements),
                                    fmt::format("buf:u32:{}:zero", elements / 512), "local:4096"}});
}

record::Kernel matmul(std::uint64_t n) {
  auto const matrix = fmt::format("buf:f32:{}:random", n * n);
  return first_group({.path = suite_folder + "matmul_lmem.cl",
                      .kernel = "matmul_lmem",
                      .global = fmt::format("{},{}", n / 4, n / 4),
                      .local = "8,8",
                      .arguments = {matrix, matrix, matrix, fmt::format("i32:{}", n / 4), "local:4096"}});
}

double per_group(record::Kernel const& k) {
  return k.inst_total / static_cast<double>(k.groups_total);
}

}  // namespace

TEST_CASE("Figure 6a: a reduction's one group costs the same for any input, all groups grow linearly") {
  double const small = per_group(reduction(1 << 12));
  for (std::uint64_t elements : {1 << 16, 3 << 17, 1 << 20}) {
    auto const row = reduction(elements);
    CHECK(per_group(row) == small);
    CHECK(row.groups_total == elements / 2048);
  }
}

TEST_CASE("Figure 6b: a matrix product's one group grows linearly with the width, all groups with its cube") {
  double const at_64 = per_group(matmul(64)), at_128 = per_group(matmul(128));
  double const slope = (at_128 - at_64) / 64;
  REQUIRE(slope > 0);
  for (std::uint64_t n : {192, 256, 512}) {
    auto const row = matmul(n);
    CHECK(per_group(row) == at_64 + slope * static_cast<double>(n - 64));
    CHECK(row.groups_total == n / 32 * (n / 32));
  }
}
