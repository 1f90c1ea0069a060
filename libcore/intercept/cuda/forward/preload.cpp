// The calls that are observed on their way to the application's runtime.
#include "intercept/cuda/forward/next.hpp"
#include "intercept/cuda/forward/watch.hpp"

using namespace kernelcast::cudart;
using forward::Watch;

// The function of this name that comes after us.
#define NEXT(function) static auto* const real = forward::next(&function, #function)

KERNELCAST_CUDA_EXPORT void** __cudaRegisterFatBinary(void* wrapper) {
  NEXT(__cudaRegisterFatBinary);
  void** const handle = real(wrapper);
  Watch::get().add_program(handle, static_cast<FatbinWrapper*>(wrapper)->data);
  return handle;
}

KERNELCAST_CUDA_EXPORT void __cudaRegisterFunction(void** handle, char const* host, char* device, char const* name,
                                                   int thread_limit, void* tid, void* bid, void* block, void* grid,
                                                   int* warp_size) {
  NEXT(__cudaRegisterFunction);
  real(handle, host, device, name, thread_limit, tid, bid, block, grid, warp_size);
  Watch::get().add_kernel(handle, host, name);
}

KERNELCAST_CUDA_EXPORT void __cudaRegisterVar(void** handle, char* host, char* device, char const* name, int external,
                                              std::size_t bytes, int constant, int global) {
  NEXT(__cudaRegisterVar);
  real(handle, host, device, name, external, bytes, constant, global);
  Watch::get().add_symbol(handle, host, name, bytes);
}

KERNELCAST_CUDA_EXPORT Code __cudaGetKernel(void const** kernel, void const* host) {
  NEXT(__cudaGetKernel);
  auto const code = real(kernel, host);
  if (code == Code::success) Watch::get().add_handle(*kernel, host);
  return code;
}

#define KERNELCAST_LAUNCH(function)                                                                 \
  KERNELCAST_CUDA_EXPORT Code function(void const* kernel, Dim3 grid, Dim3 block, void** arguments, \
                                       std::size_t shared, Stream stream) {                         \
    NEXT(function);                                                                                 \
    auto const passing = Watch::get().begin(kernel, {{grid, block, shared}, arguments, stream});    \
    auto const code = real(kernel, grid, block, arguments, shared, stream);                         \
    Watch::get().end(passing, code);                                                                \
    return code;                                                                                    \
  }
KERNELCAST_LAUNCH(cudaLaunchKernel)
KERNELCAST_LAUNCH(cudaLaunchKernel_ptsz)
KERNELCAST_LAUNCH(__cudaLaunchKernel)
KERNELCAST_LAUNCH(__cudaLaunchKernel_ptsz)
KERNELCAST_LAUNCH(cudaLaunchCooperativeKernel)
KERNELCAST_LAUNCH(cudaLaunchCooperativeKernel_ptsz)

#define KERNELCAST_LAUNCH_CONFIGURED(function)                                                                     \
  KERNELCAST_CUDA_EXPORT Code function(LaunchConfiguration const* c, void const* kernel, void** arguments) {       \
    NEXT(function);                                                                                                \
    if (!c) return real(c, kernel, arguments);                                                                     \
    auto const passing = Watch::get().begin(kernel, {{c->grid, c->block, c->shared_bytes}, arguments, c->stream}); \
    auto const code = real(c, kernel, arguments);                                                                  \
    Watch::get().end(passing, code);                                                                               \
    return code;                                                                                                   \
  }
KERNELCAST_LAUNCH_CONFIGURED(cudaLaunchKernelExC)
KERNELCAST_LAUNCH_CONFIGURED(cudaLaunchKernelExC_ptsz)

#define KERNELCAST_ALLOCATE(function, of, parameters, arguments)                    \
  KERNELCAST_CUDA_EXPORT Code function parameters {                                 \
    NEXT(function);                                                                 \
    auto const code = real arguments;                                               \
    if (code == Code::success) Watch::get().add_memory(*out, bytes, Watch::Of::of); \
    return code;                                                                    \
  }
KERNELCAST_ALLOCATE(cudaMalloc, device, (void** out, std::size_t bytes), (out, bytes))
KERNELCAST_ALLOCATE(cudaMallocHost, host, (void** out, std::size_t bytes), (out, bytes))
KERNELCAST_ALLOCATE(cudaMallocManaged, managed, (void** out, std::size_t bytes, unsigned flags), (out, bytes, flags))
KERNELCAST_ALLOCATE(cudaHostAlloc, host, (void** out, std::size_t bytes, unsigned flags), (out, bytes, flags))
KERNELCAST_ALLOCATE(cudaMallocAsync, device, (void** out, std::size_t bytes, Stream stream), (out, bytes, stream))
KERNELCAST_ALLOCATE(cudaMallocAsync_ptsz, device, (void** out, std::size_t bytes, Stream stream), (out, bytes, stream))

KERNELCAST_CUDA_EXPORT Code cudaMallocPitch(void** out, std::size_t* pitch, std::size_t width, std::size_t height) {
  NEXT(cudaMallocPitch);
  auto const code = real(out, pitch, width, height);
  if (code == Code::success) Watch::get().add_memory(*out, *pitch * height, Watch::Of::device);
  return code;
}
KERNELCAST_CUDA_EXPORT Code cudaMalloc3D(PitchedPointer* out, Extent extent) {
  NEXT(cudaMalloc3D);
  auto const code = real(out, extent);
  if (code == Code::success)
    Watch::get().add_memory(out->pointer, out->pitch * extent.height * extent.depth, Watch::Of::device);
  return code;
}

#define KERNELCAST_FREE(function, parameters, arguments) \
  KERNELCAST_CUDA_EXPORT Code function parameters {      \
    NEXT(function);                                      \
    Watch::get().remove_memory(pointer);                 \
    return real arguments;                               \
  }
KERNELCAST_FREE(cudaFree, (void* pointer), (pointer))
KERNELCAST_FREE(cudaFreeHost, (void* pointer), (pointer))
KERNELCAST_FREE(cudaFreeAsync, (void* pointer, Stream stream), (pointer, stream))
KERNELCAST_FREE(cudaFreeAsync_ptsz, (void* pointer, Stream stream), (pointer, stream))
