#include "launch_kernels.hpp"

#include <algorithm>
#include <string>

#include "base/process/process.hpp"
#include "emulator/launch/compilations.hpp"

namespace kernelcast::fuzz {

namespace {

constexpr std::size_t max_calls = 8;
constexpr std::uint64_t memory_bytes = std::uint64_t{1} << 20;

// One kernel for each way in which an argument may be bound.
constexpr std::string_view kernels = R"(.version 8.5
.target sm_75
.address_size 64
.global .texref tex;
.visible .entry one(.param .u64 .ptr .global p, .param .u32 n, .param .f32 f)
{
  .reg .b64 %rd<3>;
  .reg .b32 %r<3>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r1, [n];
  st.global.u32 [%rd1], %r1;
  ret;
}
.visible .entry two(.param .u64 .ptr .shared s, .param .align 16 .b8 v[16], .param .u8 c, .param .f64 d, .param .u64 q)
{
  ret;
}
.visible .entry none()
{
  ret;
}
)";

bool reads_files(launch::Plan const& plan) {
  return std::any_of(plan.buffers.begin(), plan.buffers.end(), [](launch::Buffer const& buffer) {
    return buffer.fill == launch::Fill::file || buffer.fill == launch::Fill::start;
  });
}

}  // namespace

void run_plan(launch::Plan plan) {
  static TemporaryFolder const folder;
  static std::string const path = [] {
    write_file(folder.file("kernels.ptx"), kernels);
    return folder.file("kernels.ptx");
  }();
  static launch::Compilations compilations;
  if (reads_files(plan)) return;
  plan.request = {};
  plan.request.path = path;
  plan.request.cache = false;
  plan.request.registers.clear();
  if (plan.calls.size() > max_calls) plan.calls.erase(plan.calls.begin() + max_calls, plan.calls.end());
  launch::RunOptions options;
  options.compilations = &compilations;
  options.limits.max_steps = 1000;
  options.limits.max_memory_bytes = memory_bytes;
  options.max_memory_bytes = memory_bytes;
  options.heap_bytes = 4096;
  launch::run(std::move(plan), options);
}

}  // namespace kernelcast::fuzz
