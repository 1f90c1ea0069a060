// Memory of calls that execute: arguments and results are written, the rest of a frame is not, however often the same
// place has been a frame before.
#include "catch.hpp"
#include "emulator/check/check.hpp"
#include "unit/emulator/harness.hpp"

namespace kernelcast::emu::test {
namespace {

// k(u64* out) calls f(three words by value, depth), which reads word `word` of its argument through the argument's
// address, and calls itself until depth is 0. The kernel reads the result through its address.
std::string recursion(std::string const& word, bool writes_variable) {
  return R"(
.func (.param .align 8 .b8 r[16]) f(.param .align 8 .b8 a[24], .param .b32 depth)
{ .local .align 8 .b8 variable[8]; .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<16>;
  mov.u64 %rd1, a; ld.local.u64 %rd2, [%rd1+)" +
         word + R"(];
  mov.u64 %rd9, variable;
)" + (writes_variable ? "  st.local.u64 [%rd9], %rd2;\n" : "") +
         R"(
  ld.param.u32 %r1, [depth]; setp.eq.u32 %p1, %r1, 0; @%p1 bra LAST;
  ld.local.u64 %rd10, [%rd9];
  and.b64 %rd11, %rd10, 0; add.s64 %rd3, %rd2, %rd11; add.s64 %rd3, %rd3, 1; sub.u32 %r2, %r1, 1;
  { .param .align 8 .b8 x[24]; .param .b32 d; .param .align 8 .b8 y[16];
    st.param.u64 [x], %rd3; st.param.u64 [x+8], %rd3; st.param.u64 [x+16], %rd3; st.param.u32 [d], %r2;
    call.uni (y), f, (x, d);
    ld.param.u64 %rd4, [y]; }
  st.param.u64 [r], %rd4; st.param.u64 [r+8], %rd4; ret;
LAST:
  st.param.u64 [r], %rd2; st.param.u64 [r+8], %rd2; ret; }
.visible .entry k(.param .u64 out)
{ .reg .b32 %r<8>; .reg .b64 %rd<16>;
  .param .align 8 .b8 x[24]; .param .b32 d; .param .align 8 .b8 y[16];
  ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; cvt.u64.u32 %rd2, %r1; mov.u32 %r2, 5;
  st.param.u64 [x], %rd2; st.param.u64 [x+8], %rd2; st.param.u64 [x+16], %rd2; st.param.u32 [d], %r2;
  call.uni (y), f, (x, d);
  mov.u64 %rd5, y; ld.local.u64 %rd6, [%rd5+8];
  shl.b64 %rd3, %rd2, 3; add.s64 %rd4, %rd1, %rd3; st.global.u64 [%rd4], %rd6;
  ret; }
)";
}

Outcome checked(Bench& b) {
  Checks checks({.uninit = true}, b.memory);
  checks.begin(*b.program, b.launch);
  Observer* observers[] = {&checks};
  return b.run(observers);
}

}  // namespace

TEST_CASE("arguments by value and results are written") {
  for (auto const* word : {"0", "8", "16"}) {
    Bench b(recursion(word, true));
    b.launch.block = {64, 1, 1};
    b.launch.grid = {3, 1, 1};
    auto const out = b.buffer("out", std::vector<std::uint64_t>(64, 0));
    auto const outcome = checked(b);
    INFO((outcome.finding ? outcome.finding->message : ""));
    REQUIRE(outcome.ending == Ending::done);
    for (std::uint64_t i = 0; i < 64; ++i) CHECK(b.read<std::uint64_t>(out)[i] == i + 5);
  }
}

TEST_CASE("a variable of a frame is not written because another call's was there") {
  Bench b(recursion("0", false));
  b.launch.block = {64, 1, 1};
  b.buffer("out", std::vector<std::uint64_t>(64, 0));
  auto const outcome = checked(b);
  REQUIRE(outcome.ending == Ending::finding);
  CHECK(outcome.finding->kind == Finding::Kind::uninitialized);
}

}  // namespace kernelcast::emu::test
