// AMD's assembly: blocks, lines, resources, pipes, conserved amounts.
#include <string>

#include "base/diag/diag.hpp"
#include "catch.hpp"
#include "kernels/amdgcn/amdgcn.hpp"

using namespace kernelcast;
using amdgcn::Conserved;
using record::Pipe;

namespace {

std::string const text =
    "\t.amdgcn_target \"amdgcn-amd-amdhsa--gfx90a\"\n"
    "\t.type\tk,@function\n"
    "k:                                   ; @k\n"
    "\t.file\t0 \"/u\" \"dir/k.cl\" md5 0xd7b898421ce691fdbb30230fe2d47f1f\n"
    "\t.amd_kernel_code_t\n"
    "\t\tamd_code_version_major = 1\n"
    "\t.end_amd_kernel_code_t\n"
    "; %bb.0:\n"
    "\t.loc\t0 3 11 prologue_end             ; k.cl:3:11\n"
    "\ts_load_dword s2, s[4:5], 0x4\n"
    "\tv_cmp_gt_i32_e64 s[0:1], s13, v3\n"
    "\ts_and_saveexec_b64 s[2:3], s[0:1]\n"
    "\ts_cbranch_execz .LBB0_2\n"
    "; %bb.1:\n"
    "\t.loc\t0 0 0 is_stmt 0\n"
    "\tv_dual_mov_b32 v6, 0 :: v_dual_add_f32 v5, v4, v2\n"
    ".LBB0_2:\n"
    "\ts_or_b64 exec, exec, s[2:3]\n"
    "\ts_endpgm\n"
    ".Lfunc_end0:\n"
    "\t.size\tk, .Lfunc_end0-k\n"
    "\t\t.amdhsa_wavefront_size32 1\n"
    "; Kernel info:\n"
    "; NumSgprs: 20\n"
    "; NumVgprs: 9\n"
    "; NumAgprs: 4\n"
    "; TotalNumVgprs: 16\n"
    "; ScratchSize: 24\n"
    "; LDSByteSize: 1024 bytes/workgroup (compile time only)\n";

}  // namespace

TEST_CASE("assembly is cut into blocks with lines of the source") {
  auto const codes = amdgcn::read(text, "k.s");
  REQUIRE(codes.size() == 1);
  auto const& code = codes.at("k");
  REQUIRE(code.blocks.size() == 3);
  CHECK(code.instructions == 7);
  CHECK(code.blocks[0].instructions.size() == 4);
  auto const& first = code.blocks[0].instructions[0];
  CHECK(first.opcode() == "s_load_dword");
  CHECK(first.at.file == "k.cl");
  CHECK(first.at.line == 3);
  CHECK(first.at.column == 11);
  CHECK(code.blocks[0].instructions[1].opcode() == "v_cmp_gt_i32");
  CHECK(code.blocks[0].instructions[2].narrows());
  CHECK(code.blocks[0].instructions[3].target() == ".LBB0_2");
  auto const& pair = code.blocks[1].instructions[0];
  CHECK(pair.at.line == 0);
  CHECK(pair.opcode() == "v_dual_mov_b32");
  CHECK(pair.second() == "v_dual_add_f32");
  CHECK(code.blocks[2].labels == std::vector<std::string_view>{".LBB0_2"});
  CHECK(code.blocks[2].instructions[0].widens());
  CHECK_FALSE(code.calls);
}

TEST_CASE("resources are the compiler's words") {
  auto const codes = amdgcn::read(text, "k.s");
  CHECK(codes.at("k").resources ==
        amdgcn::Resources{
            .vgprs = 16, .agprs = 4, .sgprs = 20, .shared_bytes = 1024, .scratch_bytes = 24, .wavefront = 32});
}

TEST_CASE("a text without functions is refused") {
  CHECK_THROWS_AS(amdgcn::read("", "empty.s"), Error);
  CHECK_THROWS_AS(amdgcn::read("\tv_nop\nk:\n\tv_nop\n", "none.s"), Error);
  CHECK_NOTHROW(
      amdgcn::read("\t.type\tk,@function\nk:\n.loc\n.file\n.file 1 \"\n.loc 1\n;\n:\nv\ns_branch\n", "odd.s"));
}

TEST_CASE("instructions go to pipes") {
  for (auto const& [pipe, opcodes] : std::map<Pipe, std::vector<char const*>>{
           {Pipe::fp32, {"v_fma_f32", "v_fmac_f32", "v_pk_fma_f32", "v_dual_fmac_f32"}},
           {Pipe::imad, {"v_mad_u64_u32", "v_mul_lo_u32"}},
           {Pipe::alu,
            {"v_add_u32", "v_add_co_u32", "v_add_nc_u32", "v_lshlrev_b64", "v_cmp_lt_f32", "v_max_f32", "v_cndmask_b32",
             "v_mul_u32_u24"}},
           {Pipe::fp64, {"v_fma_f64", "v_add_f64"}},
           {Pipe::fp16, {"v_pk_fma_f16", "v_add_f16"}},
           {Pipe::convert64, {"v_cvt_f64_f32"}},
           {Pipe::int_to_fp32, {"v_cvt_f32_i32"}},
           {Pipe::fp32_to_fp16, {"v_cvt_f16_f32"}},
           {Pipe::special, {"v_cvt_u32_f32", "v_rcp_f32"}},
           {Pipe::tensor, {"v_mfma_f32_32x32x1f32", "v_wmma_f32_16x16x16_f16"}},
           {Pipe::memory, {"global_load_dwordx4", "buffer_store_dword", "image_sample", "scratch_load_b32"}},
           {Pipe::issue, {"buffer_gl0_inv", "s_barrier", "s_cbranch_execz", "exp"}},
           {Pipe::shared, {"ds_read2_b32"}},
           {Pipe::scalar_memory, {"s_load_dwordx2"}},
           {Pipe::scalar, {"s_add_i32", "s_and_saveexec_b64"}},
           {Pipe::wait, {"s_waitcnt", "s_delay_alu"}}})
    for (auto const* const opcode : opcodes) {
      INFO(opcode);
      CHECK(record::name(amdgcn::pipe_of(opcode)) == record::name(pipe));
    }
}

TEST_CASE("private memory is behind instructions of its own, or behind buffers") {
  CHECK(amdgcn::private_bytes("scratch_store_dwordx4", false) == 16);
  CHECK(amdgcn::private_bytes("scratch_load_b32", false) == 4);
  CHECK(amdgcn::private_bytes("buffer_load_dword", true) == 4);
  CHECK(amdgcn::private_bytes("buffer_load_dword", false) == 0);
  CHECK(amdgcn::private_bytes("global_load_dword", true) == 0);
}

TEST_CASE("amounts that no compiler adds or saves") {
  struct Row {
    char const* opcode;
    Conserved what;
    double amount;
  };
  for (auto const& [opcode, what, amount] : {Row{"global_load_dwordx4", Conserved::load, 16},
                                             {"global_load_b128", Conserved::load, 16},
                                             {"s_load_dwordx8", Conserved::load, 32},
                                             {"buffer_load_ubyte", Conserved::load, 1},
                                             {"global_load_short_d16_hi", Conserved::load, 2},
                                             {"global_load_d16_u8", Conserved::load, 1},
                                             {"flat_store_dwordx3", Conserved::store, 12},
                                             {"ds_read2_b32", Conserved::shared_load, 8},
                                             {"ds_load_2addr_b64", Conserved::shared_load, 16},
                                             {"ds_read2st64_b32", Conserved::shared_load, 8},
                                             {"ds_write_b8", Conserved::shared_store, 1},
                                             {"ds_add_u32", Conserved::atomic, 1},
                                             {"global_atomic_add_f32", Conserved::atomic, 1},
                                             {"ds_bpermute_b32", Conserved::none, 0},
                                             {"s_barrier", Conserved::barrier, 1},
                                             {"v_mad_u64_u32", Conserved::integer_product, 1},
                                             {"s_mul_i32", Conserved::integer_product, 1},
                                             {"v_fma_f32", Conserved::fp32, 2},
                                             {"v_pk_mul_f32", Conserved::fp32, 2},
                                             {"v_add_f64", Conserved::fp64, 1},
                                             {"v_pk_fma_f16", Conserved::fp16, 4},
                                             {"v_add_u32", Conserved::none, 0},
                                             {"v_mov_b32", Conserved::none, 0}}) {
    INFO(opcode);
    auto const found = amdgcn::conserved_by(opcode);
    CHECK(static_cast<int>(found.conserved) == static_cast<int>(what));
    CHECK(found.amount == amount);
  }
}
