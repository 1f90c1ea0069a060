// What the code that nvcc adds to an application calls: registration of its programs, and configurations of launches.
#include <vector>

#include "emulator/emu.hpp"
#include "runtimes/cudart/call.hpp"
#include "runtimes/cudart/devices.hpp"
#include "runtimes/cudart/registry.hpp"

using namespace kernelcast;
using namespace kernelcast::cudart;

namespace {

struct PendingLaunch {
  Dim3 grid, block;
  std::size_t shared_bytes;
  Stream stream;
};
thread_local std::vector<PendingLaunch> pending;

Program& program_of(void** handle) {
  return *reinterpret_cast<Program*>(handle);
}

}  // namespace

KERNELCAST_CUDA_EXPORT void** __cudaRegisterFatBinary(void* wrapper) {
  return locked([&](Registry& registry) {
    return reinterpret_cast<void**>(&registry.add_program(*static_cast<FatbinWrapper*>(wrapper)));
  });
}

KERNELCAST_CUDA_EXPORT void __cudaRegisterFatBinaryEnd(void**) {}

// The application ends, or a library of it is unloaded: what was counted has been written.
KERNELCAST_CUDA_EXPORT void __cudaUnregisterFatBinary(void** handle) {
  locked([&](Registry& registry) { registry.remove_program(program_of(handle)); });
}

KERNELCAST_CUDA_EXPORT char __cudaInitModule(void** handle) {
  locked([&](Devices const& devices, Registry& registry) {
    if (devices.count() > 0) registry.load(program_of(handle));
  });
  return 1;
}

KERNELCAST_CUDA_EXPORT void __cudaRegisterFunction(void** handle, char const* host, char*, char const* name, int, void*,
                                                   void*, void*, void*, int*) {
  locked([&](Registry& registry) { registry.add_kernel(host, program_of(handle), name); });
}

KERNELCAST_CUDA_EXPORT void __cudaRegisterVar(void** handle, char* host, char*, char const* name, int,
                                              std::size_t bytes, int, int) {
  locked([&](Registry& registry) { registry.add_symbol(host, program_of(handle), name, bytes); });
}

KERNELCAST_CUDA_EXPORT void __cudaRegisterManagedVar(void** handle, void** pointer, char*, char const* name, int,
                                                     std::size_t bytes, int, int) {
  locked([&](Registry& registry) {
    program_of(handle).managed.push_back({pointer, name});
    registry.add_symbol(pointer, program_of(handle), name, bytes);
  });
}

KERNELCAST_CUDA_EXPORT void __cudaRegisterHostVar(void**, char const*, char*, std::size_t) {}
KERNELCAST_CUDA_EXPORT void __cudaRegisterUnifiedTable(void**, void*) {}

KERNELCAST_CUDA_EXPORT unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, std::size_t shared_bytes,
                                                            Stream stream) {
  pending.push_back({grid, block, shared_bytes, stream});
  return 0;
}

KERNELCAST_CUDA_EXPORT Code __cudaPopCallConfiguration(Dim3* grid, Dim3* block, std::size_t* shared_bytes,
                                                       void* stream) {
  if (pending.empty()) return remembered(Code::missing_configuration);
  *grid = pending.back().grid;
  *block = pending.back().block;
  *shared_bytes = pending.back().shared_bytes;
  *static_cast<Stream*>(stream) = pending.back().stream;
  pending.pop_back();
  return Code::success;
}

KERNELCAST_CUDA_EXPORT Code __cudaGetKernel(void const** handle, void const* host) {
  return call([&](Registry& registry) {
    *handle = registry.kernel(host);
    return *handle ? Code::success : Code::invalid_device_function;
  });
}
KERNELCAST_CUDA_ALIAS(__cudaGetKernel, cudaGetKernel)

KERNELCAST_CUDA_EXPORT Code cudaGetSymbolAddress(void** address, void const* symbol) {
  return call([&](Registry& registry, emu::Memory& memory) {
    auto const* const found = registry.symbol(symbol);
    if (!found) return Code::invalid_symbol;
    if (auto const failure = registry.load(*found->program); failure != Code::success) return failure;
    *address = reinterpret_cast<void*>(memory.address_of(*found->program->module, found->name));
    return *address ? Code::success : Code::invalid_symbol;
  });
}

KERNELCAST_CUDA_EXPORT Code cudaGetSymbolSize(std::size_t* bytes, void const* symbol) {
  return call([&](Registry& registry) {
    auto const* const found = registry.symbol(symbol);
    if (!found) return Code::invalid_symbol;
    *bytes = found->bytes;
    return Code::success;
  });
}
