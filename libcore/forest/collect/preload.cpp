// The functions of the CUDA runtime that an application measured by mangrove collect calls here first (LD_PRELOAD).
//
// Programs register kernels and variables, allocate memory and launch; everything else goes to the runtime untouched.
// Works with the shared runtime (nvcc -cudart shared); the static one calls these functions within itself.
#include "forest/collect/session.hpp"

using namespace kernelcast::forest::collect;

namespace {

template <class Function>
Function* next(Function*, char const* name) {
  return reinterpret_cast<Function*>(kernelcast::flux::runtime::find(name));
}

}  // namespace

// The function of this name that comes after us.
#define NEXT(function) static auto* const real = next(&function, #function)
#define KERNELCAST_EXPORT extern "C" __attribute__((visibility("default")))

KERNELCAST_EXPORT void __cudaRegisterFunction(void** handle, char const* host, char* device, char const* name,
                                              int thread_limit, void* tid, void* bid, void* block, void* grid,
                                              int* warp_size) {
  NEXT(__cudaRegisterFunction);
  real(handle, host, device, name, thread_limit, tid, bid, block, grid, warp_size);
  Session::get().add_kernel(host, name);
}

KERNELCAST_EXPORT void __cudaRegisterVar(void** handle, char* host, char* device, char const* name, int is_external,
                                         std::size_t bytes, int is_constant, int is_global) {
  NEXT(__cudaRegisterVar);
  real(handle, host, device, name, is_external, bytes, is_constant, is_global);
  if (!is_constant) Session::get().add_variable(host, bytes);
}

KERNELCAST_EXPORT Code __cudaGetKernel(Kernel* kernel, void const* host) {
  NEXT(__cudaGetKernel);
  auto const result = real(kernel, host);
  if (result == 0) Session::get().add_handle(*kernel, host);
  return result;
}

// ---------------------------------------------------------------- memory

KERNELCAST_EXPORT Code cudaMalloc(void** at, std::size_t bytes) {
  NEXT(cudaMalloc);
  auto const result = real(at, bytes);
  if (result == 0) Session::get().allocated(*at, bytes, false);
  return result;
}
KERNELCAST_EXPORT Code cudaMallocManaged(void** at, std::size_t bytes, unsigned flags) {
  NEXT(cudaMallocManaged);
  auto const result = real(at, bytes, flags);
  if (result == 0) Session::get().allocated(*at, bytes, false);
  return result;
}
KERNELCAST_EXPORT Code cudaMallocPitch(void** at, std::size_t* pitch, std::size_t width, std::size_t height) {
  NEXT(cudaMallocPitch);
  auto const result = real(at, pitch, width, height);
  if (result == 0) Session::get().allocated(*at, *pitch * height, false);
  return result;
}
#define KERNELCAST_MALLOC_ASYNC(name)                                        \
  KERNELCAST_EXPORT Code name(void** at, std::size_t bytes, Stream stream) { \
    NEXT(name);                                                              \
    auto const result = real(at, bytes, stream);                             \
    if (result == 0) Session::get().allocated(*at, bytes, false);            \
    return result;                                                           \
  }
KERNELCAST_MALLOC_ASYNC(cudaMallocAsync)
KERNELCAST_MALLOC_ASYNC(cudaMallocAsync_ptsz)
KERNELCAST_EXPORT Code cudaMallocHost(void** at, std::size_t bytes) {
  NEXT(cudaMallocHost);
  auto const result = real(at, bytes);
  if (result == 0) Session::get().allocated(*at, bytes, true);
  return result;
}
KERNELCAST_EXPORT Code cudaHostAlloc(void** at, std::size_t bytes, unsigned flags) {
  NEXT(cudaHostAlloc);
  auto const result = real(at, bytes, flags);
  if (result == 0) Session::get().allocated(*at, bytes, true);
  return result;
}
#define KERNELCAST_FREE(name)             \
  KERNELCAST_EXPORT Code name(void* at) { \
    NEXT(name);                           \
    Session::get().freed(at);             \
    return real(at);                      \
  }
KERNELCAST_FREE(cudaFree)
KERNELCAST_FREE(cudaFreeHost)
#define KERNELCAST_FREE_ASYNC(name)                      \
  KERNELCAST_EXPORT Code name(void* at, Stream stream) { \
    NEXT(name);                                          \
    Session::get().freed(at);                            \
    return real(at, stream);                             \
  }
KERNELCAST_FREE_ASYNC(cudaFreeAsync)
KERNELCAST_FREE_ASYNC(cudaFreeAsync_ptsz)

// ---------------------------------------------------------------- launches

#define KERNELCAST_LAUNCH(name)                                                                              \
  KERNELCAST_EXPORT Code name(void const* host, Dim3 grid, Dim3 block, void** arguments, std::size_t shared, \
                              Stream stream) {                                                               \
    NEXT(name);                                                                                              \
    return Session::get().launch(host, grid, block, stream,                                                  \
                                 [&] { return real(host, grid, block, arguments, shared, stream); });        \
  }
KERNELCAST_LAUNCH(cudaLaunchKernel)
KERNELCAST_LAUNCH(cudaLaunchKernel_ptsz)
KERNELCAST_LAUNCH(cudaLaunchCooperativeKernel)
KERNELCAST_LAUNCH(cudaLaunchCooperativeKernel_ptsz)

#define KERNELCAST_LAUNCH_HANDLE(name)                                                                    \
  KERNELCAST_EXPORT Code name(Kernel kernel, Dim3 grid, Dim3 block, void** arguments, std::size_t shared, \
                              Stream stream) {                                                            \
    NEXT(name);                                                                                           \
    return Session::get().launch(Session::get().host_function_of(kernel), grid, block, stream,            \
                                 [&] { return real(kernel, grid, block, arguments, shared, stream); });   \
  }
KERNELCAST_LAUNCH_HANDLE(__cudaLaunchKernel)
KERNELCAST_LAUNCH_HANDLE(__cudaLaunchKernel_ptsz)

#define KERNELCAST_LAUNCH_CONFIG(name)                                                          \
  KERNELCAST_EXPORT Code name(LaunchConfig const* config, void const* host, void** arguments) { \
    NEXT(name);                                                                                 \
    return Session::get().launch(host, config->grid, config->block, config->stream,             \
                                 [&] { return real(config, host, arguments); });                \
  }
KERNELCAST_LAUNCH_CONFIG(cudaLaunchKernelExC)
KERNELCAST_LAUNCH_CONFIG(cudaLaunchKernelExC_ptsz)
