// Checks of groups that wait for later ones: they take turns, each with checks of its own.
#include "catch.hpp"
#include "emulator/check/check.hpp"
#include "unit/emulator/harness.hpp"

namespace kernelcast::emu::test {
namespace {

using u32 = std::uint32_t;

// k(u32* arrived, u32* from, u32* to): each group stores to `from`, waits until all groups have, and then moves the
// words of the group behind it to `to`, through shared memory.
std::string waiting(std::string const& exchange) {
  return R"(.visible .entry k(.param .u64 arrived, .param .u64 from, .param .u64 to)
{ .reg .pred %p<8>; .reg .b32 %r<40>; .reg .b64 %rd<20>; .shared .align 4 .b8 s[256];
  ld.param.u64 %rd1, [arrived]; ld.param.u64 %rd2, [from]; ld.param.u64 %rd3, [to];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %nctaid.x;
  mad.lo.u32 %r5, %r3, %r2, %r1; mul.wide.u32 %rd4, %r5, 4; add.s64 %rd5, %rd2, %rd4;
  st.global.u32 [%rd5], %r5;
  membar.gl; bar.sync 0;
  setp.ne.u32 %p1, %r1, 0; @%p1 bra MET;
  atom.global.add.u32 %r6, [%rd1], 1;
SPIN:
  ld.volatile.global.u32 %r7, [%rd1]; setp.lt.u32 %p2, %r7, %r4; @%p2 bra SPIN;
  membar.gl;
MET:
  bar.sync 0;
  add.u32 %r8, %r3, 1; rem.u32 %r8, %r8, %r4; mad.lo.u32 %r9, %r8, %r2, %r1; mul.wide.u32 %rd6, %r9, 4;
  add.s64 %rd7, %rd2, %rd6; ld.global.u32 %r10, [%rd7];
  mov.u32 %r11, s; shl.b32 %r12, %r1, 2; add.u32 %r13, %r11, %r12; st.shared.u32 [%r13], %r10;
)" + exchange +
         R"(
  xor.b32 %r14, %r12, 4; add.u32 %r15, %r11, %r14; ld.shared.u32 %r16, [%r15];
  add.s64 %rd8, %rd3, %rd4; st.global.u32 [%rd8], %r16;
  ret; }
)";
}

struct Waiting : Bench {
  static constexpr u32 groups = 5, size = 64;
  std::uint64_t to = 0;
  Checks checks;
  explicit Waiting(std::string const& exchange)
      : Bench(waiting(exchange)), checks({.uninit = true, .races = true}, memory) {
    launch.grid = {groups, 1, 1};
    launch.block = {size, 1, 1};
    buffer("arrived", std::vector<u32>(1, 0));
    // What one group has written is defined for the others.
    memory.set_undefined(buffer("from", 4 * groups * size));
    to = buffer("to", std::vector<u32>(groups * size, 0));
    checks.begin(*program, launch);
    Observer* const observers[] = {&checks};
    run(observers, {.max_steps = 50'000'000});
  }
};

}  // namespace

TEST_CASE("groups that wait for later ones end with checks, without a finding") {
  Waiting b("bar.sync 0;");
  INFO((b.outcome.finding ? b.outcome.finding->message : ""));
  REQUIRE(b.outcome.ending == Ending::done);
  CHECK(b.checks.findings().empty());
  auto const to = b.read<u32>(b.to);
  for (u32 i = 0; i < to.size(); ++i)
    CHECK(to[i] == ((i / Waiting::size + 1) % Waiting::groups * Waiting::size + (i % Waiting::size ^ 1)));
}

TEST_CASE("races within groups that wait for later ones are found") {
  Waiting b("");
  REQUIRE(b.outcome.ending == Ending::finding);
  CHECK(b.outcome.finding->kind == Finding::Kind::race);
  CHECK_THAT(b.outcome.finding->message, Contains("shared load of 4 bytes"));
}

TEST_CASE("with groups in order a group that waits for a later one does so up to the limit") {
  Waiting b("bar.sync 0;");
  b.checks.begin(*b.program, b.launch);
  std::ranges::fill(b.memory.bytes(b.memory.buffers()[0].address), std::byte{0});
  Observer* const observers[] = {&b.checks};
  b.run(observers, {.max_steps = 3'000'000, .in_order = true});
  CHECK(b.outcome.ending == Ending::step_limit);
  CHECK(b.outcome.spinning);
}

}  // namespace kernelcast::emu::test
