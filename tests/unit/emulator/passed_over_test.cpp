// Launches that go on after findings: what is wrong is left out in the lanes concerned, all else is exact.
#include "emulator/passed_over.hpp"
#include "catch.hpp"
#include "harness.hpp"

namespace kernelcast::emu::test {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// With %i the global index, %p<k> parameter k as an address, %a<k> the place of %i in it, by `bytes` bytes.
std::string kernel(std::string const& body, u32 bytes = 4) {
  std::string const b = std::to_string(bytes);
  return R"(
.visible .entry k(.param .u64 p0, .param .u64 p1)
{ .reg .b32 %r<8>, %v<8>, %i, %t, %g, %n; .reg .b64 %p<2>, %a<2>, %off; .reg .pred %q;
  .shared .align 16 .b8 s[256];
  ld.param.u64 %p0, [p0]; ld.param.u64 %p1, [p1];
  mov.u32 %t, %tid.x; mov.u32 %g, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %i, %g, %n, %t;
  mul.wide.u32 %off, %i, )" +
         b + "; add.s64 %a0, %p0, %off; add.s64 %a1, %p1, %off;\n" + body + "\n ret; }\n";
}

struct Passed {
  std::vector<PassedOver::Place> places;
  Ending ending;
};
Passed pass(Bench& b, unsigned threads = 1) {
  PassedOver passed_over;
  Limits limits;
  limits.passed_over = &passed_over;
  Ending const ending = b.run({}, limits, threads).ending;
  return {passed_over.take(), ending};
}

}  // namespace

TEST_CASE("a load outside gives 0 in its lane, and is counted") {
  constexpr u32 n = 4096, inside = n - 100;
  std::vector<Finding> first;
  for (unsigned const threads : {1u, 4u}) {
    Bench b(kernel("ld.global.u32 %v0, [%a0]; add.u32 %v0, %v0, 1; st.global.u32 [%a1], %v0;"));
    b.launch.block = {64, 1, 1};
    b.launch.grid = {n / 64, 1, 1};
    std::vector<u32> in(inside);
    std::iota(in.begin(), in.end(), 5u);
    b.buffer("in", in);
    u64 const out = b.buffer("out", std::vector<u32>(n, 77));
    auto const passed = pass(b, threads);
    REQUIRE(passed.ending == Ending::done);
    REQUIRE(passed.places.size() == 1);
    CHECK(passed.places[0].times == n - inside);
    auto const& finding = first.emplace_back(passed.places[0].finding);
    CHECK(finding.message == "global load of 4 bytes at offset " + std::to_string(4 * inside) + " of buffer 'in' (" +
                                 std::to_string(4 * inside) + " bytes)");
    CHECK(finding.global_id.x == inside);
    CHECK(finding.message == first[0].message);
    auto const have = b.read<u32>(out);
    for (u32 i = 0; i < n; ++i) REQUIRE(have[i] == (i < inside ? i + 6 : 1));
  }
}

TEST_CASE("a store outside is dropped whole, a vector that straddles the end too") {
  // Lane 7's vector begins at the last 8 bytes: none of its four words is written, and all four read as 0.
  Bench b(
      kernel("ld.global.v4.u32 {%v0, %v1, %v2, %v3}, [%a0]; st.global.v4.u32 [%a1], {%i, %i, %i, %i};\n"
             " setp.ne.u32 %q, %i, 7; @%q bra END; or.b32 %v0, %v0, %v1; or.b32 %v2, %v2, %v3;\n"
             " or.b32 %v0, %v0, %v2; st.global.u32 [%p1], %v0;\nEND:",
             16));
  b.launch.block = {32, 1, 1};
  u64 const in = b.buffer("in", std::vector<u32>(7 * 4 + 2, 9));
  u64 const out = b.buffer("out", std::vector<u32>(7 * 4 + 2, 8));
  auto const passed = pass(b);
  REQUIRE(passed.ending == Ending::done);
  REQUIRE(passed.places.size() == 2);
  CHECK(passed.places[0].times == 25);
  CHECK(passed.places[1].times == 25);
  auto const have = b.read<u32>(out);
  CHECK(have[0] == 0);
  for (u32 i = 1; i < 30; ++i) CHECK(have[i] == (i < 28 ? i / 4 : 8));
  CHECK(b.read<u32>(in) == std::vector<u32>(30, 9));
}

TEST_CASE("an atomic outside gives 0 and changes nothing") {
  for (unsigned const threads : {1u, 3u})
    for (bool const reads : {true, false}) {
      // Lanes from 40 on aim one word behind the counter.
      std::string const operation = reads ? "atom.global.add.u32 %v0, [%off], 3;" : "red.global.add.u32 [%off], 3;";
      Bench b(kernel("mov.u32 %v0, 99; setp.lt.u32 %q, %t, 40; mov.u64 %off, %p0; @!%q add.s64 %off, %p0, 4;\n " +
                     operation + " st.global.u32 [%a1], %v0;"));
      b.launch.block = {64, 1, 1};
      b.launch.grid = {50, 1, 1};
      u64 const counter = b.buffer("counter", std::vector<u32>{1000});
      u64 const out = b.buffer("out", std::vector<u32>(64 * 50));
      auto const passed = pass(b, threads);
      REQUIRE(passed.ending == Ending::done);
      REQUIRE(passed.places.size() == 1);
      CHECK(passed.places[0].times == 24 * 50);
      CHECK(b.read<u32>(counter)[0] == 1000 + 3 * 40 * 50);
      auto const have = b.read<u32>(out);
      for (u32 i = 0; i < have.size(); ++i)
        REQUIRE(have[i] == (!reads ? 99 : i % 64 >= 40 ? 0 : 1000 + 3 * (i / 64 * 40 + i % 64)));
    }
}

TEST_CASE("misaligned, generic and shared accesses are passed over lane by lane") {
  // Lane 3 is off by one byte; lane 5 reaches behind shared memory; lane 6 goes nowhere.
  Bench b(
      kernel("cvt.u64.u32 %off, %t; shl.b64 %off, %off, 2; mov.u64 %a0, s; cvta.shared.u64 %a0, %a0; add.s64 %a0, "
             "%a0, %off;\n st.u32 [%a0], %t;\n setp.eq.u32 %q, %t, 3; @%q add.s64 %a0, %a0, 1; setp.eq.u32 %q, %t, "
             "5; @%q add.s64 %a0, %a0, 256; setp.eq.u32 %q, %t, 6; @%q mov.u64 %a0, 12;\n"
             " ld.u32 %v0, [%a0]; st.global.u32 [%a1], %v0;"));
  b.launch.block = {32, 1, 1};
  b.buffer("unused", 4);
  u64 const out = b.buffer("out", std::vector<u32>(32, 99));
  auto const passed = pass(b);
  REQUIRE(passed.ending == Ending::done);
  REQUIRE(passed.places.size() == 2);  // of one instruction, two kinds
  CHECK(passed.places[0].finding.kind == Finding::Kind::out_of_bounds);
  CHECK(passed.places[0].times == 2);
  CHECK(passed.places[0].finding.local_id.x == 5);
  CHECK(passed.places[1].finding.kind == Finding::Kind::misaligned);
  CHECK(passed.places[1].times == 1);
  auto const have = b.read<u32>(out);
  for (u32 i = 0; i < 32; ++i) CHECK(have[i] == (i == 3 || i == 5 || i == 6 ? 0 : i));
}

TEST_CASE("observers hear of what is accessed only") {
  struct Count final : Observer {
    u64 lanes = 0, events = 0;
    void memory(MemoryAccess const& a) override {
      ++events;
      for (u32 w = 0; w < a.lanes.warps; ++w) lanes += static_cast<u64>(std::popcount(a.lanes.masks[w]));
    }
    std::unique_ptr<Observer> fork() const override { return std::make_unique<Count>(); }
    void join(Observer const&) override {}
  } count;
  Bench b(kernel("ld.global.u32 %v0, [%a0]; ld.global.u32 %v0, [%a1];"));
  b.launch.block = {32, 1, 1};
  b.buffer("in", std::vector<u32>(20));
  b.buffer("none", std::vector<u32>(0));
  PassedOver passed_over;
  Limits limits;
  limits.passed_over = &passed_over;
  Observer* const observers[] = {&count};
  REQUIRE(b.run(observers, limits).ending == Ending::done);
  CHECK(count.lanes == 20);
  CHECK(count.events == 1);
}

TEST_CASE("what cannot be passed over ends the launch all the same") {
  for (std::string const body :
       {"trap;", "setp.lt.u32 %q, %t, 32; @%q bra.uni L; bar.sync 1, 64;\nL: bar.sync 2, 64;"}) {
    Bench b(kernel("ld.global.u32 %v0, [%a0+4096]; " + body));
    b.launch.block = {64, 1, 1};
    b.buffer("in", 4);
    b.buffer("unused", 4);
    auto const passed = pass(b);
    CHECK(passed.ending == Ending::finding);
    CHECK(b.outcome.finding->kind != Finding::Kind::out_of_bounds);
    REQUIRE(passed.places.size() == 1);
    CHECK(passed.places[0].times == 64);
  }
}

TEST_CASE("places of several launches are one") {
  std::vector<PassedOver::Place> all;
  for (u32 shift : {4u, 8u}) {
    Bench b(kernel("ld.global.u32 %v0, [%a0];"));
    b.launch.block = {32, 1, 1};
    b.buffer("in", 4 * 32 - shift);
    b.buffer("unused", 4);
    add_places(all, pass(b).places);
  }
  REQUIRE(all.size() == 1);
  CHECK(all[0].times == 3);
  CHECK(message_of(all[0]) ==
        "global load of 4 bytes at offset 124 of buffer 'in' (124 bytes), the first of 3 passed over");
}

}  // namespace kernelcast::emu::test
