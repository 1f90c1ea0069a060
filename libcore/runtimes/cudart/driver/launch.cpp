// Launches.
#include "runtimes/cudart/launch.hpp"

#include <optional>
#include <vector>

#include "runtimes/cudart/driver/call.hpp"
#include "runtimes/cudart/graphs.hpp"

using namespace kernelcast;
using namespace kernelcast::driver;
using cudart::LaunchRequest;

namespace {

// Of arguments in one piece: how many bytes it has, CU_LAUNCH_PARAM_BUFFER_SIZE (2) and where that is.
std::size_t packed_bytes(void** extra) {
  for (; extra && *extra; extra += 2)
    if (reinterpret_cast<std::uintptr_t>(*extra) == 2) return *static_cast<std::size_t*>(extra[1]);
  return 0;
}

// The runtime of CUDA 13 inside an application passes on what the driver says of a kernel that it has from a library.
Code start(Function function, LaunchRequest request, void** extra) {
  // A stream of the application's knows its context: libomptarget's threads for tasks launch without one.
  auto const* const context = current_context();
  if (!context && cudart::Streams::is_default(request.stream)) return no_context();
  bool of_library = false;
  auto const body = [&](cudart::Graphs& graphs, cudart::Registry& registry, cudart::Launcher& launcher,
                        cudart::Streams const& streams) {
    if (!context && streams.known(request.stream)) cudart::current_device() = request.stream->device;
    auto* const kernel = registry.kernel(function);
    if (!kernel) return Code::invalid_resource_handle;
    if (request.arguments && extra) return Code::invalid_value;
    std::vector<void*> pointers;
    if (auto* const packed = request.arguments ? nullptr : cudart::packed_arguments(extra)) {
      if (auto const failure = registry.prepare(*kernel); failure != Code::success) return failure;
      if (packed_bytes(extra) < kernel->function->parameter_bytes) return Code::invalid_value;
      for (auto const& parameter : kernel->function->parameters) pointers.push_back(packed + parameter.offset);
      request.arguments = pointers.data();
    }
    of_library = kernel->of_library;
    return launch_or_capture(graphs, registry, launcher, *kernel, request);
  };
  cudart::LastErrorKept const kept;
  auto const code = cudart::call(body);
  return of_library && code == Code::invalid_configuration ? code : of_runtime(code);
}

}  // namespace

KERNELCAST_CUDA_EXPORT Code cuLaunchKernel(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                           unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                           Stream stream, void** arguments, void** extra) {
  return start(function,
               {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, arguments, shared_bytes, stream, false}, extra);
}
KERNELCAST_CUDA_ALIAS(cuLaunchKernel, cuLaunchKernel_ptsz)

KERNELCAST_CUDA_EXPORT Code cuLaunchCooperativeKernel(Function function, unsigned grid_x, unsigned grid_y,
                                                      unsigned grid_z, unsigned block_x, unsigned block_y,
                                                      unsigned block_z, unsigned shared_bytes, Stream stream,
                                                      void** arguments) {
  return start(function, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, arguments, shared_bytes, stream, true},
               nullptr);
}
KERNELCAST_CUDA_ALIAS(cuLaunchCooperativeKernel, cuLaunchCooperativeKernel_ptsz)

KERNELCAST_CUDA_EXPORT Code cuLaunchKernelEx(LaunchConfiguration const* given, Function function, void** arguments,
                                             void** extra) {
  if (!given) return Code::invalid_value;
  return start(function, cudart::request_of(*given, arguments), extra);
}
KERNELCAST_CUDA_ALIAS(cuLaunchKernelEx, cuLaunchKernelEx_ptsz)

namespace {

cudart::LaunchConfiguration of_driver(LaunchConfiguration const& given) {
  return {given.grid, given.block, given.shared_bytes, given.stream, given.attributes, given.attribute_count};
}

}  // namespace

KERNELCAST_OF_RUNTIME(cudaOccupancyMaxActiveClusters, int*, void const*, cudart::LaunchConfiguration const*);
KERNELCAST_CUDA_EXPORT Code cuOccupancyMaxActiveClusters(int* clusters, Function function,
                                                         LaunchConfiguration const* given) {
  if (!current_context()) return no_context();
  if (!given) return Code::invalid_value;
  auto const configuration = of_driver(*given);
  return of_runtime_call([&] { return cudaOccupancyMaxActiveClusters(clusters, function, &configuration); });
}
KERNELCAST_OF_RUNTIME(cudaOccupancyMaxPotentialClusterSize, int*, void const*, cudart::LaunchConfiguration const*);
KERNELCAST_CUDA_EXPORT Code cuOccupancyMaxPotentialClusterSize(int* size, Function function,
                                                               LaunchConfiguration const* given) {
  if (!current_context()) return no_context();
  if (!given) return Code::invalid_value;
  auto const configuration = of_driver(*given);
  return of_runtime_call([&] { return cudaOccupancyMaxPotentialClusterSize(size, function, &configuration); });
}
