// cp.async, bulk copies and mbarrier objects.
#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

#include "catch.hpp"
#include "harness.hpp"

using namespace kernelcast::emu;
using namespace kernelcast::emu::test;
using kernelcast::ptx::StateSpace;

namespace {

Bench bench_of(std::string const& body, std::string const& registers = "") {
  return Bench(
      ".visible .entry k(.param .u64 pa, .param .u64 pb) {\n" + registers +
      " .reg .b32 %r<16>; .reg .b64 %q<16>; .reg .pred %p, "
      "%done;\n .shared .align 128 .b8 sm[4096]; .shared .align 8 .b64 bar;\n ld.param.u64 %q0, [pa]; ld.param.u64 "
      "%q1, "
      "[pb];\n mov.u32 %r0, %tid.x; mov.u32 %r1, sm; mov.u32 %r2, bar;\n" +
      body + " ret;\n}\n");
}

std::vector<std::uint8_t> random_bytes(std::size_t count, std::uint64_t seed) {
  Random random{seed};
  std::vector<std::uint8_t> bytes(count);
  for (std::uint8_t& b : bytes) b = static_cast<std::uint8_t>(random());
  return bytes;
}

std::string message(Bench const& bench) {
  return bench.outcome.finding ? bench.outcome.finding->message : "";
}

// The 32 words that so many work-items leave behind.
std::vector<std::uint32_t> stored_by(std::string const& body, std::uint32_t items) {
  Bench bench = bench_of(body);
  bench.launch.block = {items, 1, 1};
  bench.buffer("a", 4);
  std::uint64_t const result = bench.buffer("b", 32 * sizeof(std::uint32_t));
  bench.run();
  REQUIRE(message(bench).empty());
  return bench.read<std::uint32_t>(result);
}

// What is found where the kernel's buffers have so many bytes.
std::string refusal(std::string const& body, std::uint64_t a_bytes, std::uint64_t b_bytes) {
  Bench bench = bench_of(body);
  bench.buffer("a", a_bytes);
  bench.buffer("b", b_bytes);
  bench.run();
  return message(bench);
}

struct Accesses : Observer {
  struct Event {
    StateSpace space;
    Direction direction;
    unsigned bytes;
    std::uint32_t lanes;
    std::uint64_t place;
    bool operator==(Event const&) const = default;
  };
  std::vector<Event> events;
  std::uint32_t met = 0;  // lanes of warp 0 that went on from a meeting
  void memory(MemoryAccess const& a) override {
    std::uint32_t const mask = a.lanes.masks[0];
    events.push_back({a.space, a.direction, a.bytes_per_lane, mask, mask ? a.offsets[std::countr_zero(mask)] : 0u});
  }
  void meet(Meeting const& m) override { met |= m.waiting[0]; }
  std::unique_ptr<Observer> fork() const override { return std::make_unique<Accesses>(); }
  void join(Observer const& other) override {
    auto const& o = static_cast<Accesses const&>(other);
    events.insert(events.end(), o.events.begin(), o.events.end());
    met |= o.met;
  }
};

// Reads back 16 bytes per lane of what was copied to sm.
std::string const read_back =
    " cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;\n mul.lo.u32 %r3, %r0, 16; add.u32 %r3, %r3, %r1;"
    " ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%r3]; mul.wide.u32 %q2, %r0, 16; add.u64 %q2, %q2, %q1;"
    " st.global.v4.b32 [%q2], {%r4, %r5, %r6, %r7};\n";

}  // namespace

TEST_CASE("cp.async copies 4, 8 and 16 bytes") {
  for (auto const& [op, bytes] : {std::pair{"ca.shared.global", 4u},
                                  {"ca.shared::cta.global.L2::128B", 8u},
                                  {"ca.shared.global", 16u},
                                  {"cg.shared.global", 16u}}) {
    std::string const size = std::to_string(bytes);
    Bench bench = bench_of(
        " mul.lo.u32 %r3, %r0, 16; add.u32 %r4, %r1, %r3; cvt.u64.u32 %q2, %r3; add.u64 %q2, %q0, %q2;\n cp.async." +
        std::string(op) + " [%r4], [%q2], " + size + ";\n" + read_back);
    bench.launch.block = {64, 1, 1};
    std::vector<std::uint8_t> const from = random_bytes(1024, 1);
    bench.buffer("a", from);
    std::uint64_t const to = bench.buffer("b", 1024);
    bench.run();
    REQUIRE(message(bench).empty());
    std::vector<std::uint8_t> const result = bench.read<std::uint8_t>(to);
    for (std::size_t i = 0; i < 1024; ++i) REQUIRE(result[i] == (i % 16 < bytes ? from[i] : 0));
  }
}

TEST_CASE("cp.async fills with zeros beyond src-size, and where the source is ignored") {
  std::vector<std::uint8_t> const from = random_bytes(512, 2);
  std::string const begin =
      " mul.lo.u32 %r3, %r0, 16; add.u32 %r4, %r1, %r3; st.shared.b32 [%r4+12], %r0; cvt.u64.u32 %q2, %r3; add.u64 "
      "%q2, %q0, %q2;\n";
  {
    Bench bench =
        bench_of(begin + " rem.u32 %r5, %r0, 17;\n cp.async.cg.shared.global [%r4], [%q2], 16, %r5;\n" + read_back);
    bench.buffer("a", from);
    std::uint64_t const to = bench.buffer("b", 512);
    bench.run();
    REQUIRE(message(bench).empty());
    std::vector<std::uint8_t> const result = bench.read<std::uint8_t>(to);
    for (std::size_t i = 0; i < 512; ++i) REQUIRE(result[i] == (i % 16 < i / 16 % 17 ? from[i] : 0));
  }
  {
    Bench bench = bench_of(
        begin + " and.b32 %r5, %r0, 1; setp.eq.u32 %p, %r5, 1;\n cp.async.ca.shared.global [%r4], [%q2], 16, %p;\n" +
        read_back);
    bench.buffer("a", from);
    std::uint64_t const to = bench.buffer("b", 512);
    bench.run();
    REQUIRE(message(bench).empty());
    std::vector<std::uint8_t> const result = bench.read<std::uint8_t>(to);
    for (std::size_t i = 0; i < 512; ++i) REQUIRE(result[i] == (i / 16 % 2 == 0 ? from[i] : 0));
  }
}

TEST_CASE("cp.async reads no byte that it need not, and is told as a load and a store") {
  // The last lane's 16 bytes end after 12.
  std::string const begin =
      " mul.lo.u32 %r3, %r0, 16; add.u32 %r4, %r1, %r3; cvt.u64.u32 %q2, %r3; add.u64 %q2, %q0, %q2;\n";
  std::string const partly =
      begin + " setp.eq.u32 %p, %r0, 31; selp.u32 %r5, 12, 16, %p; cp.async.cg.shared.global [%r4], [%q2], 16, %r5;\n";
  Bench good = bench_of(partly);
  good.buffer("a", 508);
  good.buffer("b", 4);
  Accesses seen;
  Observer* const observers[] = {&seen};
  good.run(observers);
  REQUIRE(message(good).empty());
  REQUIRE(seen.events.size() == 4);
  CHECK(seen.events[0] == Accesses::Event{StateSpace::global, Direction::load, 16, 0x7fffffff, 0});
  CHECK(seen.events[1] == Accesses::Event{StateSpace::global, Direction::load, 8, 0x80000000, 496});
  CHECK(seen.events[2] == Accesses::Event{StateSpace::global, Direction::load, 4, 0x80000000, 504});
  CHECK(seen.events[3] == Accesses::Event{StateSpace::shared, Direction::store, 16, 0xffffffff, 0});
  Bench bad = bench_of(begin + " cp.async.cg.shared.global [%r4], [%q2], 16;\n");
  bad.buffer("a", 508);
  bad.buffer("b", 4);
  bad.run();
  CHECK(message(bad) == "global load of 16 bytes at offset 496 of buffer 'a' (508 bytes)");
  CHECK(bad.outcome.finding->local_id.x == 31);
  // Behind `sm` lies `bar`.
  CHECK(refusal(" cp.async.ca.shared.global [%r1+4096], [%q0], 4;\n", 508, 4).empty());
  CHECK(refusal(" cp.async.ca.shared.global [%r1+4104], [%q0], 4;\n", 508, 4) ==
        "shared store of 4 bytes at offset 4104 (4104 bytes)");
}

TEST_CASE("an mbarrier goes from phase to phase") {
  // One lane does everything; what it finds is written down.
  Bench bench = bench_of(
      " setp.ne.u32 %p, %r0, 0; @%p exit;\n mbarrier.init.shared.b64 [bar], 3;\n"
      " mbarrier.arrive.noComplete.shared.b64 %q2, [bar], 2; mbarrier.pending_count.b64 %r3, %q2; st.global.b32 [%q1], "
      "%r3;\n"
      " mbarrier.test_wait.shared.b64 %done, [bar], %q2; selp.u32 %r3, 1, 0, %done; st.global.b32 [%q1+4], %r3;\n"
      " mbarrier.test_wait.parity.shared.b64 %done, [%r2], 0; selp.u32 %r3, 1, 0, %done; st.global.b32 [%q1+8], %r3;\n"
      " mbarrier.test_wait.parity.shared.b64 %done, [%r2], 1; selp.u32 %r3, 1, 0, %done; st.global.b32 [%q1+12], %r3;\n"
      " mbarrier.arrive.shared.b64 %q3, [bar]; mbarrier.pending_count.b64 %r3, %q3; st.global.b32 [%q1+16], %r3;\n"
      " mbarrier.test_wait.shared.b64 %done, [bar], %q3; selp.u32 %r3, 1, 0, %done; st.global.b32 [%q1+20], %r3;\n"
      " mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %done, [bar], 0, 1000; selp.u32 %r3, 1, 0, %done; "
      "st.global.b32 [%q1+24], %r3;\n"
      // The next phase: one arrival is dropped for good, transactions are awaited.
      " mbarrier.arrive_drop.shared.b64 %q4, [bar]; mbarrier.arrive.expect_tx.shared.b64 %q5, [bar], 48; "
      "mbarrier.pending_count.b64 %r3, %q5; st.global.b32 [%q1+28], %r3;\n"
      " mbarrier.arrive.shared.b64 _, [bar]; mbarrier.test_wait.shared.b64 %done, [bar], %q4; selp.u32 %r3, 1, 0, "
      "%done; st.global.b32 [%q1+32], %r3;\n"
      " mbarrier.expect_tx.relaxed.cta.shared.b64 [bar], 16; mbarrier.complete_tx.shared.b64 [bar], 32;\n"
      " mbarrier.test_wait.shared.b64 %done, [bar], %q4; selp.u32 %r3, 1, 0, %done; st.global.b32 [%q1+36], %r3;\n"
      " mbarrier.complete_tx.shared.b64 [bar], 32; mbarrier.test_wait.shared.b64 %done, [bar], %q4; selp.u32 %r3, 1, "
      "0, %done; st.global.b32 [%q1+40], %r3;\n"
      // The third phase expects two.
      " mbarrier.arrive.shared.b64 %q6, [bar]; mbarrier.pending_count.b64 %r3, %q6; st.global.b32 [%q1+44], %r3;\n"
      // cp.async.mbarrier.arrive: alone it changes nothing, with .noinc it arrives.
      " cp.async.mbarrier.arrive.shared.b64 [bar]; mbarrier.test_wait.shared.b64 %done, [bar], %q6; selp.u32 %r3, 1, "
      "0, %done; st.global.b32 [%q1+48], %r3;\n"
      " cp.async.mbarrier.arrive.noinc.shared.b64 [bar]; mbarrier.test_wait.shared.b64 %done, [bar], %q6; selp.u32 "
      "%r3, 1, 0, %done; st.global.b32 [%q1+52], %r3;\n"
      " cvt.u64.u32 %q7, %r2; cvta.shared.u64 %q7, %q7; mbarrier.inval.b64 [%q7]; ld.shared.b64 %q8, [bar]; "
      "cvt.u32.u64 %r3, %q8; st.global.b32 [%q1+56], %r3;\n");
  bench.buffer("a", 4);
  std::uint64_t const result = bench.buffer("b", 60);
  bench.run();
  REQUIRE(message(bench).empty());
  CHECK(bench.read<std::uint32_t>(result) == std::vector<std::uint32_t>{3, 0, 0, 1, 1, 1, 1, 2, 0, 0, 1, 2, 0, 1, 0});
}

TEST_CASE("lanes that wait for an mbarrier let the others arrive") {
  // Warp 0 waits at a lower place in the text than the one where the others arrive, round after round.
  Bench bench = bench_of(
      " setp.ne.u32 %p, %r0, 0; @%p bra ready; mbarrier.init.shared.b64 [bar], 96; st.shared.b32 [sm], 0;\nready:\n "
      "bar.sync 0;\n"
      " mov.u32 %r8, 0; setp.ge.u32 %p, %r0, 32; @%p bra producer;\n"
      "consumer:\n mbarrier.arrive.shared.b64 _, [bar]; and.b32 %r9, %r8, 1;\nwait:\n "
      "mbarrier.try_wait.parity.shared.b64 %done, [bar], %r9; @!%done bra "
      "wait;\n"
      " ld.shared.b32 %r4, [sm]; add.u32 %r8, %r8, 1; setp.lt.u32 %p, %r8, 5; @%p bra consumer;\n"
      " mul.wide.u32 %q2, %r0, 4; add.u64 %q2, %q2, %q1; st.global.b32 [%q2], %r4; exit;\n"
      "producer:\n atom.shared.add.u32 %r5, [sm], 1; mbarrier.arrive.shared.b64 %q3, [bar], 2;\nagain:\n"
      " mbarrier.test_wait.shared.b64 %done, [bar], %q3; @!%done bra again;\n"
      " add.u32 %r8, %r8, 1; setp.lt.u32 %p, %r8, 5; @%p bra producer;\n");
  bench.launch.block = {64, 1, 1};
  bench.buffer("a", 4);
  std::uint64_t const result = bench.buffer("b", 128);
  Accesses seen;
  Observer* const observers[] = {&seen};
  Limits limits;
  limits.max_steps = 10'000'000;
  bench.run(observers, limits);
  REQUIRE(message(bench).empty());
  CHECK(bench.read<std::uint32_t>(result) == std::vector<std::uint32_t>(32, 160));
  CHECK(seen.met == ~0u);
}

TEST_CASE("lanes that wait for a few mbarriers together test each once in vain") {
  struct Tests : Observer {
    std::uint64_t lanes = 0;
    void memory(MemoryAccess const& a) override {
      if (a.direction != Direction::atomic) return;
      for (std::uint32_t w = 0; w < 2 && w < a.lanes.warps; ++w)
        lanes += static_cast<std::uint64_t>(std::popcount(a.lanes.masks[w]));
    }
    std::unique_ptr<Observer> fork() const override { return std::make_unique<Tests>(); }
    void join(Observer const& other) override { lanes += static_cast<Tests const&>(other).lanes; }
  };
  // Warps 0 and 1 wait, each for its own; warp 2 arrives at one after the other, late.
  for (std::string const work : {"10", "100000"}) {
    Bench bench = bench_of(
        " shr.u32 %r8, %r0, 5; and.b32 %r9, %r0, 31; shl.b32 %r10, %r8, 3; add.u32 %r10, %r10, %r1;\n"
        " setp.ne.u32 %p, %r9, 0; @%p bra begun; mbarrier.init.shared.b64 [%r10], 1;\nbegun:\n bar.sync 0;\n"
        " setp.eq.u32 %p, %r8, 2; @%p bra work;\nwait:\n mbarrier.try_wait.parity.shared.b64 %done, [%r10], 0; "
        "@!%done bra wait;\n exit;\nwork:\n mov.u32 %r11, 0;\nbusy:\n add.u32 %r11, %r11, 1; membar.cta; "
        "setp.lt.u32 %p, %r11, " +
        work +
        "; @%p bra busy;\n setp.ne.u32 %p, %r9, 0; @%p exit; mbarrier.arrive.shared.b64 _, [sm]; membar.cta; "
        "mbarrier.arrive.shared.b64 _, [sm+8];\n");
    bench.launch.block = {96, 1, 1};
    bench.buffer("a", 4);
    bench.buffer("b", 4);
    Tests seen;
    Observer* const observers[] = {&seen};
    bench.run(observers);
    REQUIRE(message(bench).empty());
    CHECK(seen.lanes <= 32 * 5);  // both in vain, then one of them, then each
    CHECK(seen.lanes >= 32 * 2);
  }
}

TEST_CASE("lanes of a warp of which one waits for an mbarrier meet it where all take part") {
  // Lane 0 gets its value after the wait; the other warp arrives late.
  std::string const body =
      " shr.u32 %r8, %r0, 5; and.b32 %r9, %r0, 31; setp.ne.u32 %p, %r0, 0; @%p bra begun; mbarrier.init.shared.b64 "
      "[bar], 1;\nbegun:\n bar.sync 0;\n setp.eq.u32 %p, %r8, 1; @%p bra work;\n mov.u32 %r5, 1; setp.ne.u32 %p, %r9, "
      "0; @%p bra join;\nwait:\n mbarrier.try_wait.parity.shared.b64 %done, [bar], 0; @!%done bra wait;\n mov.u32 %r5, "
      "42;\njoin:\n shfl.sync.idx.b32 %r6, %r5, 0, 31, -1;\n mul.wide.u32 %q2, %r0, 4; add.u64 %q2, %q2, %q1; "
      "st.global.b32 [%q2], %r6; exit;\nwork:\n mov.u32 %r11, 0;\nbusy:\n add.u32 %r11, %r11, 1; membar.cta; "
      "setp.lt.u32 %p, %r11, 10000; @%p bra busy;\n setp.ne.u32 %p, %r9, 0; @%p exit; mbarrier.arrive.shared.b64 _, "
      "[bar];\n";
  CHECK(stored_by(body, 64) == std::vector<std::uint32_t>(32, 42));
}

TEST_CASE("lanes go on past one of their warp that waits for what they do") {
  std::string const body =
      " setp.ne.u32 %p, %r0, 0; @%p bra begun; mbarrier.init.shared.b64 [bar], 31;\nbegun:\n bar.sync 0;\n"
      " @%p bra later;\nwait:\n mbarrier.try_wait.parity.shared.b64 %done, [bar], 0; @!%done bra wait;\n bra done;\n"
      "later:\n mbarrier.arrive.shared.b64 _, [bar];\ndone:\n mul.wide.u32 %q2, %r0, 4; add.u64 %q2, %q2, %q1; "
      "st.global.b32 [%q2], 7;\n";
  CHECK(stored_by(body, 32) == std::vector<std::uint32_t>(32, 7));
}

TEST_CASE("misuse of an mbarrier is found") {
  struct Fault {
    std::string text, message;
    Finding::Kind kind;
  };
  using Kind = Finding::Kind;
  for (Fault const& f :
       {Fault{"mbarrier.arrive.shared.b64 %q2, [bar];", "works on an mbarrier that is not initialised",
              Kind::uninitialized},
        Fault{"mbarrier.init.shared.b64 [bar], 0;", "an mbarrier's count must be 1 to 1048575", Kind::trap},
        Fault{"mbarrier.init.shared.b64 [bar], 2; mbarrier.arrive.shared.b64 %q2, [bar], 3;",
              "more arrivals than the mbarrier expects", Kind::trap},
        Fault{"mbarrier.init.shared.b64 [bar], 2; mbarrier.expect_tx.shared.b64 [bar], 1048576;",
              "a count of the mbarrier exceeds 1048575", Kind::trap},
        Fault{"mbarrier.init.shared.b64 [sm+4], 2;", "which is not a multiple of 8", Kind::misaligned},
        Fault{"cp.async.bulk.global.shared::cta.bulk_group [%q1], [sm], 24;",
              "copies a number of bytes that is not a multiple of 16", Kind::misaligned},
        Fault{"cp.async.ca.shared.global [sm], [%q0], 4, 5;", "reads more bytes than it copies",
              Kind::out_of_bounds}}) {
    Bench bench = bench_of(" setp.ne.u32 %p, %r0, 0; @%p exit;\n " + f.text + "\n");
    bench.buffer("a", 64);
    bench.buffer("b", 64);
    bench.run();
    REQUIRE(bench.outcome.finding);
    INFO(message(bench));
    CHECK(bench.outcome.finding->kind == f.kind);
    CHECK(message(bench).find(f.message) != std::string::npos);
  }
}

TEST_CASE("bulk copies go to shared memory and back, and complete the mbarrier's transactions") {
  Bench bench = bench_of(
      " setp.ne.u32 %p, %r0, 0; @%p bra wait;\n mbarrier.init.shared::cta.b64 [bar], 1; "
      "fence.proxy.async.shared::cta;\n"
      " mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 1104;\n"
      " cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sm+16], [%q0], 1024, [bar];\n"
      " mov.u32 %r3, 80; cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint [%r1+1040], "
      "[%q0+1024], %r3, [%r2], %q5;\n"
      "wait:\n mbarrier.try_wait.parity.shared::cta.b64 %done, [bar], 0; @!%done bra wait;\n"
      " @%p exit;\n cp.async.bulk.global.shared::cta.bulk_group [%q1], [sm+16], 1104; cp.async.bulk.commit_group;"
      " cp.async.bulk.wait_group.read 0;\n");
  std::vector<std::uint8_t> const from = random_bytes(1104, 3);
  bench.launch.block = {64, 1, 1};
  bench.buffer("a", from);
  std::uint64_t const to = bench.buffer("b", 1104);
  Accesses seen;
  Observer* const observers[] = {&seen};
  bench.run(observers);
  REQUIRE(message(bench).empty());
  CHECK(bench.read<std::uint8_t>(to) == from);
  std::uint64_t loaded = 0;
  for (auto const& e : seen.events)
    if (e.space == StateSpace::global && e.direction == Direction::load)
      loaded += e.bytes * static_cast<unsigned>(std::popcount(e.lanes));
  CHECK(loaded == 1104);
  CHECK(refusal(" setp.ne.u32 %p, %r0, 0; @%p exit;\n cp.async.bulk.global.shared::cta.bulk_group [%q1], [sm], 80;\n",
                16, 64) == "global store of 16 bytes at offset 64 of buffer 'b' (64 bytes)");
}

TEST_CASE("the requests of a bulk copy end with lines of global memory, whichever lane issues it") {
  // From 48 bytes into a line: what is left of four lines, four whole lines, and the rest.
  for (auto const& [threads, issuer, lanes] : {std::tuple{64u, 37u, 32u}, {45u, 40u, 13u}, {8u, 3u, 8u}}) {
    Bench bench = bench_of(" setp.ne.u32 %p, %r0, " + std::to_string(issuer) +
                           "; @%p exit;\n cp.async.bulk.global.shared::cta.bulk_group [%q1+48], [sm+16], 1104;\n");
    bench.launch.block = {threads, 1, 1};
    bench.buffer("a", 16);
    bench.buffer("b", 1152);
    struct Stores : Observer {
      std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;  // [first byte, last + 1)
      std::uint32_t issuer = 0;
      void memory(MemoryAccess const& a) override {
        if (a.space != StateSpace::global) return;
        issuer = a.issuer;
        std::uint32_t const mask = a.lanes.masks[a.issuer / 32];
        auto const first = static_cast<unsigned>(std::countr_zero(mask)) + a.issuer / 32 * 32;
        std::uint64_t const begin = a.base + a.offsets[first];
        ranges.emplace_back(begin, begin + static_cast<unsigned>(std::popcount(mask)) * a.bytes_per_lane);
      }
      std::unique_ptr<Observer> fork() const override { return std::make_unique<Stores>(); }
      void join(Observer const& other) override { *this = static_cast<Stores const&>(other); }
    } seen;
    Observer* const observers[] = {&seen};
    bench.run(observers);
    REQUIRE(message(bench).empty());
    CHECK(seen.issuer == issuer);
    REQUIRE(!seen.ranges.empty());
    std::uint64_t at = seen.ranges.front().first;
    CHECK(at % 128 == 48);
    for (auto const& [begin, end] : seen.ranges) {
      CHECK(begin == at);
      CHECK(end - begin <= 16 * lanes);
      CHECK((end % 128 == 0 || end == seen.ranges.front().first + 1104));
      at = end;
    }
    CHECK(at == seen.ranges.front().first + 1104);
  }
}

TEST_CASE("a bulk copy to several groups of a cluster is read once, and completes the mbarrier of each") {
  // Group 2 of four sends to groups 0, 2 and 3; those wait, and show what they got.
  Bench bench = bench_of(
      " mov.u32 %r9, %cluster_ctarank; setp.ne.u32 %p, %r0, 0; @%p bra ready; mbarrier.init.shared.b64 [bar], 1;\n"
      " mbarrier.arrive.expect_tx.shared.b64 _, [bar], 512;\nready:\n barrier.cluster.arrive.aligned; "
      "barrier.cluster.wait.aligned;\n"
      " setp.eq.u32 %p, %r9, 2; setp.eq.and.u32 %p, %r0, 0, %p; @!%p bra sent;\n mov.u32 %r10, 13; cvt.u16.u32 %h, "
      "%r10;\n"
      " cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint [sm], "
      "[%q0], "
      "512, [bar], %h, %q5;\nsent:\n"
      " setp.eq.u32 %p, %r9, 1; @%p bra show;\nwait:\n mbarrier.try_wait.parity.shared.b64 %done, [bar], 0; @!%done "
      "bra wait;\nshow:\n"
      " mad.lo.u32 %r3, %r9, 32, %r0; mul.wide.u32 %q2, %r3, 16; add.u64 %q2, %q2, %q1; mul.lo.u32 %r3, %r0, 16; "
      "add.u32 %r3, %r3, %r1; ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%r3]; st.global.v4.b32 [%q2], {%r4, %r5, %r6, "
      "%r7}; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n",
      " .reg .b16 %h;\n");
  bench.launch.grid = bench.launch.cluster = {4, 1, 1};
  std::vector<std::uint8_t> const from = random_bytes(512, 7);
  bench.buffer("a", from);
  std::uint64_t const to = bench.buffer("b", 2048);
  Accesses seen;
  Observer* const observers[] = {&seen};
  bench.run(observers);
  REQUIRE(message(bench).empty());
  std::vector<std::uint8_t> const result = bench.read<std::uint8_t>(to);
  for (std::size_t i = 0; i < result.size(); ++i) REQUIRE(result[i] == (i / 512 == 1 ? 0 : from[i % 512]));
  CHECK(std::ranges::count_if(seen.events, [](auto const& e) {
          return e.space == StateSpace::global && e.direction == Direction::load;
        }) == 1);
}

TEST_CASE("a bulk copy to a group that the cluster does not have is found") {
  Bench bench = bench_of(
      " setp.ne.u32 %p, %r0, 0; @%p exit; mov.u32 %r10, 4; cvt.u16.u32 %h, %r10;\n"
      " cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [sm], [%q0], 64, [bar], "
      "%h;\n",
      " .reg .b16 %h;\n");
  bench.launch.grid = bench.launch.cluster = {2, 1, 1};
  bench.buffer("a", 64);
  bench.buffer("b", 64);
  bench.run();
  REQUIRE(bench.outcome.finding);
  CHECK_THAT(message(bench), Contains("shared store of 16 bytes at offset"));
}

TEST_CASE("bulk copies from addresses that are not multiples of 16 are found, with few carriers, too") {
  for (std::uint32_t const threads : {1u, 8u, 32u}) {
    Bench bench = bench_of(
        " setp.ne.u32 %p, %r0, 0; @%p exit;\n cp.async.bulk.global.shared::cta.bulk_group [%q1+8], "
        "[sm], 256;\n");
    bench.launch.block = {threads, 1, 1};
    bench.buffer("a", 16);
    bench.buffer("b", 512);
    bench.run();
    REQUIRE(bench.outcome.finding);
    CHECK(bench.outcome.finding->kind == Finding::Kind::misaligned);
  }
}

TEST_CASE("st.bulk fills shared memory with zeros, so much and no more") {
  for (auto const& [begin, bytes] : {std::pair{0, 1024}, {16, 8}, {8, 16}, {24, 1000}, {40, 0}, {8, 24}}) {
    std::string const at = std::to_string(begin), size = std::to_string(bytes);
    for (std::string const& form :
         {"st.bulk.weak.shared::cta [sm+" + at + "], " + size + ", 0;",
          "mov.u64 %q3, sm; cvta.shared.u64 %q3, %q3; mov.u64 %q4, " + size + "; st.bulk [%q3+" + at + "], %q4, 0;",
          "mov.u32 %r9, " + size + "; st.bulk.shared::cta [%r1+" + at + "], %r9, 0;"}) {
      Bench bench = bench_of(
          " mul.lo.u32 %r3, %r0, 16; add.u32 %r4, %r1, %r3; cvt.u64.u32 %q2, %r3; add.u64 %q2, %q0, %q2;\n"
          " ld.global.v4.b32 {%r5, %r6, %r7, %r8}, [%q2]; st.shared.v4.b32 [%r4], {%r5, %r6, %r7, %r8}; bar.sync 0;\n"
          " setp.ne.u32 %p, %r0, 3; @%p bra filled; " +
          form + "\nfilled:\n" + read_back);
      bench.launch.block = {72, 1, 1};
      std::vector<std::uint8_t> const from = random_bytes(1152, 8);
      bench.buffer("a", from);
      std::uint64_t const to = bench.buffer("b", 1152);
      bench.run();
      INFO(form);
      REQUIRE(message(bench).empty());
      std::vector<std::uint8_t> const result = bench.read<std::uint8_t>(to);
      for (int i = 0; i < 1152; ++i)
        REQUIRE(result[static_cast<std::size_t>(i)] ==
                (i >= begin && i < begin + bytes ? 0 : from[static_cast<std::size_t>(i)]));
    }
  }
  auto const found = [](std::string const& text) {
    return refusal(" setp.ne.u32 %p, %r0, 0; @%p exit;\n " + text + "\n", 16, 16);
  };
  CHECK_THAT(found("st.bulk.shared::cta [sm], 12, 0;"), Contains("not a multiple of 8"));
  CHECK_THAT(found("st.bulk.shared::cta [sm], 16777224, 0;"), Contains("more than 16777216 bytes"));
  CHECK_THAT(found("st.bulk.shared::cta [sm], 8192, 0;"), Contains("shared store of 16 bytes at offset"));
  CHECK_THAT(found("st.bulk.shared::cta [sm+4], 16, 0;"), Contains("which is not a multiple of 8"));
  CHECK_THAT(found("st.bulk.shared::cta [sm], 16, 1;"), Contains("cannot be executed"));
}

TEST_CASE("asynchronous stores and sums without an mbarrier go to global memory") {
  Bench bench = bench_of(
      " mul.wide.u32 %q2, %r0, 4; add.u64 %q3, %q2, %q1; st.async.release.gpu.global.b32 [%q3], %r0;\n"
      " red.async.release.gpu.global.add.u32 [%q0], %r0; red.async.mmio.release.sys.global.add.u32 [%q0+4], 2;\n");
  std::uint64_t const sums = bench.buffer("a", 8), values = bench.buffer("b", 128);
  bench.run();
  REQUIRE(message(bench).empty());
  CHECK(bench.read<std::uint32_t>(sums) == std::vector<std::uint32_t>{496, 64});
  std::vector<std::uint32_t> const stored = bench.read<std::uint32_t>(values);
  for (std::uint32_t i = 0; i < 32; ++i) CHECK(stored[i] == i);
}

TEST_CASE("a bulk copy with a byte mask copies those bytes") {
  Bench bench = Bench(
      ".visible .entry k(.param .u64 pa, .param .u64 pb) {\n .reg .b64 %q<8>; .reg .b16 %m; .reg .b32 %r<8>; .reg "
      ".pred %p;\n"
      " .shared .align 16 .b8 sm[64]; ld.param.u64 %q0, [pa]; ld.param.u64 %q1, [pb]; mov.u32 %r0, %tid.x;\n"
      " setp.ne.u32 %p, %r0, 0; @%p exit; ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%q0]; st.shared.v4.b32 [sm], {%r1, "
      "%r2, %r3, %r4};\n"
      " st.shared.v4.b32 [sm+16], {%r4, %r3, %r2, %r1}; mov.u16 %m, 0x8c31;\n"
      " cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint.cp_mask [%q1], [sm], 32, %q5, %m; ret;\n}\n");
  std::vector<std::uint8_t> const from = random_bytes(16, 4), before = random_bytes(32, 5);
  bench.buffer("a", from);
  std::uint64_t const to = bench.buffer("b", before);
  bench.run();
  REQUIRE(message(bench).empty());
  std::vector<std::uint8_t> const after = bench.read<std::uint8_t>(to);
  for (std::size_t i = 0; i < 32; ++i) {
    std::size_t const source = i < 16 ? i : 12 - (i - 16) / 4 * 4 + i % 4;
    REQUIRE(after[i] == (0x8c31 >> i % 16 & 1 ? from[source] : before[i]));
  }
}

namespace {

template <class T>
void check_reduction(std::string const& op, std::string const& type, std::vector<T> const& memory,
                     std::vector<T> const& values, std::vector<T> const& expected) {
  std::string const bytes = std::to_string(values.size() * sizeof(T));
  Bench bench = bench_of(
      " setp.ne.u32 %p, %r0, 0; @%p exit;\n mbarrier.init.shared.b64 [bar], 1; mbarrier.expect_tx.shared.b64 [bar], " +
      bytes + "; cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [sm], [%q0], " + bytes +
      ", [bar];\n"
      " cp.reduce.async.bulk.global.shared::cta.bulk_group." +
      op + "." + type + " [%q1], [sm], " + bytes + ";\n");
  bench.buffer("a", values);
  std::uint64_t const to = bench.buffer("b", memory);
  bench.run();
  INFO(op << "." << type);
  REQUIRE(message(bench).empty());
  REQUIRE(bench.read<T>(to) == expected);
  CHECK(bench.program->order_dependent());
}
template <class T, class F>
void check_reduction(std::string const& op, std::string const& type, F f) {
  Random random{6};
  std::vector<T> memory(128 / sizeof(T)), values(memory.size()), expected(memory.size());
  for (std::size_t i = 0; i < memory.size(); ++i) {
    memory[i] = static_cast<T>(random());
    values[i] = i % 3 == 0 ? memory[i] : static_cast<T>(random());
    expected[i] = f(memory[i], values[i]);
  }
  check_reduction(op, type, memory, values, expected);
}

}  // namespace

TEST_CASE("bulk reductions") {
  using u32 = std::uint32_t;
  using u64 = std::uint64_t;
  using s32 = std::int32_t;
  using s64 = std::int64_t;
  check_reduction<u32>("add", "u32", [](u32 a, u32 b) { return a + b; });
  check_reduction<s32>("add", "s32", [](s32 a, s32 b) { return static_cast<s32>(u32(a) + u32(b)); });
  check_reduction<u64>("add", "u64", [](u64 a, u64 b) { return a + b; });
  check_reduction<u32>("min", "u32", [](u32 a, u32 b) { return std::min(a, b); });
  check_reduction<s32>("max", "s32", [](s32 a, s32 b) { return std::max(a, b); });
  check_reduction<s64>("min", "s64", [](s64 a, s64 b) { return std::min(a, b); });
  check_reduction<u64>("max", "u64", [](u64 a, u64 b) { return std::max(a, b); });
  check_reduction<u32>("inc", "u32", [](u32 a, u32 b) { return a >= b ? 0 : a + 1; });
  check_reduction<u32>("dec", "u32", [](u32 a, u32 b) { return a == 0 || a > b ? b : a - 1; });
  check_reduction<u32>("and", "b32", [](u32 a, u32 b) { return a & b; });
  check_reduction<u64>("or", "b64", [](u64 a, u64 b) { return a | b; });
  check_reduction<u64>("xor", "b64", [](u64 a, u64 b) { return a ^ b; });
  float const tiny = std::ldexp(1.0f, -130);
  check_reduction<float>("add", "f32", {1, 2, tiny, -tiny}, {0.5f, -2, tiny, 0}, {1.5f, 0, 0, -0.0f});
  check_reduction<double>("add", "f64", {1, 1e300}, {1e-17, 1e300}, {1, 2e300});
  // f16 and bf16 as codes: 1 + 2 = 3, and the smallest subnormals are kept.
  check_reduction<std::uint16_t>("add.noftz", "f16", {0x3c00, 1, 0x7bff, 0x8000, 0, 0, 0, 0},
                                 {0x4000, 1, 0x7bff, 0, 0, 0, 0, 0}, {0x4200, 2, 0x7c00, 0, 0, 0, 0, 0});
  check_reduction<std::uint16_t>("min", "f16", {0x3c00, 0x7fff, 0x0000, 0xbc00, 0, 0, 0, 0},
                                 {0x4000, 0x3c00, 0x8000, 0x3c00, 0, 0, 0, 0},
                                 {0x3c00, 0x3c00, 0x8000, 0xbc00, 0, 0, 0, 0});
  check_reduction<std::uint16_t>("add.noftz", "bf16", {0x3f80, 1, 0, 0, 0, 0, 0, 0}, {0x4000, 1, 0, 0, 0, 0, 0, 0},
                                 {0x4040, 2, 0, 0, 0, 0, 0, 0});
}
