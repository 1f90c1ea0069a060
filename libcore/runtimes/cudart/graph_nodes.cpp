#include "runtimes/cudart/graph_nodes.hpp"

#include <algorithm>
#include <cstring>

#include "runtimes/cudart/call.hpp"
#include "runtimes/cudart/calls.hpp"
#include "runtimes/cudart/commands.hpp"
#include "runtimes/cudart/copies.hpp"
#include "runtimes/cudart/registry.hpp"

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

namespace {

Code make_allocation(AllocationNodeParameters& given, Node& node) {
  return call([&](Graphs& graphs, Allocations& allocations) {
    auto const memory = given.bytes > 0 ? graphs.allocate(allocations, given.bytes) : nullptr;
    if (!memory) return given.bytes > 0 ? Code::memory_allocation : Code::invalid_value;
    given.pointer = memory.get();
    node.work = [memory] {
      return call([&](Graphs& all) {
        all.use(memory.get(), true);
        return Code::success;
      });
    };
    return Code::success;
  });
}

Code make_child(Graph* child, Node& node) {
  return call([&](Graphs& graphs) {
    if (!graphs.known(child)) return Code::invalid_value;
    node.child = graphs.child_of(*child);
    return Code::success;
  });
}

}  // namespace

Code make_node(Registry& registry, NodeParameters* given, Node& node) {
  if (!given) return Code::invalid_value;
  auto code = Code::success;
  switch (given->type) {
    case NodeType::kernel:
      return make_node(registry, &given->kernel, node);
    case NodeType::copy:
      return make_node(registry, &given->copy.copy, node);
    case NodeType::fill:
      return make_node(registry, &given->fill, node);
    case NodeType::host:
      return make_node(registry, &given->host, node);
    case NodeType::graph:
      code = make_child(given->child.graph, node);
      break;
    case NodeType::empty:
      break;
    case NodeType::event_record:
      node.work = [event = given->event.event] { return cudaEventRecord(event, nullptr); };
      break;
    case NodeType::event_wait:
      break;
    case NodeType::allocation:
      code = make_allocation(given->allocation, node);
      break;
    case NodeType::release:
      node.work = [pointer = given->release.pointer] { return cudaFree(pointer); };
      break;
    default:
      return unsupported("a graph's node of another type");
  }
  node.type = given->type;
  node.parameters = *given;
  return code;
}

Code add_node(Graphs& graphs, Node** out, Graph* graph, Node* const* before, std::size_t count, Node node) {
  if (!out || !graphs.known(graph) || (count && !before)) return Code::invalid_value;
  if (!node.work) node.work = [] { return Code::success; };
  node.before.assign(before, before + count);
  *out = graph->add(std::move(node));
  return Code::success;
}

Code change_node(Graphs& graphs, Node* node, Node made) {
  if (!graphs.known(node) || node->type != made.type || made.type == NodeType::allocation) return Code::invalid_value;
  node->work = std::move(made.work);
  node->child = std::move(made.child);
  node->parameters = made.parameters;
  node->arguments = std::move(made.arguments);
  return Code::success;
}

Code change_node(Graphs& graphs, GraphExec* exec, Node* node, Node made) {
  if (!graphs.known(exec)) return Code::invalid_value;
  auto* const step = exec->step_of(node);
  if (!step || step->type != made.type || made.type == NodeType::allocation) return Code::invalid_value;
  step->work = std::move(made.work);
  if (made.child) {
    auto steps = graphs.steps_of(*made.child);
    graphs.remove(made.child.get());
    if (!steps) return Code::invalid_value;
    step->work = [all = std::move(*steps)] { return run(all); };
  }
  return Code::success;
}

// ---------------------------------------------------------------- edges

static constexpr std::size_t edge_bytes = 8;  // cudaGraphEdgeData

Code connect_nodes(Graph* graph, Node* const* from, Node* const* to, std::size_t count, bool there) {
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

Code edges_of(Graph* graph, Node** from, Node** to, void* data, std::size_t* count) {
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
Code neighbours_of(Node* node, Node** out, void* data, std::size_t* count, bool behind) {
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

}  // namespace kernelcast::cudart
