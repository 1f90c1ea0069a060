// Graphs.
#include <algorithm>

#include "state.hpp"

using namespace standin;
namespace cudart = kernelcast::cudart;

namespace {

int add(void** node, void* graph, Work work) {
  auto& to = *static_cast<Graph*>(graph);
  *node = to.nodes.emplace_back(std::make_unique<Node>(Node{&to, std::move(work)})).get();
  return success;
}
int change(void* node, Work work) {
  static_cast<Node*>(node)->work = std::move(work);
  return success;
}
int change(void* exec, void const* node, Work work) {
  for (auto& [of, old] : static_cast<GraphExec*>(exec)->work)
    if (of == node) {
      old = std::move(work);
      return success;
    }
  return invalid_value;
}

Work work_of(cudart::KernelNodeParameters const& p) {
  return kernel_work(p.function, p.grid, p.block, p.arguments, p.shared_bytes);
}
Work work_of(cudart::FillNodeParameters const& p) {
  return fill_work(p.to, static_cast<int>(p.value), p.width * p.element_bytes * p.height);
}
Work work_of(cudart::HostNodeParameters const& p) {
  return host_work(p.function, p.data);
}

}  // namespace

extern "C" {

int cudaGraphCreate(void** graph, unsigned) {
  Lock const lock;
  *graph = state().graphs.emplace_back(std::make_unique<Graph>()).get();
  return success;
}
int cudaGraphDestroy(void*) {
  return success;
}
int cudaGraphGetNodes(void* graph, void** nodes, std::size_t* count) {
  Lock const lock;
  auto const& of = static_cast<Graph*>(graph)->nodes;
  for (std::size_t n = 0; nodes && n < std::min(*count, of.size()); ++n) nodes[n] = of[n].get();
  *count = of.size();
  return success;
}

int cudaGraphAddKernelNode(void** node, void* graph, void* const*, std::size_t, cudart::KernelNodeParameters const* p) {
  Lock const lock;
  return add(node, graph, work_of(*p));
}
int cudaGraphAddNode(void** node, void* graph, void* const*, void const*, std::size_t, cudart::NodeParameters* p) {
  Lock const lock;
  return p->type == cudart::NodeType::kernel ? add(node, graph, work_of(p->kernel)) : invalid_value;
}
int cudaGraphAddMemcpyNode1D(void** node, void* graph, void* const*, std::size_t, void* to, void const* from,
                             std::size_t bytes, int kind) {
  Lock const lock;
  return add(node, graph, copy_work(to, from, bytes, kind));
}
int cudaGraphAddMemsetNode(void** node, void* graph, void* const*, std::size_t, cudart::FillNodeParameters const* p) {
  Lock const lock;
  return add(node, graph, work_of(*p));
}
int cudaGraphAddHostNode(void** node, void* graph, void* const*, std::size_t, cudart::HostNodeParameters const* p) {
  Lock const lock;
  return add(node, graph, work_of(*p));
}
int cudaGraphDestroyNode(void* node) {
  Lock const lock;
  std::erase_if(static_cast<Node*>(node)->graph->nodes, [&](auto const& n) { return n.get() == node; });
  return success;
}

int cudaGraphKernelNodeSetParams(void* node, cudart::KernelNodeParameters const* p) {
  Lock const lock;
  return change(node, work_of(*p));
}
int cudaGraphNodeSetParams(void* node, cudart::NodeParameters* p) {
  return cudaGraphKernelNodeSetParams(node, &p->kernel);
}
int cudaGraphMemcpyNodeSetParams1D(void* node, void* to, void const* from, std::size_t bytes, int kind) {
  Lock const lock;
  return change(node, copy_work(to, from, bytes, kind));
}
int cudaGraphMemsetNodeSetParams(void* node, cudart::FillNodeParameters const* p) {
  Lock const lock;
  return change(node, work_of(*p));
}
int cudaGraphHostNodeSetParams(void* node, cudart::HostNodeParameters const* p) {
  Lock const lock;
  return change(node, work_of(*p));
}
int cudaGraphExecKernelNodeSetParams(void* exec, void* node, cudart::KernelNodeParameters const* p) {
  Lock const lock;
  return change(exec, node, work_of(*p));
}
int cudaGraphExecNodeSetParams(void* exec, void* node, cudart::NodeParameters* p) {
  return cudaGraphExecKernelNodeSetParams(exec, node, &p->kernel);
}
int cudaGraphExecMemcpyNodeSetParams1D(void* exec, void* node, void* to, void const* from, std::size_t bytes,
                                       int kind) {
  Lock const lock;
  return change(exec, node, copy_work(to, from, bytes, kind));
}
int cudaGraphExecMemsetNodeSetParams(void* exec, void* node, cudart::FillNodeParameters const* p) {
  Lock const lock;
  return change(exec, node, work_of(*p));
}
int cudaGraphExecHostNodeSetParams(void* exec, void* node, cudart::HostNodeParameters const* p) {
  Lock const lock;
  return change(exec, node, work_of(*p));
}

int cudaGraphInstantiate(void** out, void* graph, unsigned long long) {
  Lock const lock;
  auto* const exec = new GraphExec;
  for (auto const& node : static_cast<Graph*>(graph)->nodes) exec->work.emplace_back(node.get(), node->work);
  *out = exec;
  return success;
}
int cudaGraphExecDestroy(void*) {
  return success;
}
int cudaGraphLaunch(void* exec, void* stream) {
  Lock const lock;
  for (auto const& [node, work] : static_cast<GraphExec*>(exec)->work)
    if (int const error = submit(stream_of(stream), work)) return error;
  return success;
}

}  // extern "C"
