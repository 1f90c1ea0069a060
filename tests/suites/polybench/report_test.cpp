// What the suite's Makefile leaves: KERNELCAST_POLYBENCH_RESULTS has the records of `make small`.
#include <fstream>
#include <map>

#include "catch.hpp"
#include "records/projection.hpp"
#include "records/table/table.hpp"

using kernelcast::record::Projection;

namespace {

std::vector<Projection> read(std::string const& name) {
  std::string const path = KERNELCAST_POLYBENCH_RESULTS "/small.cl.all/" + name + ".csv";
  std::ifstream file(path);
  INFO(path);
  REQUIRE(file.good());
  return kernelcast::record::read_rows<Projection>(file, path);
}

}  // namespace

TEST_CASE("A workload's time is the sum over its kernels and launches") {
  std::map<std::pair<std::string, std::string>, double> sums;
  for (auto const& row : read("projections")) sums[{row.case_name, row.device}] += row.time_s.value();
  auto const totals = read("totals");
  CHECK(totals.size() == sums.size());
  CHECK(sums.size() == 21 * 8);
  for (auto const& row : totals) {
    INFO(row.case_name << " on " << row.device);
    CHECK(row.kernel == row.case_name);
    CHECK(row.time_s.value() == Approx(sums.at({row.case_name, row.device})).epsilon(1e-12));
    CHECK(row.time_low_s.value() <= row.time_s.value());
    CHECK(row.time_high_s.value() >= row.time_s.value());
  }
}
