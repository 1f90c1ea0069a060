// Checks of small groups side by side (a rehearsal) against the same group by group: the same findings, the same
// memory, the same counts, on random kernels and on those whose findings lie between groups.
#include <algorithm>
#include <array>
#include <bit>

#include "catch.hpp"
#include "emulator/check/check.hpp"
#include "unit/emulator/harness.hpp"

namespace kernelcast::emu::test {
namespace {

// Accepts no packs and has no packed substitute: with it groups run one by one.
struct OneByOne final : Observer {
  std::unique_ptr<Observer> fork() const override { return std::make_unique<OneByOne>(); }
  void join(Observer const&) override {}
};

// Counts what any other observer would be told, and packs.
struct Counts final : Observer {
  std::uint64_t lanes = 0, accesses = 0, packs = 0;
  bool accepts_packs() const override { return true; }
  void pack_begin(std::span<std::uint64_t const>) override { ++packs; }
  void block(std::uint32_t, Lanes const& l) override { add(lanes, l); }
  void memory(MemoryAccess const& a) override { add(accesses, a.lanes); }
  static void add(std::uint64_t& sum, Lanes const& l) {
    for (std::uint32_t w = 0; w < l.warps; ++w) sum += static_cast<std::uint64_t>(std::popcount(l.masks[w]));
  }
  std::unique_ptr<Observer> fork() const override { return std::make_unique<Counts>(); }
  void join(Observer const& other) override {
    auto const& o = dynamic_cast<Counts const&>(other);
    lanes += o.lanes, accesses += o.accesses, packs += o.packs;
  }
};

// k(u32* a, u32* b): %r1 item, %r2 items, %r3 group, %r4 number in the grid; addresses of shared words %r5 own, %r6 the
// next item's; of a %rd3 own, %rd4 the next item's, %rd5 the next group's; %rd6 b.
std::string kernel(std::string const& body) {
  return R"(.visible .entry k(.param .u64 a, .param .u64 b)
{ .reg .pred %p<8>; .reg .b32 %r<40>; .reg .b64 %rd<20>;
  .shared .align 4 .b8 s[1024]; .local .align 4 .b8 l[16];
  ld.param.u64 %rd1, [a]; ld.param.u64 %rd6, [b];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r9, %nctaid.x;
  mad.lo.u32 %r4, %r3, %r2, %r1;
  mov.u32 %r7, s; shl.b32 %r8, %r1, 2; add.u32 %r5, %r7, %r8;
  add.u32 %r10, %r1, 1; rem.u32 %r10, %r10, %r2; shl.b32 %r11, %r10, 2; add.u32 %r6, %r7, %r11;
  mul.wide.u32 %rd2, %r4, 4; add.s64 %rd3, %rd1, %rd2;
  mad.lo.u32 %r12, %r3, %r2, %r10; mul.wide.u32 %rd7, %r12, 4; add.s64 %rd4, %rd1, %rd7;
  add.u32 %r13, %r4, %r2; mul.lo.u32 %r14, %r2, %r9; rem.u32 %r13, %r13, %r14; mul.wide.u32 %rd8, %r13, 4; add.s64 %rd5, %rd1, %rd8;
  and.b32 %r15, %r1, 1; setp.eq.u32 %p1, %r15, 0; and.b32 %r16, %r3, 7; setp.eq.u32 %p2, %r16, 5;
  mov.u32 %r20, 0;
)" + body +
         "  st.global.u32 [%rd3], %r20; ret; }\n";
}

constexpr std::array<char const*, 16> pieces{
    "  st.shared.u32 [%r5], %r4;\n",
    "  ld.shared.u32 %r21, [%r5]; add.u32 %r20, %r20, %r21;\n",
    "  ld.shared.u32 %r21, [%r6]; add.u32 %r20, %r20, %r21;\n",
    "  st.shared.u32 [%r6], %r4;\n",
    "  bar.sync 0;\n",
    "  bar.sync 0;\n",
    "  ld.global.u32 %r21, [%rd3]; add.u32 %r20, %r20, %r21;\n",
    "  st.global.u32 [%rd3], %r1;\n",
    "  ld.global.u32 %r21, [%rd4]; add.u32 %r20, %r20, %r21;\n",
    "  st.global.u32 [%rd4], %r1;\n",
    "  @%p2 ld.global.u32 %r21, [%rd5]; @%p2 add.u32 %r20, %r20, %r21;\n",
    "  mov.u32 %r22, 7; st.global.u32 [%rd6], %r22;\n",
    "  ld.local.u32 %r21, [l+4]; add.u32 %r20, %r20, %r21;\n",
    "  st.local.u32 [l+4], %r1;\n",
    "  @%p1 st.shared.u32 [s+512], %r3;\n",
    "  ld.global.u32 %r21, [%rd6]; add.u32 %r20, %r20, %r21;\n",
};

struct Result {
  Outcome outcome;
  std::vector<Finding> findings;
  std::vector<std::uint32_t> a, b;
  Counts counts;
};

Result checked(std::string const& body, std::uint32_t items, std::uint32_t groups, bool apart, CheckOptions options) {
  Bench bench(kernel(body));
  bench.launch.block = {items, 1, 1};
  bench.launch.grid = {groups, 1, 1};
  auto const a = bench.buffer("a", std::vector<std::uint32_t>(items * groups, 3));
  auto const b = bench.buffer("b", std::vector<std::uint32_t>(4, 5));
  Checks checks(options, bench.memory);
  checks.begin(*bench.program, bench.launch);
  Result result;
  OneByOne one;
  std::vector<Observer*> observers{&checks, &result.counts};
  if (apart) observers.push_back(&one);
  result.outcome = bench.run(observers);
  result.findings = checks.findings();
  result.a = bench.read<std::uint32_t>(a);
  result.b = bench.read<std::uint32_t>(b);
  return result;
}

// `memory`: what groups that race with each other leave depends on their order.
void check_same(Result const& x, Result const& y, bool memory) {
  REQUIRE(x.outcome.ending == y.outcome.ending);
  REQUIRE(x.findings.size() == y.findings.size());
  for (std::size_t i = 0; i < x.findings.size(); ++i) {
    Finding const &f = x.findings[i], &g = y.findings[i];
    CHECK(f.kind == g.kind);
    CHECK(f.message == g.message);
    CHECK(f.at.line == g.at.line);
    CHECK(f.group == g.group);
    CHECK(f.local_id == g.local_id);
  }
  if (memory) CHECK((x.a == y.a && x.b == y.b));
  CHECK(x.counts.lanes == y.counts.lanes);
  CHECK(x.counts.accesses == y.counts.accesses);
  CHECK(x.outcome.warp_instructions == y.outcome.warp_instructions);
}

}  // namespace

TEST_CASE("random kernels: findings side by side are those of groups one by one") {
  Random random{17};
  unsigned found = 0, rehearsed = 0;
  for (unsigned n = 0; n < 1500; ++n) {
    std::string body;
    for (std::uint32_t k = 2 + random.below(7); k > 0; --k) body += pieces[random.below(pieces.size())];
    std::uint32_t const items = std::array{4u, 8u, 5u, 16u, 32u, 48u, 64u}[random.below(7)];
    CheckOptions options;
    options.races = random.below(4) != 0;
    options.uninit = !options.races || random.below(2) != 0;
    options.findings = random.below(2) ? 1 : 5;
    INFO(body << items << " work-items, races " << options.races << ", uninit " << options.uninit);
    auto const together = checked(body, items, 21, false, options), apart = checked(body, items, 21, true, options);
    check_same(together, apart, options.races);
    CHECK(apart.counts.packs == 0);
    found += !apart.findings.empty();
    rehearsed += together.counts.packs > 0;
    if (!apart.findings.empty()) CHECK(together.counts.packs == 0);
  }
  CHECK(found > 300);
  CHECK(rehearsed > 300);
}

// Stores of one value to one place are inconclusive side by side, so that the groups run one by one after that. What is
// not among the buffers cannot be put back.
TEST_CASE("memory that the host has lent is changed once") {
  auto const module = ptx::parse(header + R"(
.visible .entry k(.param .u64 p)
{ .reg .b32 %i, %t, %v; .reg .b64 %p, %a;
  ld.param.u64 %p, [p]; mov.u32 %i, %ctaid.x; mov.u32 %t, %tid.x; shl.b32 %i, %i, 5; add.u32 %i, %i, %t;
  mul.wide.u32 %a, %i, 4; add.s64 %a, %p, %a; ld.global.u32 %v, [%a+4]; add.u32 %v, %v, 1; st.global.u32 [%a+4], %v;
  st.global.u32 [%p], 7; ret; })",
                                 "test.ptx");
  Program const program(*module, *module->find_kernel("k"));
  Memory memory(std::uint64_t{1} << 24, Memory::Addresses::of_host);
  std::vector<std::uint32_t> host(1 + 32 * 16, 0);
  REQUIRE(memory.lend("host", host.data(), 4 * host.size()));
  Launch launch;
  launch.grid = {16, 1, 1};
  launch.block = {32, 1, 1};
  auto const address = reinterpret_cast<std::uintptr_t>(host.data());
  launch.parameters.resize(8);
  std::memcpy(launch.parameters.data(), &address, 8);
  Checks checks({.races = true}, memory);
  checks.begin(program, launch);
  Observer* const observers[] = {&checks};
  std::vector<std::uint64_t> groups(16);
  std::iota(groups.begin(), groups.end(), std::uint64_t{0});
  REQUIRE(run(program, launch, memory, groups, observers).ending == Ending::done);
  CHECK(checks.findings().empty());
  REQUIRE(checks.notes().size() == 1);
  CHECK(checks.notes()[0].kind == Finding::Kind::equal_stores);
  CHECK(host[0] == 7);
  CHECK(std::count(host.begin() + 1, host.end(), 1u) == 32 * 16);
}

TEST_CASE("what goes well goes well side by side, with all checks on") {
  for (std::uint32_t const items : {4u, 16u, 64u}) {
    auto const body = std::string(pieces[0]) + pieces[4] + pieces[2] + pieces[4] + pieces[13] + pieces[12] + pieces[6];
    auto const result = checked(body, items, 40, false, {.uninit = true, .races = true, .division = true});
    CHECK(result.outcome.ending == Ending::done);
    CHECK(result.counts.packs > 0);
  }
}

}  // namespace kernelcast::emu::test
