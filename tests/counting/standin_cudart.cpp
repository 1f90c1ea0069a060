// A CUDA runtime that runs kernels on the emulator, for tests on machines without a GPU: as much of libcudart.so.13 as
// app.cu and an attached flux-count call. Streams run at once; captures do not exist.
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "emu/emu.hpp"
#include "flux/attach/fatbin.hpp"
#include "flux/attach/runtime.hpp"
#include "ptx/parser.hpp"

using namespace kernelcast;
using flux::runtime::Dim3;
using flux::runtime::FatbinWrapper;

namespace {

struct Image {
  std::unique_ptr<ptx::Module> module;
};
struct Kernel {
  ptx::Module const* module = nullptr;
  std::string name;
};
struct State {
  std::vector<std::unique_ptr<Image>> images;
  std::map<void const*, Kernel> kernels;
  emu::Memory memory;
  struct {
    Dim3 grid, block;
    std::size_t shared;
    void* stream;
  } configuration{};
  int error = 0;
};
State& state() {
  static auto* const the = new State;
  return *the;
}

std::byte* host_address(void const* device) {
  auto const address = reinterpret_cast<std::uint64_t>(device);
  auto const* const buffer = state().memory.find(address);
  return buffer ? buffer->data + (address - buffer->address) : nullptr;
}

int run(Kernel const& kernel, Dim3 grid, Dim3 block, void** arguments, std::size_t shared) {
  if (!kernel.module) return 0;  // machine code: nothing happens
  auto const& function = *kernel.module->find_kernel(kernel.name);
  emu::Program const program(*kernel.module, function);
  emu::Launch launch;
  launch.grid = {grid.x, grid.y, grid.z};
  launch.block = {block.x, block.y, block.z};
  launch.dynamic_shared_bytes = static_cast<std::uint32_t>(shared);
  launch.parameters.resize(function.parameter_bytes);
  for (std::size_t p = 0; p < function.parameters.size(); ++p)
    std::memcpy(launch.parameters.data() + function.parameters[p].offset, arguments[p], function.parameters[p].size);
  std::vector<std::uint64_t> groups;
  for (std::uint64_t g = 0; g < launch.grid.count(); ++g) groups.push_back(g);
  auto const outcome = emu::run(program, launch, state().memory, groups, {});
  return outcome.ending == emu::Ending::done ? 0 : 719;
}

}  // namespace

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  auto& image = *state().images.emplace_back(std::make_unique<Image>());
  auto const ptx = flux::ptx_of_fatbin(static_cast<FatbinWrapper*>(wrapper)->data);
  if (ptx) image.module = ptx::parse(ptx->text, "fatbin");
  return reinterpret_cast<void**>(&image);
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
char __cudaInitModule(void**) {
  return 1;
}
void __cudaRegisterFunction(void** handle, char const* host, char*, char const* name, int, void*, void*, void*, void*,
                            int*) {
  state().kernels[host] = {reinterpret_cast<Image*>(handle)->module.get(), name};
}
unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, std::size_t shared, void* stream) {
  state().configuration = {grid, block, shared, stream};
  return 0;
}
int __cudaPopCallConfiguration(Dim3* grid, Dim3* block, std::size_t* shared, void* stream) {
  auto const& c = state().configuration;
  *grid = c.grid, *block = c.block, *shared = c.shared;
  *static_cast<void**>(stream) = c.stream;
  return 0;
}
int __cudaGetKernel(void const** kernel, void const* host) {
  *kernel = host;
  return 0;
}
int cudaLaunchKernel(void const* host, Dim3 grid, Dim3 block, void** arguments, std::size_t shared, void*) {
  return run(state().kernels.at(host), grid, block, arguments, shared);
}
int __cudaLaunchKernel(void const* kernel, Dim3 grid, Dim3 block, void** arguments, std::size_t shared, void* stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared, stream);
}
int cudaGetDevice(int* device) {
  return *device = 0;
}
int cudaMalloc(void** out, std::size_t bytes) {
  *out = reinterpret_cast<void*>(state().memory.add("cudaMalloc", bytes));
  return 0;
}
int cudaMallocHost(void** out, std::size_t bytes) {
  *out = std::calloc(1, bytes);
  return 0;
}
int cudaFree(void*) {
  return 0;
}
int cudaMemcpy(void* to, void const* from, std::size_t bytes, int kind) {
  if (kind == 1) std::memcpy(host_address(to), from, bytes);
  if (kind == 2) std::memcpy(to, host_address(from), bytes);
  return kind == 1 || kind == 2 ? 0 : 1;
}
int cudaMemcpyAsync(void* to, void const* from, std::size_t bytes, int kind, void*) {
  return cudaMemcpy(to, from, bytes, kind);
}
int cudaMemsetAsync(void* at, int value, std::size_t bytes, void*) {
  std::memset(host_address(at), value, bytes);
  return 0;
}
int cudaStreamCreate(void** stream) {
  *stream = &state();
  return 0;
}
int cudaStreamCreateWithFlags(void** stream, unsigned) {
  return cudaStreamCreate(stream);
}
int cudaStreamSynchronize(void*) {
  return 0;
}
int cudaStreamIsCapturing(void*, int* capturing) {
  return *capturing = 0;
}
int cudaThreadExchangeStreamCaptureMode(int*) {
  return 0;
}
int cudaEventCreateWithFlags(void** event, unsigned) {
  *event = &state();
  return 0;
}
int cudaEventRecord(void*, void*) {
  return 0;
}
int cudaEventQuery(void*) {
  return 0;
}
int cudaEventSynchronize(void*) {
  return 0;
}
int cudaLaunchHostFunc(void*, void (*function)(void*), void* data) {
  function(data);
  return 0;
}
int cudaDeviceSynchronize() {
  return 0;
}

}  // extern "C"
