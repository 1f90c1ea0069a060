// Slots of blocks from machine code: listings written for small kernels.
#include <string>
#include <vector>

#include "catch.hpp"
#include "emulator/emu.hpp"
#include "emulator/observe/machine_code.hpp"
#include "kernels/ptx/parser.hpp"

using namespace kernelcast;
using record::Pipe;

namespace {

// The kernel's first instruction is on line 7.
emu::MachineSlots slots_by(std::string const& body, std::string const& listing) {
  auto const module = ptx::parse(
      ".version 7.5\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\n"
      ".reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<8>; .reg .pred %p<4>;\n" +
          body + "}\n",
      "test.ptx");
  emu::Program const program(*module, *module->find_kernel("k"));
  std::string const text = ".text.k:\n" + listing;
  auto const codes = sass::read(text, "test.sass");
  return emu::machine_slots(program, codes.at("k"));
}

std::string line(unsigned number) {
  return "\t//## File \".nv_debug_ptx_txt\", line " + std::to_string(number) + "\n";
}
std::string ins(std::string const& text) {
  return "        /*0000*/  " + text + " ;\n";
}

}  // namespace

TEST_CASE("a loop that machine code unrolls costs a round its share") {
  std::string const body =
      "ld.param.u64 %rd1, [a];\n"            // 7
      "loop:\n"                              // 8
      "ld.global.f32 %f1, [%rd1];\n"         // 9
      "add.f32 %f2, %f2, %f1;\n"             // 10
      "add.s64 %rd1, %rd1, 4;\n"             // 11
      "setp.ne.s64 %p1, %rd1, 0;\n"          // 12
      "@%p1 bra loop;\n"                     // 13
      "st.global.f32 [%rd1], %f2;\nret;\n";  // 14, 15
  std::string four, one = line(9) + ins("LDG.E R1, [R2.64]") + line(10) + ins("FADD R3, R3, R1");
  for (int i = 0; i < 4; ++i) four += one;
  auto const closing =
      line(11) + ins("IADD3 R2, P0, R2, 0x10, RZ") + line(12) + ins("ISETP.NE.U32.AND P1, PT, R2, RZ, PT") + line(13);
  auto const slots =
      slots_by(body, line(7) + ins("MOV R1, c[0x0][0x28]") + ".L_x_0:\n" + four + closing + ins("@P1 BRA `(.L_x_0)") +
                         ".L_x_1:\n" + one + closing + ins("@P1 BRA `(.L_x_1)") + line(14) + ins("STG.E [R2.64], R3") +
                         line(15) + ins("EXIT") + ".L_x_2:\n" + ins("BRA `(.L_x_2)") + ins("NOP"));
  REQUIRE(slots.blocks.size() == 3);
  CHECK(slots.by_rules == 0);
  CHECK(slots.instructions == slots.matched);
  CHECK(slots.blocks[0][Pipe::alu] == 1);
  CHECK(slots.blocks[1][Pipe::memory] == 1);
  CHECK(slots.blocks[1][Pipe::fp32] == 1);
  CHECK(slots.blocks[1][Pipe::alu] == 0.5);
  CHECK(slots.blocks[1][Pipe::issue] == 0.25);
  CHECK(slots.blocks[2][Pipe::memory] == 1);
  CHECK(slots.blocks[2][Pipe::issue] == 1);
}

TEST_CASE("a block under predicates runs with the one before") {
  auto const slots = slots_by(
      "setp.ne.s32 %p1, %r1, 0;\n"  // 7
      "@%p1 bra over;\n"            // 8
      "add.f32 %f1, %f1, %f2;\n"    // 9
      "over:\n"
      "add.f32 %f3, %f3, %f1;\nret;\n",  // 11, 12
      line(7) + ins("ISETP.NE.AND P1, PT, R1, RZ, PT") + line(9) + ins("@!P1 FADD R2, R2, R3") + line(11) +
          ins("FADD R4, R4, R2") + line(12) + ins("EXIT"));
  REQUIRE(slots.blocks.size() == 3);
  CHECK(slots.blocks[0][Pipe::fp32] == 2);
  CHECK(slots.blocks[1][Pipe::fp32] == 0);
  CHECK(slots.blocks[2][Pipe::fp32] == 0);
  CHECK(slots.blocks[0][Pipe::issue] == 1);
}

TEST_CASE("an access under a predicate requests where its block runs") {
  auto const slots = slots_by(
      "setp.ne.s32 %p1, %r1, 0;\n"       // 7
      "@%p1 bra over;\n"                 // 8
      "st.global.f32 [%rd1], %f2;\n"     // 9
      "over:\n"                          // 10
      "add.f32 %f3, %f3, %f1;\nret;\n",  // 11, 12
      line(7) + ins("ISETP.NE.AND P1, PT, R1, RZ, PT") + line(9) + ins("@!P1 STG.E [R2.64], R3") + line(11) +
          ins("FADD R4, R4, R2") + line(12) + ins("EXIT"));
  REQUIRE(slots.blocks.size() == 3);
  CHECK(slots.blocks[0][Pipe::memory] == 0);
  CHECK(slots.blocks[0][Pipe::issue] == 2);
  CHECK(slots.blocks[1][Pipe::memory] == 1);
  CHECK(slots.blocks[1][Pipe::issue] == -1);
}

TEST_CASE("subroutines of the assembler count where they are called, slow paths do not") {
  std::string const body = "div.rn.f32 %f1, %f2, %f3;\nret;\n";
  std::string const head = line(7) + ins("MUFU.RCP R1, R2") + ins("@!P0 BRA `(.L_x_1)");
  std::string const tail = ".L_x_1:\n" + line(8) + ins("EXIT");
  auto const slow =
      slots_by(body, head + ins("MOV R12, 0x20") +
                         ins("CALL.REL.NOINC `($__internal_0_$__cuda_sm3x_div_rn_noftz_f32_slowpath)") +
                         ins("MOV R3, R4") + tail + "$__internal_0_$__cuda_sm3x_div_rn_noftz_f32_slowpath:\n" +
                         ins("FMUL R1, R1, R2") + ins("RET.REL.NODEC R12 `(k)"));
  REQUIRE(slow.blocks.size() == 1);
  CHECK(slow.blocks[0][Pipe::alu] == 0);
  CHECK(slow.blocks[0][Pipe::fp32] == 0);
  CHECK(slow.blocks[0][Pipe::special] == 1);
  auto const always = slots_by(body, line(7) + ins("CALL.REL.NOINC `($__internal_0_$__cuda_sm20_div_s64)") + line(8) +
                                         ins("EXIT") + "$__internal_0_$__cuda_sm20_div_s64:\n" +
                                         ins("IMAD R1, R1, R2, R3") + ins("RET.REL.NODEC R12 `(k)") + ins("NOP"));
  CHECK(always.blocks[0][Pipe::imad] == 1);
  CHECK(always.blocks[0][Pipe::issue] == 3);
}

TEST_CASE("blocks whose lines are not theirs alone are counted by rules") {
  auto const slots = slots_by(
      "setp.ne.s32 %p1, %r1, 0; @%p1 bra over;\n"
      "add.f32 %f1, %f1, %f2; over: add.f32 %f3, %f3, %f1; ret;\n",
      line(7) + ins("ISETP.NE.AND P1, PT, R1, RZ, PT") + line(8) + ins("@!P1 FADD R2, R2, R3") +
          ins("FADD R4, R4, R2") + ins("EXIT"));
  REQUIRE(slots.blocks.size() == 3);
  CHECK(slots.by_rules == 2);
  CHECK(slots.blocks[1][Pipe::fp32] == 1);
  CHECK(slots.blocks[2][Pipe::fp32] == 1);
}
