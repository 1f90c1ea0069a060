#include "kernels/cuda/preload.hpp"

#include <algorithm>
#include <vector>

#include "kernels/cuda/next.hpp"

using namespace kernelcast::cudart;

#ifdef KERNELCAST_PREFIX
#define JOINED(prefix, name) prefix##name
#define WITH_PREFIX(prefix, name) JOINED(prefix, name)
#define OURS(function) WITH_PREFIX(KERNELCAST_PREFIX, function)
#else
#define OURS(function) function
#endif

// The function of this name that comes after us.
#define NEXT(function) static auto* const real = next(&OURS(function), #function)

namespace {

template <class Function>
Function* next(Function*, char const* name) {
  return reinterpret_cast<Function*>(find(name));
}

Stream as_given(Stream stream) {
  return stream;
}
Stream of_thread(Stream stream) {  // cudaStreamPerThread
  return stream ? stream : reinterpret_cast<Stream>(std::uintptr_t{2});
}

// Makes the call, and notes it if it is the application's own and has been taken.
template <class Real, class Note>
Code pass(Real real, Note note) {
  auto const code = [&] {
    InnerCalls const inner;
    return real();
  }();
  if (code == Code::success && inner_calls == 0) note();
  return code;
}

template <class Real>
Code launch(PassingLaunch const& launch, Real const& real) {
  if (inner_calls > 0) return real(launch.arguments);
  InnerCalls const inner;
  return client().launch(launch, real);
}

template <class Real>
Code change(Node* node, GraphExec* exec, KernelNodeParameters const& given, Real const& real) {
  if (inner_calls > 0) return real(given);
  InnerCalls const inner;
  return client().change_node(node, exec, given, real);
}

// The same with parameters of a node of any type.
template <class Real>
auto with_kernel(NodeParameters const& given, Real const& real) {
  return [&](KernelNodeParameters const& kernel) {
    auto copy = given;
    copy.kernel = kernel;
    return real(&copy);
  };
}

}  // namespace

KERNELCAST_CUDA_EXPORT void** OURS(__cudaRegisterFatBinary)(void* wrapper) {
  NEXT(__cudaRegisterFatBinary);
  auto const* const given = static_cast<FatbinWrapper const*>(wrapper);
  void** const handle = real(const_cast<FatbinWrapper*>(client().replace(given)));
  client().add_program(handle, given);
  return handle;
}

KERNELCAST_CUDA_EXPORT void OURS(__cudaUnregisterFatBinary)(void** handle) {
  NEXT(__cudaUnregisterFatBinary);
  client().removing_program();
  real(handle);
}

KERNELCAST_CUDA_EXPORT void OURS(__cudaRegisterFunction)(void** handle, char const* host, char* device,
                                                         char const* name, int thread_limit, void* tid, void* bid,
                                                         void* block, void* grid, int* warp_size) {
  NEXT(__cudaRegisterFunction);
  real(handle, host, device, name, thread_limit, tid, bid, block, grid, warp_size);
  client().add_kernel(handle, host, name);
}

KERNELCAST_CUDA_EXPORT void OURS(__cudaRegisterVar)(void** handle, char* host, char* device, char const* name,
                                                    int external, std::size_t bytes, int constant, int global) {
  NEXT(__cudaRegisterVar);
  real(handle, host, device, name, external, bytes, constant, global);
  client().add_variable(handle, {host, name, bytes, constant != 0});
}

KERNELCAST_CUDA_EXPORT Code OURS(__cudaGetKernel)(void const** kernel, void const* host) {
  NEXT(__cudaGetKernel);
  auto const code = real(kernel, host);
  if (code == Code::success) client().add_handle(*kernel, host);
  return code;
}

#define KERNELCAST_LAUNCHED(name, used)                                                               \
  KERNELCAST_CUDA_EXPORT Code OURS(name)(void const* kernel, Dim3 grid, Dim3 block, void** arguments, \
                                         std::size_t shared, Stream stream) {                         \
    NEXT(name);                                                                                       \
    return launch({kernel, grid, block, shared, arguments, used(stream)},                             \
                  [&](void** given) { return real(kernel, grid, block, given, shared, stream); });    \
  }
#define KERNELCAST_LAUNCHED_BY(name, used)                                                                     \
  KERNELCAST_CUDA_EXPORT Code OURS(name)(LaunchConfiguration const* c, void const* kernel, void** arguments) { \
    NEXT(name);                                                                                                \
    if (!c) return real(c, kernel, arguments);                                                                 \
    return launch({kernel, c->grid, c->block, c->shared_bytes, arguments, used(c->stream)},                    \
                  [&](void** given) { return real(c, kernel, given); });                                       \
  }
#define KERNELCAST_NOTED(name, parameters, arguments, note)              \
  KERNELCAST_CUDA_EXPORT Code OURS(name) parameters {                    \
    NEXT(name);                                                          \
    return pass([&] { return real arguments; }, [&] { client().note; }); \
  }
#define KERNELCAST_FREED(name, parameters, arguments)   \
  KERNELCAST_CUDA_EXPORT Code OURS(name) parameters {   \
    NEXT(name);                                         \
    if (inner_calls == 0) client().freeing(pointer);    \
    return pass([&] { return real arguments; }, [] {}); \
  }
#include "kernels/cuda/entry_points.def"

// ---------------------------------------------------------------- graphs

KERNELCAST_CUDA_EXPORT Code OURS(cudaGraphAddKernelNode)(Node** node, Graph* graph, Node* const* before,
                                                         std::size_t count, KernelNodeParameters const* given) {
  NEXT(cudaGraphAddKernelNode);
  if (inner_calls > 0) return real(node, graph, before, count, given);
  InnerCalls const inner;
  return client().add_node(node, graph, *given, [&](KernelNodeParameters const& parameters) {
    return real(node, graph, before, count, &parameters);
  });
}

KERNELCAST_CUDA_EXPORT Code OURS(cudaGraphKernelNodeSetParams)(Node* node, KernelNodeParameters const* given) {
  NEXT(cudaGraphKernelNodeSetParams);
  return change(node, nullptr, *given, [&](KernelNodeParameters const& kernel) { return real(node, &kernel); });
}

KERNELCAST_CUDA_EXPORT Code OURS(cudaGraphExecKernelNodeSetParams)(GraphExec* exec, Node* node,
                                                                   KernelNodeParameters const* given) {
  NEXT(cudaGraphExecKernelNodeSetParams);
  return change(node, exec, *given, [&](KernelNodeParameters const& kernel) { return real(exec, node, &kernel); });
}

// Nodes of any type. Before CUDA 13 there were no edges, and the last argument was one that is ignored here.
KERNELCAST_CUDA_EXPORT Code OURS(cudaGraphAddNode)(Node** node, Graph* graph, Node* const* before,
                                                   void const* edges_or_count, std::size_t count_or_given,
                                                   NodeParameters* given_or_nothing) {
  NEXT(cudaGraphAddNode);
  bool const edges = has_edges();
  auto* const given = edges ? given_or_nothing : reinterpret_cast<NodeParameters*>(count_or_given);
  auto const call = [&](NodeParameters* parameters) {
    return edges ? real(node, graph, before, edges_or_count, count_or_given, parameters)
                 : real(node, graph, before, edges_or_count, reinterpret_cast<std::size_t>(parameters), nullptr);
  };
  if (given->type != NodeType::kernel || inner_calls > 0) return call(given);
  InnerCalls const inner;
  return client().add_node(node, graph, given->kernel, with_kernel(*given, call));
}

KERNELCAST_CUDA_EXPORT Code OURS(cudaGraphNodeSetParams)(Node* node, NodeParameters* given) {
  NEXT(cudaGraphNodeSetParams);
  auto const call = [&](NodeParameters* parameters) { return real(node, parameters); };
  return given->type == NodeType::kernel ? change(node, nullptr, given->kernel, with_kernel(*given, call))
                                         : call(given);
}

KERNELCAST_CUDA_EXPORT Code OURS(cudaGraphExecNodeSetParams)(GraphExec* exec, Node* node, NodeParameters* given) {
  NEXT(cudaGraphExecNodeSetParams);
  auto const call = [&](NodeParameters* parameters) { return real(exec, node, parameters); };
  return given->type == NodeType::kernel ? change(node, exec, given->kernel, with_kernel(*given, call)) : call(given);
}

KERNELCAST_CUDA_EXPORT Code OURS(cudaGraphDestroyNode)(Node* node) {
  NEXT(cudaGraphDestroyNode);
  client().destroying_node(node);
  return real(node);
}

// The application sees its own nodes.
KERNELCAST_CUDA_EXPORT Code OURS(cudaGraphGetNodes)(Graph* graph, Node** nodes, std::size_t* count) {
  NEXT(cudaGraphGetNodes);
  std::size_t all = 0;
  if (!count) return real(graph, nodes, count);
  if (auto const error = real(graph, nullptr, &all); error != Code::success) return error;
  std::vector<Node*> found(all);
  if (auto const error = real(graph, found.data(), &all); error != Code::success && all > 0) return error;
  std::erase_if(found, [](Node* node) { return client().is_ours(node); });
  if (nodes)
    for (std::size_t n = 0; n < *count; ++n) nodes[n] = n < found.size() ? found[n] : nullptr;
  *count = nodes ? std::min(*count, found.size()) : found.size();
  return Code::success;
}
