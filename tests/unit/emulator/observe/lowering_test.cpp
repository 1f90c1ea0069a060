// Slots of machine code by rules: closed forms of small kernels, and, where ptxas and a disassembler are, what they
// say.
#include <string>
#include <vector>

#include "catch.hpp"
#include "emulator/emu.hpp"
#include "emulator/observe/lowering.hpp"
#include "kernels/ptx/parser.hpp"

using namespace kernelcast;
using record::Pipe;

namespace {

std::string kernel_of(std::string const& body, std::string const& variables = {}) {
  return ".version 7.5\n.target sm_75\n.address_size 64\n" + variables +
         "\n.visible .entry k(.param .u64 a, .param .u32 n)\n{\n.reg .b16 %h<8>;\n.reg .b32 %r<64>;\n.reg .f32 "
         "%f<64>;\n"
         ".reg .f64 %d<16>;\n.reg .b64 %rd<32>;\n.reg .pred %p<8>;\n" +
         body + "\nret;\n}\n";
}

// Slots of the body, without those of every kernel: its entry and its exit.
record::PerPipe<float> slots_of(std::string const& body, std::string const& variables = {}) {
  auto const sum = [](std::string const& text) {
    auto const module = ptx::parse(text, "test.ptx");
    emu::Program const program(*module, *module->find_kernel("k"));
    record::PerPipe<float> out;
    for (auto const& i : emu::lower(program))
      for (auto const pipe : record::values_of<Pipe>) out[pipe] += i.slots[pipe];
    return out;
  };
  auto out = sum(kernel_of(body, variables));
  auto const none = sum(kernel_of(""));
  // What either pipe takes is shared out by kernel.
  out[Pipe::alu] += out[Pipe::imad] - none[Pipe::alu] - none[Pipe::imad];
  out[Pipe::imad] = 0;
  out[Pipe::issue] -= none[Pipe::issue];
  return out;
}

// alu stands for alu and imad together.
void check_slots(std::string const& body, std::vector<std::pair<Pipe, float>> const& expected,
                 std::string const& variables = {}) {
  INFO(body);
  record::PerPipe<float> all;
  for (auto const& [pipe, slots] : expected) all[pipe] = slots;
  auto const actual = slots_of(body, variables);
  for (auto const pipe : record::values_of<Pipe>) {
    INFO(record::name(pipe));
    CHECK(actual[pipe] == all[pipe]);
  }
}

}  // namespace

TEST_CASE("slots of an empty kernel") {
  auto const module = ptx::parse(kernel_of(""), "test.ptx");
  emu::Program const program(*module, *module->find_kernel("k"));
  auto const lowered = emu::lower(program);
  REQUIRE(lowered.size() == 1);
  CHECK(lowered[0].slots[Pipe::alu] + lowered[0].slots[Pipe::imad] == 1);
  CHECK(lowered[0].slots[Pipe::issue] == 2);
}

TEST_CASE("moves, parameters and special registers") {
  check_slots("mov.u32 %r1, 5; mov.f32 %f1, %f2; ld.param.u32 %r2, [n]; cvta.to.global.u64 %rd1, %rd2;", {});
  check_slots("mov.u32 %r1, %ntid.x; mov.u32 %r2, %nctaid.y;", {});
  check_slots("mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x;", {{Pipe::issue, 2}});
  check_slots("cvt.u64.u32 %rd1, %r1; cvt.u32.u64 %r2, %rd2; cvt.u32.u16 %r3, %h1;", {});
}

TEST_CASE("an index becomes an address in one instruction") {
  check_slots("mul.wide.s32 %rd1, %r1, 4; add.s64 %rd2, %rd3, %rd1; ld.global.f32 %f1, [%rd2+8];",
              {{Pipe::alu, 2}, {Pipe::memory, 1}});  // and one for the size, once in a kernel
  // Two bases: two instructions.
  check_slots("mul.wide.s32 %rd1, %r1, 4; add.s64 %rd2, %rd3, %rd1; add.s64 %rd4, %rd5, %rd1;", {{Pipe::alu, 3}});
  // An offset is part of the access.
  check_slots("add.s64 %rd2, %rd3, 64; st.global.f32 [%rd2], %f1;", {{Pipe::memory, 1}});
  check_slots("add.s64 %rd2, %rd3, %rd4;", {{Pipe::alu, 2}});
  check_slots("shl.b32 %r1, %r2, 2; add.s32 %r3, %r1, %r4;", {{Pipe::alu, 1}});
  // A product made before a loop that sums it stays one.
  check_slots("mul.wide.s32 %rd1, %r1, 4; loop: add.s64 %rd2, %rd2, %rd1; setp.ne.s64 %p1, %rd2, %rd3; @%p1 bra loop;",
              {{Pipe::alu, 1 + 2 + 2 + 0.125F}, {Pipe::issue, 1}});
}

TEST_CASE("sums and logic of three operands") {
  check_slots("add.s32 %r1, %r2, %r3; add.s32 %r4, %r1, %r5;", {{Pipe::alu, 1}});
  check_slots("add.s32 %r1, %r2, %r3; add.s32 %r4, %r1, %r5; add.s32 %r6, %r4, %r1;", {{Pipe::alu, 2}});
  check_slots("and.b32 %r1, %r2, %r3; xor.b32 %r4, %r1, %r5; or.b32 %r6, %r4, %r7;", {{Pipe::alu, 2}});
  check_slots("and.b32 %r1, %r2, 1; setp.eq.s32 %p1, %r1, 0;", {{Pipe::alu, 1}});
  check_slots("setp.lt.s32 %p1, %r1, %r2; setp.lt.f32 %p2, %f1, %f2; and.pred %p3, %p1, %p2;", {{Pipe::alu, 2}});
}

TEST_CASE("products and sums are fused where rounding may be chosen") {
  check_slots("mul.f32 %f1, %f2, %f3; sub.f32 %f4, %f5, %f1;", {{Pipe::fp32, 1}});
  check_slots("mul.rn.f32 %f1, %f2, %f3; sub.f32 %f4, %f5, %f1;", {{Pipe::fp32, 2}});
  check_slots("mul.f32 %f1, %f2, %f3; mul.f32 %f6, %f7, %f7; sub.f32 %f4, %f6, %f1;", {{Pipe::fp32, 2}});
  check_slots("mul.f64 %d1, %d2, %d3; add.f64 %d4, %d5, %d1;", {{Pipe::fp64, 1}});
  check_slots("fma.rn.f64 %d1, %d2, %d3, %d4; neg.f64 %d5, %d1;", {{Pipe::fp64, 1}});
}

TEST_CASE("divisions and functions are sequences") {
  check_slots("div.rn.f32 %f1, %f2, %f3;",
              {{Pipe::fp32, 5}, {Pipe::special, 1}, {Pipe::alu, 1.25F}, {Pipe::issue, 2.5F}});
  check_slots("ex2.approx.ftz.f32 %f1, %f2;", {{Pipe::special, 1}});
  check_slots("ex2.approx.f32 %f1, %f2;", {{Pipe::special, 1}, {Pipe::fp32, 2}, {Pipe::alu, 1}});
  check_slots("cvt.f64.f32 %d1, %f1; cvt.rn.f64.s32 %d2, %r1;", {{Pipe::convert64, 2}});
  // What machines of 8.6 have for integers: I2FP, for 32 bits and what fills them with zeros.
  check_slots("cvt.rn.f32.s32 %f1, %r1; cvt.rn.f32.u32 %f2, %r2; cvt.rn.f32.u16 %f3, %h1;", {{Pipe::int_to_fp32, 3}});
  check_slots("cvt.rn.f32.s16 %f1, %h1; cvt.rp.f32.u32 %f2, %r2; cvt.rzi.s32.f32 %r3, %f3;", {{Pipe::special, 3}});
  check_slots("ld.global.u8 %h1, [%rd1]; cvt.rn.f32.u16 %f1, %h1;", {{Pipe::memory, 1}, {Pipe::int_to_fp32, 1}});
  check_slots("ld.global.u8 %h1, [%rd1]; cvt.u32.u16 %r1, %h1;", {{Pipe::memory, 1}});
  check_slots("cvt.rn.f16.f32 %h1, %f1; cvt.f32.f16 %f2, %h2;", {{Pipe::fp32_to_fp16, 1}, {Pipe::fp16, 1}});
  check_slots("div.u32 %r1, %r2, %r3;", {{Pipe::special, 3}, {Pipe::alu, 15}});
}

TEST_CASE("a branch to the end is an exit, a short one a predicate") {
  check_slots("@%p1 bra done; add.f32 %f1, %f1, %f2; done:", {{Pipe::fp32, 1}, {Pipe::issue, 1}});
  check_slots("@%p1 bra over; add.f32 %f1, %f1, %f2; over: add.f32 %f3, %f3, %f4;", {{Pipe::fp32, 2}});
}

TEST_CASE("shared loads are joined where they are aligned") {
  std::string const shared = ".shared .align 4 .b8 s[256];";
  std::string const four =
      "ld.shared.f32 %f1, [s]; ld.shared.f32 %f2, [s+4]; ld.shared.f32 %f3, [s+8]; ld.shared.f32 %f4, [s+12];";
  check_slots(four, {{Pipe::memory, 1}}, shared);
  check_slots("ld.shared.f32 %f1, [s+4]; ld.shared.f32 %f2, [s+8];", {{Pipe::memory, 2}}, shared);
  check_slots("ld.shared.f32 %f1, [s]; st.shared.f32 [s+4], %f1; ld.shared.f32 %f2, [s+4];", {{Pipe::memory, 3}},
              shared);
  // Of a row of 16 floats by a work-item's number, and of a place that is not known.
  check_slots("mov.u32 %r1, s; mad.lo.s32 %r2, %r3, 64, %r1; ld.shared.f32 %f1, [%r2]; ld.shared.f32 %f2, [%r2+4];",
              {{Pipe::alu, 1}, {Pipe::memory, 1}}, shared);
  check_slots("mov.u32 %r1, s; mad.lo.s32 %r2, %r3, 68, %r1; ld.shared.f32 %f1, [%r2]; ld.shared.f32 %f2, [%r2+4];",
              {{Pipe::alu, 1}, {Pipe::memory, 2}}, shared);
}

TEST_CASE("wmma takes a slot for each request, and Volta's products their steps") {
  auto const slots = [](std::string const& target, std::string const& body) {
    auto text = kernel_of(body, ".shared .align 256 .b8 s[4096];");
    text.replace(text.find("sm_75"), 5, target);
    auto const module = ptx::parse(text, "test.ptx");
    emu::Program const program(*module, *module->find_kernel("k"));
    auto const out = emu::lower(program);
    return std::pair(out[0].slots, out[0].wait);
  };
  std::string const eight = "{%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}", four = "{%r0, %r1, %r2, %r3}",
                    sums = "{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}";
  std::string const load = "wmma.load.a.sync.aligned.col.m16n16k16.shared.f16 " + eight + ", [s], 136;",
                    store = "wmma.store.d.sync.aligned.col.m16n16k16.global.f32 [%rd1], " + sums + ", 16;";
  CHECK(slots("sm_70", load).first[Pipe::memory] == 4);  // LDS.64
  CHECK(slots("sm_80", load).first[Pipe::memory] == 1);  // LDSM.16.MT88.4
  CHECK(slots("sm_80", load).second == emu::Wait::shared);
  for (std::string const target : {"sm_70", "sm_80"}) CHECK(slots(target, store).first[Pipe::memory] == 8);
  // HMMA.884 .STEP0 … .STEP3, for f16 .STEP0 and .STEP1, of each depth of 4; HMMA.16816.
  std::string const wide = "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 " + sums + ", " + eight + ", " + eight +
                           ", " + sums + ";",
                    half = "wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16 " + four + ", " + eight + ", " + eight +
                           ", " + four + ";",
                    quad = "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 " + sums + ", {%r0, %r1}, {%r2, %r3}, " +
                           sums + ";";
  CHECK(slots("sm_70", wide).first[Pipe::tensor] == 16);
  CHECK(slots("sm_70", half).first[Pipe::tensor] == 8);
  CHECK(slots("sm_70", quad).first[Pipe::tensor] == 4);
  CHECK(slots("sm_80", wide).first[Pipe::tensor] == 2);
}
