// Calls for graphs whose arguments differ between libcudart.so.12 and libcudart.so.13, which says something of every
// edge where the former says nothing: compiled once for each, with KERNELCAST_CUDART. Edges have no data here.
#include <algorithm>
#include <cstring>

#include "cudart/call.hpp"
#include "cudart/graph_nodes.hpp"

using namespace kernelcast::cudart;

namespace {

constexpr std::size_t edge_bytes = 8;  // cudaGraphEdgeData

Code add(Node** out, Graph* graph, Node* const* before, std::size_t count, NodeParameters const* given) {
  return call([&](Registry& registry, Graphs& graphs) {
    Node node;
    auto const code = make_node(registry, given, node);
    return code == Code::success ? add_node(graphs, out, graph, before, count, std::move(node)) : code;
  });
}

Code connect(Graph* graph, Node* const* from, Node* const* to, std::size_t count, bool there) {
  return call([&](Graphs& graphs) {
    if (!graphs.known(graph)) return Code::invalid_value;
    for (std::size_t e = 0; e < count; ++e) {
      if (!graphs.known(from[e]) || !graphs.known(to[e])) return Code::invalid_value;
      auto& before = to[e]->before;
      std::erase(before, from[e]);
      if (there) before.push_back(from[e]);
    }
    return Code::success;
  });
}

Code edges(Graph* graph, Node** from, Node** to, void* data, std::size_t* count) {
  return call([&](Graphs& graphs) {
    if (!count || !graphs.known(graph)) return Code::invalid_value;
    std::size_t found = 0;
    for (auto const& node : graph->nodes)
      for (auto* const before : node->before) {
        if (from && to && found < *count) from[found] = before, to[found] = node.get();
        ++found;
      }
    if (data) std::memset(data, 0, edge_bytes * std::min(found, *count));
    *count = found;
    return Code::success;
  });
}

// Of the nodes of the graph those that this one depends on, or that depend on it.
Code neighbours(Node* node, Node** out, void* data, std::size_t* count, bool behind) {
  return call([&](Graphs& graphs) {
    if (!count || !graphs.known(node)) return Code::invalid_value;
    std::vector<Node*> found = node->before;
    if (behind) {
      found.clear();
      for (auto const& other : node->graph->nodes)
        if (std::find(other->before.begin(), other->before.end(), node) != other->before.end())
          found.push_back(other.get());
    }
    if (out) std::copy_n(found.begin(), std::min(found.size(), *count), out);
    if (data) std::memset(data, 0, edge_bytes * std::min(found.size(), *count));
    *count = found.size();
    return Code::success;
  });
}

}  // namespace

#if KERNELCAST_CUDART == 12
#define WITH_EDGES(name) name##_v2
KERNELCAST_CUDA_EXPORT Code cudaGraphAddNode(Node** out, Graph* graph, Node* const* before, std::size_t count,
                                             NodeParameters* given) {
  return add(out, graph, before, count, given);
}
KERNELCAST_CUDA_EXPORT Code cudaGraphAddDependencies(Graph* graph, Node* const* from, Node* const* to,
                                                     std::size_t count) {
  return connect(graph, from, to, count, true);
}
KERNELCAST_CUDA_EXPORT Code cudaGraphRemoveDependencies(Graph* graph, Node* const* from, Node* const* to,
                                                        std::size_t count) {
  return connect(graph, from, to, count, false);
}
KERNELCAST_CUDA_EXPORT Code cudaGraphGetEdges(Graph* graph, Node** from, Node** to, std::size_t* count) {
  return edges(graph, from, to, nullptr, count);
}
KERNELCAST_CUDA_EXPORT Code cudaGraphNodeGetDependencies(Node* node, Node** out, std::size_t* count) {
  return neighbours(node, out, nullptr, count, false);
}
KERNELCAST_CUDA_EXPORT Code cudaGraphNodeGetDependentNodes(Node* node, Node** out, std::size_t* count) {
  return neighbours(node, out, nullptr, count, true);
}
#else
#define WITH_EDGES(name) name
#endif

KERNELCAST_CUDA_EXPORT Code WITH_EDGES(cudaGraphAddNode)(Node** out, Graph* graph, Node* const* before,
                                                         void const* /*edges*/, std::size_t count,
                                                         NodeParameters* given) {
  return add(out, graph, before, count, given);
}
KERNELCAST_CUDA_EXPORT Code WITH_EDGES(cudaGraphAddDependencies)(Graph* graph, Node* const* from, Node* const* to,
                                                                 void const* /*edges*/, std::size_t count) {
  return connect(graph, from, to, count, true);
}
KERNELCAST_CUDA_EXPORT Code WITH_EDGES(cudaGraphRemoveDependencies)(Graph* graph, Node* const* from, Node* const* to,
                                                                    void const* /*edges*/, std::size_t count) {
  return connect(graph, from, to, count, false);
}
KERNELCAST_CUDA_EXPORT Code WITH_EDGES(cudaGraphGetEdges)(Graph* graph, Node** from, Node** to, void* data,
                                                          std::size_t* count) {
  return edges(graph, from, to, data, count);
}
KERNELCAST_CUDA_EXPORT Code WITH_EDGES(cudaGraphNodeGetDependencies)(Node* node, Node** out, void* data,
                                                                     std::size_t* count) {
  return neighbours(node, out, data, count, false);
}
KERNELCAST_CUDA_EXPORT Code WITH_EDGES(cudaGraphNodeGetDependentNodes)(Node* node, Node** out, void* data,
                                                                       std::size_t* count) {
  return neighbours(node, out, data, count, true);
}
