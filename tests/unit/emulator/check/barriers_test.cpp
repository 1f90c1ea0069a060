// Barriers with the flags of OpenCL C, given as pragmas: which memory they order, one group at a time and side by side.
#include "catch.hpp"
#include "emulator/check/check.hpp"
#include "unit/emulator/harness.hpp"

namespace kernelcast::emu::test {
namespace {

using u32 = std::uint32_t;

// k(u32* a, u32* b): a word of shared or of global memory goes to the neighbour in the group, across the given text.
// %r1 item, %p1: of the first half of the group.
std::string passed_on(std::string const& space, std::string const& between) {
  bool const global = space == "global";
  std::string const own = global ? "[%rd4]" : "[%r6]", next = global ? "[%rd5]" : "[%r7]";
  return R"(.visible .entry k(.param .u64 a, .param .u64 b)
{ .reg .pred %p<8>; .reg .b32 %r<40>; .reg .b64 %rd<20>; .shared .align 4 .b8 s[4096];
  ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %ctaid.x; shr.u32 %r10, %r2, 1; setp.lt.u32 %p1, %r1, %r10;
  mov.u32 %r4, s; shl.b32 %r5, %r1, 2; add.u32 %r6, %r4, %r5; xor.b32 %r7, %r5, 4; add.u32 %r7, %r4, %r7;
  mul.lo.u32 %r8, %r3, %r2; xor.b32 %r9, %r1, 1; add.u32 %r9, %r9, %r8; add.u32 %r8, %r8, %r1;
  mul.wide.u32 %rd3, %r8, 4; add.s64 %rd4, %rd1, %rd3; mul.wide.u32 %rd5, %r9, 4; add.s64 %rd5, %rd1, %rd5;
  add.s64 %rd6, %rd2, %rd3;
  st.)" + space +
         ".u32 " + own + ", %r8;\n" + between + "\n  ld." + space + ".u32 %r11, " + next + R"(;
  st.global.u32 [%rd6], %r11;
  ret; }
)";
}

std::string barrier(std::string const& fence) {
  return ".pragma \"fence::" + fence + "\"; bar.sync 0;";
}

struct Checked : Bench {
  Checks checks;
  std::uint64_t b = 0;
  bool finds = false;
  Checked(std::string const& text, u32 items, u32 groups = 40, bool all_end = true)
      : Bench(text), checks({.races = true}, memory) {
    launch.grid = {groups, 1, 1};
    launch.block = {items, 1, 1};
    buffer("a", std::vector<u32>(groups * items, 0));
    b = buffer("b", std::vector<u32>(groups * items, 0));
    checks.begin(*program, launch);
    Observer* const observers[] = {&checks};
    run(observers);
    finds = outcome.ending == Ending::finding && outcome.finding->kind == Finding::Kind::race;
    if (finds || !all_end) return;
    CHECK(outcome.ending == Ending::done);
    auto const words = read<u32>(b);
    for (u32 i = 0; i < words.size(); ++i) CHECK(words[i] == (i ^ 1));
  }
};

}  // namespace

TEST_CASE("a barrier orders the memory that its flags name") {
  for (u32 const items : {8u, 64u, 512u})
    for (std::string const space : {"shared", "global"})
      for (std::string const fence : {"none", "local", "global", "all"}) {
        INFO(items << ' ' << space << ' ' << fence);
        bool const orders = fence == "all" || fence == (space == "shared" ? "local" : "global");
        CHECK(Checked(passed_on(space, barrier(fence)), items).finds == !orders);
        CHECK(Checked(passed_on(space, barrier("none") + barrier(fence) + barrier("none")), items).finds == !orders);
      }
  // Two barriers, each for one of the two.
  for (std::string const space : {"shared", "global"})
    CHECK(!Checked(passed_on(space, barrier("global") + barrier("local")), 64).finds);
  // A barrier without the pragma, or behind another pragma, orders everything.
  for (std::string const space : {"shared", "global"})
    CHECK(!Checked(passed_on(space, ".pragma \"nounroll\"; bar.sync 0;"), 64).finds);
}

TEST_CASE("a fence before a barrier without flags") {
  for (std::string const space : {"shared", "global"}) {
    CHECK(!Checked(passed_on(space, "membar.cta; " + barrier("none")), 64).finds);
    CHECK(!Checked(passed_on(space, "membar.gl; " + barrier("none") + "membar.gl;"), 128).finds);
    // One that comes after it is too late, and one alone does not wait.
    CHECK(Checked(passed_on(space, barrier("none") + " membar.cta;"), 64).finds);
    Checked const alone(passed_on(space, "membar.cta;"), 64);
    REQUIRE(alone.finds);
    CHECK_THAT(alone.outcome.finding->message, Contains("(mem_fence, __threadfence) does not wait"));
  }
}

TEST_CASE("a barrier of a warp orders the memory that its flags name") {
  for (std::string const fence : {"none", "local", "global", "all"})
    for (std::string const space : {"shared", "global"}) {
      bool const orders = fence == "all" || fence == (space == "shared" ? "local" : "global");
      INFO(space << ' ' << fence);
      CHECK(Checked(passed_on(space, ".pragma \"fence::" + fence + "\"; bar.warp.sync 0xffffffff;"), 64).finds ==
            !orders);
    }
}

TEST_CASE("messages name the last barrier between two accesses, and give a hint") {
  Checked const none(passed_on("shared", barrier("local") + "st.shared.u32 [%r6], %r8;\n" + barrier("none")), 64);
  REQUIRE(none.finds);
  CHECK_THAT(none.outcome.finding->message, Contains("has no flags and orders no memory"));
  CHECK(none.outcome.finding->hint == "barrier(0) orders no memory: give it CLK_LOCAL_MEM_FENCE");
  Checked const other(passed_on("global", barrier("local")), 64);
  REQUIRE(other.finds);
  CHECK_THAT(other.outcome.finding->message, Contains("has no CLK_GLOBAL_MEM_FENCE and orders local memory only"));
  Checked const nothing(passed_on("shared", ""), 64);
  REQUIRE(nothing.finds);
  CHECK(nothing.outcome.finding->message.ends_with("nothing orders them"));
}

TEST_CASE("barriers that not all work-items reach are noted, once for each place") {
  for (u32 const items : {16u, 64u, 512u}) {
    // Half of the group returns.
    Checked half(passed_on("shared", barrier("all") + "@!%p1 ret;" + barrier("local") +
                                         "mov.u32 %r20, 0;\nAGAIN: " + barrier("local") +
                                         "add.u32 %r20, %r20, 1; setp.lt.u32 %p2, %r20, 3; " + "@%p2 bra AGAIN;"),
                 items, 1, false);
    REQUIRE(half.checks.notes().size() == 2);
    for (Finding const& note : half.checks.notes()) {
      CHECK(note.kind == Finding::Kind::portability);
      CHECK_THAT(note.message, Contains(std::to_string(items / 2) + " of the group's " + std::to_string(items)));
      CHECK(note.local_id.x == items / 2);
    }
  }
  // Of CUDA it is nothing to note.
  CHECK(Checked(passed_on("shared", barrier("all") + "@!%p1 ret; bar.sync 0;"), 64, 1, false).checks.notes().empty());
  CHECK(Checked(passed_on("shared", barrier("all")), 64).checks.notes().empty());
}

}  // namespace kernelcast::emu::test
