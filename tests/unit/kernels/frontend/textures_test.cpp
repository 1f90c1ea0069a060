// CUDA's texture and surface functions by the way that neither nvcc nor our own header serves: clang-19 with a
// toolkit's headers.
#include "catch.hpp"
#include "kernels/frontend/build.hpp"
#include "scratch.hpp"

using namespace kernelcast;
using namespace kernelcast::frontend;

TEST_CASE("textures, surfaces and texture references compile with clang-19 and a toolkit's headers") {
  auto tools = find_toolchain();
  if (tools.clang.empty() || tools.cuda_root.empty()) SKIP_BECAUSE("no clang-19 with a CUDA toolkit");
  tools.nvcc.clear();
  Request request;
  request.path = KERNELCAST_SOURCE_DIR "/tests/suites/images/textures.cu";
  auto const source = read_file(request.path);
  TemporaryFolder const scratch;
  Build build{request, tools, source, scratch};
  build_cuda(build);
  for (char const* opcode : {"tex.a2d.v4", "tex.acube.v4", "tex.level.3d", "tex.grad.2d", "tld4.g.2d",
                             "suld.b.a1d.b8.trap", "sust.b.2d.b32.zero", "sust.b.a2d.v4.b32.trap"})
    CHECK_THAT(build.ptx, Contains(opcode));
}
