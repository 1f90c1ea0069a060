// Graphs that are built of nodes, and executable ones.
#include <algorithm>

#include "runtimes/cudart/call.hpp"
#include "runtimes/cudart/calls.hpp"
#include "runtimes/cudart/graph_nodes.hpp"
#include "runtimes/cudart/streams.hpp"
#include "runtimes/cudart/timeline.hpp"

using namespace kernelcast::cudart;

namespace {

NodeParameters of_type(NodeType type) {
  NodeParameters out{};
  out.type = type;
  return out;
}

Code with_symbol(void const* symbol, std::size_t offset, std::byte*& at) {
  void* begin = nullptr;
  auto const code = cudaGetSymbolAddress(&begin, symbol);
  at = static_cast<std::byte*>(begin) + offset;
  return code;
}

}  // namespace

KERNELCAST_CUDA_EXPORT Code cudaGraphCreate(Graph** graph, unsigned) {
  return call([&](Graphs& graphs) {
    if (!graph) return Code::invalid_value;
    *graph = graphs.add();
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cudaGraphDestroy(Graph* graph) {
  return destroying_unreferenced(
      [&] { return call([&](Graphs& graphs) { return graphs.remove(graph) ? Code::success : Code::invalid_value; }); });
}
KERNELCAST_CUDA_EXPORT Code cudaGraphClone(Graph** out, Graph* graph) {
  return call([&](Graphs& graphs) {
    if (!out || !graphs.known(graph)) return Code::invalid_value;
    *out = graphs.clone(*graph);
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cudaGraphGetNodes(Graph* graph, Node** nodes, std::size_t* count) {
  return call([&](Graphs& graphs) {
    if (!count || !graphs.known(graph)) return Code::invalid_value;
    for (std::size_t n = 0; nodes && n < std::min(*count, graph->nodes.size()); ++n) nodes[n] = graph->nodes[n].get();
    *count = graph->nodes.size();
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cudaGraphGetRootNodes(Graph* graph, Node** nodes, std::size_t* count) {
  return call([&](Graphs& graphs) {
    if (!count || !graphs.known(graph)) return Code::invalid_value;
    std::size_t found = 0;
    for (auto const& node : graph->nodes)
      if (node->before.empty() && ++found && nodes && found <= *count) nodes[found - 1] = node.get();
    *count = found;
    return Code::success;
  });
}

// ---------------------------------------------------------------- nodes

KERNELCAST_CUDA_EXPORT Code cudaGraphAddKernelNode(Node** out, Graph* graph, Node* const* before, std::size_t count,
                                                   KernelNodeParameters const* given) {
  return add_made(out, graph, before, count, given);
}
KERNELCAST_CUDA_EXPORT Code cudaGraphAddMemcpyNode(Node** out, Graph* graph, Node* const* before, std::size_t count,
                                                   Copy3D const* given) {
  return add_made(out, graph, before, count, given);
}
KERNELCAST_CUDA_EXPORT Code cudaGraphAddMemcpyNode1D(Node** out, Graph* graph, Node* const* before, std::size_t count,
                                                     void* to, void const* from, std::size_t bytes, CopyKind kind) {
  return call(
      [&](Graphs& graphs) { return add_node(graphs, out, graph, before, count, copy_node(to, from, bytes, kind)); });
}
KERNELCAST_CUDA_EXPORT Code cudaGraphAddMemcpyNodeToSymbol(Node** out, Graph* graph, Node* const* before,
                                                           std::size_t count, void const* symbol, void const* from,
                                                           std::size_t bytes, std::size_t offset, CopyKind kind) {
  std::byte* at = nullptr;
  auto const code = with_symbol(symbol, offset, at);
  return code == Code::success ? cudaGraphAddMemcpyNode1D(out, graph, before, count, at, from, bytes, kind) : code;
}
KERNELCAST_CUDA_EXPORT Code cudaGraphAddMemcpyNodeFromSymbol(Node** out, Graph* graph, Node* const* before,
                                                             std::size_t count, void* to, void const* symbol,
                                                             std::size_t bytes, std::size_t offset, CopyKind kind) {
  std::byte* at = nullptr;
  auto const code = with_symbol(symbol, offset, at);
  return code == Code::success ? cudaGraphAddMemcpyNode1D(out, graph, before, count, to, at, bytes, kind) : code;
}
KERNELCAST_CUDA_EXPORT Code cudaGraphAddMemsetNode(Node** out, Graph* graph, Node* const* before, std::size_t count,
                                                   FillNodeParameters const* given) {
  return add_made(out, graph, before, count, given);
}
KERNELCAST_CUDA_EXPORT Code cudaGraphAddHostNode(Node** out, Graph* graph, Node* const* before, std::size_t count,
                                                 HostNodeParameters const* given) {
  return add_made(out, graph, before, count, given);
}
KERNELCAST_CUDA_EXPORT Code cudaGraphAddEmptyNode(Node** out, Graph* graph, Node* const* before, std::size_t count) {
  return call([&](Graphs& graphs) { return add_node(graphs, out, graph, before, count, {}); });
}
KERNELCAST_CUDA_EXPORT Code cudaGraphAddChildGraphNode(Node** out, Graph* graph, Node* const* before, std::size_t count,
                                                       Graph* child) {
  auto given = of_type(NodeType::graph);
  given.child.graph = child;
  return add_made(out, graph, before, count, &given);
}
KERNELCAST_CUDA_EXPORT Code cudaGraphChildGraphNodeGetGraph(Node* node, Graph** out) {
  return call([&](Graphs& graphs) {
    if (!out || !graphs.known(node) || !node->child) return Code::invalid_value;
    *out = node->child.get();
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cudaGraphExecChildGraphNodeSetParams(GraphExec* exec, Node* node, Graph* child) {
  auto given = of_type(NodeType::graph);
  given.child.graph = child;
  return exec ? change_made(exec, node, &given) : remembered(Code::invalid_value);
}

// An event is what its node has.
#define EVENT_NODE(Kind, kind)                                                                              \
  KERNELCAST_CUDA_EXPORT Code cudaGraphAdd##Kind##Node(Node** out, Graph* graph, Node* const* before,       \
                                                       std::size_t count, Event event) {                    \
    auto given = of_type(NodeType::kind);                                                                   \
    given.event.event = event;                                                                              \
    return add_made(out, graph, before, count, &given);                                                     \
  }                                                                                                         \
  KERNELCAST_CUDA_EXPORT Code cudaGraph##Kind##NodeGetEvent(Node* node, Event* out) {                       \
    return parameters_of(node, NodeType::kind, [&](NodeParameters const& p) { *out = p.event.event; });     \
  }                                                                                                         \
  KERNELCAST_CUDA_EXPORT Code cudaGraph##Kind##NodeSetEvent(Node* node, Event event) {                      \
    auto given = of_type(NodeType::kind);                                                                   \
    given.event.event = event;                                                                              \
    return change_made(nullptr, node, &given);                                                              \
  }                                                                                                         \
  KERNELCAST_CUDA_EXPORT Code cudaGraphExec##Kind##NodeSetEvent(GraphExec* exec, Node* node, Event event) { \
    auto given = of_type(NodeType::kind);                                                                   \
    given.event.event = event;                                                                              \
    return exec ? change_made(exec, node, &given) : remembered(Code::invalid_value);                        \
  }
EVENT_NODE(EventRecord, event_record)
EVENT_NODE(EventWait, event_wait)

KERNELCAST_CUDA_EXPORT Code cudaGraphAddMemAllocNode(Node** out, Graph* graph, Node* const* before, std::size_t count,
                                                     AllocationNodeParameters* p) {
  if (!p) return remembered(Code::invalid_value);
  auto given = of_type(NodeType::allocation);
  given.allocation = *p;
  auto const code = add_made(out, graph, before, count, &given);
  p->pointer = given.allocation.pointer;
  return code;
}
KERNELCAST_CUDA_EXPORT Code cudaGraphMemAllocNodeGetParams(Node* node, AllocationNodeParameters* out) {
  return parameters_of(node, NodeType::allocation, [&](NodeParameters const& p) { *out = p.allocation; });
}
KERNELCAST_CUDA_EXPORT Code cudaGraphAddMemFreeNode(Node** out, Graph* graph, Node* const* before, std::size_t count,
                                                    void* pointer) {
  auto given = of_type(NodeType::release);
  given.release.pointer = pointer;
  return add_made(out, graph, before, count, &given);
}
KERNELCAST_CUDA_EXPORT Code cudaGraphMemFreeNodeGetParams(Node* node, void** out) {
  return parameters_of(node, NodeType::release, [&](NodeParameters const& p) { *out = p.release.pointer; });
}

// The device is of no account: all memory of graphs is reckoned together.
enum class GraphMemoryAttribute : int { used, used_high, reserved, reserved_high };  // cudaGraphMemAttributeType
KERNELCAST_CUDA_EXPORT Code cudaDeviceGetGraphMemAttribute(int, GraphMemoryAttribute attribute, std::uint64_t* out) {
  return call([&](Graphs& graphs) {
    auto const& m = graphs.memory();
    std::uint64_t const values[] = {m.used, m.used_high, m.reserved, m.reserved_high};
    if (!out || static_cast<unsigned>(attribute) >= std::size(values)) return Code::invalid_value;
    *out = values[static_cast<int>(attribute)];
    return Code::success;
  });
}
// The high ones can be set to nothing.
KERNELCAST_CUDA_EXPORT Code cudaDeviceSetGraphMemAttribute(int, GraphMemoryAttribute attribute,
                                                           std::uint64_t const* value) {
  return call([&](Graphs& graphs) {
    auto& m = graphs.memory();
    if (!value || *value != 0) return Code::invalid_value;
    if (attribute == GraphMemoryAttribute::used_high)
      m.used_high = m.used;
    else if (attribute == GraphMemoryAttribute::reserved_high)
      m.reserved_high = m.reserved;
    else
      return Code::invalid_value;
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cudaDeviceGraphMemTrim(int) {
  return Code::success;  // what no graph holds is gone
}

KERNELCAST_CUDA_EXPORT Code cudaGraphNodeFindInClone(Node** out, Node* original, Graph* clone) {
  return call([&](Graphs& graphs) {
    if (!out || !graphs.known(clone)) return Code::invalid_value;
    auto const found = std::find_if(clone->nodes.begin(), clone->nodes.end(),
                                    [&](auto const& node) { return node->original == original; });
    if (found == clone->nodes.end()) return Code::invalid_value;
    *out = found->get();
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cudaGraphDestroyNode(Node* node) {
  return destroying_unreferenced([&] {
    return call([&](Graphs& graphs) {
      if (!graphs.known(node)) return Code::invalid_value;
      auto& nodes = node->graph->nodes;
      if (node->child) graphs.remove(node->child.get());
      for (auto& other : nodes) std::erase(other->before, node);
      std::erase_if(nodes, [&](auto const& n) { return n.get() == node; });
      return Code::success;
    });
  });
}
KERNELCAST_CUDA_EXPORT Code cudaGraphNodeGetType(Node* node, NodeType* type) {
  return call([&](Graphs& graphs) {
    if (!type || !graphs.known(node)) return Code::invalid_value;
    *type = node->type;
    return Code::success;
  });
}

KERNELCAST_CUDA_EXPORT Code cudaGraphKernelNodeGetParams(Node* node, KernelNodeParameters* out) {
  return parameters_of(node, NodeType::kernel, [&](NodeParameters const& p) { *out = p.kernel; });
}
KERNELCAST_CUDA_EXPORT Code cudaGraphMemcpyNodeGetParams(Node* node, Copy3D* out) {
  return parameters_of(node, NodeType::copy, [&](NodeParameters const& p) { *out = p.copy.copy; });
}
KERNELCAST_CUDA_EXPORT Code cudaGraphMemsetNodeGetParams(Node* node, FillNodeParameters* out) {
  return parameters_of(node, NodeType::fill, [&](NodeParameters const& p) { *out = p.fill; });
}
KERNELCAST_CUDA_EXPORT Code cudaGraphHostNodeGetParams(Node* node, HostNodeParameters* out) {
  return parameters_of(node, NodeType::host, [&](NodeParameters const& p) { *out = p.host; });
}

KERNELCAST_CUDA_EXPORT Code cudaGraphKernelNodeSetParams(Node* node, KernelNodeParameters const* given) {
  return change_made(nullptr, node, given);
}
KERNELCAST_CUDA_EXPORT Code cudaGraphMemcpyNodeSetParams(Node* node, Copy3D const* given) {
  return change_made(nullptr, node, given);
}
KERNELCAST_CUDA_EXPORT Code cudaGraphMemcpyNodeSetParams1D(Node* node, void* to, void const* from, std::size_t bytes,
                                                           CopyKind kind) {
  return call([&](Graphs& graphs) { return change_node(graphs, node, copy_node(to, from, bytes, kind)); });
}
KERNELCAST_CUDA_EXPORT Code cudaGraphMemsetNodeSetParams(Node* node, FillNodeParameters const* given) {
  return change_made(nullptr, node, given);
}
KERNELCAST_CUDA_EXPORT Code cudaGraphHostNodeSetParams(Node* node, HostNodeParameters const* given) {
  return change_made(nullptr, node, given);
}
KERNELCAST_CUDA_EXPORT Code cudaGraphNodeSetParams(Node* node, NodeParameters* given) {
  return change_made(nullptr, node, given);
}

// ---------------------------------------------------------------- executable graphs

KERNELCAST_CUDA_EXPORT Code cudaGraphInstantiate(GraphExec** exec, Graph* graph, unsigned long long flags) {
  return call([&](Graphs& graphs) {
    if (!exec || !graphs.known(graph)) return Code::invalid_value;
    *exec = graphs.instantiate(*graph, flags);
    return *exec ? Code::success : Code::invalid_value;
  });
}
KERNELCAST_CUDA_ALIAS(cudaGraphInstantiate, cudaGraphInstantiateWithFlags)
struct InstantiateParameters {  // cudaGraphInstantiateParams
  unsigned long long flags;
  Stream upload;
  Node* failed;
  int result;  // 0 is success
};
KERNELCAST_CUDA_EXPORT Code cudaGraphInstantiateWithParams(GraphExec** exec, Graph* graph, InstantiateParameters* p) {
  if (!p) return remembered(Code::invalid_value);
  auto const code = cudaGraphInstantiate(exec, graph, p->flags);
  p->failed = nullptr;
  p->result = code == Code::success ? 0 : 1;
  return code;
}
KERNELCAST_CUDA_ALIAS(cudaGraphInstantiateWithParams, cudaGraphInstantiateWithParams_ptsz)
KERNELCAST_CUDA_EXPORT Code cudaGraphExecDestroy(GraphExec* exec) {
  return destroying_unreferenced(
      [&] { return call([&](Graphs& graphs) { return graphs.remove(exec) ? Code::success : Code::invalid_value; }); });
}
KERNELCAST_CUDA_EXPORT Code cudaGraphExecGetFlags(GraphExec* exec, unsigned long long* flags) {
  return call([&](Graphs& graphs) {
    if (!flags || !graphs.known(exec)) return Code::invalid_value;
    *flags = exec->flags;
    return Code::success;
  });
}
// What runs is what the executable graph holds now, whatever becomes of it.
KERNELCAST_CUDA_EXPORT Code cudaGraphLaunch(GraphExec* exec, Stream stream) {
  std::vector<GraphExec::Step> steps;
  auto const code = call([&](Graphs& graphs) {
    if (!graphs.known(exec)) return Code::invalid_value;
    steps = exec->steps;
    return Code::success;
  });
  if (code != Code::success) return code;
  return on_stream(stream, NodeType::graph, [steps] { return run(steps); });
}
KERNELCAST_CUDA_ALIAS(cudaGraphLaunch, cudaGraphLaunch_ptsz)
KERNELCAST_CUDA_EXPORT Code cudaGraphUpload(GraphExec* exec, Stream stream) {
  return call([&](Graphs& graphs, Streams& streams) {
    return graphs.known(exec) && streams.known(stream) ? Code::success : Code::invalid_value;
  });
}
KERNELCAST_CUDA_ALIAS(cudaGraphUpload, cudaGraphUpload_ptsz)

KERNELCAST_CUDA_EXPORT Code cudaGraphExecKernelNodeSetParams(GraphExec* exec, Node* node,
                                                             KernelNodeParameters const* given) {
  return exec ? change_made(exec, node, given) : remembered(Code::invalid_value);
}
KERNELCAST_CUDA_EXPORT Code cudaGraphExecMemcpyNodeSetParams(GraphExec* exec, Node* node, Copy3D const* given) {
  return exec ? change_made(exec, node, given) : remembered(Code::invalid_value);
}
KERNELCAST_CUDA_EXPORT Code cudaGraphExecMemcpyNodeSetParams1D(GraphExec* exec, Node* node, void* to, void const* from,
                                                               std::size_t bytes, CopyKind kind) {
  return call([&](Graphs& graphs) { return change_node(graphs, exec, node, copy_node(to, from, bytes, kind)); });
}
KERNELCAST_CUDA_EXPORT Code cudaGraphExecMemsetNodeSetParams(GraphExec* exec, Node* node,
                                                             FillNodeParameters const* given) {
  return exec ? change_made(exec, node, given) : remembered(Code::invalid_value);
}
KERNELCAST_CUDA_EXPORT Code cudaGraphExecHostNodeSetParams(GraphExec* exec, Node* node,
                                                           HostNodeParameters const* given) {
  return exec ? change_made(exec, node, given) : remembered(Code::invalid_value);
}
KERNELCAST_CUDA_EXPORT Code cudaGraphExecNodeSetParams(GraphExec* exec, Node* node, NodeParameters* given) {
  return exec ? change_made(exec, node, given) : remembered(Code::invalid_value);
}
KERNELCAST_CUDA_EXPORT Code cudaGraphNodeSetEnabled(GraphExec* exec, Node* node, unsigned enabled) {
  return call([&](Graphs& graphs) {
    auto* const step = graphs.known(exec) ? exec->step_of(node) : nullptr;
    if (!step) return Code::invalid_value;
    step->enabled = enabled != 0;
    return Code::success;
  });
}
KERNELCAST_CUDA_EXPORT Code cudaGraphNodeGetEnabled(GraphExec* exec, Node* node, unsigned* enabled) {
  return call([&](Graphs& graphs) {
    auto* const step = graphs.known(exec) ? exec->step_of(node) : nullptr;
    if (!step || !enabled) return Code::invalid_value;
    *enabled = step->enabled;
    return Code::success;
  });
}

struct UpdateResult {  // cudaGraphExecUpdateResultInfo
  int result;          // 0 success, 2 other nodes, 3 a node of another type
  Node* failed;
  Node* failed_from;
};
// Nodes are matched by their order.
KERNELCAST_CUDA_EXPORT Code cudaGraphExecUpdate(GraphExec* exec, Graph* graph, UpdateResult* out) {
  return call([&](Graphs& graphs) {
    if (!out || !graphs.known(exec) || !graphs.known(graph)) return Code::invalid_value;
    *out = {};
    auto const order = graph->ordered();
    auto const steps = graphs.steps_of(*graph);
    if (!steps || steps->size() != exec->steps.size()) out->result = 2;
    for (std::size_t s = 0; out->result == 0 && s < order.size(); ++s)
      if (order[s]->type != exec->steps[s].type) out->result = 3, out->failed = order[s];
    if (out->result != 0) return Code::graph_exec_update_failure;
    for (std::size_t s = 0; s < order.size(); ++s) exec->steps[s].work = (*steps)[s].work;
    exec->keep_objects_of(*graph);
    return Code::success;
  });
}
