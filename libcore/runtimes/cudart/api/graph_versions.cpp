// Calls for graphs whose arguments differ between libcudart.so.12 and libcudart.so.13, which says something of every
// edge where the former says nothing: compiled once for each, with KERNELCAST_CUDART. Edges have no data here.
#include "runtimes/cudart/call.hpp"
#include "runtimes/cudart/graph_nodes.hpp"

using namespace kernelcast::cudart;

#if KERNELCAST_CUDART == 12
#define WITH_EDGES(name) name##_v2
KERNELCAST_CUDA_EXPORT Code cudaGraphAddNode(Node** out, Graph* graph, Node* const* before, std::size_t count,
                                             NodeParameters* given) {
  return add_made(out, graph, before, count, given);
}
KERNELCAST_CUDA_EXPORT Code cudaGraphAddDependencies(Graph* graph, Node* const* from, Node* const* to,
                                                     std::size_t count) {
  return connect_nodes(graph, from, to, count, true);
}
KERNELCAST_CUDA_EXPORT Code cudaGraphRemoveDependencies(Graph* graph, Node* const* from, Node* const* to,
                                                        std::size_t count) {
  return connect_nodes(graph, from, to, count, false);
}
KERNELCAST_CUDA_EXPORT Code cudaGraphGetEdges(Graph* graph, Node** from, Node** to, std::size_t* count) {
  return edges_of(graph, from, to, nullptr, count);
}
KERNELCAST_CUDA_EXPORT Code cudaGraphNodeGetDependencies(Node* node, Node** out, std::size_t* count) {
  return neighbours_of(node, out, nullptr, count, false);
}
KERNELCAST_CUDA_EXPORT Code cudaGraphNodeGetDependentNodes(Node* node, Node** out, std::size_t* count) {
  return neighbours_of(node, out, nullptr, count, true);
}
#else
#define WITH_EDGES(name) name
#endif

KERNELCAST_CUDA_EXPORT Code WITH_EDGES(cudaGraphAddNode)(Node** out, Graph* graph, Node* const* before,
                                                         void const* /*edges*/, std::size_t count,
                                                         NodeParameters* given) {
  return add_made(out, graph, before, count, given);
}
KERNELCAST_CUDA_EXPORT Code WITH_EDGES(cudaGraphAddDependencies)(Graph* graph, Node* const* from, Node* const* to,
                                                                 void const* /*edges*/, std::size_t count) {
  return connect_nodes(graph, from, to, count, true);
}
KERNELCAST_CUDA_EXPORT Code WITH_EDGES(cudaGraphRemoveDependencies)(Graph* graph, Node* const* from, Node* const* to,
                                                                    void const* /*edges*/, std::size_t count) {
  return connect_nodes(graph, from, to, count, false);
}
KERNELCAST_CUDA_EXPORT Code WITH_EDGES(cudaGraphGetEdges)(Graph* graph, Node** from, Node** to, void* data,
                                                          std::size_t* count) {
  return edges_of(graph, from, to, data, count);
}
KERNELCAST_CUDA_EXPORT Code WITH_EDGES(cudaGraphNodeGetDependencies)(Node* node, Node** out, void* data,
                                                                     std::size_t* count) {
  return neighbours_of(node, out, data, count, false);
}
KERNELCAST_CUDA_EXPORT Code WITH_EDGES(cudaGraphNodeGetDependentNodes)(Node* node, Node** out, void* data,
                                                                       std::size_t* count) {
  return neighbours_of(node, out, data, count, true);
}
