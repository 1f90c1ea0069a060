// Listings of machine code: blocks, labels, lines of the PTX, and the pipes of instructions.
#include <string>

#include "catch.hpp"
#include "kernels/sass/sass.hpp"

using namespace kernelcast;
using Catch::Matchers::Contains;
using record::Pipe;

TEST_CASE("a listing with lines of the PTX") {
  auto const codes = sass::read(R"(	.section	.text.k,"ax",@progbits
.text.k:
	//## File ".nv_debug_ptx_txt", line 21
        /*0000*/                   MOV R1, c[0x0][0x28] ;
        /*0010*/              @!P0 BRA `(.L_x_1) ;
.L_x_0:
	//## File ".nv_debug_ptx_txt", line 30
        /*0020*/                   LDG.E.64 R2, [R4.64] ;
.L_x_1:
	//## File ".nv_debug_ptx_txt", line 31
        /*0030*/                   CALL.REL.NOINC `($__internal_0_$__cuda_sm20_div_s64) ;
        /*0040*/                   EXIT ;
        .type $__internal_0_$__cuda_sm20_div_s64,@function
$__internal_0_$__cuda_sm20_div_s64:
        /*0050*/                   RET.REL.NODEC R2 `(k) ;
)",
                                "k.sass");
  REQUIRE(codes.size() == 1);
  auto const& code = codes.at("k");
  CHECK(code.instructions == 6);
  // A label that nothing jumps to begins no block.
  REQUIRE(code.blocks.size() == 5);
  auto const& branch = code.blocks[0].instructions[1];
  CHECK(branch.guard() == "@!P0");
  CHECK(branch.mnemonic() == "BRA");
  CHECK(branch.target() == ".L_x_1");
  CHECK(branch.line == 21);
  CHECK(code.blocks[1].instructions[0].opcode() == "LDG.E.64");
  CHECK(code.blocks[1].instructions[0].line == 30);
  CHECK(code.blocks[2].instructions[0].target() == "$__internal_0_$__cuda_sm20_div_s64");
  CHECK(code.blocks[2].subroutine.empty());
  CHECK(code.blocks[4].subroutine == "$__internal_0_$__cuda_sm20_div_s64");
}

TEST_CASE("a text that is no listing") {
  CHECK_THROWS_WITH(sass::read("nothing", "l"), Contains("no kernel in this listing"));
  CHECK_THROWS_WITH(sass::read(".text.k:\n  /*0000*/  EXIT\n", "l"), Contains("does not end in ';'"));
}

TEST_CASE("the pipes of machine instructions") {
  for (auto const& [pipe, opcodes] : std::map<Pipe, std::vector<char const*>>{
           {Pipe::fp32, {"FFMA.FTZ"}},
           {Pipe::alu, {"FSETP.GT.AND", "IADD3.X", "LEA.HI.X", "LOP3.LUT", "SHF.R.S32.HI", "REDUX.SUM", "SEL"}},
           {Pipe::imad, {"IMAD.WIDE.U32", "IMAD.MOV.U32"}},
           {Pipe::memory, {"LDG.E.128", "STS", "SHFL.BFLY", "RED.E.ADD", "ATOMG.E.CAS", "TEX.SCR.LL"}},
           {Pipe::issue, {"LDGDEPBAR", "BAR.SYNC", "S2R", "ULDC.64", "UIADD3", "BSSY"}},
           {Pipe::special, {"MUFU.RCP", "I2F.U32", "POPC"}},
           {Pipe::convert64, {"I2F.F64", "F2F.F64.F32"}},
           {Pipe::int_to_fp32, {"I2FP.F32.S32"}},
           {Pipe::fp64, {"DFMA", "DSETP.GT.AND"}},
           {Pipe::fp16, {"HFMA2.MMA"}},
           {Pipe::tensor,
            {"HMMA.16816.F32", "HMMA.SP.16832.F32", "QMMA.16832.F32.E4M3.E4M3", "OMMA.SF.16864.F32.E2M1.E2M1.UE4M3.4X",
             "QGMMA.64"}}})
    for (auto const* const opcode : opcodes) {
      INFO(opcode);
      CHECK(sass::pipe_of(opcode) == pipe);
    }
}
