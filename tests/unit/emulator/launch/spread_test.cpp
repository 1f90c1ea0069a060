// --groups spread on kernels of which all groups' work is known in closed form.
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "catch.hpp"
#include "emulator/launch/launch.hpp"
#include "emulator/launch/spread.hpp"
#include "launches.hpp"
#include "records/table/table.hpp"

using namespace kernelcast;
using namespace kernelcast::launch;

namespace {

// All with groups of 32. A loop of n rounds: 3 n instructions of a lane, branches counted where they are taken, so with
// what is around it 3 n + c.
constexpr char const* module_text = R"(.version 7.5
.target sm_75
.address_size 64
// n = group + 1
.visible .entry triangle()
{
  .reg .pred %p<2>; .reg .b32 %r<4>;
  mov.u32 %r1, %ctaid.x;
  add.u32 %r1, %r1, 1;
  mov.u32 %r2, 0;
LOOP:
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, %r1;
  @%p1 bra LOOP;
  ret;
}
.visible .entry uniform(.param .u32 n)
{
  .reg .pred %p<2>; .reg .b32 %r<4>;
  ld.param.u32 %r1, [n];
  add.u32 %r1, %r1, 0;
  mov.u32 %r2, 0;
LOOP:
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, %r1;
  @%p1 bra LOOP;
  ret;
}
// The groups of the grid's border run the loop where `at_border` is 1, all others where it is 0.
.visible .entry border(.param .u32 n, .param .u32 at_border)
{
  .reg .pred %p<6>; .reg .b32 %r<12>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ctaid.y;
  mov.u32 %r3, %nctaid.x;
  mov.u32 %r4, %nctaid.y;
  sub.u32 %r3, %r3, 1;
  sub.u32 %r4, %r4, 1;
  mul.lo.u32 %r5, %r1, %r2;
  sub.u32 %r6, %r3, %r1;
  sub.u32 %r7, %r4, %r2;
  mul.lo.u32 %r5, %r5, %r6;
  mul.lo.u32 %r5, %r5, %r7;
  setp.eq.u32 %p1, %r5, 0;
  selp.u32 %r8, 1, 0, %p1;
  ld.param.u32 %r9, [at_border];
  setp.ne.u32 %p2, %r8, %r9;
  @%p2 bra DONE;
  ld.param.u32 %r1, [n];
  mov.u32 %r2, 0;
LOOP:
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, %r1;
  @%p1 bra LOOP;
DONE:
  ret;
}
// Each group waits for the one before it.
.visible .entry chain(.param .u64 .ptr .global .align 4 flags)
{
  .reg .pred %p<4>; .reg .b32 %r<4>; .reg .b64 %rd<6>;
  mov.u32 %r1, %ctaid.x;
  ld.param.u64 %rd1, [flags];
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra GO;
WAIT:
  ld.volatile.global.u32 %r2, [%rd3+-4];
  setp.eq.u32 %p2, %r2, 0;
  @%p2 bra WAIT;
GO:
  mov.u32 %r3, 1;
  st.volatile.global.u32 [%rd3], %r3;
  ret;
}
)";

record::Kernel row_of(std::string const& kernel, std::string const& grid, std::vector<std::string> arguments,
                      RunOptions const& options = {}) {
  ModuleFolder const folder(module_text);
  auto const plan = uncached_plan(
      {.path = folder.module(), .kernel = kernel, .grid = grid, .local = "32", .arguments = std::move(arguments)});
  return run(plan, options).rows.at(0);
}

}  // namespace

TEST_CASE("a triangular loop has the right total from few groups") {
  double const groups = 2000, total = 32 * (3 * groups * (groups + 1) / 2 + 3 * groups);
  auto const row = row_of("triangle", "2000", {});
  CHECK(row.groups_total == 2000);
  CHECK(row.groups_emulated == spread_cheap_groups);
  CHECK(row.inst_total == Approx(total).epsilon(1e-12));  // each group comes with its reflection
  CHECK(row.sampling_error_pct == Approx(0).margin(1e-9));
  CHECK(*row.spread_pct > 150);
  auto const one = row_of("triangle", "2000", {}, with_groups("first"));
  CHECK(one.inst_total < total / 300);
  CHECK(!one.sampling_error_pct);
}

TEST_CASE("a guard at the border is seen in proportion, within the stated error") {
  double const side = 128, border = 4 * (side - 1), inside = side * side - border;
  double const total = 32 * (16.0 * side * side + inside * (1 + 3 * 100) + border);  // the guard's branch, taken
  auto const row = row_of("border", "128,128", {"i32:100", "i32:0"});
  CHECK(row.groups_emulated < 2000);
  REQUIRE(row.sampling_error_pct);
  CHECK(*row.sampling_error_pct > 0);
  CHECK(*row.sampling_error_pct <= spread_error_pct);
  CHECK(std::abs(row.inst_total / total - 1) < 3 * *row.sampling_error_pct / 100);

  // Work in the border alone is rare: all groups run.
  double const rare = 32 * (16.0 * side * side + border * (1 + 3 * 100) + inside);
  auto const whole = row_of("border", "128,128", {"i32:100", "i32:1"});
  CHECK(whole.groups_emulated == whole.groups_total);
  CHECK(whole.sampling_error_pct == 0.0);
  CHECK(whole.inst_total == rare);
}

TEST_CASE("a uniform kernel takes few groups and is exact, a small grid runs whole") {
  auto const row = row_of("uniform", "1000", {"i32:400000"});
  CHECK(row.groups_emulated == spread_least_groups);
  CHECK(row.inst_total == 1000.0 * 32 * (3 * 400000 + 3));
  CHECK(row.spread_pct == 0.0);
  CHECK(row.sampling_error_pct == 0.0);
  CHECK(row_of("uniform", "15", {"i32:100000"}).groups_emulated == 15);
  CHECK(row_of("uniform", "5000", {"i32:1"}).groups_emulated == 5000);  // all cost no more than a few
}

TEST_CASE("rows do not depend on the number of threads") {
  for (auto const& [kernel, grid, arguments] :
       std::vector<std::tuple<std::string, std::string, std::vector<std::string>>>{
           {"triangle", "5001", {}}, {"border", "100,41,3", {"i32:100", "i32:0"}}, {"uniform", "300", {"i32:5000"}}}) {
    RunOptions options;
    auto const one = record::rows_text<record::Kernel>({row_of(kernel, grid, arguments, options)});
    for (unsigned const threads : {2u, 3u, 8u}) {
      options.threads = threads;
      CHECK(record::rows_text<record::Kernel>({row_of(kernel, grid, arguments, options)}) == one);
    }
  }
}

TEST_CASE("groups that may wait for each other run from the first one on") {
  auto const some = row_of("chain", "100000", {"buf:u32:100000:zero"});
  CHECK(some.groups_emulated == spread_ordered_groups);
  CHECK(!some.sampling_error_pct);
  CHECK(row_of("chain", "1000", {"buf:u32:1000:zero"}).groups_emulated == 1000);
}

TEST_CASE("the order begins in the middle and covers each axis evenly") {
  emu::Dim3 const grid{640, 480, 1};
  Spread spread(grid, false);
  auto const first = spread.take(1);
  REQUIRE(first.size() == 2);
  CHECK(first[0] == 319 + 239 * 640);
  CHECK(first[1] == 320 + 240 * 640);
  std::map<std::uint64_t, int> columns, rows;
  std::set<std::uint64_t> all;
  spread.take(254);
  for (auto const group : spread.groups()) {
    ++columns[group % 640 / 80];
    ++rows[group / 640 / 60];
    all.insert(group);
  }
  CHECK(all.size() == 256);
  for (std::uint64_t bin = 0; bin < 8; ++bin) {
    INFO(bin);
    CHECK(columns[bin] >= 28);
    CHECK(columns[bin] <= 36);
    CHECK(rows[bin] >= 28);
    CHECK(rows[bin] <= 36);
  }
}
