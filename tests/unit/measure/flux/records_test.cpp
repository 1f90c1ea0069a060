#include <sstream>

#include "catch.hpp"
#include "kernels.hpp"
#include "records/table/table.hpp"
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

TEST_CASE("features of saxpy as the authors count them, in closed form") {
  Scratch const scratch;
  auto const path = scratch.file("k.ptx", std::string(header) + saxpy);
  flux::FeatureRows rows(record::FeatureDefinition::authors);
  flux::count(plan_for(path, "8", "128", {"buf:f32:1000:random", "buf:f32:1000:random", "f32:2", "i32:1000"}), {},
              flux::Sample::all, [&](auto const& run) { rows.add(run); });
  auto const row = rows.rows().at(0);
  CHECK(row.definition == record::FeatureDefinition::authors);
  // Three moves, mad and setp are arithmetic; the guarded branch counts for all.
  CHECK(row.inst_arithmetic == 5 * 1024 + 4 * 1000.0);
  CHECK(row.inst_control == 2 * 1024.0);
  CHECK(row.inst_total == 8 * 1024 + 10 * 1000.0);
  CHECK(row.global_bytes == 3 * 4 * 1000.0);
  CHECK(row.param_bytes == 1024 * 4 + 1000 * (8 + 8 + 4.0));
  CHECK(row.arithmetic_intensity == (5 * 1024 + 4 * 1000.0) / (12000 + 4096 + 20000));
}

TEST_CASE("the authors' groups of opcodes") {
  // One work-item; each instruction once.
  Scratch const scratch;
  auto const path = scratch.file("k.ptx", std::string(header) + R"(
.visible .entry k(.param .u64 .ptr .global p)
{
  .shared .align 16 .b8 tile[64];
  .reg .pred %p<3>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .f64 %d<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [p];
  cvta.to.global.u64 %rd1, %rd0;
  ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%rd1];
  ld.global.nc.f32 %f4, [%rd1];
  rcp.approx.f32 %f5, %f0;
  rsqrt.approx.f32 %f6, %f0;
  sqrt.rn.f64 %d1, 0d4000000000000000;
  cvt.f64.f32 %d0, %f0;
  add.f64 %d2, %d0, %d1;
  popc.b32 %r0, 7;
  min.s32 %r1, %r0, 3;
  setp.lt.s32 %p0, %r1, 2;
  and.pred %p1, %p0, %p0;
  mov.pred %p2, %p1;
  selp.b32 %r2, 1, 2, %p2;
  xor.b32 %r3, %r2, 5;
  shfl.sync.bfly.b32 %r4, %r3, 1, 31, -1;
  mov.u32 %r5, tile;
  st.shared.u32 [%r5], %r4;
  ld.volatile.shared.u32 %r6, [%r5];
  membar.gl;
  bar.sync 0;
  atom.global.add.u32 %r7, [%rd1], 1;
  red.global.add.u32 [%rd1], 1;
  st.global.f64 [%rd1+16], %d2;
  @%p2 st.global.f32 [%rd1+8], %f5;
  ret;
})");
  flux::FeatureRows rows(record::FeatureDefinition::authors);
  flux::count(plan_for(path, "1", "1", {"buf:f32:16:zero"}), {}, flux::Sample::all,
              [&](auto const& run) { rows.add(run); });
  auto const row = rows.rows().at(0);
  // rcp, add.f64; min; setp, selp; two mov and one of predicates; cvta and cvt. popc.b32 is none: it has no sign.
  CHECK(row.inst_arithmetic == 1 + 1 + 1 + 2 + 2 + 2.0);
  CHECK(row.inst_special == 2.0);
  CHECK(row.inst_logic == 3.0);  // and.pred, xor, shfl
  CHECK(row.inst_control == 1.0);
  CHECK(row.inst_sync == 1.0);  // without membar
  // v4 loads 16 bytes, nc none, atom 4, red none; the guarded store counts.
  CHECK(row.global_bytes == 16 + 4 + 8 + 4.0);
  CHECK(row.param_bytes == 8.0);
  CHECK(row.shared_bytes_moved == 8.0);
  CHECK(row.inst_total == 27.0);
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
