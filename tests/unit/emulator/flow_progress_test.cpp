// Lanes that wait for others: locks, tickets, flags and chains between lanes of a warp, warps of a unit and units of a
// group end, with the result that mutual exclusion gives; loops that do not synchronise stay as converged as ever.
#include <algorithm>
#include <bit>

#include "catch.hpp"
#include "harness.hpp"

namespace kernelcast::emu::test {
namespace {

using u32 = std::uint32_t;

// k(u32* out): shared words lock, next, serving, total and flags[1024]; %r1 is the work-item, %r0 the group's size.
std::string group_kernel(std::string const& body) {
  return R"(.visible .entry k(.param .u64 out)
{ .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<8>;
  .shared .u32 lock; .shared .u32 next; .shared .u32 serving; .shared .u32 total; .shared .u32 flags[1025];
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x; mov.u32 %r0, %ntid.x;
  mul.wide.u32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2;
  shl.b32 %r20, %r1, 2; mov.u32 %r21, flags; add.u32 %r22, %r21, %r20;
)" + body +
         "  ret; }\n";
}

std::vector<u32> results(std::string const& body, u32 size, std::uint64_t max_steps = 0) {
  Bench b(group_kernel(body));
  b.launch.block = {size, 1, 1};
  std::uint64_t const out = b.buffer("out", std::vector<u32>(size, 0xdeadbeef));
  b.run({}, {max_steps, 0, 0});
  INFO((b.outcome.finding ? b.outcome.finding->message : ""));
  CAPTURE(size);
  REQUIRE(b.outcome.ending == Ending::done);
  return b.read<u32>(out);
}

constexpr u32 sizes[] = {2, 32, 64, 100, 256, 512, 1024};

// What is read, changed and written within the lock: each work-item must find another count.
constexpr char const* critical = R"(
  ld.shared.u32 %r3, [total]; add.u32 %r4, %r3, 1; st.shared.u32 [total], %r4;
)";

void check_distinct(std::vector<u32> const& got) {
  std::vector<bool> seen(got.size(), false);
  for (u32 value : got) {
    REQUIRE(value < got.size());
    REQUIRE_FALSE(seen[value]);
    seen[value] = true;
  }
}

}  // namespace

TEST_CASE("a spin-lock excludes, whatever comes first in the text") {
  for (u32 size : sizes) {
    check_distinct(results(std::string(R"(
LOOP:
  atom.shared.cas.b32 %r2, [lock], 0, 1; setp.ne.u32 %p1, %r2, 0;
  @%p1 bra LOOP;
)") + critical + "  atom.shared.exch.b32 %r5, [lock], 0;\n  st.global.u32 [%rd3], %r3;\n",
                           size));
    // The critical section stands before the loop.
    check_distinct(results(std::string("  bra LOOP;\nINSIDE:\n") + critical + R"(
  membar.cta; st.shared.u32 [lock], 0;
  st.global.u32 [%rd3], %r3;
  ret;
LOOP:
  atom.shared.cas.b32 %r2, [lock], 0, 1; setp.eq.u32 %p1, %r2, 0;
  @%p1 bra INSIDE;
  bra LOOP;
)",
                           size));
    // The winner's part is inside the loop and behind its end.
    check_distinct(results(std::string(R"(
  mov.u32 %r9, 0;
LOOP:
  atom.shared.cas.b32 %r2, [lock], 0, 1; setp.eq.u32 %p1, %r2, 0;
  @%p1 bra INSIDE;
NEXT:
  setp.eq.u32 %p2, %r9, 0;
  @%p2 bra LOOP;
  st.global.u32 [%rd3], %r3;
  ret;
INSIDE:
)") + critical + "  mov.u32 %r9, 1; atom.shared.exch.b32 %r5, [lock], 0;\n  bra NEXT;\n",
                           size));
  }
}

TEST_CASE("a lock is held through a loop that diverges") {
  // Inside, each work-item counts to a number of its own, one branch per step.
  for (u32 size : {32u, 256u, 1024u})
    check_distinct(results(std::string(R"(
LOOP:
  atom.shared.cas.b32 %r2, [lock], 0, 1; setp.ne.u32 %p1, %r2, 0;
  @%p1 bra LOOP;
  and.b32 %r6, %r1, 7;
INNER:
  sub.u32 %r6, %r6, 1; setp.lt.s32 %p2, %r6, 0;
  @%p2 bra DONE;
  ld.volatile.shared.u32 %r7, [lock];
  bra INNER;
DONE:
)") + critical + "  atom.shared.exch.b32 %r5, [lock], 0;\n  st.global.u32 [%rd3], %r3;\n",
                           size));
}

TEST_CASE("a ticket lock serves in the order of the tickets") {
  for (u32 size : sizes) {
    auto const got = results(std::string(R"(
  atom.shared.add.u32 %r2, [next], 1;
LOOP:
  ld.volatile.shared.u32 %r6, [serving]; setp.ne.u32 %p1, %r6, %r2;
  @%p1 bra LOOP;
)") + critical + R"(
  membar.cta;
  add.u32 %r7, %r2, 1; st.volatile.shared.u32 [serving], %r7;
  sub.u32 %r8, %r3, %r2; st.global.u32 [%rd3], %r8;
)",
                             size);
    CHECK(got == std::vector<u32>(size, 0));
  }
}

TEST_CASE("a chain of flags passes through the whole group, upwards and downwards") {
  // Work-item i waits for flags[i - 1] (or [i + 1]) and adds one to what it finds.
  for (u32 size : sizes)
    for (bool up : {true, false}) {
      auto const got = results(std::string(up ? R"(
  setp.eq.u32 %p1, %r1, 0; mov.u32 %r2, 0; sub.u32 %r23, %r22, 4;
)"
                                              : R"(
  add.u32 %r10, %r1, 1; setp.eq.u32 %p1, %r10, %r0; mov.u32 %r2, 0; add.u32 %r23, %r22, 4;
)") + R"(
  @%p1 bra GO;
WAIT:
  ld.relaxed.cta.shared.u32 %r2, [%r23]; setp.eq.u32 %p2, %r2, 0;
  @%p2 bra WAIT;
GO:
  add.u32 %r3, %r2, 1;
  st.release.cta.shared.u32 [%r22], %r3;
  st.global.u32 [%rd3], %r3;
)",
                               size);
      for (u32 i = 0; i < size; ++i) CHECK(got[i] == (up ? i + 1 : size - i));
    }
}

TEST_CASE("lanes of a warp exchange through bar.warp.sync on different paths") {
  // Odd lanes write, even lanes read, each with a bar.warp.sync of its own; the readers stand first in the text.
  auto const got = results(R"(
  and.b32 %r2, %r1, 1; setp.ne.u32 %p1, %r2, 0;
  @%p1 bra WRITE;
  bar.warp.sync 0xffffffff;
  add.u32 %r23, %r22, 4; ld.shared.u32 %r3, [%r23];
  bra END;
WRITE:
  mul.lo.u32 %r3, %r1, 10; st.shared.u32 [%r22], %r3;
  bar.warp.sync 0xffffffff;
END:
  st.global.u32 [%rd3], %r3;
)",
                           256);
  for (u32 i = 0; i < 256; ++i) CHECK(got[i] == (i | 1) * 10);
  // Lanes that have left are not waited for, nor those outside the mask.
  auto const partial = results(R"(
  setp.ge.u32 %p1, %r1, 20; st.global.u32 [%rd3], 7;
  @%p1 exit;
  setp.ge.u32 %p2, %r1, 10;
  @%p2 bra WRITE;
  bar.warp.sync 0x000fffff;
  add.u32 %r23, %r22, 40; ld.shared.u32 %r3, [%r23];
  bra END;
WRITE:
  mul.lo.u32 %r3, %r1, 10; st.shared.u32 [%r22], %r3;
  bar.warp.sync 0xffffffff;
END:
  st.global.u32 [%rd3], %r3;
)",
                               32);
  for (u32 i = 0; i < 32; ++i) CHECK(partial[i] == (i >= 20 ? 7 : i >= 10 ? i * 10 : (i + 10) * 10));
}

TEST_CASE("a warp that spins does not keep a complete barrier shut") {
  // Warps 1 and 2 meet at barrier 1; then warp 1 sets the flag that warp 0 waits for.
  for (u32 size : {96u, 512u}) {
    auto const got = results(R"(
  shr.u32 %r2, %r1, 5;
  setp.gt.u32 %p4, %r2, 2;
  @%p4 bra END;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra MEET;
SPIN:
  ld.volatile.shared.u32 %r3, [flags]; setp.eq.u32 %p2, %r3, 0;
  @%p2 bra SPIN;
  bra END;
MEET:
  bar.sync 1, 64;
  setp.eq.u32 %p3, %r2, 1;
  @%p3 st.volatile.shared.u32 [flags], 5;
END:
  st.global.u32 [%rd3], %r2;
)",
                             size, 1'000'000);
    for (u32 i = 0; i < size; ++i) CHECK(got[i] == i / 32);
  }
}

// As the barriers of GCC's libgomp: whoever comes second waits at barrier 1 for the first with the lock held, and all
// others try to get the lock meanwhile. How often they try depends on nothing but the turns, so few of them must do.
TEST_CASE("lanes that find a lock taken give way at once to those that hold it") {
  for (u32 size : {96u, 256u, 512u}) {
    auto const got = results(R"(
  shr.u32 %r2, %r1, 5; and.b32 %r3, %r1, 31; setp.eq.u32 %p0, %r3, 0; mov.u32 %r9, 0;
LOCK:
  add.u32 %r9, %r9, 1;
  @%p0 atom.shared.exch.b32 %r4, [lock], 1;
  shfl.sync.idx.b32 %r4, %r4, 0, 31, 0xffffffff;
  setp.ne.u32 %p1, %r4, 0;
  @%p1 bra LOCK;
  ld.shared.u32 %r5, [total]; add.u32 %r6, %r5, 1;
  bar.warp.sync 0xffffffff;
  @%p0 st.shared.u32 [total], %r6;
  setp.ne.u32 %p2, %r5, 1;
  @%p2 bra OPEN;
  bar.sync 1, 64;
OPEN:
  @%p0 atom.shared.exch.b32 _, [lock], 0;
  bar.warp.sync 0xffffffff;
  setp.ne.u32 %p3, %r5, 0;
  @%p3 bra END;
  bar.sync 1, 64;
END:
  st.global.u32 [%rd3], %r9;
)",
                             size, 1'000'000);
    CHECK(std::ranges::max(got) < 20 * size / 32 + 100);
  }
}

// Warps 0 and 1 meet at barrier 1, warps 2 and 3 at barrier 2, and the second pair more often: in each round a
// work-item takes what its neighbour in the other warp of the pair has left.
TEST_CASE("warps that run together wait at the barriers that their registers name") {
  Bench bench(R"(
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<16>; .reg .b64 %a<4>; .reg .pred %p<2>; .shared .align 4 .b8 s[512];
  ld.param.u64 %a0, [out]; mov.u32 %r0, %tid.x; shr.u32 %r1, %r0, 6; add.u32 %r2, %r1, 1;
  mad.lo.u32 %r3, %r1, 2, 3; mov.u32 %r4, 0; mov.u32 %r5, %r0; mov.u32 %r6, s; shl.b32 %r7, %r0, 2; add.u32 %r7, %r6, %r7;
  xor.b32 %r8, %r0, 32; shl.b32 %r8, %r8, 2; add.u32 %r8, %r6, %r8; mov.u32 %r11, 64;
L:
  st.shared.u32 [%r7], %r5;
  bar.sync %r2, %r11;
  ld.shared.u32 %r9, [%r8]; mad.lo.u32 %r5, %r9, 3, %r4;
  bar.sync %r2, %r11;
  add.u32 %r4, %r4, 1; setp.lt.u32 %p0, %r4, %r3; @%p0 bra L;
  mul.wide.u32 %a1, %r0, 4; add.u64 %a2, %a0, %a1; st.global.u32 [%a2], %r5;
  ret;
})");
  bench.launch.block = {128, 1, 1};
  std::uint64_t const out = bench.buffer("out", std::vector<std::uint32_t>(128));
  REQUIRE(bench.run().ending == Ending::done);
  std::vector<std::uint32_t> expected(128), left(128);
  std::iota(expected.begin(), expected.end(), 0u);
  for (std::uint32_t round = 0; round < 5; ++round) {
    left = expected;
    for (std::uint32_t t = 0; t < 128; ++t)
      if (round < 3 + 2 * (t / 64)) expected[t] = left[t ^ 32] * 3 + round;
  }
  CHECK(bench.read<std::uint32_t>(out) == expected);
}

TEST_CASE("an arrival beyond a barrier's count is kept for the next time") {
  // Warp 0 waits twice for warp 1, which arrives twice without waiting.
  auto const got = results(R"(
  setp.ge.u32 %p1, %r1, 32;
  @%p1 bra ARRIVE;
  bar.sync 3, 64;
  bar.sync 3, 64;
  bra END;
ARRIVE:
  bar.arrive 3, 64;
  bar.arrive 3, 64;
END:
  st.global.u32 [%rd3], %r1;
)",
                           64);
  for (u32 i = 0; i < 64; ++i) CHECK(got[i] == i);
}

TEST_CASE("the barrier of a cluster is one of its group") {
  auto const got = results(R"(
  st.shared.u32 [%r22], %r1;
  barrier.cluster.arrive.release.aligned;
  barrier.cluster.wait.acquire.aligned;
  sub.u32 %r2, %r0, 1; sub.u32 %r3, %r2, %r1; shl.b32 %r3, %r3, 2; add.u32 %r3, %r3, %r21;
  ld.shared.u32 %r4, [%r3];
  st.global.u32 [%rd3], %r4;
)",
                           512);
  for (u32 i = 0; i < 512; ++i) CHECK(got[i] == 511 - i);
}

TEST_CASE("special registers of time and place") {
  auto const got = results(R"(
  mov.u64 %rd4, %clock64; mov.u32 %r2, %clock; mov.u32 %r3, %clock_hi; mov.u64 %rd5, %clock64;
  sub.u64 %rd6, %rd5, %rd4; cvt.u32.u64 %r4, %rd6;   // 0: the clock counts whole blocks
  cvt.u32.u64 %r5, %rd4; sub.u32 %r5, %r2, %r5; or.b32 %r4, %r4, %r5; or.b32 %r4, %r4, %r3;
  bra NEXT;
NEXT:
  mov.u32 %r6, %clock; sub.u32 %r6, %r6, %r2; setp.le.s32 %p1, %r6, 0; selp.u32 %r6, 1000, 0, %p1;
  mov.u32 %r7, %warpid; shl.b32 %r7, %r7, 5; mov.u32 %r8, %laneid; add.u32 %r7, %r7, %r8;
  mov.u32 %r9, %smid; add.u32 %r7, %r7, %r9;
  mov.u32 %r10, %cluster_ctarank; add.u32 %r7, %r7, %r10;
  mov.u32 %r11, %cluster_nctarank; mov.u32 %r12, %nsmid; mul.lo.u32 %r11, %r11, %r12;
  mul.lo.u32 %r7, %r7, %r11; add.u32 %r7, %r7, %r4; add.u32 %r7, %r7, %r6;
  st.global.u32 [%rd3], %r7;
)",
                           128);
  for (u32 i = 0; i < 128; ++i) CHECK(got[i] == i);
}

TEST_CASE("who waits at different barriers is told so") {
  auto const found = [](std::string const& body) {
    Bench b(group_kernel(body));
    b.launch.block = {64, 1, 1};
    b.buffer("out", 4 * 64);
    b.run({}, {1'000'000, 0, 0});
    REQUIRE(b.outcome.finding);
    return *b.outcome.finding;
  };
  Finding const crossed =
      found("  setp.lt.u32 %p1, %r1, 10;\n  @%p1 bra A;\n  bar.sync 0;\n  bra END;\nA:\n  bar.sync 1;\nEND:\n");
  CHECK(crossed.kind == Finding::Kind::divergent_barrier);
  Finding const short_of =
      found("  setp.lt.u32 %p1, %r1, 32;\n  @%p1 bra A;\n  bra END;\nA:\n  bar.sync 1, 64;\nEND:\n");
  CHECK(short_of.kind == Finding::Kind::deadlock);
  CHECK(short_of.message.find("64 threads") != std::string::npos);
  Finding const warp = found(
      "  setp.lt.u32 %p1, %r1, 10;\n  @%p1 bra A;\n  bar.sync 0;\n  bra END;\nA:\n  bar.warp.sync 0xffffffff;\nEND:\n");
  CHECK(warp.kind == Finding::Kind::deadlock);
  CHECK(warp.message.find("the barrier of a warp") != std::string::npos);
  Finding const number = found("  bar.sync 16;\n");
  CHECK(number.kind == Finding::Kind::trap);
}

namespace {

// Lanes of each entered block, in order.
struct Blocks : Observer {
  std::vector<std::pair<u32, u32>> entered;
  void block(u32 b, Lanes const& l) override {
    u32 n = 0;
    for (u32 w = 0; w < l.warps; ++w) n += static_cast<u32>(std::popcount(l.masks[w]));
    entered.emplace_back(b, n);
  }
  std::unique_ptr<Observer> fork() const override { return std::make_unique<Blocks>(); }
  void join(Observer const&) override {}
};

}  // namespace

TEST_CASE("divergent loops reconverge as long as no lane is kept waiting") {
  // Each work-item goes 20 times its number around; all leave together, though the first waited for 5100 rounds.
  auto const last = [](std::string const& step) {
    Bench b(group_kernel("  mul.lo.u32 %r2, %r1, 20;\nLOOP:\n" + step +
                         "  sub.u32 %r2, %r2, 1; setp.ge.s32 %p1, %r2, 0;\n  @%p1 bra LOOP;\nEND:\n"
                         "  st.global.u32 [%rd3], %r1;\n"));
    b.launch.block = {256, 1, 1};
    b.buffer("out", 4 * 256);
    Blocks blocks;
    Observer* observers[] = {&blocks};
    b.run(observers);
    REQUIRE(b.outcome.ending == Ending::done);
    return blocks.entered.back();
  };
  CHECK(last("  add.u32 %r3, %r3, 1;\n").second == 256);
  // With a synchronising operation the first ones do not wait to the end.
  CHECK(last("  atom.shared.add.u32 %r3, [total], 1;\n").second < 256);
}

TEST_CASE("a step limit stops at the same place for any number of threads, and knows who waits") {
  std::string const spin = group_kernel(R"(
  mov.u32 %r2, %ctaid.x; setp.eq.u32 %p2, %r2, 5;
LOOP:
  ld.volatile.shared.u32 %r3, [lock]; setp.eq.u32 %p1, %r3, 0;
  @%p2 bra LOOP;
  st.global.u32 [%rd3], %r1;
)");
  std::vector<Outcome> outcomes;
  for (unsigned threads : {1u, 2u, 7u}) {
    Bench b(spin);
    b.launch.grid = {16, 1, 1};
    b.launch.block = {512, 1, 1};
    b.buffer("out", 4 * 512);
    outcomes.push_back(b.run({}, {200'000, 0, 0}, threads));
  }
  for (Outcome const& o : outcomes) {
    REQUIRE(o.ending == Ending::step_limit);
    CHECK(o.spinning);
    CHECK(o.warp_instructions == outcomes[0].warp_instructions);
    CHECK(o.finding->group == 5);
    CHECK(o.finding->at.line == outcomes[0].finding->at.line);
    CHECK(o.finding->local_id == outcomes[0].finding->local_id);
  }
  // A limit that is just enough is not a limit.
  Bench whole(group_kernel("  st.global.u32 [%rd3], %r1;\n"));
  whole.buffer("out", 4 * 32);
  std::uint64_t const steps = whole.run().warp_instructions;
  CHECK(whole.run({}, {steps, 0, 0}).ending == Ending::done);
  CHECK(whole.run({}, {steps - 1, 0, 0}).ending == Ending::step_limit);
}

}  // namespace kernelcast::emu::test
