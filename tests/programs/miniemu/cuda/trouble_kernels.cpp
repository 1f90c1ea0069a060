// What troubles.cpp opens and closes: a library with CUDA kernels, linked with the runtime.
#include <atomic>

#include "fatbin.hpp"
#include "kernels/cuda/abi.hpp"

using namespace kernelcast::cudart;

extern "C" {
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFatBinaryEnd(void**);
void __cudaUnregisterFatBinary(void**);
void __cudaRegisterFunction(void**, char const*, char*, char const*, int, void*, void*, void*, void*, int*);
void __cudaRegisterManagedVar(void**, void**, char*, char const*, int, std::size_t, int, int);
Code cudaLaunchKernel(void const*, Dim3, Dim3, void**, std::size_t, Stream);
Code cudaMalloc(void**, std::size_t);
Code cudaMemcpy(void*, void const*, std::size_t, CopyKind);
Code cudaDeviceSynchronize();
Code cudaDeviceReset();
Code cudaGetLastError();
char const* cudaGetErrorName(Code);
}

namespace {

constexpr char const* program = R"(
.version 7.5
.target sm_70
.address_size 64
.visible .global .attribute(.managed) .align 4 .u32 kept = 1;
.visible .entry add(.param .u64 data, .param .u32 what)
{
  .reg .b32 %r<6>; .reg .b64 %a<4>;
  ld.param.u64 %a1, [data];
  ld.param.u32 %r1, [what];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.s32 %r4, %r2, %r3, %r4;
  mul.wide.u32 %a2, %r4, 4;
  add.s64 %a3, %a1, %a2;
  ld.global.u32 %r5, [%a3];
  add.u32 %r5, %r5, %r1;
  st.global.u32 [%a3], %r5;
  ret;
}
.visible .entry endless(.param .u64 data)
{
  .reg .b32 %r; .reg .b64 %a;
  ld.param.u64 %a, [data];
AGAIN:
  ld.volatile.global.u32 %r, [%a];
  bra AGAIN;
}
.visible .entry collide(.param .u64 data, .param .u32 what)
{
  .reg .b32 %r<4>; .reg .b64 %a; .shared .align 4 .b32 unset;
  ld.param.u64 %a, [data];
  ld.param.u32 %r1, [what];
  mov.u32 %r2, %tid.x;
  mul.lo.u32 %r3, %r1, %r2;
  st.global.u32 [%a], %r3;
  ld.shared.u32 %r2, [unset];
  st.global.u32 [%a+4], %r1;
  ret;
}
)";

char add, endless, collide;  // their addresses stand for kernels
unsigned* kept = nullptr;

// As nvcc's code does it, when the library is opened and closed.
struct Registered {
  Registered() : fatbin(fatbin_of({{program, 70, Packing::zstd}})) {
    wrapper.data = fatbin.data();
    handle = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterFunction(handle, &add, nullptr, "add", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    __cudaRegisterFunction(handle, &endless, nullptr, "endless", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    __cudaRegisterFunction(handle, &collide, nullptr, "collide", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    __cudaRegisterManagedVar(handle, reinterpret_cast<void**>(&kept), nullptr, "kept", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(handle);
  }
  ~Registered() { __cudaUnregisterFatBinary(handle); }
  std::vector<char> fatbin;
  FatbinWrapper wrapper{0x466243b1, 1, nullptr, nullptr};
  void** handle = nullptr;
} registered;

}  // namespace

// All with names for dlsym; none releases anything.
#define TROUBLE extern "C" __attribute__((visibility("default")))

// Adds to n numbers of the device and reads them back: whether they are right.
TROUBLE int work(unsigned n) {
  std::vector<unsigned> x(n, 1);
  void* data = nullptr;
  unsigned what = 41;
  void* arguments[] = {&data, &what};
  if (cudaMalloc(&data, n * 4) != Code::success) return 0;
  if (cudaMemcpy(data, x.data(), n * 4, CopyKind::host_to_device) != Code::success) return 0;
  if (cudaLaunchKernel(&add, {n / 32, 1, 1}, {32, 1, 1}, arguments, 0, nullptr) != Code::success) return 0;
  if (cudaMemcpy(x.data(), data, n * 4, CopyKind::device_to_host) != Code::success) return 0;
  return std::all_of(x.begin(), x.end(), [](unsigned v) { return v == 42; });
}

static std::atomic<unsigned> launches;
TROUBLE unsigned launched() {
  return launches;
}

// Launches until the process ends, with sizes that change.
TROUBLE void launch_on() {
  void* data = nullptr;
  unsigned what = 1;
  void* arguments[] = {&data, &what};
  cudaMalloc(&data, 4096 * 4);
  for (unsigned groups = 1;; groups = groups % 128 + 1, ++launches)
    cudaLaunchKernel(&add, {groups, 1, 1}, {32, 1, 1}, arguments, 0, nullptr);
}

// Reads and writes far behind its memory: the name of what later calls say, until the device is reset.
TROUBLE char const* beyond(char const** then, char const** after_reset) {
  void* data = nullptr;
  unsigned what = 1;
  void* arguments[] = {&data, &what};
  cudaMalloc(&data, 512);
  cudaLaunchKernel(&add, {1 << 15, 1, 1}, {32, 1, 1}, arguments, 0, nullptr);
  auto const* const first = cudaGetErrorName(cudaDeviceSynchronize());
  cudaGetLastError();
  *then = cudaGetErrorName(cudaMalloc(&data, 512));
  cudaDeviceReset();
  *after_reset = cudaGetErrorName(cudaDeviceSynchronize());
  return first;
}

// A kernel that never ends: the name of the error, once something has stopped it.
TROUBLE char const* stopped() {
  void* data = nullptr;
  void* arguments[] = {&data};
  cudaMalloc(&data, 512);
  cudaLaunchKernel(&endless, {1, 1, 1}, {32, 1, 1}, arguments, 0, nullptr);
  return cudaGetErrorName(cudaDeviceSynchronize());
}

// All work-items store their number times `what` to one place: the name of what later calls say.
TROUBLE char const* collided(unsigned what) {
  void* data = nullptr;
  void* arguments[] = {&data, &what};
  cudaMalloc(&data, 512);
  cudaLaunchKernel(&collide, {1, 1, 1}, {64, 1, 1}, arguments, 0, nullptr);
  return cudaGetErrorName(cudaDeviceSynchronize());
}
