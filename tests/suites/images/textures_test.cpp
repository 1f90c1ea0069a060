// CUDA's texture and surface functions through our own header, and through a toolkit's where there is one.
#include <cstdlib>
#include <cstring>

#include "catch.hpp"
#include "emulator/launch/launch.hpp"

using namespace kernelcast;

namespace {

std::string const path = KERNELCAST_SOURCE_DIR "/tests/suites/images/textures.cu";

// The last buffer argument's contents after one group.
std::vector<float> run(std::string const& kernel, unsigned items, std::vector<std::string> arguments,
                       std::vector<std::string> bindings = {}) {
  launch::CommandLine line;
  line.path = path;
  line.kernel = kernel;
  line.global = line.local = std::to_string(items);
  line.arguments = std::move(arguments);
  line.bindings = std::move(bindings);
  launch::Plan const plan = launch::plan_of(line);
  frontend::Request request;
  request.path = path;
  request.registers.clear();
  auto const compiled = frontend::compile(request);
  auto const& info = frontend::find_kernel(compiled.kernels, kernel, path);
  auto const& function = *compiled.module->find_kernel(info.name);
  emu::Program const program(*compiled.module, function);
  emu::Memory memory(std::uint64_t{1} << 28);
  launch::Buffers const buffers(plan, 1, memory);
  launch::bind_references(plan.calls[0], *compiled.module, buffers, memory);
  auto const bound = launch::bind(plan.calls[0], info, function, program.static_shared_bytes(), buffers);
  std::vector<std::uint64_t> const groups{0};
  auto const outcome = emu::run(program, bound.launch, memory, groups, {});
  INFO((outcome.finding ? outcome.finding->message : std::string()));
  REQUIRE(outcome.ending == emu::Ending::done);
  auto const bytes = buffers.bytes(plan.calls[0].arguments.back().buffer);
  std::vector<float> result(bytes.size() / 4);
  std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

void check_everything() {
  auto const have = run(
      "objects", 1,
      {"texture1d_buffer:r32f:64:iota", "texture1d:r32f:8:iota", "texture2d:rgba32f:4x4:iota",
       "texture3d:r32f:3x3x4:iota", "texture1d_array:r32f:5x3:iota", "texture2d_array:r32f:4x4x2:iota",
       "texturecube:r32f:3:iota", "texturecube_array:r32f:3x2:iota", "texture2d:rgba8ui:4x2:iota", "buf:f32:26:zero"});
  CHECK(have == std::vector<float>{3, 0, 2, 4, 5, 4 * (2 * 4 + 1) + 1, 4 * 4 + 3, 4 * 3, 4 * 15 + 2,
                                   (3 * 3 + 2) * 3 + 1, 9, 10, 5 + 2, 10 + 1, 16 + 2 * 4 + 1, 2 * 4 + 1, 4, 9 + 4,
                                   18 + 7, (6 + 5) * 9 + 4,
                                   // texels (1, 2), (2, 2), (2, 1), (1, 1), channel g
                                   4 * 9 + 1, 4 * 10 + 1, 4 * 6 + 1, 4 * 5 + 1, 4 + 1000 * 7, 4 * 6});
  auto const written = run("surfaces", 4,
                           {"surface1d:r32f:4:zero", "surface2d:rg32f:4x2:zero", "surface3d:r16ui:4x2x3:zero",
                            "surface1d_array:r8ui:4x3:zero", "surface2d_array:rgba32f:4x2x2:zero",
                            "surfacecube:r32i:2:zero", "buf:f32:32:zero"});
  for (unsigned x = 0; x < 4; ++x) {
    auto const f = static_cast<float>(x);
    CHECK(std::vector<float>(written.begin() + 8 * x, written.begin() + 8 * x + 8) ==
          std::vector<float>{f, -f, f + 7, f + 1, f, 3 * f, 0, 3});
  }
  auto const bound = run(
      "references", 1, {"buf:f32:3:zero"},
      {"plain=texture2d:r32f:8x8:iota", "fractions=texture2d:rgba8:4x4:iota", "positions=texture1d:rgba32f:16:iota"});
  CHECK(bound[0] == 2 * 8 + 3);
  CHECK(bound[1] == 7.0f / 255.0f);
  CHECK(bound[2] == 4 * 5 + 1);
}

}  // namespace

TEST_CASE("textures: CUDA C++ without a toolkit") {
  setenv("KERNELCAST_NO_CUDA", "1", 1);
  check_everything();
  unsetenv("KERNELCAST_NO_CUDA");
}

TEST_CASE("textures: CUDA C++ with a toolkit") {
  if (std::system("command -v nvcc >/dev/null 2>&1 || test -x /usr/local/cuda/bin/nvcc") != 0)
    SKIP_BECAUSE("no CUDA toolkit");
  check_everything();
}
