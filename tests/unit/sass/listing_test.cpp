// Listings of machine code: blocks, labels, lines of the PTX, and the pipes of instructions.
#include <string>

#include "catch.hpp"
#include "sass/sass.hpp"

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
  for (auto const& [opcode, pipe] :
       std::initializer_list<std::pair<char const*, Pipe>>{{"FFMA.FTZ", Pipe::fp32},
                                                           {"FSETP.GT.AND", Pipe::alu},
                                                           {"IMAD.WIDE.U32", Pipe::imad},
                                                           {"IMAD.MOV.U32", Pipe::imad},
                                                           {"IADD3.X", Pipe::alu},
                                                           {"LEA.HI.X", Pipe::alu},
                                                           {"LOP3.LUT", Pipe::alu},
                                                           {"LDG.E.128", Pipe::memory},
                                                           {"LDGDEPBAR", Pipe::issue},
                                                           {"STS", Pipe::memory},
                                                           {"SHFL.BFLY", Pipe::memory},
                                                           {"SHF.R.S32.HI", Pipe::alu},
                                                           {"RED.E.ADD", Pipe::memory},
                                                           {"REDUX.SUM", Pipe::alu},
                                                           {"ATOMG.E.CAS", Pipe::memory},
                                                           {"MUFU.RCP", Pipe::special},
                                                           {"I2F.U32", Pipe::special},
                                                           {"I2F.F64", Pipe::convert64},
                                                           {"F2F.F64.F32", Pipe::convert64},
                                                           {"I2FP.F32.S32", Pipe::int_to_fp32},
                                                           {"DFMA", Pipe::fp64},
                                                           {"DSETP.GT.AND", Pipe::fp64},
                                                           {"HFMA2.MMA", Pipe::fp16},
                                                           {"HMMA.16816.F32", Pipe::tensor},
                                                           {"BAR.SYNC", Pipe::issue},
                                                           {"S2R", Pipe::issue},
                                                           {"ULDC.64", Pipe::issue},
                                                           {"UIADD3", Pipe::issue},
                                                           {"BSSY", Pipe::issue},
                                                           {"SEL", Pipe::alu},
                                                           {"TEX.SCR.LL", Pipe::memory},
                                                           {"POPC", Pipe::special}}) {
    INFO(opcode);
    CHECK(sass::pipe_of(opcode) == pipe);
  }
}
