#include <sstream>

#include "catch.hpp"
#include "kernels.hpp"
#include "record/table.hpp"
#include "runs.hpp"

using namespace kernelcast;
using namespace flux_test;

namespace {

template <class R>
std::string header_of() {
  std::ostringstream out;
  record::Writer<R> writer(out);
  writer.finish();
  return out.str();
}

}  // namespace

TEST_CASE("count and feature rows begin with the columns of the contract") {
  CHECK(header_of<record::Count>().rfind("kernel,case,launch,opcode,executed,issued,status,reason", 0) == 0);
  CHECK(header_of<record::Feature>().rfind("kernel,case,threads_per_cta,ctas,inst_total,inst_special,inst_logic,"
                                           "inst_control,inst_arithmetic,inst_sync,global_bytes,param_bytes,"
                                           "shared_bytes_moved,arithmetic_intensity",
                                           0) == 0);
}

TEST_CASE("features of saxpy in closed form, and their medians") {
  // 8 groups of 128: n = 1000 and n = 500.
  Scratch const scratch;
  auto const path = scratch.file("k.ptx", std::string(header) + saxpy);
  flux::FeatureRows rows;
  for (auto const* n : {"i32:1000", "i32:500", "i32:1000"})
    flux::count(plan_for(path, "8", "128", {"buf:f32:1000:random", "buf:f32:1000:random", "f32:2", n}), {},
                flux::Sample::all, [&](auto const& run) { rows.add(run); });
  REQUIRE(rows.rows().size() == 1);
  auto const row = rows.rows()[0];
  CHECK(row.launches == 3);
  CHECK(row.threads_per_cta == 128);
  CHECK(row.ctas == 8);
  CHECK(row.global_bytes == 3 * 4 * 1000.0);
  CHECK(row.param_bytes == 1024 * 4 + 1000 * (8 + 8 + 4.0));
  CHECK(row.inst_control == 24 + 1024.0);               // branches taken, ret
  CHECK(row.inst_arithmetic == 2 * 1024 + 4 * 1000.0);  // mad, setp; mul, two adds, fma
  CHECK(row.arithmetic_intensity == (2 * 1024 + 4 * 1000.0) / 3000);
  CHECK(row.inst_special == 0.0);
}

TEST_CASE("a launch without counts is a row that says why") {
  record::CountedLaunch launch;
  launch.kernel = "k";
  launch.status = record::RowStatus::uncounted;
  launch.reason = "no PTX";
  ptx::Module const module{};
  auto const counts = flux::count_rows({launch, module, {}, 0});
  REQUIRE(counts.size() == 1);
  CHECK(counts[0].opcode.empty());
  CHECK_FALSE(counts[0].executed);
  CHECK(counts[0].reason == "no PTX");
  flux::FeatureRows features;
  features.add({launch, module, {}, 0});
  CHECK(features.rows()[0].status == record::RowStatus::uncounted);
  CHECK_FALSE(features.rows()[0].inst_total);
}
