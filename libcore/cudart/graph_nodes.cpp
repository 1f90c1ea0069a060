#include "cudart/graph_nodes.hpp"

#include <cstring>

#include "cudart/call.hpp"
#include "cudart/calls.hpp"
#include "cudart/commands.hpp"
#include "cudart/copies.hpp"
#include "cudart/registry.hpp"

namespace kernelcast::cudart {

Code make_node(Registry& registry, KernelNodeParameters const* given, Node& node) {
  if (!given) return Code::invalid_value;
  auto* const kernel = registry.kernel(given->function);
  return kernel ? kernel_node(registry, *kernel, *given, false, node) : Code::invalid_device_function;
}

Code make_node(Registry&, Copy3D const* given, Node& node) {
  if (!given) return Code::invalid_value;
  node.type = NodeType::copy;
  node.parameters.emplace();
  node.parameters->type = NodeType::copy;
  node.parameters->copy.copy = *given;
  node.work = [copy = *given] { return cudaMemcpy3D(&copy); };
  return Code::success;
}

Node copy_node(void* to, void const* from, std::size_t bytes, CopyKind kind) {
  Node node;
  node.type = NodeType::copy;
  node.work = [=] { return cudaMemcpy(to, from, bytes, kind); };
  return node;
}

namespace {

// Elements of one, two or four bytes, by rows.
Code fill(FillNodeParameters const& p) {
  if (p.element_bytes == 1)
    return cudaMemset2D(p.to, p.height > 1 ? p.pitch : p.width, static_cast<int>(p.value), p.width, p.height);
  std::vector<std::byte> row(p.width * p.element_bytes);
  for (std::size_t i = 0; i < p.width; ++i) std::memcpy(&row[i * p.element_bytes], &p.value, p.element_bytes);
  return call([&](Commands& commands, Copies& copies) {
    Commands::Together const one_fill(commands);
    for (std::size_t y = 0; y < p.height; ++y) {
      auto* const to = static_cast<std::byte*>(p.to) + y * p.pitch;
      if (auto const code = copies.copy(to, row.data(), row.size(), CopyKind::by_address); code != Code::success)
        return code;
    }
    return Code::success;
  });
}

}  // namespace

Code make_node(Registry&, FillNodeParameters const* given, Node& node) {
  if (!given || (given->element_bytes != 1 && given->element_bytes != 2 && given->element_bytes != 4))
    return Code::invalid_value;
  node.type = NodeType::fill;
  node.parameters.emplace();
  node.parameters->type = NodeType::fill;
  node.parameters->fill = *given;
  node.work = [p = *given] { return fill(p); };
  return Code::success;
}

Code make_node(Registry&, HostNodeParameters const* given, Node& node) {
  if (!given || !given->function) return Code::invalid_value;
  node.type = NodeType::host;
  node.parameters.emplace();
  node.parameters->type = NodeType::host;
  node.parameters->host = *given;
  node.work = [p = *given] {
    p.function(p.data);
    return Code::success;
  };
  return Code::success;
}

Code make_node(Registry& registry, NodeParameters const* given, Node& node) {
  if (!given) return Code::invalid_value;
  switch (given->type) {
    case NodeType::kernel:
      return make_node(registry, &given->kernel, node);
    case NodeType::copy:
      return make_node(registry, &given->copy.copy, node);
    case NodeType::fill:
      return make_node(registry, &given->fill, node);
    case NodeType::host:
      return make_node(registry, &given->host, node);
    case NodeType::empty:
      return Code::success;
    default:
      return unsupported("a graph's node of another type");
  }
}

Code add_node(Graphs& graphs, Node** out, Graph* graph, Node* const* before, std::size_t count, Node node) {
  if (!out || !graphs.known(graph) || (count && !before)) return Code::invalid_value;
  if (!node.work) node.work = [] { return Code::success; };
  node.before.assign(before, before + count);
  *out = graph->add(std::move(node));
  return Code::success;
}

Code change_node(Graphs& graphs, Node* node, Node made) {
  if (!graphs.known(node) || node->type != made.type) return Code::invalid_value;
  node->work = std::move(made.work);
  node->parameters = made.parameters;
  node->arguments = std::move(made.arguments);
  return Code::success;
}

Code change_node(Graphs& graphs, GraphExec* exec, Node* node, Node made) {
  if (!graphs.known(exec)) return Code::invalid_value;
  auto* const step = exec->step_of(node);
  if (!step || step->type != made.type) return Code::invalid_value;
  step->work = std::move(made.work);
  return Code::success;
}

}  // namespace kernelcast::cudart
