// Issue slots of AMD's machine code of kernels whose counts are known in closed form, where clang-19 and libclc-19 are.
#include <cmath>
#include <string>
#include <vector>

#include "base/diag/diag.hpp"
#include "base/process/process.hpp"
#include "catch.hpp"
#include "emulator/launch/launch.hpp"
#include "kernels/frontend/toolchain.hpp"
#include "launches.hpp"

using namespace kernelcast;
using record::Pipe;

namespace {

constexpr char const* source = R"(
__kernel void straight(__global float* a, float b) {
  int i = get_global_id(0);
  float x = a[i];
  x = fma(x, b, 1.0f);
  x = fma(x, b, 2.0f);
  x = fma(x, b, 3.0f);
  a[i] = x;
}
__kernel void rolled(__global float* a, float b, int n) {
  int i = get_global_id(0);
  float x = a[i];
#pragma nounroll
  for (int k = 0; k < n; ++k) x = fma(x, b, 1.0f);
  a[i] = x;
}
__kernel void unrolled(__global float* a, float b, int n) {
  int i = get_global_id(0);
  float x = a[i];
#pragma unroll 4
  for (int k = 0; k < n; ++k) x = fma(x, b, 1.0f);
  a[i] = x;
}
__kernel void nested(__global float* a, float b, int n) {
  int i = get_global_id(0);
  float x = a[i];
#pragma nounroll
  for (int j = 0; j < n; ++j) {
    x = x * x;
#pragma nounroll
    for (int k = 0; k < j; ++k) x = fma(x, b, 1.0f);
  }
  a[i] = x;
}
// Work-items 32 to 63 of 64: one of two wavefronts of 32, all wavefronts of 64.
__kernel void upper_half(__global float* a, float b, int n) {
  int i = get_global_id(0);
  float x = a[i];
  if (get_local_id(0) & 32) {
#pragma nounroll
    for (int k = 0; k < n; ++k) x = fma(x, b, 1.0f);
    a[i] = x;
  }
}
// As many rounds as the work-item's number in groups of 128.
__kernel void triangle(__global float* a, float b) {
  int i = get_global_id(0);
  float x = a[i];
#pragma nounroll
  for (int k = 0; k < get_local_id(0); ++k) x = fma(x, b, 1.0f);
  a[i] = x;
}
__kernel void none_enter(__global float* a, float b, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  a[i] = fma(a[i], b, 1.0f);
}
// Loops of whole numbers, which one compiler unrolls to the end and the other in part.
__kernel void products(__global float* a, int b) {
  __global int* p = (__global int*)a + get_global_id(0);
  int sum = 0;
#pragma unroll
  for (int j = 0; j < 4; ++j) {
    int x = p[0] + j;
    for (int k = 0; k < 64; ++k) x = x * x + b;
    sum ^= x;
  }
  p[0] = sum;
}
__kernel void tiles(__global float* a, __local float* t) {
  int i = get_global_id(0), l = get_local_id(0);
  t[l] = a[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  a[i] = t[l ^ 1];
}
)";

// A source with a name of its own.
class Source {
 public:
  Source(std::string const& name, std::string_view text) : path_(folder_.file(name)) { write_file(path_, text); }

  launch::Report run(launch::CommandLine line, std::string const& target, bool registers = false) const {
    line.path = path_;
    auto plan = launch::plan_of(line);
    if (!registers) plan.request.registers.clear();
    auto options = with_groups("all");
    options.machine_targets = {target};
    return launch::run(std::move(plan), options);
  }
  // Of 1024 work-items, each with an element of the first argument.
  record::Kernel row(std::string const& kernel, std::vector<std::string> arguments, std::string const& target,
                     bool registers = false) const {
    arguments.insert(arguments.begin(), "buf:f32:1024:iota");
    auto report =
        run({.kernel = kernel, .global = "1024", .local = "128", .arguments = std::move(arguments)}, target, registers);
    REQUIRE(report.rows.size() == 1);
    CHECK(report.rows[0].target == target);
    return report.rows[0];
  }

 private:
  TemporaryFolder folder_;
  std::string path_;
};

struct Runs : Source {
  Runs() : Source("k.cl", source) {}
};

constexpr double items = 1024;

}  // namespace

TEST_CASE("AMD's machine code: fused multiply-adds of each work-item times wavefronts") {
  if (!has_clang()) SKIP_BECAUSE("no clang-19 or libclc-19");
  Runs runs;
  for (auto const& [target, width] : {std::pair{"tahiti", 64.0},
                                      {"gfx803", 64.0},
                                      {"gfx900", 64.0},
                                      {"gfx906", 64.0},
                                      {"gfx908", 64.0},
                                      {"gfx90a", 64.0},
                                      {"gfx942", 64.0},
                                      {"gfx1030", 32.0},
                                      {"gfx1032", 32.0},
                                      {"gfx1100", 32.0},
                                      {"gfx1101", 32.0}}) {
    INFO(target);
    double const waves = items / width;
    auto const straight = runs.row("straight", {"f32:2"}, target);
    CHECK(straight.slots[Pipe::fp32] == 3 * waves);
    CHECK(straight.slots[Pipe::memory] == 2 * waves);
    CHECK(straight.slots[Pipe::shared] == 0.0);
    CHECK(straight.registers_target.value_or(0) >= 2);
    CHECK(straight.registers_target.value_or(0) <= 8);
    CHECK(runs.row("rolled", {"f32:2", "i32:10"}, target).slots[Pipe::fp32] == 10 * waves);
    CHECK(runs.row("rolled", {"f32:2", "i32:0"}, target).slots[Pipe::fp32] == 0.0);
    CHECK(runs.row("unrolled", {"f32:2", "i32:40"}, target).slots[Pipe::fp32] == 40 * waves);
    CHECK(runs.row("unrolled", {"f32:2", "i32:3"}, target).slots[Pipe::fp32] == 3 * waves);
    CHECK(runs.row("unrolled", {"f32:2", "i32:43"}, target).slots[Pipe::fp32] == 43 * waves);
    CHECK(runs.row("nested", {"f32:2", "i32:10"}, target).slots[Pipe::fp32] == (10 + 45) * waves);
    // Old ones multiply for the address, too.
    CHECK(runs.row("products", {"i32:1"}, target).slots[Pipe::imad].value_or(0) ==
          Approx(4 * 64 * waves).margin(waves));
    CHECK(runs.row("none_enter", {"f32:2", "i32:0"}, target).slots[Pipe::fp32] == 0.0);
    auto const tiles = runs.row("tiles", {"local:512"}, target);
    CHECK(tiles.slots[Pipe::shared] == 2 * waves);
    CHECK(tiles.slots[Pipe::memory] == 2 * waves);
  }
}

TEST_CASE("AMD's machine code: wavefronts of 64 are not two of 32") {
  if (!has_clang()) SKIP_BECAUSE("no clang-19 or libclc-19");
  Runs runs;
  CHECK(runs.row("upper_half", {"f32:2", "i32:10"}, "gfx1032").slots[Pipe::fp32] == 10 * 16.0);
  CHECK(runs.row("upper_half", {"f32:2", "i32:10"}, "gfx90a").slots[Pipe::fp32] == 10 * 16.0);
  // The last work-item of a wavefront has the most rounds.
  CHECK(runs.row("triangle", {"f32:2"}, "gfx1032").slots[Pipe::fp32] == 8 * (31 + 63 + 95 + 127.0));
  CHECK(runs.row("triangle", {"f32:2"}, "gfx90a").slots[Pipe::fp32] == 8 * (63 + 127.0));
}

TEST_CASE("AMD's machine code needs a source") {
  if (!has_clang()) SKIP_BECAUSE("no clang-19 or libclc-19");
  Runs runs;
  CHECK_THROWS_AS(runs.row("straight", {"f32:2"}, "gfx999"), Error);
  Source const ptx("k.ptx",
                   ".version 7.5\n.target sm_75\n.address_size 64\n.visible .entry k(.param .u64 a)\n{\nret;\n}\n");
  CHECK_THROWS_WITH(ptx.run({.global = "32", .local = "32", .arguments = {"buf:f32:32:zero"}}, "gfx90a", true),
                    Contains("this is PTX"));
}

TEST_CASE("AMD's machine code of CUDA C++") {
  if (!has_clang()) SKIP_BECAUSE("no clang-19 or libclc-19");
  Source const cuda("k.cu", R"(
__global__ void rolled(float* a, float b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = a[i];
#pragma unroll 1
  for (int k = 0; k < n; ++k)
    x = fmaf(x, b, 1.0f);
  a[i] = x;
}
__global__ void tiles(float* a) {
  __shared__ float t[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  t[threadIdx.x] = a[i];
  __syncthreads();
  a[i] = t[threadIdx.x ^ 1];
}
__global__ void warp_sum(float* a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = a[i];
  for (int by = 16; by > 0; by /= 2)
    x += __shfl_down_sync(0xffffffffu, x, by);
  a[i] = x;
}
)");
  for (auto const& [target, waves] : {std::pair{"gfx600", 16.0}, {"gfx90a", 16.0}, {"gfx1032", 32.0}}) {
    INFO(target);
    auto const rolled = cuda.row("rolled", {"f32:2", "i32:10"}, target, true);
    CHECK(rolled.slots[Pipe::fp32] == 10 * waves);
    CHECK(rolled.slots[Pipe::memory] == 2 * waves);
    CHECK(!rolled.warp_lanes);
    CHECK(rolled.vgprs_gfx6.value_or(0) > 0);
    CHECK(rolled.vgprs_gfx90a.value_or(0) > 0);
    CHECK(rolled.vgprs_gfx1030.value_or(0) > 0);
    CHECK(cuda.row("tiles", {}, target).slots[Pipe::shared] == 2 * waves);
    auto const sum = cuda.row("warp_sum", {}, target, true);
    CHECK(sum.slots[Pipe::fp32] == 5 * waves);
    CHECK(sum.warp_lanes == 32);
  }
}

TEST_CASE("AMD's machine code: registers of matrix products and memory beside registers") {
  if (!has_clang()) SKIP_BECAUSE("no clang-19 or libclc-19");
  Source const small("k.cl", R"(
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void large_array(__global int* a) {
  int t[1024];
  int i = get_global_id(0);
  for (int k = 0; k < 1024; ++k) t[k] = a[k] + i;
  for (int k = 0; k < 1024; ++k) a[i] += t[a[k] & 1023];
}
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void few(__global int* a) { a[get_global_id(0)] += 1; }
)");
  // Values that are all loaded, in their order, before the first one is used.
  Source const many("many.cl", R"(
__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void many_values(volatile __global float* a) {
  float v[264];
  int i = get_global_id(0) * 264;
#pragma unroll
  for (int k = 0; k < 264; ++k) v[k] = a[i + k];
  float s = 1;
#pragma unroll
  for (int k = 263; k >= 0; --k) s = s * v[k];
  a[i] = s;
}
)");
  auto const row = [](Source const& of, std::string const& kernel, std::string const& target) {
    return of.run({.kernel = kernel, .global = "64", .local = "64", .arguments = {"buf:f32:16896:zero"}}, target)
        .rows.at(0);
  };
  for (std::string const target : {"gfx803", "gfx90a", "gfx1101"}) {
    INFO(target);
    auto const few = row(small, "few", target), array = row(small, "large_array", target);
    CHECK(few.registers_matrix == 0u);
    CHECK(few.scratch_bytes == 0u);
    CHECK(array.registers_matrix == 0u);
    CHECK(array.scratch_bytes >= 4096u);
    CHECK(array.scratch_bytes <= 4096u + 64);
    // Each of 64 work-items stores and loads 1024 words of its own.
    CHECK(few.local_load_bytes == 0);
    CHECK(few.group.local_requests.empty());
    CHECK(array.local_store_bytes == Approx(64 * 4096).epsilon(0.01));
    CHECK(array.local_load_bytes == Approx(64 * 4096).epsilon(0.01));
    CHECK(array.group.local_lines.value_or(0) == Approx(64 * 4096 / 128).epsilon(0.02));
  }
  // 256 of one kind, the rest of the other, in one file.
  auto const values = row(many, "many_values", "gfx90a");
  CHECK(values.registers_matrix >= 264u - 256);
  CHECK(values.registers_target > 264u);
  CHECK(values.registers_target <= 512u);
  CHECK(values.registers_target >= 256 + *values.registers_matrix);
  CHECK(values.scratch_bytes == 0u);
}

TEST_CASE("AMD's machine code: OpenCL's images, where the target has instructions for them") {
  if (!has_clang()) SKIP_BECAUSE("no clang-19 or libclc-19");
  Source const images("k.cl", R"(
__constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
__kernel void column(read_only image2d_t from, write_only image2d_t to, int n) {
  int2 c = (int2)(get_global_id(0), get_global_id(1));
  float4 sum = 0;
#pragma nounroll
  for (int y = 0; y < n; ++y) sum += read_imagef(from, nearest, c + (int2)(0, y));
  write_imagef(to, c, sum);
}
)");
  std::vector<std::string> notes;
  auto const rows = [&](std::string const& target) {
    auto const report =
        images.run({.global = "64,16",
                    .local = "64,1",
                    .arguments = {"image2d:rgba32f:64x16:random", "image2d:rgba32f:64x16:zero", "i32:5"}},
                   target);
    notes = report.notes;
    return report.rows;
  };
  for (auto const& [target, waves] :
       {std::pair{"gfx600", 16.0}, {"gfx803", 16.0}, {"gfx908", 16.0}, {"gfx1032", 32.0}, {"gfx1101", 32.0}}) {
    INFO(target);
    auto const counted = rows(target);
    REQUIRE(counted.size() == 1);
    CHECK(counted[0].slots[Pipe::memory] == (5 + 1) * waves);
    CHECK(*counted[0].slots[Pipe::fp32] >= 5 * 2 * waves);  // four sums, two at once at most
    CHECK(*counted[0].slots[Pipe::fp32] <= 5 * 4 * waves);
  }
  for (char const* target : {"gfx90a", "gfx942"}) {
    CHECK(rows(target).empty());
    REQUIRE(!notes.empty());
    CHECK_THAT(notes.back(), Contains("kernel 'column' has no row for") && Contains("no instructions for images"));
  }
}
