// Queries and settings of kernels, and how many groups of one a compute unit holds.
#include <algorithm>

#include "runtimes/cudart/call.hpp"
#include "runtimes/cudart/devices.hpp"
#include "runtimes/cudart/launch.hpp"
#include "runtimes/cudart/occupancy.hpp"
#include "runtimes/cudart/registry.hpp"

using namespace kernelcast;
using namespace kernelcast::cudart;

namespace {

// A call about a kernel that is there and can be run.
template <class Body>
Code about(void const* function, Body body) {
  return call([&](Registry& registry, Devices const& devices) {
    auto* const kernel = registry.kernel(function);
    if (!kernel) return Code::invalid_device_function;
    auto const failure = registry.prepare(*kernel);
    return failure == Code::success ? body(devices.current(), *kernel) : failure;
  });
}

}  // namespace

KERNELCAST_CUDA_EXPORT Code cudaFuncGetAttributes(FunctionAttributes* out, void const* function) {
  return about(function, [&](device::Device const& device, Kernel& kernel) {
    *out = {};
    out->shared_bytes = kernel.ready->static_shared_bytes();
    for (auto const& variable : kernel.program->module->variables)
      if (variable.space == ptx::StateSpace::constant) out->constant_bytes += variable.size;
    for (auto const& variable : kernel.function->variables)
      if (variable.space == ptx::StateSpace::local) out->local_bytes += variable.size;
    out->max_threads_per_block = static_cast<int>(max_resident_work_items(device, kernel));
    out->registers = static_cast<int>(registers_of(device, kernel));
    auto const& targets = kernel.program->module->targets;
    auto const target = targets.empty() ? std::string_view{} : targets.front();
    auto const digits = target.find_first_of("0123456789");
    out->ptx_version = digits == target.npos ? 0 : std::atoi(std::string(target.substr(digits)).c_str());
    out->binary_version = static_cast<int>(capability(device));
    out->max_dynamic_shared_bytes = static_cast<int>(
        kernel.max_dynamic_shared_bytes - std::min<std::uint64_t>(kernel.max_dynamic_shared_bytes, out->shared_bytes));
    out->preferred_carveout = kernel.carveout;
    return Code::success;
  });
}

KERNELCAST_CUDA_EXPORT Code cudaFuncSetAttribute(void const* function, FunctionAttribute attribute, int value) {
  return about(function, [&](device::Device const& device, Kernel& kernel) {
    switch (attribute) {
      case FunctionAttribute::max_dynamic_shared_bytes:
        if (value < 0 ||
            static_cast<std::uint64_t>(value) + kernel.ready->static_shared_bytes() > max_shared_bytes(device))
          return Code::invalid_value;
        kernel.max_dynamic_shared_bytes = static_cast<std::uint64_t>(value);
        return Code::success;
      case FunctionAttribute::preferred_carveout:
        kernel.carveout = value;
        return value >= -1 && value <= 100 ? Code::success : Code::invalid_value;
      // Clusters are of one group: how larger ones are scheduled makes no difference.
      case FunctionAttribute::nonportable_cluster:
      case FunctionAttribute::cluster_policy:
        return value >= 0 && value <= 2 ? Code::success : Code::invalid_value;
      case FunctionAttribute::cluster_width:
      case FunctionAttribute::cluster_height:
      case FunctionAttribute::cluster_depth:
        if (value == 0 || value == 1) return Code::success;
        [[fallthrough]];
      case FunctionAttribute::cluster_must_be_set:
        return unsupported("cudaFuncSetAttribute of clusters");
      default:  // of later versions of CUDA
        return Code::invalid_value;
    }
  });
}

KERNELCAST_CUDA_EXPORT Code cudaFuncSetCacheConfig(void const* function, int) {
  return call(
      [&](Registry& registry) { return registry.kernel(function) ? Code::success : Code::invalid_device_function; });
}
KERNELCAST_CUDA_EXPORT Code cudaFuncSetSharedMemConfig(void const* function, int) {
  return cudaFuncSetCacheConfig(function, 0);
}

KERNELCAST_CUDA_EXPORT Code cudaFuncGetName(char const** name, void const* function) {
  return call([&](Registry& registry) {
    auto* const kernel = registry.kernel(function);
    if (!name || !kernel) return name ? Code::invalid_device_function : Code::invalid_value;
    *name = kernel->name.c_str();
    return Code::success;
  });
}

KERNELCAST_CUDA_EXPORT Code cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* groups, void const* function,
                                                                                   int block, std::size_t shared_bytes,
                                                                                   unsigned) {
  return about(function, [&](device::Device const& device, Kernel& kernel) {
    if (!groups || block <= 0) return Code::invalid_value;
    *groups = static_cast<int>(groups_per_unit(device, kernel, static_cast<std::uint64_t>(block), shared_bytes));
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* groups, void const* function, int block,
                                                                          std::size_t shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(groups, function, block, shared_bytes, 0);
}

// Of one cluster all groups fit on the device, wherever its compute units are.
KERNELCAST_CUDA_EXPORT Code cudaOccupancyMaxActiveClusters(int* clusters, void const* function,
                                                           LaunchConfiguration const* given) {
  return about(function, [&](device::Device const& device, Kernel& kernel) {
    if (!clusters || !given) return Code::invalid_value;
    auto const request = request_of(*given, nullptr);
    std::uint64_t const items = std::uint64_t{request.block.x} * request.block.y * request.block.z;
    std::uint64_t const size = std::uint64_t{request.cluster.x} * request.cluster.y * request.cluster.z;
    if (items == 0 || size == 0) return Code::invalid_configuration;
    *clusters = static_cast<int>(groups_per_unit(device, kernel, items, request.shared_bytes) *
                                 device.compute_units.value_or(1) / size);
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cudaOccupancyMaxPotentialClusterSize(int* size, void const* function,
                                                                 LaunchConfiguration const* given) {
  constexpr int portable = 8;
  int clusters = 0;
  auto const code = cudaOccupancyMaxActiveClusters(&clusters, function, given);
  if (!size) return Code::invalid_value;
  if (code == Code::success) *size = clusters > 0 ? portable : 0;
  return code;
}

// The most with which so many groups still fit.
KERNELCAST_CUDA_EXPORT Code cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* bytes, void const* function,
                                                                      int groups, int block) {
  return about(function, [&](device::Device const& device, Kernel& kernel) {
    if (!bytes || groups <= 0 || block <= 0) return Code::invalid_value;
    auto const items = static_cast<std::uint64_t>(block), wanted = static_cast<std::uint64_t>(groups);
    std::uint64_t fits = 0, too_much = max_shared_bytes(device) + 1;
    if (groups_per_unit(device, kernel, items, 0) < wanted) return Code::invalid_value;
    while (too_much - fits > 1) {
      auto const middle = (fits + too_much) / 2;
      (groups_per_unit(device, kernel, items, middle) >= wanted ? fits : too_much) = middle;
    }
    *bytes = fits;
    return Code::success;
  });
}
