// An application that copies tiles by tensor maps which the driver encodes, to two groups of a cluster at once.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "expect.hpp"
#include "kernels/cuda/driver.hpp"

using namespace kernelcast::driver;
using kernelcast::cudart::FunctionAttribute;

#define KERNELCAST_DRIVER_CALLED(member, symbol, parameters) extern "C" Code symbol parameters;
#include "kernels/cuda/driver_entry_points.def"
extern "C" {
Code cuGetProcAddress_v2(char const*, void**, int, unsigned long long, int*);
Code cudaGetDriverEntryPoint(char const*, void**, unsigned long long, int*);
Code cuLaunchKernelEx(LaunchConfiguration const*, Function, void**, void**);
Code cuOccupancyMaxActiveClusters(int*, Function, LaunchConfiguration const*);
Code cuTensorMapReplaceAddress(void*, void*);
Code cuTensorMapEncodeIm2colWide(void*, int, unsigned, void*, unsigned long long const*, unsigned long long const*, int,
                                 int, unsigned, unsigned, unsigned const*, int, int, int, int, int);
}

namespace {

// Rank 0 of a cluster loads a tile of 4 rows of 16 floats for both groups; each stores it into a tensor of its own
// rows.
constexpr char program[] = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry spread(.param .align 64 .b8 from[128], .param .align 64 .b8 to[128], .param .u32 x, .param .u32 y)
{
  .reg .b32 %r<16>;
  .reg .b64 %q<8>;
  .reg .b16 %h;
  .reg .pred %p, %done;
  .shared .align 128 .b8 tile[256];
  .shared .align 8 .b64 full;
  mov.b64 %q0, from;
  cvta.param.u64 %q0, %q0;
  mov.b64 %q1, to;
  cvta.param.u64 %q1, %q1;
  ld.param.u32 %r0, [x];
  ld.param.u32 %r1, [y];
  mov.u32 %r2, %tid.x;
  mov.u32 %r3, %cluster_ctarank;
  setp.ne.u32 %p, %r2, 0;
  @%p bra ready;
  mbarrier.init.shared.b64 [full], 1;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 256;
  fence.mbarrier_init.release.cluster;
ready:
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  or.b32 %r4, %r2, %r3;
  setp.ne.u32 %p, %r4, 0;
  @%p bra wait;
  mov.b16 %h, 3;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster
    [tile], [%q0, {%r0, %r1}], [full], %h;
wait:
  mbarrier.try_wait.parity.shared::cta.b64 %done, [full], 0;
  @!%done bra wait;
  setp.ne.u32 %p, %r2, 0;
  @%p bra stored;
  mov.u32 %r5, %ctaid.x;
  shl.b32 %r5, %r5, 2;
  cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%q1, {0, %r5}], [tile];
  cp.async.bulk.commit_group;
  cp.async.bulk.wait_group 0;
stored:
  barrier.cluster.arrive.aligned;
  barrier.cluster.wait.aligned;
  ret;
}
)";

using Encode = Code(void*, int, unsigned, void*, unsigned long long const*, unsigned long long const*, unsigned const*,
                    unsigned const*, int, int, int, int);
struct alignas(64) Map {
  unsigned char opaque[128];
};
constexpr int float32 = 7, no_swizzle = 0, swizzle_32 = 1, swizzle_64 = 2;

Encode* encode = nullptr;
Code encode_rows(Map& map, Pointer address, unsigned columns, unsigned rows, unsigned box, int swizzle) {
  unsigned long long const dims[] = {columns, rows}, strides[] = {columns * 4ull};
  unsigned const boxes[] = {box, 4}, steps[] = {1, 1};
  return encode(&map, float32, 2, reinterpret_cast<void*>(address), dims, strides, boxes, steps, 0, swizzle, 0, 0);
}

}  // namespace

int main() {
  Context context = nullptr;
  Module module = nullptr;
  Function spread = nullptr;
  GOOD(cuInit(0));
  GOOD(cuDevicePrimaryCtxRetain(&context, 0));
  GOOD(cuCtxSetCurrent(context));
  GOOD(cuModuleLoadData(&module, program));
  GOOD(cuModuleGetFunction(&spread, module, "spread"));
  void *found = nullptr, *by_runtime = nullptr;
  int status = 9;
  GOOD(cuGetProcAddress_v2("cuTensorMapEncodeTiled", &found, 12000, 0, nullptr));
  GOOD(cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &by_runtime, 0, &status));
  EXPECT(found && found == by_runtime && status == 0);
  encode = reinterpret_cast<Encode*>(found);

  // 10 rows of 20 numbers; the tile at (8, 7) has 12 columns and 3 rows of them.
  std::vector<float> numbers(200), copies(16 * 8);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i + 1);
  Pointer from = 0, to = 0;
  GOOD(cuMemAlloc_v2(&from, numbers.size() * 4));
  GOOD(cuMemAlloc_v2(&to, copies.size() * 4));
  GOOD(cuMemcpyHtoD_v2(from, numbers.data(), numbers.size() * 4));
  Map of_from{}, of_to{};
  GOOD(encode_rows(of_from, 0, 20, 10, 16, no_swizzle));
  GOOD(cuTensorMapReplaceAddress(&of_from, reinterpret_cast<void*>(from)));
  GOOD(encode_rows(of_to, to, 16, 8, 16, no_swizzle));
  Map refused{};
  EXPECT(encode_rows(refused, from, 20, 10, 16, swizzle_32) == Code::invalid_value);
  EXPECT(encode_rows(refused, from, 20, 10, 6, no_swizzle) == Code::invalid_value);
  EXPECT(encode_rows(refused, from + 4, 20, 10, 16, no_swizzle) == Code::invalid_value);
  EXPECT(encode_rows(refused, from, 21, 10, 16, no_swizzle) == Code::invalid_value);

  // Pixels of 16 numbers along rows of 4, of two images of 5 rows.
  unsigned long long const pixels[] = {16, 4, 5, 2}, apart[] = {64, 256, 1280};
  unsigned const ones[] = {1, 1, 1, 1};
  auto const encode_wide = [&](int lower, int mode, int swizzle) {
    return cuTensorMapEncodeIm2colWide(&refused, float32, 4, reinterpret_cast<void*>(from), pixels, apart, lower, 0, 16,
                                       32, ones, 0, mode, swizzle, 0, 0);
  };
  for (int const mode : {0, 1}) GOOD(encode_wide(-1, mode, swizzle_64));
  EXPECT(encode_wide(-1, 2, swizzle_64) == Code::invalid_value);
  EXPECT(encode_wide(-32769, 0, swizzle_64) == Code::invalid_value);
  EXPECT(encode_wide(4, 0, swizzle_64) == Code::invalid_value);  // an empty box
  EXPECT(encode_wide(-1, 0, no_swizzle) == Code::invalid_value);

  unsigned x = 8, y = 7;
  void* arguments[] = {&of_from, &of_to, &x, &y};
  kernelcast::cudart::LaunchAttribute cluster{};
  cluster.id = kernelcast::cudart::launch_attribute_cluster;
  cluster.cluster = {2, 1, 1};
  LaunchConfiguration const two{{2, 1, 1}, {32, 1, 1}, 0, nullptr, &cluster, 1};
  int resident = 0;
  GOOD(cuOccupancyMaxActiveClusters(&resident, spread, &two));
  EXPECT(resident > 0);
  GOOD(cuLaunchKernelEx(&two, spread, arguments, nullptr));
  GOOD(cuMemcpyDtoH_v2(copies.data(), to, copies.size() * 4));
  for (std::size_t i = 0; i < copies.size(); ++i) {
    std::size_t const row = i / 16 % 4 + y, column = i % 16 + x;
    EXPECT(copies[i] == (row < 10 && column < 20 ? numbers[row * 20 + column] : 0));
  }
  LaunchConfiguration const odd{{3, 1, 1}, {32, 1, 1}, 0, nullptr, &cluster, 1};
  EXPECT(cuLaunchKernelEx(&odd, spread, arguments, nullptr) != Code::success);
  std::printf("%d failures\n", failures);
  return failures ? 1 : 0;
}
