// The asynchronous proxy in clusters: each group has a check of its own, which hears nothing of what others do to its
// mbarriers, and must take for granted what they may have ordered.
#include <cstring>
#include <optional>
#include <string>

#include "base/diag/diag.hpp"
#include "catch.hpp"
#include "emulator/check/check.hpp"
#include "kernels/ptx/parser.hpp"

using namespace kernelcast;
using namespace kernelcast::emu;

namespace {

// Two groups of 64: work-item 0 reads what the group stored; it tells the other group, whose work-item 0 answers; then
// work-item 32 has a copy overwrite it. All through `near`, an mbarrier of the group, and `far`, that of the other.
std::string kernel(std::string const& fence, std::string const& wait) {
  return R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p) .reqnctapercluster 2, 1, 1 {
.reg .b32 %r<12>; .reg .b64 %a<4>; .reg .pred %p<8>, %q;
.shared .align 16 .b8 s[64]; .shared .align 8 .b64 heard; .shared .align 8 .b64 full;
ld.param.u64 %a0, [p]; mov.u32 %r0, %tid.x; mov.u32 %r1, s; mov.u32 %r2, heard; mov.u32 %r3, full;
mov.u32 %r4, %cluster_ctarank; xor.b32 %r5, %r4, 1;
mapa.shared::cluster.u32 %r6, %r2, %r5;
setp.eq.u32 %p0, %r0, 0; setp.eq.u32 %p1, %r0, 32;
@%p0 mbarrier.init.shared::cta.b64 [%r2], 1;
@%p0 mbarrier.init.shared::cta.b64 [%r3], 1;
@%p0 st.shared.u32 [%r1], 7;
)" + fence +
         R"(
barrier.cluster.arrive; barrier.cluster.wait;
@!%p0 bra told;
ld.shared.u32 %r7, [%r1];
mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r6];
told:
@!%p1 bra done;
)" + wait +
         R"(
mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r3], 64;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%a0], 64, [%r3];
filled:
mbarrier.try_wait.parity.shared::cta.b64 %q, [%r3], 0;
@!%q bra filled;
ld.shared.u32 %r8, [%r1];
done:
barrier.cluster.arrive; barrier.cluster.wait;
ret;
}
)";
}

struct Result {
  Outcome outcome;
  std::optional<Finding> first;
};
Result run_cluster(std::string const& text, CheckOptions const& options) {
  auto const module = ptx::parse(text, "cluster.ptx");
  Program const program(*module, *module->find_kernel("k"));
  REQUIRE(program.refused().empty());
  Memory memory{std::uint64_t{1} << 24};
  Launch launch;
  launch.block = {64, 1, 1};
  launch.grid = {4, 1, 1};
  std::uint64_t const buffer = memory.add("p", 256);
  launch.parameters.resize(sizeof buffer);
  std::memcpy(launch.parameters.data(), &buffer, sizeof buffer);
  Checks checks(options, memory);
  checks.begin(program, launch);
  Observer* observers[] = {&checks};
  std::uint64_t const groups[] = {0, 1, 2, 3};
  Result result{run(program, launch, memory, groups, observers), {}};
  // Each pair of instructions once, although both groups have it.
  REQUIRE(checks.findings().size() <= 1);
  if (!checks.findings().empty()) result.first = checks.findings()[0];
  return result;
}

constexpr char fence[] = "fence.proxy.async;";
constexpr char wait[] = "near:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %q, [%r2], 0;\n@!%q bra near;";

}  // namespace

TEST_CASE("what groups of a cluster order for each other is no finding") {
  CheckOptions const options{.races = true, .findings = 10, .stops = false};
  CHECK_FALSE(run_cluster(kernel(fence, wait), options).first);
  CHECK(run_cluster(kernel("", wait), options).first.value().kind == Finding::Kind::proxy_fence);
  CHECK(run_cluster(kernel(fence, ""), options).first.value().kind == Finding::Kind::race);
}

TEST_CASE("a finding in a cluster ends the run, with its group") {
  Result const result = run_cluster(kernel("", wait), {.races = true});
  CHECK(result.outcome.ending == Ending::finding);
  REQUIRE(result.first);
  CHECK(result.first->group < 2);
}

TEST_CASE("the check for unwritten memory does not follow clusters") {
  std::string message;
  try {
    run_cluster(kernel(fence, wait), {.uninit = true, .races = true});
  } catch (Error const& error) {
    message = error.text("test");
  }
  CHECK(message.find("clusters") != std::string::npos);
}
