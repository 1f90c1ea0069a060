// Launches, and queries and settings of kernels.
#include "runtimes/cudart/launch.hpp"
#include "runtimes/cudart/call.hpp"
#include "runtimes/cudart/graphs.hpp"

using namespace kernelcast::cudart;

namespace {

Code launch_by(void const* function, LaunchRequest const& request) {
  return call([&](Graphs& graphs, Registry& registry, Launcher& launcher) {
    auto* const kernel = registry.kernel(function);
    return kernel ? launch_or_capture(graphs, registry, launcher, *kernel, request) : Code::invalid_device_function;
  });
}

}  // namespace

KERNELCAST_CUDA_EXPORT Code cudaLaunchKernel(void const* function, Dim3 grid, Dim3 block, void** arguments,
                                             std::size_t shared_bytes, Stream stream) {
  return launch_by(function, {grid, block, arguments, shared_bytes, stream, false});
}
KERNELCAST_CUDA_ALIAS(cudaLaunchKernel, cudaLaunchKernel_ptsz)
KERNELCAST_CUDA_ALIAS(cudaLaunchKernel, __cudaLaunchKernel)
KERNELCAST_CUDA_ALIAS(cudaLaunchKernel, __cudaLaunchKernel_ptsz)

KERNELCAST_CUDA_EXPORT Code cudaLaunchCooperativeKernel(void const* function, Dim3 grid, Dim3 block, void** arguments,
                                                        std::size_t shared_bytes, Stream stream) {
  return launch_by(function, {grid, block, arguments, shared_bytes, stream, true});
}
KERNELCAST_CUDA_ALIAS(cudaLaunchCooperativeKernel, cudaLaunchCooperativeKernel_ptsz)

KERNELCAST_CUDA_EXPORT Code cudaLaunchKernelExC(LaunchConfiguration const* given, void const* function,
                                                void** arguments) {
  if (!given) return remembered(Code::invalid_value);
  return launch_by(function, request_of(*given, arguments));
}
KERNELCAST_CUDA_ALIAS(cudaLaunchKernelExC, cudaLaunchKernelExC_ptsz)
