// Emulator, counters in the code and closed forms agree.
#include "catch.hpp"
#include "kernels.hpp"
#include "runs.hpp"

using namespace kernelcast;
using namespace flux_test;

namespace {

// All ways agree; what they agree on.
std::string text(std::map<std::string, std::uint64_t> const& counts) {
  std::string out;
  for (auto const& [opcode, count] : counts) out += opcode + ' ' + std::to_string(count) + '\n';
  return out;
}

Way agreed(launch::Plan const& plan, Scratch const& scratch) {
  auto const ways = count_all_ways(plan, scratch);
  CHECK(text(ways.minimal.lanes) == text(ways.emulator.lanes));
  CHECK(text(ways.every_block.lanes) == text(ways.emulator.lanes));
  CHECK(text(ways.every_block.warps) == text(ways.emulator.warps));
  CHECK(ways.minimal.issues <= ways.every_block.issues);
  return ways.emulator;
}

Way agreed(char const* kernel, std::string const& grid, std::string const& local,
           std::vector<std::string> const& arguments) {
  Scratch const scratch;
  return agreed(plan_for(scratch.file("k.ptx", std::string(header) + kernel), grid, local, arguments), scratch);
}

}  // namespace

TEST_CASE("saxpy: what is behind the bound is executed n times") {
  // 10 groups of 128, n = 1000: 1280 work-items in 40 wavefronts, of which 32 and one of 8 lanes pass the bound.
  auto way = agreed(saxpy, "10", "128", {"buf:f32:1000:random", "buf:f32:1000:random", "f32:2", "i32:1000"});
  CHECK(way.lanes["fma.rn.f32"] == 1000);
  CHECK(way.lanes["ld.global.f32"] == 2000);
  CHECK(way.lanes["mad.lo.s32"] == 1280);
  CHECK(way.lanes["bra"] == 280);  // taken
  CHECK(way.lanes["ret"] == 1280);
  CHECK(way.warps["fma.rn.f32"] == 32);
  CHECK(way.warps["bra"] == 40);
}

TEST_CASE("reduction: half of the work-items in each step") {
  // 3 groups of 256: 8 steps; 128 + 64 + ... + 1 = 255 work-items take part.
  auto way = agreed(reduction, "3", "256", {"buf:u32:768:random", "buf:u32:3:zero"});
  CHECK(way.lanes["xor.b32"] == 3 * 255);
  CHECK(way.lanes["bar.sync"] == 3 * 256 * 8);
  CHECK(way.lanes["st.global.u32"] == 3);  // by a predicate
  CHECK(way.warps["st.global.u32"] == 3 * 8);
  CHECK(way.lanes["bra"] == 3 * (8 * 256 - 255 + 7 * 256));
}

TEST_CASE("triangular loops: sums of sums") {
  // Work-item t: the inner body for i = 0 … t - 1 from i to n - 1: sum of (n - i), n = 34, over t = 0 … 31. Longer
  // loops with `red` in every block make the emulator let waiting lanes go ahead, and so change what wavefronts do.
  auto way = agreed(triangle, "2", "32", {"buf:u32:32:zero", "i32:34"});
  std::uint64_t inner = 0, outer = 0, warps = 0;
  for (std::uint64_t t = 0; t < 32; ++t)
    for (std::uint64_t i = 0; i < t; ++i) inner += 34 - i, outer += 1;
  CHECK(way.lanes["mad.lo.s32"] == 2 * inner);
  CHECK(way.lanes["setp.lt.u32"] == 2 * outer);
  for (std::uint64_t i = 0; i < 31; ++i) warps += 34 - i;  // as often as the last work-item needs it
  CHECK(way.warps["mad.lo.s32"] == 2 * warps);
}

TEST_CASE("divergent tree: every leaf by itself") {
  auto way = agreed(tree, "1", "64", {"buf:u32:64:zero"});
  CHECK(way.lanes["xor.b32"] == 32);
  CHECK(way.lanes["sub.s32"] == 32);
  CHECK(way.lanes["or.b32"] == 16);
  CHECK(way.lanes["add.s32"] == 32);
  CHECK(way.lanes["mul.lo.s32"] == 16);
  CHECK(way.lanes["st.global.u32"] == 64 - 12);  // odd ones above 40 leave: 41, 43, … 63
  CHECK(way.lanes["ret"] == 64);
  CHECK(way.warps["brx.idx"] == 2);
  CHECK(way.warps["or.b32"] == 2);
}

TEST_CASE("texture: sampled once by every work-item within") {
  auto way = agreed(texture, "1", "64", {"image2d:rgba32f:40x1:random", "buf:f32:40:zero", "i32:40"});
  CHECK(way.lanes["tex.2d.v4.f32.s32"] == 40);
  CHECK(way.warps["tex.2d.v4.f32.s32"] == 2);
  CHECK(way.lanes["add.f32"] == 40);
}

TEST_CASE("recursion, calls by address, and functions that end a work-item") {
  auto way = agreed(calls, "2", "32", {"buf:u32:32:zero"});
  // fib(n) is entered 2 fib(n + 1) - 1 times; of those fib(n + 1) - 1 add.
  std::uint64_t adds = 0, entries = 0;
  std::uint64_t const fib[] = {0, 1, 1, 2, 3, 5, 8, 13, 21};
  for (std::uint64_t n = 0; n < 8; ++n) adds += fib[n + 1] - 1, entries += 2 * fib[n + 1] - 1;
  CHECK(way.lanes["setp.lt.u32"] == 2 * 4 * entries);
  CHECK(way.lanes["add.s32"] == 2 * 4 * adds);
  CHECK(way.lanes["shl.b32"] == 2 * 16);
  CHECK(way.lanes["mul.lo.s32"] == 2 * 16);
  CHECK(way.lanes["exit"] == 2);
  CHECK(way.lanes["xor.b32"] == 2 * 31);  // all but work-item 13
  // fib calls itself twice wherever it adds; each kernel work-item makes three calls, one of them by address.
  CHECK(way.lanes["call.uni"] == 2 * (2 * 32 + 2 * 4 * adds));
  CHECK(way.lanes["call"] == 2 * 32);
}

TEST_CASE("ptxas accepts what the instrumenter writes, for every architecture it knows") {
  if (!have_ptxas()) SKIP_BECAUSE("no ptxas on PATH");
  Scratch const scratch;
  for (auto const* kernel : {saxpy, reduction, triangle, tree, texture, calls})
    for (auto const scheme : {flux::Scheme::minimal, flux::Scheme::every_block}) {
      auto const module = ptx::parse(std::string(header) + kernel, "k.ptx");
      flux::PlanOptions options;
      options.scheme = scheme;
      options.warps = true;
      auto const path = scratch.file("i.ptx", flux::instrument(*module, options).ptx);
      for (auto const* arch : {"sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_120"}) {
        INFO(arch << "\n" << kernel);
        CHECK(ptxas_accepts(path, arch));
      }
    }
}
