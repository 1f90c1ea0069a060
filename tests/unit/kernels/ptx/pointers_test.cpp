#include "kernels/ptx/pointers.hpp"

#include <string>

#include <fmt/format.h>

#include "catch.hpp"
#include "kernels/ptx/parser.hpp"

using namespace kernelcast::ptx;

namespace {

// "0r 8w @table r": word 0 of the parameters is read through, word 8 written through, and a variable is read;
// "anything".
std::string touched(std::string const& body) {
  auto const module = parse(
      ".version 8.0\n.target sm_80\n.address_size 64\n"
      ".const .align 8 .b8 table[64];\n.global .align 4 .u32 total;\n"
      ".func helper() { ret; }\n"
      ".visible .entry k(.param .u64 in, .param .u64 out, .param .u64 n, .param .b64 pair[2]) {\n"
      ".reg .b32 %r<10>; .reg .b64 %rd<10>; .reg .f32 %f<4>; .reg .pred %p<3>; .reg .b16 %h<3>;\n"
      ".shared .align 8 .b8 room[64]; .local .align 8 .b8 own[64];\n"
      "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u64 %rd3, [n];\n"
      "mov.u32 %r1, %tid.x; mul.wide.u32 %rd4, %r1, 4;\n" +
          body + "\nret; }\n",
      "test");
  auto const found = touched_pointers(*module->find_kernel("k"));
  if (!found) return "anything";
  std::string out;
  for (auto const& p : *found)
    out += fmt::format("{}{}{}{}", out.empty() ? "" : " ",
                       p.is_variable ? "@" + std::string(module->variables[p.at].name) : std::to_string(p.at),
                       p.read ? "r" : "", std::string(p.written ? "w" : "") + (p.is_value ? "v" : ""));
  return out;
}

}  // namespace

TEST_CASE("pointers that a kernel's addresses come from") {
  // Sums, casts, selections; an integer among the addends is a word of the parameters like any other.
  CHECK(touched("add.s64 %rd5, %rd1, %rd4; ld.global.f32 %f1, [%rd5+16]; cvta.to.global.u64 %rd6, %rd2;"
                "add.s64 %rd6, %rd6, %rd4; st.global.f32 [%rd6], %f1;") == "0r 8w");
  CHECK(touched("add.s64 %rd5, %rd1, %rd3; ld.global.f32 %f1, [%rd5];") == "0r 16r");
  CHECK(touched("mul.lo.s64 %rd5, %rd3, 8; add.s64 %rd5, %rd1, %rd5; ld.global.f32 %f1, [%rd5];") == "0r");
  CHECK(touched("mad.lo.s64 %rd5, %rd3, 8, %rd2; st.global.f32 [%rd5], 0f00000000;") == "8w");
  CHECK(touched("setp.eq.s32 %p1, %r1, 0; selp.b64 %rd5, %rd1, %rd2, %p1; st.global.u32 [%rd5], %r1;") == "0w 8w");
  CHECK(touched("ld.param.u64 %rd5, [pair+8]; atom.global.add.u32 %r2, [%rd5], 1;") == "32rw");
  CHECK(touched("red.global.add.u32 [%rd2], 1;") == "8rw");
  CHECK(touched("cp.async.ca.shared.global [room], [%rd1], 16;") == "0r");
  CHECK(touched("ld.volatile.global.u32 %r2, [%rd1];") == "0r");
  CHECK(touched("L: ld.acquire.gpu.global.u32 %r2, [%rd1]; setp.eq.u32 %p1, %r2, 0; @%p1 bra L;"
                "st.release.gpu.global.u32 [%rd2], %r2;") == "0r 8w");
  // In loops.
  CHECK(touched("mov.u64 %rd5, %rd1; L: ld.global.u32 %r2, [%rd5]; add.s64 %rd5, %rd5, 4; setp.ne.u32 %p1, %r2, 0;"
                "@%p1 bra L; st.global.u32 [%rd2], %r2;") == "0r 8w");
  // Variables, and memory of the group, which no other group sees.
  CHECK(touched("ld.const.u32 %r2, [table+4]; red.global.add.u32 [total], %r2;") == "@tabler @totalrw");
  CHECK(touched("mov.u64 %rd5, table; add.s64 %rd5, %rd5, %rd4; ld.const.u32 %r2, [%rd5]; st.shared.u32 [room], %r2;"
                "cvta.local.u64 %rd6, %rd5; mov.u64 %rd7, own; st.u32 [%rd7], %r2;") == "@tabler");
  // An index that memory holds is none of a pointer's parts, once it is scaled.
  CHECK(
      touched(
          "ld.global.u64 %rd5, [%rd1]; shl.b64 %rd6, %rd5, 2; add.s64 %rd6, %rd2, %rd6; ld.global.f32 %f1, [%rd6];") ==
      "0r 8r");
  CHECK(touched(
            "ld.global.u32 %r2, [%rd1]; cvt.u64.u32 %rd5, %r2; add.s64 %rd6, %rd2, %rd5; ld.global.u8 %h1, [%rd6];") ==
        "0r 8r");
  // A pointer taken apart and put together.
  CHECK(touched("mov.b64 {%r2, %r3}, %rd1; mov.b64 %rd5, {%r2, %r3}; ld.global.u32 %r4, [%rd5];") == "0r");
}

TEST_CASE("pointers whose value matters beyond the place that they lead to") {
  CHECK(touched("ld.global.u32 %r2, [%rd1]; st.global.u64 [%rd2], %rd1;") == "0rv 8w");
  CHECK(
      touched("ld.global.u32 %r2, [%rd1]; cvt.u32.u64 %r3, %rd1; xor.b32 %r3, %r3, %r2; st.global.u32 [%rd2], %r3;") ==
      "0rv 8w");
  CHECK(touched("setp.lt.u64 %p1, %rd1, %rd2; @%p1 ld.global.u32 %r2, [%rd1]; st.global.u32 [%rd2], %r2;") ==
        "0rv 8wv");
  CHECK(touched("ld.global.u64 %rd5, [%rd1]; setp.eq.u64 %p1, %rd5, %rd2; @%p1 st.global.u32 [%rd2], %r1;") ==
        "0r 8wv");
  // The end of a loop is reckoned from its begin.
  CHECK(touched("add.s64 %rd6, %rd1, 64; mov.u64 %rd5, %rd1; L: ld.global.u32 %r2, [%rd5]; add.s64 %rd5, %rd5, 4;"
                "setp.ne.u64 %p1, %rd5, %rd6; @%p1 bra L; st.global.u32 [%rd2], %r2;") == "0r 8w");
}

TEST_CASE("kernels that may touch anything") {
  CHECK(touched("ld.global.u64 %rd5, [%rd1]; ld.global.f32 %f1, [%rd5];") == "anything");  // a list's next
  CHECK(touched("ld.global.u64 %rd5, [%rd1]; add.s64 %rd6, %rd2, %rd5; st.global.f32 [%rd6], %f1;") == "anything");
  CHECK(touched("ld.global.v2.u32 {%r2, %r3}, [%rd1]; mov.b64 %rd5, {%r2, %r3}; st.global.u32 [%rd5], %r1;") ==
        "anything");
  CHECK(touched("ld.global.u32 %r2, [%rd1]; cvt.u64.u32 %rd5, %r2; shl.b64 %rd5, %rd5, 32; or.b64 %rd5, %rd5, 8;"
                "st.global.u32 [%rd5], %r1;") == "anything");
  CHECK(touched("st.shared.u64 [room], %rd1; ld.shared.u64 %rd5, [room]; ld.global.u32 %r2, [%rd5];") == "anything");
  CHECK(touched("mov.u64 %rd5, 4096; ld.global.u32 %r2, [%rd5];") == "anything");  // an address of its own
  CHECK(touched("call helper, ();") == "anything");
  CHECK(touched("mov.u64 %rd5, %clock64; st.global.u64 [%rd2], %rd5;") == "anything");
  CHECK(touched("tex.1d.v4.f32.s32 {%f1, %f1, %f1, %f1}, [%rd1, {%r1}]; st.global.f32 [%rd2], %f1;") == "anything");
}
