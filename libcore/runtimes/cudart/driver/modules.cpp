// Modules, libraries, functions: a library is a module here, and a kernel of a library the function that it is.
#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "emulator/emu.hpp"
#include "runtimes/cudart/devices.hpp"
#include "runtimes/cudart/driver/call.hpp"
#include "runtimes/cudart/driver/link.hpp"
#include "runtimes/cudart/occupancy.hpp"
#include "runtimes/cudart/registry.hpp"

using namespace kernelcast;
using namespace kernelcast::driver;
using cudart::FunctionAttribute;
using cudart::Registry;

namespace {

// A library needs no context.
Code load(Module* out, void const* image) {
  return call([&](Registry& registry) {
    if (!out || !image) return Code::invalid_value;
    auto code = Code::success;
    *out = registry.add_program(image, code);
    return code;
  });
}

Code load_file(Module* out, char const* path) {
  auto const content = content_of(path);
  return content ? load(out, content->data()) : Code::file_not_found;
}

// `body` gets a module that there is.
template <class Body>
Code of_module(Module module, Body const& body) {
  return call([&](Registry& registry, emu::Memory& memory) {
    return registry.known(module) ? body(registry, memory) : Code::invalid_resource_handle;
  });
}

std::vector<std::string> kernels_of(cudart::Program const& program) {
  std::vector<std::string> out;
  for (auto const& function : program.module->functions)
    if (function.entry && function.has_body) out.emplace_back(function.name);
  return out;
}

// A kernel that there is and that can be run.
template <class Body>
Code of_function(Function function, Body const& body) {
  return call_in_context([&](Registry& registry, cudart::Devices const& devices) {
    auto* const kernel = registry.kernel(function);
    if (!kernel) return Code::invalid_resource_handle;
    auto const failure = registry.prepare(*kernel);
    return failure == Code::success ? body(*kernel, devices.current()) : failure;
  });
}

std::map<Link*, std::unique_ptr<Link>>& links() {
  static auto* const all = new std::map<Link*, std::unique_ptr<Link>>;
  return *all;
}

enum class JitInput : int { cubin, ptx, fatbin, object, library, intermediate };

}  // namespace

// ---------------------------------------------------------------- modules and libraries

KERNELCAST_CUDA_EXPORT Code cuModuleLoadData(Module* module, void const* image) {
  return current_context() ? load(module, image) : no_context();
}
// Options of the compiler change no result here.
KERNELCAST_CUDA_EXPORT Code cuModuleLoadDataEx(Module* module, void const* image, unsigned, int*, void**) {
  return cuModuleLoadData(module, image);
}
KERNELCAST_CUDA_ALIAS(cuModuleLoadData, cuModuleLoadFatBinary)
KERNELCAST_CUDA_EXPORT Code cuModuleLoad(Module* module, char const* path) {
  return current_context() ? load_file(module, path) : no_context();
}
KERNELCAST_CUDA_EXPORT Code cuModuleUnload(Module module) {
  return of_module(module, [&](Registry& registry, emu::Memory&) {
    registry.remove_program(*module);
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cuModuleGetLoadingMode(int* mode) {
  if (!mode) return Code::invalid_value;
  *mode = 2;  // lazy: else the runtime inside an application would load what it never uses
  return Code::success;
}
KERNELCAST_CUDA_EXPORT Code cuModuleGetFunction(Function* out, Module module, char const* name) {
  return of_module(module, [&](Registry& registry, emu::Memory&) {
    if (!out || !name) return Code::invalid_value;
    *out = registry.find_kernel(*module, name);
    return *out ? Code::success : Code::symbol_not_found;
  });
}
KERNELCAST_CUDA_EXPORT Code cuModuleGetFunctionCount(unsigned* count, Module module) {
  return of_module(module, [&](Registry&, emu::Memory&) {
    if (!count) return Code::invalid_value;
    *count = static_cast<unsigned>(kernels_of(*module).size());
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cuModuleEnumerateFunctions(Function* out, unsigned count, Module module) {
  return of_module(module, [&](Registry& registry, emu::Memory&) {
    if (!out) return Code::invalid_value;
    auto const names = kernels_of(*module);
    for (std::size_t k = 0; k < std::min<std::size_t>(count, names.size()); ++k)
      out[k] = registry.find_kernel(*module, names[k]);
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cuModuleGetGlobal_v2(Pointer* address, std::size_t* bytes, Module module,
                                                 char const* name) {
  return of_module(module, [&](Registry&, emu::Memory& memory) {
    if (!name) return Code::invalid_value;
    // libgomp asks for it where a program has regions of the host within those of the device, which a kernel waits for.
    if (std::string_view(name) == "__gomp_rev_offload_var")
      return cudart::unsupported("reverse offload of OpenMP (target device(ancestor: 1))");
    auto const& variables = module->module->variables;
    auto const found = std::find_if(variables.begin(), variables.end(), [&](auto const& v) { return v.name == name; });
    if (found == variables.end()) return Code::symbol_not_found;
    if (address) *address = memory.address_of(*module->module, found->name);
    if (bytes) *bytes = found->size;
    return Code::success;
  });
}

KERNELCAST_CUDA_EXPORT Code cuLibraryLoadData(Module* library, void const* code, int*, void**, unsigned, int*, void**,
                                              unsigned) {
  return load(library, code);
}
KERNELCAST_CUDA_EXPORT Code cuLibraryLoadFromFile(Module* library, char const* path, int*, void**, unsigned, int*,
                                                  void**, unsigned) {
  return load_file(library, path);
}
KERNELCAST_CUDA_ALIAS(cuModuleUnload, cuLibraryUnload)
KERNELCAST_CUDA_EXPORT Code cuLibraryGetKernel(Function* out, Module library, char const* name) {
  auto const code = cuModuleGetFunction(out, library, name);
  if (code == Code::success) (*out)->of_library = true;
  return code;
}
KERNELCAST_CUDA_ALIAS(cuModuleGetFunctionCount, cuLibraryGetKernelCount)
KERNELCAST_CUDA_ALIAS(cuModuleEnumerateFunctions, cuLibraryEnumerateKernels)
KERNELCAST_CUDA_EXPORT Code cuLibraryGetModule(Module* module, Module library) {
  return of_module(library, [&](Registry&, emu::Memory&) {
    if (!module) return Code::invalid_value;
    *module = library;
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cuLibraryGetGlobal(Pointer* address, std::size_t* bytes, Module library, char const* name) {
  return cuModuleGetGlobal_v2(address, bytes, library, name);
}
KERNELCAST_CUDA_ALIAS(cuLibraryGetGlobal, cuLibraryGetManaged)

// ---------------------------------------------------------------- functions

KERNELCAST_CUDA_EXPORT Code cuKernelGetFunction(Function* function, Function kernel) {
  return call_in_context([&](Registry& registry) {
    if (!function) return Code::invalid_value;
    *function = registry.kernel(kernel);
    return *function ? Code::success : Code::invalid_resource_handle;
  });
}
KERNELCAST_CUDA_EXPORT Code cuFuncGetModule(Module* module, Function function) {
  return of_function(function, [&](cudart::Kernel& kernel, device::Device const&) {
    if (!module) return Code::invalid_value;
    *module = kernel.program;
    return Code::success;
  });
}
KERNELCAST_CUDA_ALIAS(cuFuncGetModule, cuKernelGetLibrary)
KERNELCAST_CUDA_EXPORT Code cuFuncLoad(Function function) {
  return of_function(function, [](cudart::Kernel&, device::Device const&) { return Code::success; });
}
KERNELCAST_CUDA_EXPORT Code cuFuncIsLoaded(int* state, Function function) {
  return of_function(function, [&](cudart::Kernel&, device::Device const&) {
    if (!state) return Code::invalid_value;
    *state = 1;
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cuFuncGetParamInfo(Function function, std::size_t index, std::size_t* offset,
                                               std::size_t* size) {
  return of_function(function, [&](cudart::Kernel& kernel, device::Device const&) {
    auto const& parameters = kernel.function->parameters;
    if (!offset || index >= parameters.size()) return Code::invalid_value;
    *offset = parameters[index].offset;
    if (size) *size = parameters[index].size;
    return Code::success;
  });
}
KERNELCAST_CUDA_ALIAS(cuFuncGetParamInfo, cuKernelGetParamInfo)

KERNELCAST_OF_RUNTIME(cudaFuncGetAttributes, cudart::FunctionAttributes*, void const*);
KERNELCAST_CUDA_EXPORT Code cuFuncGetAttribute(int* value, int attribute, Function function) {
  if (!value) return Code::invalid_value;
  cudart::FunctionAttributes all{};
  auto const code =
      current_context() ? of_runtime_call([&] { return cudaFuncGetAttributes(&all, function); }) : no_context();
  if (code != Code::success) return code;
  int const values[] = {all.max_threads_per_block,
                        static_cast<int>(all.shared_bytes),
                        static_cast<int>(all.constant_bytes),
                        static_cast<int>(all.local_bytes),
                        all.registers,
                        all.ptx_version,
                        all.binary_version,
                        all.cache_mode_ca,
                        all.max_dynamic_shared_bytes,
                        all.preferred_carveout,
                        all.cluster_must_be_set,
                        all.cluster_width,
                        all.cluster_height,
                        all.cluster_depth,
                        all.nonportable_cluster,
                        all.cluster_policy};
  if (attribute < 0 || attribute >= static_cast<int>(std::size(values))) return Code::invalid_value;
  *value = values[attribute];
  return Code::success;
}
KERNELCAST_CUDA_EXPORT Code cuKernelGetAttribute(int* value, int attribute, Function kernel, Device) {
  return cuFuncGetAttribute(value, attribute, kernel);
}
extern "C" Code cuFuncSetAttribute(Function, FunctionAttribute, int);
KERNELCAST_CUDA_EXPORT Code cuKernelSetAttribute(FunctionAttribute attribute, int value, Function kernel, Device) {
  return cuFuncSetAttribute(kernel, attribute, value);
}
KERNELCAST_CUDA_EXPORT Code cuKernelSetCacheConfig(Function kernel, int, Device) {
  return cuFuncLoad(kernel);
}

// The largest multiple of a warp with which the most work-items are resident.
KERNELCAST_CUDA_EXPORT Code cuOccupancyMaxPotentialBlockSizeWithFlags(int* min_grid, int* block, Function function,
                                                                      std::size_t (*shared_of)(int),
                                                                      std::size_t shared_bytes, int limit, unsigned) {
  return of_function(function, [&](cudart::Kernel& kernel, device::Device const& device) {
    if (!min_grid || !block) return Code::invalid_value;
    auto const most = cudart::max_work_items(device, kernel);
    auto const warp = device.wave_width.value_or(32);
    auto const largest = limit > 0 ? std::min<std::uint64_t>(most, static_cast<std::uint64_t>(limit)) : most;
    std::uint64_t best = 0;
    *min_grid = *block = 0;
    for (auto size = largest; size > 0; size = size > warp ? (size - 1) / warp * warp : 0) {
      auto const shared = shared_of ? shared_of(static_cast<int>(size)) : shared_bytes;
      auto const groups = cudart::groups_per_unit(device, kernel, size, shared);
      if (groups * size <= best) continue;
      best = groups * size;
      *block = static_cast<int>(size);
      *min_grid = static_cast<int>(groups * device.compute_units.value_or(1));
    }
    return best ? Code::success : Code::invalid_value;
  });
}
KERNELCAST_CUDA_EXPORT Code cuOccupancyMaxPotentialBlockSize(int* min_grid, int* block, Function function,
                                                             std::size_t (*shared_of)(int), std::size_t shared_bytes,
                                                             int limit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(min_grid, block, function, shared_of, shared_bytes, limit, 0);
}

// ---------------------------------------------------------------- linking

KERNELCAST_CUDA_EXPORT Code cuLinkCreate_v2(unsigned count, int const* options, void* const* values, Link** out) {
  constexpr int max_registers = 0;  // CU_JIT_MAX_REGISTERS
  return call_in_context([&]() {
    if (!out || (count > 0 && (!options || !values))) return Code::invalid_value;
    auto made = std::make_unique<Link>();
    for (unsigned o = 0; o < count; ++o)
      if (options[o] == max_registers)
        made->max_registers = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(values[o]));
    *out = made.get();
    links().emplace(*out, std::move(made));
    return Code::success;
  });
}
KERNELCAST_CUDA_ALIAS(cuLinkCreate_v2, cuLinkCreate)
KERNELCAST_CUDA_EXPORT Code cuLinkAddData_v2(Link* link, JitInput kind, void* data, std::size_t size, char const* name,
                                             unsigned, int*, void**) {
  return call_in_context([&](cudart::Devices const& devices) {
    if (!links().contains(link)) return Code::invalid_resource_handle;
    if (!data) return Code::invalid_value;
    if (kind >= JitInput::intermediate) return cudart::unsupported("cuLinkAddData of what is not compiled to PTX");
    return add_part(*link, static_cast<PartKind>(kind), data, size, name, cudart::capability(devices.current()));
  });
}
KERNELCAST_CUDA_ALIAS(cuLinkAddData_v2, cuLinkAddData)
KERNELCAST_CUDA_EXPORT Code cuLinkAddFile_v2(Link* link, JitInput kind, char const* path, unsigned count, int* options,
                                             void** values) {
  auto content = content_of(path);
  if (!content) return Code::file_not_found;
  return cuLinkAddData_v2(link, kind, content->data(), content->size(), path, count, options, values);
}
KERNELCAST_CUDA_ALIAS(cuLinkAddFile_v2, cuLinkAddFile)
KERNELCAST_CUDA_EXPORT Code cuLinkComplete(Link* link, void const** out, std::size_t* size) {
  return call_in_context([&]() {
    if (!links().contains(link)) return Code::invalid_resource_handle;
    if (!out || link->parts.empty()) return Code::invalid_value;
    complete(*link);
    *out = link->linked.c_str();
    if (size) *size = link->linked.size() + 1;
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cuLinkDestroy(Link* link) {
  // Whatever a kernel has done before: applications do this in destructors, and end with its error.
  return cudart::locked([&]() { return links().erase(link) ? Code::success : Code::invalid_resource_handle; });
}
