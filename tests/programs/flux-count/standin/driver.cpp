// A CUDA driver (libcuda.so.1) that runs kernels on the emulator: as much as flux-count --backend cuda calls. Time on
// this device goes by issue slots, one nanosecond each.
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "emulator/emu.hpp"
#include "kernels/cuda/driver.hpp"
#include "kernels/ptx/parser.hpp"
#include "measure/flux/emulated.hpp"

using namespace kernelcast;
using driver::Pointer;

namespace {

constexpr int success = 0, invalid_value = 1, launch_failed = 719;

struct Function {
  ptx::Module const* module;
  std::string name;
};
struct Module {
  std::unique_ptr<ptx::Module> module;
  std::map<std::string, Function> functions;
};

emu::Memory& memory() {
  static auto* const the = new emu::Memory;
  return *the;
}
std::uint64_t clock_ns = 0;

std::byte* place(Pointer address) {
  auto const* const buffer = memory().find(address);
  return buffer ? buffer->data + (address - buffer->address) : nullptr;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int cuInit(unsigned) {
  return success;
}
int cuDeviceGetCount(int* count) {
  *count = 1;
  return success;
}
int cuDeviceGet(int* device, int number) {
  *device = number;
  return number == 0 ? success : 101;
}
int cuDeviceGetName(char* name, int size, int) {
  std::strncpy(name, "stand-in", static_cast<std::size_t>(size));
  return success;
}
int cuGetErrorName(int, char const** name) {
  *name = "CUDA_ERROR";
  return success;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  *context = &memory();
  return success;
}
int cuDevicePrimaryCtxRelease_v2(int) {
  return success;
}
int cuCtxSetCurrent(void*) {
  return success;
}
int cuCtxSynchronize() {
  return success;
}

int cuMemAlloc_v2(Pointer* out, std::size_t bytes) {
  *out = memory().add("cuMemAlloc", bytes);
  return success;
}
int cuMemFree_v2(Pointer) {
  return success;
}
int cuMemcpyHtoD_v2(Pointer to, void const* from, std::size_t bytes) {
  if (!place(to)) return invalid_value;
  std::memcpy(place(to), from, bytes);
  return success;
}
int cuMemcpyDtoH_v2(void* to, Pointer from, std::size_t bytes) {
  if (!place(from)) return invalid_value;
  std::memcpy(to, place(from), bytes);
  return success;
}

int cuEventCreate(void** event, unsigned) {
  *event = new std::uint64_t(0);
  return success;
}
int cuEventDestroy_v2(void* event) {
  delete static_cast<std::uint64_t*>(event);
  return success;
}
int cuEventRecord(void* event, void*) {
  *static_cast<std::uint64_t*>(event) = clock_ns;
  return success;
}
int cuEventElapsedTime(float* time_ms, void* begin, void* end) {
  *time_ms = static_cast<float>(*static_cast<std::uint64_t*>(end) - *static_cast<std::uint64_t*>(begin)) * 1e-6f;
  return success;
}

int cuModuleLoadData(void** out, char const* text) {
  auto module = std::make_unique<Module>();
  module->module = ptx::parse(text, "cuModuleLoadData");
  *out = module.release();
  return success;
}
int cuModuleUnload(void* module) {
  delete static_cast<Module*>(module);
  return success;
}
int cuModuleGetFunction(void** out, void* of, char const* name) {
  auto& module = *static_cast<Module*>(of);
  if (!module.module->find_kernel(name)) return 500;  // CUDA_ERROR_NOT_FOUND
  *out = &module.functions.try_emplace(name, Function{module.module.get(), name}).first->second;
  return success;
}
int cuFuncSetAttribute(void*, int, int) {
  return success;
}
int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void*, void**, void** extra) {
  auto const& [module, name] = *static_cast<Function*>(function);
  emu::Program const program(*module, *module->find_kernel(name));
  auto const* const packed = static_cast<std::byte const*>(extra[1]);
  emu::Launch launch;
  launch.grid = {gx, gy, gz};
  launch.block = {bx, by, bz};
  launch.dynamic_shared_bytes = shared;
  launch.parameters.assign(packed, packed + *static_cast<std::size_t*>(extra[3]));
  if (launch.parameters.size() != program.kernel().parameter_bytes) return invalid_value;
  std::vector<std::uint64_t> groups;
  for (std::uint64_t g = 0; g < launch.grid.count(); ++g) groups.push_back(g);
  flux::CountObserver counting(program);
  emu::Observer* const observers[] = {&counting};
  auto const outcome = emu::run(program, launch, memory(), groups, observers);
  clock_ns += counting.issues();
  return outcome.ending == emu::Ending::done ? success : launch_failed;
}

}  // extern "C"
#pragma GCC visibility pop
