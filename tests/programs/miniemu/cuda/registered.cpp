// A CUDA application without nvcc: it registers fat binaries of its own and calls the runtime as compiled code does.
// Usage: registered [CASE]. Cases other than `usual` end with errors on purpose.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "expect.hpp"
#include "fatbin.hpp"
#include "kernels/cuda/abi.hpp"
#include "kernels/cuda/device_properties.hpp"

using namespace kernelcast::cudart;

extern "C" {
void** __cudaRegisterFatBinary(void*);
void __cudaRegisterFatBinaryEnd(void**);
void __cudaUnregisterFatBinary(void**);
char __cudaInitModule(void**);
void __cudaRegisterFunction(void**, char const*, char*, char const*, int, void*, void*, void*, void*, int*);
void __cudaRegisterVar(void**, char*, char*, char const*, int, std::size_t, int, int);
void __cudaRegisterManagedVar(void**, void**, char*, char const*, int, std::size_t, int, int);
unsigned __cudaPushCallConfiguration(Dim3, Dim3, std::size_t, Stream);
Code __cudaPopCallConfiguration(Dim3*, Dim3*, std::size_t*, void*);
Code __cudaGetKernel(void const**, void const*);
Code __cudaLaunchKernel(void const*, Dim3, Dim3, void**, std::size_t, Stream);
Code cudaLaunchKernel(void const*, Dim3, Dim3, void**, std::size_t, Stream);
Code cudaLaunchKernelExC(LaunchConfiguration const*, void const*, void**);
Code cudaMalloc(void**, std::size_t);
Code cudaMallocManaged(void**, std::size_t, unsigned);
Code cudaMallocHost(void**, std::size_t);
Code cudaHostRegister(void*, std::size_t, unsigned);
Code cudaHostUnregister(void*);
Code cudaFree(void*);
Code cudaFreeHost(void*);
Code cudaMemcpy(void*, void const*, std::size_t, CopyKind);
Code cudaMemcpyAsync(void*, void const*, std::size_t, CopyKind, Stream);
Code cudaMemcpy2D(void*, std::size_t, void const*, std::size_t, std::size_t, std::size_t, CopyKind);
Code cudaMemcpyToSymbol(void const*, void const*, std::size_t, std::size_t, CopyKind);
Code cudaMemcpyFromSymbol(void*, void const*, std::size_t, std::size_t, CopyKind);
Code cudaMallocPitch(void**, std::size_t*, std::size_t, std::size_t);
Code cudaMemset(void*, int, std::size_t);
Code cudaMemset2D(void*, std::size_t, int, std::size_t, std::size_t);
Code cudaMemGetInfo(std::size_t*, std::size_t*);
Code cudaPointerGetAttributes(PointerAttributes*, void const*);
Code cudaStreamCreate(Stream*);
Code cudaStreamDestroy(Stream);
Code cudaStreamSynchronize(Stream);
Code cudaLaunchHostFunc(Stream, void (*)(void*), void*);
Code cudaEventCreate(Event*);
Code cudaEventRecord(Event, Stream);
Code cudaEventElapsedTime(float*, Event, Event);
Code cudaDeviceSynchronize();
Code cudaDeviceReset();
Code cudaGetLastError();
Code cudaPeekAtLastError();
Code cudaSetDevice(int);
Code cudaGetDeviceCount(int*);
Code cudaDeviceGetAttribute(int*, int, int);
Code cudaFuncGetAttributes(FunctionAttributes*, void const*);
Code cudaFuncSetAttribute(void const*, FunctionAttribute, int);
Code cudaOccupancyMaxActiveBlocksPerMultiprocessor(int*, void const*, int, std::size_t);
Code cudaIpcGetMemHandle(void*, void*);
char const* cudaGetErrorName(Code);
Code cudaGraphCreate(void**, unsigned);
Code cudaGraphDestroy(void*);
Code cudaGraphAddEmptyNode(void**, void*, void* const*, std::size_t);
// What CUDA 13 gave other arguments, or another name. Data of an edge are eight bytes.
#if KERNELCAST_CUDART == 12
Code cudaGetDeviceProperties_v2(DeviceProperties*, int);
Code cudaGraphAddDependencies(void*, void* const*, void* const*, std::size_t);
Code cudaGraphRemoveDependencies(void*, void* const*, void* const*, std::size_t);
Code cudaGraphGetEdges(void*, void**, void**, std::size_t*);
Code cudaGraphNodeGetDependencies(void*, void**, std::size_t*);
Code cudaMemPrefetchAsync(void const*, std::size_t, int, Stream);
Code cudaMemAdvise(void const*, std::size_t, int, int);
#else
struct Place {
  int kind, id;
};
Code cudaGetDeviceProperties(DeviceProperties*, int);
Code cudaGraphAddDependencies(void*, void* const*, void* const*, void const*, std::size_t);
Code cudaGraphRemoveDependencies(void*, void* const*, void* const*, void const*, std::size_t);
Code cudaGraphGetEdges(void*, void**, void**, void*, std::size_t*);
Code cudaGraphNodeGetDependencies(void*, void**, void*, std::size_t*);
Code cudaMemPrefetchAsync(void const*, std::size_t, Place, unsigned, Stream);
Code cudaMemAdvise(void const*, std::size_t, int, Place);
#endif
}

namespace {

constexpr char const* program = R"(
.version 7.5
.target sm_70
.address_size 64
.visible .const .align 4 .b8 weights[16];
.visible .global .align 4 .u32 launches = 40;
.visible .global .attribute(.managed) .align 4 .u32 shared_count = 2;
.visible .entry scale(.param .u64 data, .param .f32 by, .param .u32 n)
{
  .reg .pred %p; .reg .b32 %r<6>; .reg .f32 %f<4>; .reg .b64 %a<4>;
  ld.param.u64 %a1, [data];
  ld.param.f32 %f1, [by];
  ld.param.u32 %r5, [n];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  setp.ge.u32 %p, %r4, %r5;
  @%p bra DONE;
  mul.wide.u32 %a2, %r4, 4;
  add.s64 %a3, %a1, %a2;
  ld.global.f32 %f2, [%a3];
  mul.f32 %f3, %f2, %f1;
  st.global.f32 [%a3], %f3;
DONE:
  ret;
}
.visible .entry variables(.param .u64 out)
{
  .reg .b32 %r<3>; .reg .f32 %f; .reg .b64 %a;
  ld.param.u64 %a, [out];
  ld.const.f32 %f, [weights+8];
  st.global.f32 [%a], %f;
  atom.global.add.u32 %r1, [launches], 1;
  atom.global.add.u32 %r2, [shared_count], 5;
  ret;
}
.visible .entry busy(.param .u64 p) .maxntid 64, 1, 1
{
  .reg .b64 %a; .reg .b32 %r;
  .shared .align 4 .b8 room[40000];
  ld.param.u64 %a, [p];
  mov.u32 %r, 7;
  st.global.u32 [%a], %r;
  ret;
}
.visible .entry stop()
{
  trap;
  ret;
}
)";

char scale, variables, busy, stop, missing;  // their addresses stand for kernels
char weights, launches;
unsigned* shared_count = nullptr;

void** register_program(std::vector<char> const& fatbin) {
  static FatbinWrapper wrapper{0x466243b1, 1, nullptr, nullptr};
  wrapper.data = fatbin.data();
  void** const handle = __cudaRegisterFatBinary(&wrapper);
  auto const kernel = [&](char& host, char const* name) {
    __cudaRegisterFunction(handle, &host, nullptr, name, -1, nullptr, nullptr, nullptr, nullptr, nullptr);
  };
  kernel(scale, "scale");
  kernel(variables, "variables");
  kernel(busy, "busy");
  kernel(stop, "stop");
  __cudaRegisterVar(handle, &weights, nullptr, "weights", 0, 16, 1, 0);
  __cudaRegisterVar(handle, &launches, nullptr, "launches", 0, 4, 0, 0);
  __cudaRegisterManagedVar(handle, reinterpret_cast<void**>(&shared_count), nullptr, "shared_count", 0, 4, 0, 0);
  __cudaRegisterFatBinaryEnd(handle);
  return handle;
}

Code run_scale(void* data, float by, unsigned n, unsigned groups, Stream stream = nullptr) {
  void* arguments[] = {&data, &by, &n};
  return cudaLaunchKernel(&scale, {groups, 1, 1}, {128, 1, 1}, arguments, 0, stream);
}

// Through <<<>>>, as nvcc compiles it for CUDA 13.
void through_configuration(void* data) {
  float by = 2;
  unsigned n = 1000;
  void* arguments[] = {&data, &by, &n};
  EXPECT(__cudaPushCallConfiguration({8, 1, 1}, {128, 1, 1}, 0, nullptr) == 0);
  Dim3 grid{}, block{};
  std::size_t shared = 1;
  Stream stream = nullptr;
  GOOD(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
  EXPECT(grid.x == 8 && block.x == 128 && shared == 0);
  void const* kernel = nullptr;
  GOOD(__cudaGetKernel(&kernel, &scale));
  GOOD(__cudaLaunchKernel(kernel, grid, block, arguments, shared, stream));
  EXPECT(__cudaPopCallConfiguration(&grid, &block, &shared, &stream) == Code::missing_configuration);
}

void linear_memory() {
  std::vector<float> host(1000);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i);
  void* data = nullptr;
  GOOD(cudaMalloc(&data, 4000));
  GOOD(cudaMemcpy(data, host.data(), 4000, CopyKind::host_to_device));
  GOOD(run_scale(data, 3, 1000, 8));
  through_configuration(data);
  LaunchAttribute none{};
  LaunchConfiguration const configuration{{8, 1, 1}, {128, 1, 1}, 0, nullptr, &none, 1};
  float by = 0.5F;
  unsigned n = 500;
  void* arguments[] = {&data, &by, &n};
  GOOD(cudaLaunchKernelExC(&configuration, &scale, arguments));
  GOOD(cudaMemcpy(host.data(), data, 4000, CopyKind::by_address));
  EXPECT(host[499] == 499 * 3.0F && host[999] == 999 * 6.0F);
  GOOD(cudaMemset(data, 0xff, 8));
  GOOD(cudaMemcpy(host.data(), data, 12, CopyKind::device_to_host));
  EXPECT(std::isnan(host[1]) && host[2] == 6);
  EXPECT(cudaMemcpy(host.data(), data, 1 << 20, CopyKind::device_to_host) == Code::invalid_value);
  EXPECT(cudaMemcpy(host.data(), data, 4, static_cast<CopyKind>(7)) == Code::invalid_memcpy_direction);
  EXPECT(cudaGetLastError() == Code::invalid_memcpy_direction && cudaGetLastError() == Code::success);
  GOOD(cudaFree(data));
  EXPECT(cudaFree(data) == Code::invalid_value);
  GOOD(cudaFree(nullptr));
  EXPECT(cudaPeekAtLastError() == Code::invalid_value && cudaGetLastError() == Code::invalid_value);
}

// What each launch finds: 1 MiB that was copied; nothing; what was touched two launches ago; nothing, as it was freed;
// what was filled.
void touched_memory() {
  constexpr unsigned n = 1 << 18, bytes = 4 * n, groups = n / 128;
  std::vector<float> const host(n, 1);
  void *a = nullptr, *b = nullptr;
  GOOD(cudaMalloc(&a, bytes));
  GOOD(cudaMalloc(&b, bytes));
  GOOD(cudaMemcpy(a, host.data(), bytes, CopyKind::host_to_device));
  for (auto* const memory : {a, b, a}) GOOD(run_scale(memory, 2, n, groups));
  GOOD(cudaFree(a));
  GOOD(cudaMalloc(&a, bytes));
  GOOD(run_scale(a, 2, n, groups));
  GOOD(cudaMemset(b, 0, bytes));
  GOOD(run_scale(b, 2, n, groups));
}

void rows_and_host_memory() {
  void* pitched = nullptr;
  std::size_t pitch = 0;
  GOOD(cudaMallocPitch(&pitched, &pitch, 100, 5));
  EXPECT(pitch >= 100 && pitch % 256 == 0);
  std::vector<char> from(500), to(500);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<char>(i % 100);
  GOOD(cudaMemcpy2D(pitched, pitch, from.data(), 100, 100, 5, CopyKind::host_to_device));
  GOOD(cudaMemset2D(pitched, pitch, 9, 10, 2));
  GOOD(cudaMemcpy2D(to.data(), 100, pitched, pitch, 100, 5, CopyKind::device_to_host));
  EXPECT(to[109] == 9 && to[110] == 10 && to[209] == 9);
  EXPECT(cudaMemcpy2D(to.data(), 100, pitched, pitch, 101, 5, CopyKind::device_to_host) == Code::invalid_pitch_value);
  GOOD(cudaFree(pitched));

  void *pinned = nullptr, *managed = nullptr;
  GOOD(cudaMallocHost(&pinned, 4000));
  GOOD(cudaMallocManaged(&managed, 4000, 1));
  std::vector<float> mine(1000, 5);
  GOOD(cudaHostRegister(mine.data(), 4000, 2));
  for (auto* const memory : {static_cast<float*>(pinned), static_cast<float*>(managed), mine.data()}) {
    memory[77] = 5;
    GOOD(run_scale(memory, 4, 1000, 8));
    GOOD(cudaDeviceSynchronize());
    EXPECT(memory[77] == 20);
  }
  PointerAttributes attributes{};
  GOOD(cudaPointerGetAttributes(&attributes, static_cast<char*>(managed) + 12));
  EXPECT(attributes.type == MemoryType::managed && attributes.host_pointer == static_cast<char*>(managed) + 12);
  GOOD(cudaPointerGetAttributes(&attributes, &attributes));
  EXPECT(attributes.type == MemoryType::unregistered);
  GOOD(cudaHostUnregister(mine.data()));
  EXPECT(cudaHostUnregister(mine.data()) == Code::host_memory_not_registered);
  GOOD(cudaFreeHost(pinned));
  GOOD(cudaFree(managed));
  std::size_t free = 0, total = 0, free_now = 0;
  GOOD(cudaMemGetInfo(&free, &total));
  void* block = nullptr;
  GOOD(cudaMalloc(&block, 1 << 20));
  GOOD(cudaMemGetInfo(&free_now, &total));
  EXPECT(free - free_now == 1 << 20);
  GOOD(cudaFree(block));
  EXPECT(cudaMalloc(&block, total + 1) == Code::memory_allocation && block == nullptr);
  cudaGetLastError();
}

void symbols(void** handle) {
  EXPECT(__cudaInitModule(handle) == 1);
  EXPECT(*shared_count == 2);
  *shared_count = 10;
  float const values[4] = {1, 2, 3, 4};
  GOOD(cudaMemcpyToSymbol(&weights, values, 16, 0, CopyKind::host_to_device));
  float const other = 30;
  GOOD(cudaMemcpyToSymbol(&weights, &other, 4, 8, CopyKind::host_to_device));
  EXPECT(cudaMemcpyToSymbol(&weights, values, 8, 12, CopyKind::host_to_device) == Code::invalid_value);
  EXPECT(cudaMemcpyToSymbol(&missing, values, 8, 0, CopyKind::host_to_device) == Code::invalid_symbol);
  cudaGetLastError();
  void* out = nullptr;
  GOOD(cudaMalloc(&out, 4));
  void* arguments[] = {&out};
  GOOD(cudaLaunchKernel(&variables, {3, 1, 1}, {1, 1, 1}, arguments, 0, nullptr));
  float seen = 0;
  unsigned count = 0;
  GOOD(cudaMemcpy(&seen, out, 4, CopyKind::device_to_host));
  GOOD(cudaMemcpyFromSymbol(&count, &launches, 4, 0, CopyKind::device_to_host));
  EXPECT(seen == 30 && count == 43 && *shared_count == 25);
  GOOD(cudaFree(out));
}

void streams_and_events() {
  Stream stream = nullptr;
  Event begin = nullptr, end = nullptr;
  GOOD(cudaStreamCreate(&stream));
  GOOD(cudaEventCreate(&begin));
  GOOD(cudaEventCreate(&end));
  float ms = -1;
  EXPECT(cudaEventElapsedTime(&ms, begin, end) == Code::invalid_resource_handle);
  void* data = nullptr;
  GOOD(cudaMalloc(&data, 4000));
  GOOD(cudaEventRecord(begin, stream));
  GOOD(run_scale(data, 4, 1000, 8, stream));
  int called = 0;
  GOOD(cudaLaunchHostFunc(stream, [](void* p) { ++*static_cast<int*>(p); }, &called));
  GOOD(cudaEventRecord(end, stream));
  GOOD(cudaStreamSynchronize(stream));
  GOOD(cudaEventElapsedTime(&ms, begin, end));
  EXPECT(called == 1 && ms > 0);
  GOOD(cudaStreamDestroy(stream));
  EXPECT(run_scale(data, 4, 1000, 8, stream) == Code::invalid_resource_handle);
  cudaGetLastError();
  GOOD(cudaFree(data));
}

void refused_launches() {
  void* data = nullptr;
  GOOD(cudaMalloc(&data, 4000));
  void* arguments[] = {&data, &data, &data};
  auto const launch = [&](char& kernel, unsigned grid, unsigned block, std::size_t shared) {
    return cudaLaunchKernel(&kernel, {grid, 1, 1}, {block, 1, 1}, arguments, shared, nullptr);
  };
  EXPECT(launch(missing, 1, 1, 0) == Code::invalid_device_function);
  EXPECT(launch(scale, 0, 1, 0) == Code::invalid_configuration);
  EXPECT(launch(scale, 1, 2048, 0) == Code::invalid_configuration);
  EXPECT(launch(scale, 1, 1, 60000) == Code::invalid_value);
  GOOD(cudaFuncSetAttribute(&scale, FunctionAttribute::max_dynamic_shared_bytes, 60000));
  GOOD(launch(scale, 1, 1, 60000));
  EXPECT(cudaFuncSetAttribute(&scale, FunctionAttribute::max_dynamic_shared_bytes, 10000000) == Code::invalid_value);
  EXPECT(launch(busy, 1, 65, 0) == Code::invalid_value);
  GOOD(launch(busy, 1, 64, 0));
  cudaGetLastError();
  std::thread([] { EXPECT(cudaPeekAtLastError() == Code::success); }).join();

  FunctionAttributes attributes{};
  GOOD(cudaFuncGetAttributes(&attributes, &busy));
  EXPECT(attributes.shared_bytes == 40000 && attributes.max_threads_per_block == 64 && attributes.ptx_version == 70);
  int groups = 0, multiprocessors = 0, count = 0;
  GOOD(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&groups, &busy, 64, 0));
  EXPECT(groups == 4);  // of an A100: 164 KiB for groups of 40000 bytes and 1 KiB each, in units of 128
  GOOD(cudaDeviceGetAttribute(&multiprocessors, 16, 0));
  EXPECT(multiprocessors == 108);
  EXPECT(cudaDeviceGetAttribute(&multiprocessors, 16, 7) == Code::invalid_device);
  GOOD(cudaGetDeviceCount(&count));
  EXPECT(count == 1 && cudaSetDevice(1) == Code::invalid_device);
  EXPECT(cudaIpcGetMemHandle(&attributes, data) == Code::not_supported);
  EXPECT(cudaIpcGetMemHandle(&attributes, data) == Code::not_supported);
  cudaGetLastError();
  GOOD(cudaFree(data));
}

#if KERNELCAST_CUDART == 12
Code properties(DeviceProperties* out) {
  return cudaGetDeviceProperties_v2(out, 0);
}
Code connect(void* graph, void* a, void* b) {
  return cudaGraphAddDependencies(graph, &a, &b, 1);
}
Code disconnect(void* graph, void* a, void* b) {
  return cudaGraphRemoveDependencies(graph, &a, &b, 1);
}
Code edges(void* graph, void** from, void** to, std::size_t* n) {
  return cudaGraphGetEdges(graph, from, to, n);
}
Code before(void* node, void** out, std::size_t* n) {
  return cudaGraphNodeGetDependencies(node, out, n);
}
Code prefetch(void* data, std::size_t bytes) {
  return cudaMemPrefetchAsync(data, bytes, 0, nullptr);
}
Code advise(void* data, std::size_t bytes) {
  return cudaMemAdvise(data, bytes, 1, 0);
}
#else
long long edge_data = 0;
Code properties(DeviceProperties* out) {
  return cudaGetDeviceProperties(out, 0);
}
Code connect(void* graph, void* a, void* b) {
  return cudaGraphAddDependencies(graph, &a, &b, nullptr, 1);
}
Code disconnect(void* graph, void* a, void* b) {
  return cudaGraphRemoveDependencies(graph, &a, &b, nullptr, 1);
}
Code edges(void* graph, void** from, void** to, std::size_t* n) {
  return cudaGraphGetEdges(graph, from, to, from ? &edge_data : nullptr, n);
}
Code before(void* node, void** out, std::size_t* n) {
  return cudaGraphNodeGetDependencies(node, out, &edge_data, n);
}
Code prefetch(void* data, std::size_t bytes) {
  return cudaMemPrefetchAsync(data, bytes, {1, 0}, 0, nullptr);
}
Code advise(void* data, std::size_t bytes) {
  return cudaMemAdvise(data, bytes, 1, {1, 0});
}
#endif

void calls_that_versions_differ_in() {
  DeviceProperties device{};
  GOOD(properties(&device));
  EXPECT(device.major == 8 && device.minor == 0 && device.multi_processor_count == 108);
  EXPECT(std::string_view(device.name).find("A100") != std::string_view::npos);
#if KERNELCAST_CUDART == 12
  EXPECT(device.clock_rate == 1410000);  // kHz
#endif

  void *graph = nullptr, *first = nullptr, *second = nullptr, *from = nullptr, *to = nullptr;
  std::size_t count = 1;
  GOOD(cudaGraphCreate(&graph, 0));
  GOOD(cudaGraphAddEmptyNode(&first, graph, nullptr, 0));
  GOOD(cudaGraphAddEmptyNode(&second, graph, nullptr, 0));
  GOOD(connect(graph, first, second));
  GOOD(edges(graph, &from, &to, &count));
  EXPECT(count == 1 && from == first && to == second);
  from = nullptr;
  GOOD(before(second, &from, &count));
  EXPECT(count == 1 && from == first);
  GOOD(disconnect(graph, first, second));
  GOOD(edges(graph, nullptr, nullptr, &count));
  EXPECT(count == 0);
  GOOD(cudaGraphDestroy(graph));

  void* managed = nullptr;
  GOOD(cudaMallocManaged(&managed, 4096, 1));
  GOOD(advise(managed, 4096));
  GOOD(prefetch(managed, 4096));
  GOOD(cudaFree(managed));
}

// A kernel's fault stays with every call until the device is reset.
void sticky(Code expected) {
  EXPECT(cudaDeviceSynchronize() == expected);
  EXPECT(cudaGetLastError() == expected && cudaGetLastError() == expected);
  void* more = nullptr;
  EXPECT(cudaMalloc(&more, 4) == expected);
  std::printf("%s\n", cudaGetErrorName(expected));
  GOOD(cudaDeviceReset());
  GOOD(cudaGetLastError());
  std::size_t free = 0, total = 0;
  GOOD(cudaMemGetInfo(&free, &total));
  EXPECT(free == total);
  GOOD(cudaMalloc(&more, 4));
  GOOD(cudaFree(more));
}

}  // namespace

int main(int argc, char** argv) {
  std::string_view const chosen = argc > 1 ? argv[1] : "usual";
  auto const packing = chosen == "zstd" ? Packing::zstd : chosen == "lz4" ? Packing::lz4 : Packing::plain;
  auto fatbin = fatbin_of({{"nothing that could be parsed", 999, Packing::plain}, {program, 70, packing}});
  if (chosen == "broken") fatbin = fatbin_of({{"nothing that could be parsed", 70, Packing::plain}});
  if (chosen == "newer") fatbin = fatbin_of({{program, 121, packing}});
  void** const handle = register_program(fatbin);
  void* data = nullptr;
  if (chosen == "broken") {
    EXPECT(run_scale(data, 1, 1, 1) == Code::invalid_ptx);
  } else if (chosen == "touched") {
    touched_memory();
  } else if (chosen == "fault") {
    GOOD(cudaMalloc(&data, 4000));
    GOOD(run_scale(data, 1, 100000, 1000));
    sticky(Code::illegal_address);
    GOOD(cudaLaunchKernel(&stop, {1, 1, 1}, {32, 1, 1}, nullptr, 0, nullptr));
    sticky(Code::launch_failure);
  } else {
    linear_memory();
    rows_and_host_memory();
    symbols(handle);
    streams_and_events();
    calls_that_versions_differ_in();
    if (chosen == "usual") refused_launches();
  }
  std::printf("%d failures\n", failures);
  __cudaUnregisterFatBinary(handle);
  return failures ? 1 : 7;
}
