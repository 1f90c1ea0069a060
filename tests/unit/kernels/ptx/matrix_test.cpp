#include "kernels/ptx/matrix.hpp"

#include <string>

#include "catch.hpp"
#include "kernels/ptx/parser.hpp"

using namespace kernelcast::ptx;

namespace {

// "mma/f16/f32 4096" of a line of PTX; "none".
std::string product(std::string const& opcode) {
  auto const module =
      parse(".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k() {\n.reg .b32 %r<40>;\n" + opcode +
                " %r0, %r1, %r2, %r3;\nret; }\n",
            "test");
  auto const found = matrix_product(module->find_kernel("k")->instructions.front());
  return found ? found->kind + " " + std::to_string(static_cast<long>(found->flop)) : "none";
}

}  // namespace

TEST_CASE("products of matrices are named by instruction and types, and counted by shape") {
  CHECK(product("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32") == "mma/f16/f32 4096");
  CHECK(product("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16") == "mma/f16/f16 2048");
  CHECK(product("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32") == "mma/f16/f32 2048");  // four side by side
  CHECK(product("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64") == "mma/f64/f64 512");
  CHECK(product("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32") == "mma/tf32/f32 2048");
  CHECK(product("mma.sync.aligned.m16n8k32.row.col.satfinite.s32.u8.s8.s32") == "mma/i8/i32 8192");
  CHECK(product("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc") == "mma/b1/i32 65536");
  CHECK(product("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32") == "mma/f8/f32 8192");
  CHECK(product("mma.sync.aligned.kind::f8f6f4.m16n8k32.row.col.f32.e2m1.e2m1.f32") == "mma/f8/f32 8192");
  CHECK(product("mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e3m2.e2m3.f32.ue8m0") ==
        "mma/f8/f32 8192");
  CHECK(product("mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1.e2m1.f32.ue4m3") ==
        "mma/f4/f32 16384");
  CHECK(product(
            "mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue8m0") ==
        "mma/f4/f32/sparse 32768");
  CHECK(product("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32") ==
        "mma/bf16/f32/sparse 8192");
  CHECK(product("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32") == "mma/f16/f32 8192");
  CHECK(product("wmma.mma.sync.aligned.row.col.m32n8k16.f32.bf16.bf16.f32") == "mma/bf16/f32 8192");
  CHECK(product("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16") == "wgmma/bf16/f32 65536");  // of a warp
  CHECK(product("wgmma.mma_async.sp.sync.aligned.m64n64k64.f32.e4m3.e4m3") == "wgmma/f8/f32/sparse 131072");
}

TEST_CASE("what moves matrices multiplies none") {
  for (auto const* const opcode :
       {"wmma.load.a.sync.aligned.row.m16n16k16.f16", "wmma.store.d.sync.aligned.row.m16n16k16.f32",
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16", "wgmma.commit_group.sync.aligned", "add.s32"})
    CHECK(product(opcode) == "none");
}
