// An application whose kernel takes its work from a list and strikes it off, as searches of graphs do: one group of 16
// has work, the one in the middle of the grid has none, and none has any when it runs again.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "expect.hpp"
#include "kernels/cuda/driver.hpp"

using namespace kernelcast::driver;
using kernelcast::cudart::FunctionAttribute;

#define KERNELCAST_DRIVER_CALLED(member, symbol, parameters) extern "C" Code symbol parameters;
#include "kernels/cuda/driver_entry_points.def"

namespace {

constexpr unsigned groups = 1024, loads = 64;

constexpr char program[] = R"(
.version 7.5
.target sm_75
.address_size 64
.visible .entry expand(.param .u64 work, .param .u64 data)
{
  .reg .b32 %r<8>;
  .reg .f32 %f<4>;
  .reg .b64 %q<8>;
  .reg .pred %p;
  ld.param.u64 %q0, [work];
  ld.param.u64 %q1, [data];
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %q2, %r0, 4;
  add.s64 %q2, %q0, %q2;
  ld.global.u32 %r2, [%q2];
  setp.eq.u32 %p, %r2, 0;
  @%p ret;
  st.global.u32 [%q2], 0;
  mad.lo.u32 %r3, %r0, 32, %r1;
  mul.wide.u32 %q3, %r3, 4;
  add.s64 %q3, %q1, %q3;
  mov.u32 %r4, 0;
again:
  ld.global.f32 %f0, [%q3];
  add.f32 %f1, %f1, %f0;
  add.s64 %q3, %q3, 131072;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %p, %r4, 64;
  @%p bra again;
  st.global.f32 [%q3+-131072], %f1;
  ret;
}
)";

}  // namespace

int main() {
  Context context = nullptr;
  Module module = nullptr;
  Function expand = nullptr;
  GOOD(cuInit(0));
  GOOD(cuDevicePrimaryCtxRetain(&context, 0));
  GOOD(cuCtxSetCurrent(context));
  GOOD(cuModuleLoadData(&module, program));
  GOOD(cuModuleGetFunction(&expand, module, "expand"));
  std::vector<std::uint32_t> list(groups);
  for (unsigned g = 0; g < groups; ++g) list[g] = g % 16 == 5;
  std::vector<float> const zeros(std::size_t{groups} * 32 * loads);
  Pointer work = 0, data = 0;
  GOOD(cuMemAlloc_v2(&work, groups * 4));
  GOOD(cuMemAlloc_v2(&data, zeros.size() * 4));
  GOOD(cuMemcpyHtoD_v2(work, list.data(), groups * 4));
  GOOD(cuMemcpyHtoD_v2(data, zeros.data(), zeros.size() * 4));
  void* arguments[] = {&work, &data};
  GOOD(cuLaunchKernel(expand, groups, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
  GOOD(cuCtxSynchronize());
  GOOD(cuMemcpyDtoH_v2(list.data(), work, groups * 4));
  for (auto const left : list) EXPECT(left == 0);
  std::printf("%d failures\n", failures);
  return failures ? 1 : 0;
}
