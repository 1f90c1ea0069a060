// Issue slots of AMD's machine code from listings written for small kernels: PTX and assembly share lines of k.cl.
#include <map>
#include <string>
#include <vector>

#include "catch.hpp"
#include "emulator/observe/amd_code.hpp"
#include "kernels/ptx/parser.hpp"

using namespace kernelcast;
using record::Pipe;

namespace {

emu::AmdSlots slots_by(std::string const& body, std::string const& assembly,
                       std::vector<std::uint64_t> const& entries) {
  auto const module = ptx::parse(
      ".version 7.5\n.target sm_75\n.address_size 64\n.file 1 \"/k.cl\"\n.visible .entry k(.param .u64 a)\n{\n"
      ".reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<8>; .reg .pred %p<4>;\n" +
          body + "}\n",
      "test.ptx");
  emu::Program const program(*module, *module->find_kernel("k"));
  REQUIRE(program.blocks().size() == entries.size());
  std::string const text = "\t.type\tk,@function\nk:\n\t.file\t0 \"/\" \"k.cl\"\n" + assembly + ".Lfunc_end0:\n";
  return emu::amd_slots(program, amdgcn::read(text, "test.s").at("k"), entries);
}

std::string at(unsigned line) {
  return "\t.loc\t0 " + std::to_string(line) + " 1\n";
}

// One round is lines 2 and 3; entered once, n rounds.
std::string const loop =
    ".loc 1 1 1\nld.param.u64 %rd1, [a];\n"
    "loop:\n"
    ".loc 1 2 1\nld.global.f32 %f1, [%rd1];\n"
    ".loc 1 3 1\nfma.rn.f32 %f2, %f2, %f1, %f1;\n"
    ".loc 1 4 1\nadd.s64 %rd1, %rd1, 4;\nsetp.ne.s64 %p1, %rd1, 0;\n@%p1 bra loop;\n"
    ".loc 1 5 1\nst.global.f32 [%rd1], %f2;\nret;\n";
std::string const one_round = at(2) + "\tglobal_load_dword v0, v[2:3], off\n" + at(3) + "\tv_fmac_f32_e32 v1, v0, v0\n";
std::string const end = at(5) + "\tglobal_store_dword v[2:3], v1, off\n\ts_endpgm\n";

}  // namespace

TEST_CASE("AMD: a loop that the machine code unrolls runs as often as its rounds ask for, the remainder the rest") {
  std::string four;
  for (int i = 0; i < 4; ++i) four += one_round;
  auto const again = [](std::string const& label) {
    return at(4) + "\ts_add_u32 s0, s0, 4\n\ts_cbranch_scc0 " + label + "\n";
  };
  std::string const code = "\ts_mov_b32 s0, 0\n\ts_cbranch_scc1 .LBB0_2\n.LBB0_1:\n" + four + again(".LBB0_1") +
                           ".LBB0_2:\n\ts_cbranch_scc1 .LBB0_4\n.LBB0_3:\n" + one_round + again(".LBB0_3") +
                           ".LBB0_4:\n" + end;
  for (unsigned const rounds : {8U, 10U, 3U}) {
    INFO(rounds);
    auto const slots = slots_by(loop, code, {16, 16 * rounds, 16});
    CHECK(slots.counts.slots[Pipe::fp32] == 16.0 * rounds);
    CHECK(slots.counts.slots[Pipe::memory] == 16.0 * (rounds + 1));
    CHECK(slots.by_rules == 0);
  }
  CHECK(slots_by(loop, code, {16, 160, 16}).counts.slots[Pipe::scalar] == 16.0 * (1 + 2 + 2));  // twice 4, twice 1
}

TEST_CASE("AMD: loads that the compiler joins are one request of all their bytes") {
  std::string const joined = at(2) + "\tglobal_load_dwordx4 v[4:7], v[2:3], off\n" + at(3) +
                             "\tv_fmac_f32_e32 v1, v4, v4\n\tv_fmac_f32_e32 v1, v5, v5\n"
                             "\tv_pk_fma_f32 v[8:9], v[6:7], v[6:7], v[6:7]\n";
  auto const slots = slots_by(
      loop, "\ts_mov_b32 s0, 0\n.LBB0_1:\n" + joined + at(4) + "\ts_cbranch_scc0 .LBB0_1\n" + end, {16, 160, 16});
  CHECK(slots.counts.slots[Pipe::memory] == 160.0 / 4 + 16);
  CHECK(slots.counts.slots[Pipe::fp32] == 3 * 160.0 / 4);
}

TEST_CASE("AMD: what is under a mask without a branch is issued with its block, and asks for memory with its line") {
  std::string const branch =
      ".loc 1 1 1\nld.param.u64 %rd1, [a];\nld.global.f32 %f2, [%rd1];\nsetp.ne.s64 %p1, %rd1, 0;\n@%p1 bra over;\n"
      ".loc 1 2 1\nld.global.f32 %f1, [%rd1];\n.loc 1 3 1\nfma.rn.f32 %f2, %f2, %f1, %f1;\n"
      "over:\n.loc 1 5 1\nst.global.f32 [%rd1], %f2;\nret;\n";
  auto const slots = slots_by(branch,
                              at(1) +
                                  "\tglobal_load_dword v1, v[2:3], off\n\tv_cmp_ne_u32_e32 vcc, 0, v2\n"
                                  "\ts_and_saveexec_b64 s[0:1], vcc\n" +
                                  one_round + "\ts_or_b64 exec, exec, s[0:1]\n" + end,
                              {16, 5, 16});
  CHECK(slots.counts.slots[Pipe::fp32] == 16);
  CHECK(slots.counts.slots[Pipe::memory] == 16 + 5 + 16);
  CHECK(slots.counts.slots[Pipe::issue] == 11 + 16);  // the end of the program besides
  auto const skipped = slots_by(branch,
                                at(1) +
                                    "\tglobal_load_dword v1, v[2:3], off\n\tv_cmp_ne_u32_e32 vcc, 0, v2\n"
                                    "\ts_and_saveexec_b64 s[0:1], vcc\n\ts_cbranch_execz .LBB0_2\n" +
                                    one_round + ".LBB0_2:\n\ts_or_b64 exec, exec, s[0:1]\n" + end,
                                {16, 5, 16});
  CHECK(skipped.counts.slots[Pipe::fp32] == 5);
  CHECK(skipped.counts.slots[Pipe::memory] == 16 + 5 + 16);
}

TEST_CASE("AMD: products of matrices count their operations as often as their block runs") {
  std::string const products =
      at(3) +
      "\tv_mfma_f32_32x32x8f16 a[0:15], v[0:1], v[2:3], a[0:15]\n"
      "\tv_mfma_f32_16x16x4f32 v[8:11], v0, v1, v[8:11]\n\tv_mfma_f32_32x32x8f16 a[0:15], v[4:5], v[6:7], a[0:15]\n";
  auto const slots = slots_by(loop,
                              "\ts_mov_b32 s0, 0\n.LBB0_1:\n" + at(2) + "\tglobal_load_dword v0, v[2:3], off\n" +
                                  products + at(4) + "\ts_cbranch_scc0 .LBB0_1\n" + end,
                              {16, 160, 16});
  CHECK(slots.counts.slots[Pipe::tensor] == 3 * 160.0);
  CHECK(slots.counts.matrix_flop == std::map<std::string, double>{{"mfma/f16/f32", 160 * 2 * 2.0 * 32 * 32 * 8},
                                                                  {"mfma/f32/f32", 160 * 2.0 * 16 * 16 * 4}});
}

TEST_CASE("AMD: products of matrices tell how often their block runs, whatever sizes both codes have") {
  std::string const products =
      ".loc 1 1 1\nld.param.u64 %rd1, [a];\n"
      "loop:\n.loc 1 3 1\nmma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, "
      "%r3}, "
      "{%r4, %r5}, {%f0, %f1, %f2, %f3};\n"
      ".loc 1 4 1\nadd.s64 %rd1, %rd1, 4;\nsetp.ne.s64 %p1, %rd1, 0;\n@%p1 bra loop;\n.loc 1 5 1\nst.global.f32 "
      "[%rd1], "
      "%f2;\nret;\n";
  // Two warps of a wavefront of 64 do 2 * 4096 a round; the machine code has four rounds in one, and 16384 in one
  // product.
  auto const slots = slots_by(products,
                              "\ts_mov_b32 s0, 0\n.LBB0_1:\n" + at(3) +
                                  "\tv_mfma_f32_32x32x8f16 a[0:15], v[0:1], v[2:3], a[0:15]\n"
                                  "\tv_mfma_f32_32x32x8f16 a[0:15], v[4:5], v[6:7], a[0:15]\n" +
                                  at(4) + "\ts_add_u32 s0, s0, 4\n\ts_cbranch_scc0 .LBB0_1\n" + end,
                              {16, 160, 16});
  CHECK(slots.counts.slots[Pipe::tensor] == 2 * 160.0 / 4);
  CHECK(slots.counts.matrix_flop == std::map<std::string, double>{{"mfma/f16/f32", 160 * 2 * 4096.0}});
}

TEST_CASE("AMD: blocks without lines of the PTX count as those around them, and are told") {
  auto const slots = slots_by(loop,
                              "\ts_mov_b32 s0, 0\n\ts_cbranch_scc1 .LBB0_2\n\tv_nop\n\ts_cbranch_scc0 .LBB0_2\n"
                              ".LBB0_2:\n" +
                                  end,
                              {16, 160, 16});
  CHECK(slots.by_rules == 1);
  CHECK(slots.blocks == 3);
  CHECK(slots.instructions == 6);
  CHECK(slots.matched == 2);
  CHECK(slots.counts.slots[Pipe::issue] == 16.0 * 4);
}
