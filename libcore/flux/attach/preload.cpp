// The functions of the CUDA runtime that an attached application calls here first (LD_PRELOAD).
//
// Programs register their fat binaries and kernels, then launch; everything else goes to the runtime untouched. Works
// with the shared runtime (nvcc -cudart shared); the static one calls these functions within itself. Compiled with
// KERNELCAST_FLUX_PREFIXED the functions have a prefix, and calls are redirected by the compiler (../../llvm/flux).
#include <cstddef>
#include <cstdlib>

#include "flux/attach/session.hpp"

using namespace kernelcast::flux;
using attach::Session;
using runtime::Dim3;
using runtime::Error;
using runtime::Stream;

namespace {

template <class Function>
Function* next(Function*, char const* name) {
  return reinterpret_cast<Function*>(runtime::find(name));
}

void end_session() {
  Session::get().end();
}

}  // namespace

// The function of this name that comes after us.
#define NEXT(function) static auto* const real = next(&OURS(function), #function)

#ifdef KERNELCAST_FLUX_PREFIXED
#define OURS(function) kernelcast_flux_##function
#else
#define OURS(function) function
#endif

#define KERNELCAST_EXPORT extern "C" __attribute__((visibility("default")))

KERNELCAST_EXPORT void** OURS(__cudaRegisterFatBinary)(void* given) {
  NEXT(__cudaRegisterFatBinary);
  static bool const at_exit = std::atexit(end_session) == 0;
  static_cast<void>(at_exit);
  auto const* const wrapper = static_cast<runtime::FatbinWrapper const*>(given);
  auto* const replaced = const_cast<runtime::FatbinWrapper*>(Session::get().replace(wrapper));
  void** const handle = real(replaced);
  Session::get().registered(handle, wrapper);
  return handle;
}

KERNELCAST_EXPORT void OURS(__cudaUnregisterFatBinary)(void** handle) {
  NEXT(__cudaUnregisterFatBinary);
  Session::get().end();  // the runtime still works
  real(handle);
}

KERNELCAST_EXPORT void OURS(__cudaRegisterFunction)(void** handle, char const* host, char* device, char const* name,
                                                    int thread_limit, void* tid, void* bid, void* block, void* grid,
                                                    int* warp_size) {
  NEXT(__cudaRegisterFunction);
  real(handle, host, device, name, thread_limit, tid, bid, block, grid, warp_size);
  Session::get().add_kernel(handle, host, name);
}

KERNELCAST_EXPORT Error OURS(__cudaGetKernel)(runtime::Kernel* kernel, void const* host) {
  NEXT(__cudaGetKernel);
  auto const result = real(kernel, host);
  if (result == 0) Session::get().add_handle(*kernel, host);
  return result;
}

#define KERNELCAST_LAUNCH(name)                                                                                       \
  KERNELCAST_EXPORT Error OURS(name)(void const* host, Dim3 grid, Dim3 block, void** arguments, std::size_t shared,   \
                                     Stream stream) {                                                                 \
    NEXT(name);                                                                                                       \
    return Session::get().launch(host, grid, block, arguments, shared, stream,                                        \
                                 [&](void** extended) { return real(host, grid, block, extended, shared, stream); }); \
  }
KERNELCAST_LAUNCH(cudaLaunchKernel)
KERNELCAST_LAUNCH(cudaLaunchKernel_ptsz)
KERNELCAST_LAUNCH(cudaLaunchCooperativeKernel)
KERNELCAST_LAUNCH(cudaLaunchCooperativeKernel_ptsz)

#define KERNELCAST_LAUNCH_HANDLE(name)                                                                \
  KERNELCAST_EXPORT Error OURS(name)(runtime::Kernel kernel, Dim3 grid, Dim3 block, void** arguments, \
                                     std::size_t shared, Stream stream) {                             \
    NEXT(name);                                                                                       \
    auto const* const host = Session::get().host_function_of(kernel);                                 \
    return Session::get().launch(host, grid, block, arguments, shared, stream, [&](void** extended) { \
      return real(kernel, grid, block, extended, shared, stream);                                     \
    });                                                                                               \
  }
KERNELCAST_LAUNCH_HANDLE(__cudaLaunchKernel)
KERNELCAST_LAUNCH_HANDLE(__cudaLaunchKernel_ptsz)

#define KERNELCAST_LAUNCH_CONFIG(name)                                                                     \
  KERNELCAST_EXPORT Error OURS(name)(runtime::LaunchConfig const* c, void const* host, void** arguments) { \
    NEXT(name);                                                                                            \
    return Session::get().launch(host, c->grid, c->block, arguments, c->shared_bytes, c->stream,           \
                                 [&](void** extended) { return real(c, host, extended); });                \
  }
KERNELCAST_LAUNCH_CONFIG(cudaLaunchKernelExC)
KERNELCAST_LAUNCH_CONFIG(cudaLaunchKernelExC_ptsz)

KERNELCAST_EXPORT Error OURS(cudaGraphAddKernelNode)(void** node, void* graph, void* const* before, std::size_t count,
                                                     runtime::KernelNodeParams const* given) {
  NEXT(cudaGraphAddKernelNode);
  auto parameters = *given;
  auto arguments =
      Session::get().node_arguments(given->function, given->grid, given->block, given->parameters, given->shared_bytes);
  if (!arguments.empty()) parameters.parameters = arguments.data();
  return real(node, graph, before, count, &parameters);
}
