// What the decoder must not fold or share: address arithmetic whose parts change before the access, values that live
// around a loop, copies of registers that change.
#include "catch.hpp"
#include "harness.hpp"

namespace kernelcast::emu::test {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

// in[i] = 10 i; out[tid] = what `body` leaves in %r9. %a0 = in, %r0 = tid.
std::vector<u32> results(std::string const& body) {
  Bench bench(
      ".visible .entry k(.param .u64 in, .param .u64 out) {\n.reg .b32 %r<24>; .reg .b64 %a<24>; .reg .pred %p<8>;\n"
      "ld.param.u64 %a0, [in]; ld.param.u64 %a20, [out]; mov.u32 %r0, %tid.x;\n" +
      body + "\nmul.wide.u32 %a21, %r0, 4; add.s64 %a22, %a20, %a21; st.global.u32 [%a22], %r9; ret; }\n");
  std::vector<u32> in(256);
  for (u32 i = 0; i < in.size(); ++i) in[i] = 10 * i;
  bench.launch.block = {40, 1, 1};
  bench.launch.grid = {3, 1, 1};  // later groups find the windows that the first one found
  bench.buffer("in", in);
  u64 const out = bench.buffer("out", std::vector<u32>(40, 0));
  bench.run();
  if (bench.outcome.finding) FAIL(bench.outcome.finding->message);
  return bench.read<u32>(out);
}

template <class F>
std::vector<u32> each(F f) {
  std::vector<u32> all;
  for (u32 i = 0; i < 40; ++i) all.push_back(f(i));
  return all;
}

}  // namespace

TEST_CASE("an index that changes after the address was computed does not move the access") {
  CHECK(results("add.s32 %r1, %r0, 3; mul.wide.u32 %a1, %r1, 4; add.s64 %a2, %a0, %a1; add.s32 %r1, %r1, 50; "
                "ld.global.u32 %r9, [%a2]; add.s32 %r9, %r9, %r1;") ==
        each([](u32 i) { return 10 * (i + 3) + i + 53; }));
  // Nor when only some lanes change it.
  CHECK(results("add.s32 %r1, %r0, 3; mul.wide.u32 %a1, %r1, 4; add.s64 %a2, %a0, %a1; setp.lt.u32 %p0, %r0, 9; @%p0 "
                "add.s32 %r1, %r1, 50; ld.global.u32 %r9, [%a2]; add.s32 %r9, %r9, %r1;") ==
        each([](u32 i) { return 10 * (i + 3) + i + 3 + (i < 9 ? 50 : 0); }));
}

TEST_CASE("an address of the previous iteration is not that of this one") {
  // Each round loads through the pointer of the round before, which one instruction alone defines.
  CHECK(results("mov.u32 %r9, 0; mov.u32 %r1, 0;\nL: add.s32 %r2, %r0, %r1; setp.eq.u32 %p0, %r1, 0; @%p0 bra "
                "FIRST;\nld.global.u32 %r3, [%a2]; mad.lo.s32 %r9, %r9, 3, %r3;\n"
                "FIRST: mul.wide.u32 %a1, %r2, 4; add.s64 %a2, %a0, %a1; add.s32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 4; "
                "@%p1 bra L;") == each([](u32 i) { return ((10 * i) * 3 + 10 * (i + 1)) * 3 + 10 * (i + 2); }));
}

TEST_CASE("accesses by a register that changed in between share nothing") {
  CHECK(results("mul.wide.u32 %a1, %r0, 4; add.s64 %a2, %a0, %a1; mul.lo.s64 %a3, %a1, 1; add.s64 %a3, %a3, %a0; "
                "ld.global.u32 %r1, [%a3]; add.s64 %a3, %a3, %a1; ld.global.u32 %r2, [%a3+4];\n"
                "setp.lt.u32 %p0, %r0, 9; @%p0 add.s64 %a3, %a3, 8; ld.global.u32 %r3, [%a3+4]; mad.lo.s32 %r9, %r2, "
                "1000, %r1; mad.lo.s32 %r9, %r3, 1000000, %r9;") == each([](u32 i) {
          return 10 * i + 1000 * (10 * (2 * i + 1)) + 1000000 * (10 * (2 * i + 1 + (i < 9 ? 2 : 0)));
        }));
}

TEST_CASE("a copy keeps its value when the original changes") {
  CHECK(results("mov.u32 %r1, %r0; mov.u32 %r2, 0;\nL: mov.u32 %r3, %r1; add.s32 %r1, %r1, 7; add.s32 %r4, %r1, %r3; "
                "mov.u32 %r9, %r4; add.s32 %r2, %r2, 1; setp.lt.u32 %p0, %r2, 3; @%p0 bra L;") ==
        each([](u32 i) { return (i + 21) + (i + 14); }));
}

TEST_CASE("a value carried around a loop keeps its slot to the end of the loop") {
  // %r2 is made early in the body and read early in the next round; %r5 to %r8 live in between.
  CHECK(results("mov.u32 %r2, 1; mov.u32 %r1, 0; mov.u32 %r9, 0;\nL: add.s32 %r9, %r9, %r2; add.s32 %r2, %r0, %r1; "
                "mul.lo.s32 %r5, %r0, 3; mul.lo.s32 %r6, %r5, %r1; add.s32 %r7, %r6, 11; xor.b32 %r8, %r7, %r5;\n"
                "add.s32 %r9, %r9, %r8; add.s32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, 5; @%p0 bra L;") == each([](u32 i) {
          u32 r2 = 1, r9 = 0;
          for (u32 r1 = 0; r1 < 5; ++r1) {
            r9 += r2;
            r2 = i + r1;
            r9 += (i * 3 * r1 + 11) ^ (i * 3);
          }
          return r9;
        }));
}

TEST_CASE("signed and unsigned indices reach both ends of a buffer") {
  CHECK(results("add.s64 %a1, %a0, 800; sub.s32 %r1, %r0, 20; mul.wide.s32 %a2, %r1, 4; add.s64 %a3, %a1, %a2; "
                "ld.global.u32 %r9, [%a3+-720];") == each([](u32 i) { return 10 * i; }));
  CHECK(results("neg.s32 %r1, %r0; mul.wide.s32 %a2, %r1, 4; add.s64 %a3, %a0, %a2; ld.global.u32 %r9, [%a3+1020];") ==
        each([](u32 i) { return 10 * (255 - i); }));
  CHECK(results("cvt.u64.u32 %a1, %r0; shl.b64 %a2, %a1, 3; add.s64 %a3, %a2, %a0; ld.global.u32 %r9, [%a3+4];") ==
        each([](u32 i) { return 10 * (2 * i + 1); }));
}

}  // namespace kernelcast::emu::test
