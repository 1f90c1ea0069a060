// The functions of the CUDA runtime that an attached application calls here first (LD_PRELOAD).
//
// Programs register their fat binaries and kernels, then launch; everything else goes to the runtime untouched. Works
// with the shared runtime (nvcc -cudart shared); the static one calls these functions within itself. Compiled with
// KERNELCAST_FLUX_PREFIXED the functions have a prefix, and calls are redirected by the compiler (../../llvm/flux).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "flux/attach/session.hpp"

namespace runtime = kernelcast::flux::runtime;
using kernelcast::flux::attach::Session;
using runtime::Dim3;
using runtime::Error;
using runtime::Graph;
using runtime::GraphExec;
using runtime::KernelNodeParams;
using runtime::Node;
using runtime::NodeParams;
using runtime::Stream;

namespace {

template <class Function>
Function* next(Function*, char const* name) {
  return reinterpret_cast<Function*>(runtime::find(name));
}

Stream as_given(Stream stream) {
  return stream;
}
Stream of_thread(Stream stream) {  // cudaStreamPerThread
  return stream ? stream : reinterpret_cast<Stream>(std::uintptr_t{2});
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
  Session::get();  // what it uses is then destroyed after its end
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

// `used`: where the kernel goes, for calls of ours that know no thread's default stream of its own.
#define KERNELCAST_LAUNCH(name, used)                                                                                 \
  KERNELCAST_EXPORT Error OURS(name)(void const* host, Dim3 grid, Dim3 block, void** arguments, std::size_t shared,   \
                                     Stream stream) {                                                                 \
    NEXT(name);                                                                                                       \
    return Session::get().launch(host, grid, block, arguments, shared, used(stream),                                  \
                                 [&](void** extended) { return real(host, grid, block, extended, shared, stream); }); \
  }
KERNELCAST_LAUNCH(cudaLaunchKernel, as_given)
KERNELCAST_LAUNCH(cudaLaunchKernel_ptsz, of_thread)
KERNELCAST_LAUNCH(cudaLaunchCooperativeKernel, as_given)
KERNELCAST_LAUNCH(cudaLaunchCooperativeKernel_ptsz, of_thread)

#define KERNELCAST_LAUNCH_HANDLE(name, used)                                                                \
  KERNELCAST_EXPORT Error OURS(name)(runtime::Kernel kernel, Dim3 grid, Dim3 block, void** arguments,       \
                                     std::size_t shared, Stream stream) {                                   \
    NEXT(name);                                                                                             \
    auto const* const host = Session::get().host_function_of(kernel);                                       \
    return Session::get().launch(host, grid, block, arguments, shared, used(stream), [&](void** extended) { \
      return real(kernel, grid, block, extended, shared, stream);                                           \
    });                                                                                                     \
  }
KERNELCAST_LAUNCH_HANDLE(__cudaLaunchKernel, as_given)
KERNELCAST_LAUNCH_HANDLE(__cudaLaunchKernel_ptsz, of_thread)

#define KERNELCAST_LAUNCH_CONFIG(name, used)                                                               \
  KERNELCAST_EXPORT Error OURS(name)(runtime::LaunchConfig const* c, void const* host, void** arguments) { \
    NEXT(name);                                                                                            \
    return Session::get().launch(host, c->grid, c->block, arguments, c->shared_bytes, used(c->stream),     \
                                 [&](void** extended) { return real(c, host, extended); });                \
  }
KERNELCAST_LAUNCH_CONFIG(cudaLaunchKernelExC, as_given)
KERNELCAST_LAUNCH_CONFIG(cudaLaunchKernelExC_ptsz, of_thread)

// ---------------------------------------------------------------- graphs

KERNELCAST_EXPORT Error OURS(cudaGraphAddKernelNode)(Node* node, Graph graph, Node const* before, std::size_t count,
                                                     KernelNodeParams const* given) {
  NEXT(cudaGraphAddKernelNode);
  return Session::get().add_node(node, graph, *given, [&](KernelNodeParams const& parameters) {
    return real(node, graph, before, count, &parameters);
  });
}

KERNELCAST_EXPORT Error OURS(cudaGraphKernelNodeSetParams)(Node node, KernelNodeParams const* given) {
  NEXT(cudaGraphKernelNodeSetParams);
  return Session::get().change_node(node, nullptr, *given,
                                    [&](KernelNodeParams const& parameters) { return real(node, &parameters); });
}

KERNELCAST_EXPORT Error OURS(cudaGraphExecKernelNodeSetParams)(GraphExec exec, Node node,
                                                               KernelNodeParams const* given) {
  NEXT(cudaGraphExecKernelNodeSetParams);
  return Session::get().change_node(node, exec, *given,
                                    [&](KernelNodeParams const& parameters) { return real(exec, node, &parameters); });
}

// Nodes of any type. Before CUDA 13 there were no edges, and the last argument was one that is ignored here.
KERNELCAST_EXPORT Error OURS(cudaGraphAddNode)(Node* node, Graph graph, Node const* before, void const* edges_or_count,
                                               std::size_t count_or_given, NodeParams* given_or_nothing) {
  NEXT(cudaGraphAddNode);
  int version = 0;
  if (runtime::graphs().version) runtime::graphs().version(&version);
  bool const edges = version >= 13000;
  auto* const given = edges ? given_or_nothing : reinterpret_cast<NodeParams*>(count_or_given);
  auto const call = [&](NodeParams* parameters) {
    return edges ? real(node, graph, before, edges_or_count, count_or_given, parameters)
                 : real(node, graph, before, edges_or_count, reinterpret_cast<std::size_t>(parameters), nullptr);
  };
  if (given->type != runtime::kernel_node) return call(given);
  return Session::get().add_node(node, graph, given->kernel, [&](KernelNodeParams const& parameters) {
    auto copy = *given;
    copy.kernel = parameters;
    return call(&copy);
  });
}

KERNELCAST_EXPORT Error OURS(cudaGraphNodeSetParams)(Node node, NodeParams* given) {
  NEXT(cudaGraphNodeSetParams);
  if (given->type != runtime::kernel_node) return real(node, given);
  return Session::get().change_node(node, nullptr, given->kernel, [&](KernelNodeParams const& parameters) {
    auto copy = *given;
    copy.kernel = parameters;
    return real(node, &copy);
  });
}

KERNELCAST_EXPORT Error OURS(cudaGraphExecNodeSetParams)(GraphExec exec, Node node, NodeParams* given) {
  NEXT(cudaGraphExecNodeSetParams);
  if (given->type != runtime::kernel_node) return real(exec, node, given);
  return Session::get().change_node(node, exec, given->kernel, [&](KernelNodeParams const& parameters) {
    auto copy = *given;
    copy.kernel = parameters;
    return real(exec, node, &copy);
  });
}

KERNELCAST_EXPORT Error OURS(cudaGraphDestroyNode)(Node node) {
  NEXT(cudaGraphDestroyNode);
  Session::get().destroying_node(node);
  return real(node);
}

// The application sees its own nodes.
KERNELCAST_EXPORT Error OURS(cudaGraphGetNodes)(Graph graph, Node* nodes, std::size_t* count) {
  NEXT(cudaGraphGetNodes);
  std::size_t all = 0;
  if (!count) return real(graph, nodes, count);
  if (auto const error = real(graph, nullptr, &all); error != 0) return error;
  std::vector<Node> found(all);
  if (auto const error = real(graph, found.data(), &all); error != 0 && all > 0) return error;
  std::erase_if(found, [](Node node) { return Session::get().is_ours(node); });
  if (nodes)
    for (std::size_t n = 0; n < *count; ++n) nodes[n] = n < found.size() ? found[n] : nullptr;
  *count = nodes ? std::min(*count, found.size()) : found.size();
  return 0;
}
