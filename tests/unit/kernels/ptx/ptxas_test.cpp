// What ptxas accepts, we accept.
#include <cstdlib>

#include "base/diag/diag.hpp"
#include "base/process/process.hpp"
#include "catch.hpp"
#include "error_of.hpp"
#include "kernels/ptx/parser.hpp"
#include "kernels/ptx/printer.hpp"

using namespace kernelcast;

namespace {

bool ptxas_accepts(std::string const& text, TemporaryFolder const& folder) {
  auto const path = folder.file("a.ptx");
  write_file(path, text);
  auto const command = "ptxas -arch=sm_90a -c -o /dev/null '" + path + "' >/dev/null 2>&1";
  return std::system(command.c_str()) == 0;
}

std::string refusal(std::string const& text) {
  auto const error = error_of([&] { ptx::parse(text, "a.ptx"); });
  return error.status() == Status::done ? "" : error.text("test");
}

std::string module_of(std::string const& global, std::string const& body) {
  return ".version 8.5\n.target sm_90a\n.address_size 64\n" + global +
         "\n.visible .entry k(.param .u64 p)\n{ .reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 "
         "%f<9>;\n" +
         body + "\nret; }\n";
}

}  // namespace

TEST_CASE("module snippets that ptxas accepts parse, and their normal form is accepted as well") {
  if (std::system("ptxas --version >/dev/null 2>&1") != 0) SKIP_BECAUSE("no ptxas on PATH");
  std::pair<char const*, char const*> const snippets[] = {
      {".global .u32 x[2][3] = {{1,2,3},{4,5,6}};", "mov.u64 %rd1, x; ld.global.u32 %r1, [x+4];"},
      {".global .u32 x[] = {1, 2, 3};", "ld.global.u32 %r1, x[1];"},
      {".global .v4 .f32 x = {1.0, 2.0, 0f3F800000, -1.5};", "ld.global.v4.f32 {%f1,%f2,%f3,%f4}, [x];"},
      {".global .u8 x[3] = {'a'};", ""},
      {".global .u64 x[2]; .global .u64 y[3] = {x, x+8, generic(x)+4};", ""},
      {".global .u32 x; .global .u8 y[8] = {0xFF(x), 0xFF00(x), 0xFF0000(x), 0xFF000000(x), 0, 0, 0, 0};", ""},
      {".const .s32 x = (3 > 2) ? -1 : (.s64) 5;", ""},
      {".global .u32 x = WARP_SZ * 2;", ""},
      {".extern .shared .align 16 .b8 s[];", "ld.shared.u32 %r1, [s+16];"},
      {".shared .b8 s[0];", ""},
      {".func (.reg .u32 r) f (.reg .u32 a) { add.u32 r, a, 1; ret; }", "call (%r1), f, (%r2);"},
      {".func f { ret; }", "call f; call.uni f;"},
      {"", "{ .reg .u32 %r<3>; mov.u32 %r1, 5; } mov.u32 %r1, 6;"},
      {"", "mov.b64 {%r1, %r2}, %rd1; mov.b64 {_, %r2}, %rd1;"},
      {"", "L: @%p1 bra L; @!%p2 bra M; M: bra.uni N; N:"},
      {"", "t: .branchtargets A, B; brx.idx %r1, t; A: B:"},
      {"", "setp.eq.and.u32 %p1|%p2, %r1, 0x10U, !%p3; setp.eq.u32 %p1|_, %r1, 1;"},
      {"", "vadd.u32.s32.s32.sat %r1, %r2.b0, -%r3.h1, %r1;"},
      {"", "mov.u32 %r1, %envreg3; mov.u32 %r2, %reserved_smem_offset_begin; mov.u64 %rd1, %clock64;"},
      {"", "mov.v4.u32 %r1, %tid;"},
      {"", "{ .reg .v4 .u32 v; mov.v4.u32 v, %tid; mov.u32 %r1, v.x; add.u32 %r1, v.w, v.a; }"},
      {"", "ld.global.u32 %r1, [%rd1+-4]; ld.global.u32 %r1, [%rd1-4]; ld.global.u32 %r1, [16];"},
      {"", "add.f32 %f1, %f2, 1; add.f32 %f1, %f2, 1.0e3; mov.f32 %f1, .5;"},
      {"", "{ .local .align 4 .b8 d[16]; st.local.u32 [d+4], %r1; }"},
      {"", ".pragma \"nounroll\"; .loc 1 2 3"},
      {".file 1 \"a.cu\"", ".loc 1 2 3 mov.u32 %r1, 1;"},
      {"", "mov.u32 %r1, 08;"},
      {"", "mov.u32 %r9, 1;"},
      {"", "bra nowhere;"},
      {"", "ld.shared::cta.u32 %r1, [%rd1]; fence.proxy.async; griddepcontrol.wait;"},
      {"", "shfl.sync.up.b32 %r1|%p1, %r2, 1, 0, 0xffffffff; vote.sync.ballot.b32 %r1, !%p1, -1;"},
  };
  TemporaryFolder const folder;
  int accepted = 0;
  for (auto const& [global, body] : snippets) {
    auto const text = module_of(global, body);
    INFO(text);
    if (!ptxas_accepts(text, folder)) continue;
    ++accepted;
    CHECK(refusal(text) == "");
    if (!refusal(text).empty()) continue;
    auto const printed = ptx::print(*ptx::parse(text, "a.ptx"));
    INFO(printed);
    CHECK(ptxas_accepts(printed, folder));
  }
  CHECK(accepted >= 20);
}
