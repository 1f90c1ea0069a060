// Groups that run side by side in one unit do and count exactly what they do one by one.
#include "catch.hpp"
#include "emulator/observe/kernel_counters.hpp"
#include "unit/emulator/harness.hpp"

using namespace kernelcast::emu;
using namespace kernelcast::emu::test;

namespace {

// Accepts no packs and counts nothing: with it groups run one by one.
struct OneByOne : Observer {
  std::unique_ptr<Observer> fork() const override { return std::make_unique<OneByOne>(); }
  void join(Observer const&) override {}
};

// Shared memory both directly and through generic addresses, local memory, a barrier in a loop whose length depends on
// the group, divergence, a guarded store, an early exit. No atomics: with those groups run one by one.
std::string const kernel = R"(
.visible .entry k(.param .u64 out, .param .u32 bound) {
  .reg .b32 %r<24>; .reg .b64 %a<12>; .reg .pred %p<6>;
  .shared .align 4 .b8 s[512]; .shared .align 4 .b8 sum[4]; .local .align 4 .b8 l[16];
  ld.param.u64 %a0, [out]; ld.param.u32 %r20, [bound];
  mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %ctaid.y; mov.u32 %r4, %nctaid.x;
  mad.lo.u32 %r1, %r3, %r4, %r1;
  mov.u32 %r5, s; shl.b32 %r6, %r0, 2; add.u32 %r7, %r5, %r6;
  mad.lo.u32 %r8, %r1, 1000, %r0; st.shared.u32 [%r7], %r8; st.local.u32 [l+8], %r8;
  and.b32 %r9, %r1, 3; mov.u32 %r10, 0;
L:
  bar.sync 0;
  sub.u32 %r11, %r2, %r0; sub.u32 %r11, %r11, 1; shl.b32 %r11, %r11, 2; cvt.u64.u32 %a1, %r11;
  mov.u64 %a2, s; cvta.shared.u64 %a2, %a2; add.u64 %a2, %a2, %a1; ld.u32 %r12, [%a2];
  and.b32 %r13, %r0, 1; setp.eq.u32 %p0, %r13, 0; @%p0 bra EVEN;
  mad.lo.u32 %r12, %r12, 3, 1;
  bra JOIN;
EVEN:
  setp.eq.u32 %p3, %r0, 0; @%p3 st.shared.u32 [sum], %r12;
JOIN:
  bar.sync 0;
  st.shared.u32 [%r7], %r12;
  add.u32 %r10, %r10, 1; setp.le.u32 %p1, %r10, %r9; @%p1 bra L;
  bar.sync 0;
  setp.ge.u32 %p2, %r0, %r20; @%p2 exit;
  ld.shared.u32 %r15, [%r7]; ld.shared.u32 %r16, [sum]; ld.local.u32 %r17, [l+8];
  add.u32 %r15, %r15, %r16; xor.b32 %r15, %r15, %r17;
  mad.lo.u32 %r18, %r1, %r2, %r0; mul.wide.u32 %a3, %r18, 4; add.u64 %a4, %a0, %a3; st.global.u32 [%a4], %r15;
  ret;
})";

struct Result {
  std::vector<std::uint32_t> out;
  KernelCounters counters;
  std::optional<double> spread;
  Outcome outcome;
};

Result run(std::string const& text, std::uint32_t threads_of_group, Dim3 grid, bool packed, unsigned threads,
           std::uint32_t bound) {
  Bench bench(text);
  bench.launch.grid = grid;
  bench.launch.block = {threads_of_group, 1, 1};
  std::uint64_t const out = bench.buffer("out", std::vector<std::uint32_t>(grid.count() * threads_of_group));
  bench.argument(bound);
  KernelObserver observer(*bench.program);
  OneByOne one_by_one;
  std::vector<Observer*> observers = {&observer};
  if (!packed) observers.push_back(&one_by_one);
  Result result;
  result.outcome = bench.run(observers, {}, threads);
  result.out = bench.read<std::uint32_t>(out);
  result.counters = observer.counters();
  result.spread = observer.spread_pct();
  return result;
}

}  // namespace

TEST_CASE("groups side by side do and count what they do one by one") {
  for (std::uint32_t threads : {1u, 3u, 4u, 5u, 8u, 11u, 16u, 31u, 32u, 33u, 64u, 65u, 100u, 128u})
    for (Dim3 grid : {Dim3{2, 1, 1}, Dim3{19, 1, 1}, Dim3{5, 7, 1}})
      for (unsigned workers : {1u, 3u}) {
        INFO(threads << " work-items, " << grid.count() << " groups, " << workers << " threads");
        Result const apart = run(kernel, threads, grid, false, 1, 90),
                     together = run(kernel, threads, grid, true, workers, 90);
        REQUIRE(apart.outcome.ending == Ending::done);
        REQUIRE(together.outcome.ending == Ending::done);
        REQUIRE(together.out == apart.out);
        REQUIRE(together.counters == apart.counters);
        REQUIRE(together.spread == apart.spread);
        REQUIRE(together.outcome.warp_instructions == apart.outcome.warp_instructions);
        REQUIRE(apart.counters.barriers > grid.count());
      }
}

TEST_CASE("a finding among groups side by side names the group and the work-item") {
  // Work-item 5 of group 13 reads past the end of its group's shared memory.
  std::string const faulty = R"(
.visible .entry k(.param .u64 out, .param .u32 bound) {
  .reg .b32 %r<8>; .reg .pred %p<2>; .shared .align 4 .b8 s[128];
  mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x;
  setp.eq.u32 %p0, %r1, 13; setp.eq.and.u32 %p1, %r0, 5, %p0;
  selp.u32 %r2, 128, 0, %p1; mov.u32 %r3, s; add.u32 %r3, %r3, %r2;
  ld.shared.u32 %r4, [%r3];
  ret;
})";
  Result const result = run(faulty, 32, {20, 1, 1}, true, 1, 0);
  REQUIRE(result.outcome.ending == Ending::finding);
  Finding const& finding = *result.outcome.finding;
  CHECK(finding.kind == Finding::Kind::out_of_bounds);
  CHECK(finding.group == 13);
  CHECK(finding.local_id == Dim3{5, 0, 0});
  CHECK(finding.message.find("shared load of 4 bytes at offset 128 (128 bytes)") != std::string::npos);
}
