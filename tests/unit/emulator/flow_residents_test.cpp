// Groups that wait for groups: barriers over the grid, flags of later groups, with and without a cooperative launch.
#include <array>
#include <bit>
#include <map>

#include "base/diag/diag.hpp"
#include "catch.hpp"
#include "error_of.hpp"
#include "harness.hpp"

namespace kernelcast::emu::test {
namespace {

using u32 = std::uint32_t;

// k(u32* state, u32* out): a barrier over the grid, as often as asked. state[0] counts arrivals, state[1] is the
// barrier's number; each round every work-item adds what its right neighbour had in the round before to its own.
std::string const rounds = R"(.visible .entry k(.param .u64 state, .param .u64 out, .param .u32 rounds)
{ .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>;
  ld.param.u64 %rd1, [state]; ld.param.u64 %rd2, [out]; ld.param.u32 %r9, [rounds];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %nctaid.x;
  mad.lo.u32 %r5, %r3, %r2, %r1; mul.lo.u32 %r6, %r4, %r2;
  add.u32 %r7, %r5, 1; rem.u32 %r7, %r7, %r6;
  mul.wide.u32 %rd3, %r5, 4; add.s64 %rd4, %rd2, %rd3;
  mul.wide.u32 %rd5, %r7, 4; add.s64 %rd6, %rd2, %rd5;
  sub.u32 %r20, %r4, 1;
  mov.u32 %r8, 0;
ROUND:
  ld.volatile.global.u32 %r10, [%rd6];
  bar.sync 0;
  setp.ne.u32 %p1, %r1, 0; @%p1 bra MET;
  shl.b32 %r15, %r8, 1; add.u32 %r16, %r15, 1;
  membar.gl; atom.global.inc.u32 %r11, [%rd1], %r20;
  setp.eq.u32 %p2, %r11, %r20; @%p2 st.volatile.global.u32 [%rd1+4], %r16;
SPIN:
  ld.volatile.global.u32 %r12, [%rd1+4]; setp.lt.u32 %p3, %r12, %r16; @%p3 bra SPIN;
MET:
  bar.sync 0;
  ld.volatile.global.u32 %r13, [%rd4]; add.u32 %r13, %r13, %r10; st.volatile.global.u32 [%rd4], %r13;
  bar.sync 0;
  setp.ne.u32 %p1, %r1, 0; @%p1 bra MET2;
  shl.b32 %r15, %r8, 1; add.u32 %r16, %r15, 2;
  membar.gl; atom.global.inc.u32 %r11, [%rd1], %r20;
  setp.eq.u32 %p2, %r11, %r20; @%p2 st.volatile.global.u32 [%rd1+4], %r16;
SPIN2:
  ld.volatile.global.u32 %r12, [%rd1+4]; setp.lt.u32 %p3, %r12, %r16; @%p3 bra SPIN2;
MET2:
  bar.sync 0;
  add.u32 %r8, %r8, 1; setp.lt.u32 %p4, %r8, %r9; @%p4 bra ROUND;
  ret; }
)";

std::vector<u32> expected(u32 items, u32 count) {
  std::vector<u32> now(items);
  std::iota(now.begin(), now.end(), 1u);
  for (u32 round = 0; round < count; ++round) {
    auto const before = now;
    for (u32 i = 0; i < items; ++i) now[i] += before[(i + 1) % items];
  }
  return now;
}

struct Counts final : Observer {
  std::map<std::uint64_t, std::uint64_t> begun;
  std::uint64_t lanes = 0, open = 0, max_open = 0;
  void group_begin(std::uint64_t group) override {
    ++begun[group];
    ++open;
  }
  void group_end() override { --open; }
  void block(std::uint32_t, Lanes const& l) override {
    for (u32 w = 0; w < l.warps; ++w) lanes += static_cast<std::uint64_t>(std::popcount(l.masks[w]));
  }
  std::unique_ptr<Observer> fork() const override { return std::make_unique<Counts>(); }
  void join(Observer const& other) override {
    auto const& o = dynamic_cast<Counts const&>(other);
    for (auto const& [group, n] : o.begun) begun[group] += n;
    lanes += o.lanes;
    open += o.open;
  }
};

struct Ordered final : Observer {
  bool needs_order() const override { return true; }
  std::unique_ptr<Observer> fork() const override { throw std::logic_error("not to be forked"); }
  void join(Observer const&) override {}
};

struct Grid : Bench {
  u32 groups, size, count;
  std::uint64_t out = 0;
  Grid(u32 g, u32 s, u32 n) : Bench(rounds), groups(g), size(s), count(n) {
    launch.grid = {g, 1, 1};
    launch.block = {s, 1, 1};
    buffer("state", std::vector<u32>(2, 0));
    std::vector<u32> start(g * s);
    std::iota(start.begin(), start.end(), 1u);
    out = buffer("out", start);
    argument(n);
  }
};

}  // namespace

TEST_CASE("a barrier over the grid: groups wait for later ones") {
  for (bool const cooperative : {false, true})
    for (auto const& [groups, size, count] :
         {std::array{2u, 32u, 1u}, {5u, 64u, 3u}, {16u, 96u, 4u}, {7u, 1024u, 2u}, {3u, 300u, 5u}, {64u, 8u, 3u}}) {
      Grid b(groups, size, count);
      b.launch.cooperative = cooperative;
      Counts counts;
      std::vector<Observer*> const observers{&counts};
      b.run(observers, {.max_steps = 100'000'000});
      INFO(groups << " groups of " << size << ", " << count << " rounds, cooperative " << cooperative << ": "
                  << (b.outcome.finding ? b.outcome.finding->message : ""));
      REQUIRE(b.outcome.ending == Ending::done);
      CHECK(b.read<u32>(b.out) == expected(groups * size, count));
      CHECK(counts.begun.size() == groups);
      for (auto const& [group, n] : counts.begun) CHECK(n == 1);
      CHECK(counts.open == 0);
      // The same each time.
      Grid again(groups, size, count);
      again.launch.cooperative = cooperative;
      again.run({}, {.max_steps = 100'000'000});
      CHECK(again.outcome.warp_instructions == b.outcome.warp_instructions);
    }
}

TEST_CASE("without leave to be resident together groups wait for ever, up to the limit") {
  for (bool const in_order : {false, true}) {
    Grid b(4, 32, 1);
    Ordered ordered;
    std::vector<Observer*> observers;
    if (!in_order) observers.push_back(&ordered);
    b.run(observers, {.max_steps = 3'000'000, .in_order = in_order});
    CHECK(b.outcome.ending == Ending::step_limit);
    CHECK(b.outcome.spinning);
    b.launch.cooperative = true;
    CHECK_THROWS_AS(b.run(observers, {.in_order = in_order}), Error);
  }
}

TEST_CASE("resident groups need memory each, and a cooperative launch says so") {
  Grid b(256, 1024, 1);
  b.launch.cooperative = true;
  auto const error = error_of([&] { b.run({}, {.max_memory_bytes = 8 << 20}); });
  CHECK(error.status() == Status::limit);
  CHECK_THAT(error.what(), Contains("256 groups run together"));
}

TEST_CASE("a barrier of a group that never opens is found among resident groups, too") {
  Bench b(R"(.visible .entry k(.param .u64 state)
{ .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>;
  ld.param.u64 %rd1, [state]; mov.u32 %r1, %ctaid.x; mov.u32 %r3, %tid.x;
  setp.eq.u32 %p1, %r1, 1; @%p1 bra SECOND;
SPIN: ld.volatile.global.u32 %r2, [%rd1]; setp.eq.u32 %p2, %r2, 0; @%p2 bra SPIN;
  ret;
SECOND: setp.lt.u32 %p3, %r3, 16; @%p3 bra OTHER;
  barrier.sync 1, 64; ret;
OTHER: barrier.sync 2, 64; ret; }
)");
  b.launch.grid = {3, 1, 1};
  b.launch.cooperative = true;
  b.buffer("state", std::vector<u32>(2, 0));
  b.run();
  REQUIRE(b.outcome.ending == Ending::finding);
  CHECK((b.outcome.finding->kind == Finding::Kind::deadlock ||
         b.outcome.finding->kind == Finding::Kind::divergent_barrier));
  CHECK(b.outcome.finding->group == 1);
}

TEST_CASE("what resident groups print is in the order of the groups") {
  for (bool const cooperative : {false, true}) {
    Bench b(R"(.extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 arguments);
.global .align 1 .b8 text[4] = {37, 117, 32, 0};
.visible .entry k(.param .u64 state)
{ .local .align 8 .b8 depot[8]; .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>;
  ld.param.u64 %rd1, [state]; mov.u32 %r1, %ctaid.x; mov.u32 %r9, %nctaid.x;
  setp.ne.u32 %p4, %r9, %r1;
  add.u32 %r2, %r1, 1;
SPIN: ld.volatile.global.u32 %r3, [%rd1]; add.u32 %r4, %r3, %r2; setp.ne.u32 %p1, %r4, %r9; @%p1 bra SPIN;
  atom.global.add.u32 %r5, [%rd1], 1;
  mov.u64 %rd2, depot; st.local.u32 [%rd2], %r1; cvta.local.u64 %rd3, %rd2;
  mov.u64 %rd4, text; cvta.global.u64 %rd5, %rd4;
  { .param .b64 a; .param .b64 c; .param .b32 d;
    st.param.b64 [a], %rd5; st.param.b64 [c], %rd3; call.uni (d), vprintf, (a, c); }
  ret; }
)");
    b.launch.grid = {6, 1, 1};
    b.launch.block = {1, 1, 1};
    b.launch.cooperative = cooperative;
    std::string printed;
    b.launch.print = [&](std::string_view text) { printed += text; };
    b.buffer("state", std::vector<u32>(1, 0));
    b.run({}, {.max_steps = 50'000'000});
    REQUIRE(b.outcome.ending == Ending::done);  // the last group goes first
    CHECK(printed == "0 1 2 3 4 5 ");
  }
}

// nvcc 13: the workspace's address is in %envreg1 (high) and %envreg2; the master's arrival brings the top bit
// round.
TEST_CASE("grid.sync() as nvcc compiles it") {
  Bench b(R"(.visible .entry k(.param .u64 x, .param .u32 rounds)
{ .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>;
  ld.param.u64 %rd1, [x]; ld.param.u32 %r1, [rounds];
  mov.u32 %r2, %envreg2; cvt.u64.u32 %rd2, %r2; mov.u32 %r3, %envreg1; cvt.u64.u32 %rd3, %r3;
  bfi.b64 %rd4, %rd3, %rd2, 32, 32; setp.ne.s64 %p1, %rd4, 0; @%p1 bra GOOD; trap;
GOOD:
  add.s64 %rd5, %rd4, 4;
  mov.u32 %r4, %ctaid.x; mov.u32 %r5, %ntid.x; mov.u32 %r6, %tid.x; mov.u32 %r7, %nctaid.x;
  mad.lo.u32 %r8, %r4, %r5, %r6; mul.lo.u32 %r9, %r5, %r7; add.u32 %r10, %r8, 1; rem.u32 %r10, %r10, %r9;
  mul.wide.u32 %rd6, %r8, 4; add.s64 %rd7, %rd1, %rd6; mul.wide.u32 %rd8, %r10, 4; add.s64 %rd9, %rd1, %rd8;
  setp.ne.u32 %p2, %r6, 0; setp.eq.u32 %p3, %r4, 0;
  mov.u32 %r11, -2147483647; sub.s32 %r12, %r11, %r7; selp.b32 %r13, %r12, 1, %p3; mov.u32 %r14, 0;
ROUND:
  ld.global.u32 %r15, [%rd9];
  barrier.sync 0; @%p2 bra A2;
  atom.add.release.gpu.u32 %r16, [%rd5], %r13;
A1: ld.acquire.gpu.u32 %r17, [%rd5]; xor.b32 %r18, %r17, %r16; setp.gt.s32 %p4, %r18, -1; @%p4 bra A1;
A2: barrier.sync 0;
  ld.global.u32 %r19, [%rd7]; add.u32 %r19, %r19, %r15; st.global.u32 [%rd7], %r19;
  barrier.sync 0; @%p2 bra B2;
  atom.add.release.gpu.u32 %r16, [%rd5], %r13;
B1: ld.acquire.gpu.u32 %r17, [%rd5]; xor.b32 %r18, %r17, %r16; setp.gt.s32 %p4, %r18, -1; @%p4 bra B1;
B2: barrier.sync 0;
  add.u32 %r14, %r14, 1; setp.lt.u32 %p5, %r14, %r1; @%p5 bra ROUND;
  ret; }
)");
  std::vector<u32> start(12 * 160);
  std::iota(start.begin(), start.end(), 1u);
  auto const x = b.buffer("x", start);
  b.argument(u32{6});
  auto const workspace = b.memory.add("workspace", 256);
  b.launch.grid = {12, 1, 1};
  b.launch.block = {160, 1, 1};
  b.launch.envreg[1] = static_cast<u32>(workspace >> 32);
  b.launch.envreg[2] = static_cast<u32>(workspace);
  b.launch.cooperative = true;
  for (u32 launch = 0; launch < 2; ++launch) {  // the workspace serves again
    b.run();
    REQUIRE(b.outcome.ending == Ending::done);
  }
  CHECK(b.read<u32>(x) == expected(12 * 160, 12));
}

// As cuSPARSE looks back: a flag is published by a volatile store, and read beyond L1 until it is there.
std::string flags_beyond_l1(std::string const& store) {
  return R"(.visible .entry k(.param .u64 flags)
{ .reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [flags]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x;
  mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
  sub.u32 %r3, %r2, 1; mov.u32 %r4, 0; setp.eq.u32 %p1, %r1, %r3; @%p1 bra LAST;
SPIN:
  ld.global.cg.u32 %r4, [%rd3+4]; setp.eq.u32 %p2, %r4, 0; @%p2 bra SPIN;
LAST:
  add.u32 %r4, %r4, 1; )" +
         store + " [%rd3], %r4; ret; }\n";
}

TEST_CASE("flags that are read beyond L1 are waited for where the kernel publishes them", "[emu]") {
  Bench b(flags_beyond_l1("st.volatile.global.u32"));
  CHECK(b.program->order_dependent());
  CHECK_FALSE(Bench(flags_beyond_l1("st.global.u32")).program->order_dependent());
  auto const flags = b.buffer("flags", std::vector<u32>(8, 0));
  b.launch.grid = {8, 1, 1};
  b.run();
  REQUIRE(b.outcome.ending == Ending::done);
  CHECK(b.read<u32>(flags) == std::vector<u32>{8, 7, 6, 5, 4, 3, 2, 1});
}

}  // namespace kernelcast::emu::test
