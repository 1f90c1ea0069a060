// Nodes of graphs whose parameters are not quite the runtime's.
#include "runtimes/cudart/graph_nodes.hpp"

#include "runtimes/cudart/driver/call.hpp"
#include "runtimes/cudart/driver/copy_3d.hpp"

using namespace kernelcast;
using namespace kernelcast::driver;
using cudart::FillNodeParameters;
using cudart::Graph;
using cudart::GraphExec;
using cudart::KernelNodeParameters;
using cudart::Node;
using cudart::NodeParameters;
using cudart::NodeType;

KERNELCAST_OF_RUNTIME(cudaGraphAddKernelNode, Node**, Graph*, Node* const*, std::size_t, KernelNodeParameters const*);
KERNELCAST_OF_RUNTIME(cudaGraphKernelNodeGetParams, Node*, KernelNodeParameters*);
KERNELCAST_OF_RUNTIME(cudaGraphKernelNodeSetParams, Node*, KernelNodeParameters const*);
KERNELCAST_OF_RUNTIME(cudaGraphExecKernelNodeSetParams, GraphExec*, Node*, KernelNodeParameters const*);
KERNELCAST_OF_RUNTIME(cudaGraphAddMemcpyNode, Node**, Graph*, Node* const*, std::size_t, cudart::Copy3D const*);
KERNELCAST_OF_RUNTIME(cudaGraphMemcpyNodeSetParams, Node*, cudart::Copy3D const*);
KERNELCAST_OF_RUNTIME(cudaGraphExecMemcpyNodeSetParams, GraphExec*, Node*, cudart::Copy3D const*);
KERNELCAST_OF_RUNTIME(cudaGraphAddMemsetNode, Node**, Graph*, Node* const*, std::size_t, FillNodeParameters const*);
KERNELCAST_OF_RUNTIME(cudaGraphMemsetNodeGetParams, Node*, FillNodeParameters*);
KERNELCAST_OF_RUNTIME(cudaGraphMemsetNodeSetParams, Node*, FillNodeParameters const*);
KERNELCAST_OF_RUNTIME(cudaGraphExecMemsetNodeSetParams, GraphExec*, Node*, FillNodeParameters const*);
KERNELCAST_OF_RUNTIME(cudaGraphInstantiate, GraphExec**, Graph*, unsigned long long);

namespace {

template <class Runtime>
Code when_in_context(Runtime const& runtime) {
  return current_context() ? of_runtime_call(runtime) : no_context();
}

// What the runtime takes for it; the function may be named as a kernel of a library.
template <class Use>
Code with_kernel(KernelNode const* given, Use const& use) {
  return when_in_context([&] {
    if (!given) return Code::invalid_value;
    KernelNodeParameters made = given->parameters;
    if (!made.function) made.function = given->kernel;
    return use(&made);
  });
}
template <class Use>
Code with_copy(Copy3D const* given, Use const& use) {
  return when_in_context([&] {
    cudart::Copy3D made{};
    auto const code = cudart::call(
        [&](cudart::Arrays& arrays) { return given ? of_driver(arrays, *given, made) : Code::invalid_value; });
    return code == Code::success ? use(&made) : code;
  });
}

struct CopyNode {  // CUDA_MEMCPY_NODE_PARAMS
  int flags, reserved;
  Context context;
  Copy3D copy;
};

// Any node: what the runtime has for it is the same but for kernels and copies.
template <class Use>
Code with_node(NodeParameters* given, Use const& use) {
  return when_in_context([&] {
    if (!given) return Code::invalid_value;
    NodeParameters made = *given;
    if (given->type == NodeType::kernel) {
      auto const& own = reinterpret_cast<KernelNode const&>(given->kernel);
      if (!made.kernel.function) made.kernel.function = own.kernel;
    } else if (given->type == NodeType::copy) {
      auto const& own = reinterpret_cast<CopyNode const&>(given->copy);
      auto const code =
          cudart::call([&](cudart::Arrays& arrays) { return of_driver(arrays, own.copy, made.copy.copy); });
      if (code != Code::success) return code;
    }
    auto const code = use(&made);
    if (given->type == NodeType::allocation) given->allocation.pointer = made.allocation.pointer;
    return code;
  });
}

}  // namespace

KERNELCAST_CUDA_EXPORT Code cuGraphAddNode_v2(Node** out, Graph* graph, Node* const* before, void const* /*edges*/,
                                              std::size_t count, NodeParameters* given) {
  return with_node(given, [&](auto* p) { return cudart::add_made(out, graph, before, count, p); });
}
KERNELCAST_CUDA_EXPORT Code cuGraphAddNode(Node** out, Graph* graph, Node* const* before, std::size_t count,
                                           NodeParameters* given) {
  return cuGraphAddNode_v2(out, graph, before, nullptr, count, given);
}
KERNELCAST_CUDA_EXPORT Code cuGraphNodeSetParams(Node* node, NodeParameters* given) {
  return with_node(given, [&](auto* p) { return cudart::change_made(nullptr, node, p); });
}
KERNELCAST_CUDA_EXPORT Code cuGraphExecNodeSetParams(GraphExec* exec, Node* node, NodeParameters* given) {
  return with_node(given, [&](auto* p) { return exec ? cudart::change_made(exec, node, p) : Code::invalid_value; });
}

// With and without data of the edges.
KERNELCAST_CUDA_EXPORT Code cuGraphAddDependencies_v2(Graph* graph, Node* const* from, Node* const* to,
                                                      void const* /*edges*/, std::size_t count) {
  return of_runtime_call([&] { return cudart::connect_nodes(graph, from, to, count, true); });
}
KERNELCAST_CUDA_EXPORT Code cuGraphAddDependencies(Graph* graph, Node* const* from, Node* const* to,
                                                   std::size_t count) {
  return cuGraphAddDependencies_v2(graph, from, to, nullptr, count);
}
KERNELCAST_CUDA_EXPORT Code cuGraphRemoveDependencies_v2(Graph* graph, Node* const* from, Node* const* to,
                                                         void const* /*edges*/, std::size_t count) {
  return of_runtime_call([&] { return cudart::connect_nodes(graph, from, to, count, false); });
}
KERNELCAST_CUDA_EXPORT Code cuGraphRemoveDependencies(Graph* graph, Node* const* from, Node* const* to,
                                                      std::size_t count) {
  return cuGraphRemoveDependencies_v2(graph, from, to, nullptr, count);
}
KERNELCAST_CUDA_EXPORT Code cuGraphGetEdges_v2(Graph* graph, Node** from, Node** to, void* data, std::size_t* count) {
  return of_runtime_call([&] { return cudart::edges_of(graph, from, to, data, count); });
}
KERNELCAST_CUDA_EXPORT Code cuGraphGetEdges(Graph* graph, Node** from, Node** to, std::size_t* count) {
  return cuGraphGetEdges_v2(graph, from, to, nullptr, count);
}
KERNELCAST_CUDA_EXPORT Code cuGraphNodeGetDependencies_v2(Node* node, Node** out, void* data, std::size_t* count) {
  return of_runtime_call([&] { return cudart::neighbours_of(node, out, data, count, false); });
}
KERNELCAST_CUDA_EXPORT Code cuGraphNodeGetDependencies(Node* node, Node** out, std::size_t* count) {
  return cuGraphNodeGetDependencies_v2(node, out, nullptr, count);
}
KERNELCAST_CUDA_EXPORT Code cuGraphNodeGetDependentNodes_v2(Node* node, Node** out, void* data, std::size_t* count) {
  return of_runtime_call([&] { return cudart::neighbours_of(node, out, data, count, true); });
}
KERNELCAST_CUDA_EXPORT Code cuGraphNodeGetDependentNodes(Node* node, Node** out, std::size_t* count) {
  return cuGraphNodeGetDependentNodes_v2(node, out, nullptr, count);
}

KERNELCAST_CUDA_EXPORT Code cuGraphAddKernelNode_v2(Node** out, Graph* graph, Node* const* before, std::size_t count,
                                                    KernelNode const* given) {
  return with_kernel(given, [&](auto* p) { return cudaGraphAddKernelNode(out, graph, before, count, p); });
}
KERNELCAST_CUDA_EXPORT Code cuGraphKernelNodeGetParams_v2(Node* node, KernelNode* out) {
  return when_in_context([&] {
    if (!out) return Code::invalid_value;
    out->kernel = nullptr;
    out->context = nullptr;
    return cudaGraphKernelNodeGetParams(node, &out->parameters);
  });
}
KERNELCAST_CUDA_EXPORT Code cuGraphKernelNodeSetParams_v2(Node* node, KernelNode const* given) {
  return with_kernel(given, [&](auto* p) { return cudaGraphKernelNodeSetParams(node, p); });
}
KERNELCAST_CUDA_EXPORT Code cuGraphExecKernelNodeSetParams_v2(GraphExec* exec, Node* node, KernelNode const* given) {
  return with_kernel(given, [&](auto* p) { return cudaGraphExecKernelNodeSetParams(exec, node, p); });
}

KERNELCAST_CUDA_EXPORT Code cuGraphAddMemcpyNode(Node** out, Graph* graph, Node* const* before, std::size_t count,
                                                 Copy3D const* given, Context) {
  return with_copy(given, [&](auto* p) { return cudaGraphAddMemcpyNode(out, graph, before, count, p); });
}
KERNELCAST_CUDA_EXPORT Code cuGraphMemcpyNodeSetParams(Node* node, Copy3D const* given) {
  return with_copy(given, [&](auto* p) { return cudaGraphMemcpyNodeSetParams(node, p); });
}
KERNELCAST_CUDA_EXPORT Code cuGraphExecMemcpyNodeSetParams(GraphExec* exec, Node* node, Copy3D const* given, Context) {
  return with_copy(given, [&](auto* p) { return cudaGraphExecMemcpyNodeSetParams(exec, node, p); });
}

KERNELCAST_CUDA_EXPORT Code cuGraphAddMemsetNode(Node** out, Graph* graph, Node* const* before, std::size_t count,
                                                 FillNodeParameters const* given, Context) {
  return when_in_context([&] { return cudaGraphAddMemsetNode(out, graph, before, count, given); });
}
KERNELCAST_CUDA_EXPORT Code cuGraphMemsetNodeGetParams(Node* node, FillNodeParameters* out) {
  return when_in_context([&] { return cudaGraphMemsetNodeGetParams(node, out); });
}
KERNELCAST_CUDA_EXPORT Code cuGraphMemsetNodeSetParams(Node* node, FillNodeParameters const* given) {
  return when_in_context([&] { return cudaGraphMemsetNodeSetParams(node, given); });
}
KERNELCAST_CUDA_EXPORT Code cuGraphExecMemsetNodeSetParams(GraphExec* exec, Node* node, FillNodeParameters const* given,
                                                           Context) {
  return when_in_context([&] { return cudaGraphExecMemsetNodeSetParams(exec, node, given); });
}

// With a log for what is wrong: there is nothing in it.
KERNELCAST_CUDA_EXPORT Code cuGraphInstantiate_v2(GraphExec** exec, Graph* graph, Node** failed, char* log,
                                                  std::size_t size) {
  if (failed) *failed = nullptr;
  if (log && size > 0) *log = '\0';
  return when_in_context([&] { return cudaGraphInstantiate(exec, graph, 0); });
}
