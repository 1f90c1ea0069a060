#include "runtimes/cudart/graphs.hpp"

#include <algorithm>
#include <map>

#include "runtimes/cudart/allocations.hpp"
#include "runtimes/cudart/call.hpp"
#include "runtimes/cudart/launch.hpp"
#include "runtimes/cudart/registry.hpp"
#include "runtimes/cudart/streams.hpp"
#include "runtimes/cudart/timeline.hpp"

namespace kernelcast::cudart {

// ---------------------------------------------------------------- graphs

Node* Graph::add(Node node) {
  node.graph = this;
  return nodes.emplace_back(std::make_unique<Node>(std::move(node))).get();
}

std::vector<Node*> Graph::ordered() const {
  std::map<Node const*, bool> done;
  std::vector<Node*> out;
  while (out.size() < nodes.size()) {
    auto const ready = std::find_if(nodes.begin(), nodes.end(), [&](auto const& n) {
      return !done[n.get()] && std::all_of(n->before.begin(), n->before.end(), [&](Node* b) { return done[b]; });
    });
    if (ready == nodes.end()) return {};
    done[ready->get()] = true;
    out.push_back(ready->get());
  }
  return out;
}

GraphExec::Step* GraphExec::step_of(Node const* node) {
  auto const found = std::find_if(steps.begin(), steps.end(), [&](Step const& s) { return s.of == node; });
  return found == steps.end() ? nullptr : &*found;
}

void GraphExec::keep_objects_of(Graph const& graph) {
  objects.insert(graph.objects.begin(), graph.objects.end());
  for (auto const& node : graph.nodes)
    if (node->child) keep_objects_of(*node->child);
}

Graph* Graphs::add() {
  auto made = std::make_shared<Graph>();
  return graphs_.emplace(made.get(), made).first->first;
}

Graph* Graphs::clone(Graph const& graph) {
  auto* const copy = add();
  copy->objects = graph.objects;
  std::map<Node const*, Node*> of;
  for (auto const& node : graph.nodes) {
    auto* const made = of[node.get()] = copy->add(*node);
    made->original = node.get();
    if (made->child) made->child = child_of(*made->child);
  }
  for (auto& node : copy->nodes)
    for (auto& before : node->before) before = of[before];
  return copy;
}

bool Graphs::remove(Graph* graph) {
  auto const found = graphs_.find(graph);
  if (found == graphs_.end()) return false;
  auto const removed = std::move(found->second);
  graphs_.erase(found);
  for (auto const& node : removed->nodes)
    if (node->child) remove(node->child.get());
  return true;
}

bool Graphs::known(Node const* node) const {
  return std::any_of(graphs_.begin(), graphs_.end(), [&](auto const& g) {
    return std::any_of(g.first->nodes.begin(), g.first->nodes.end(), [&](auto const& n) { return n.get() == node; });
  });
}

std::optional<std::vector<GraphExec::Step>> Graphs::steps_of(Graph const& graph) {
  auto const order = graph.ordered();
  if (order.empty() && !graph.nodes.empty()) return {};
  std::vector<GraphExec::Step> out;
  std::map<Node const*, std::size_t> step_of;
  for (auto const* const node : order) {
    auto work = node->work;
    if (node->child) {
      auto steps = steps_of(*node->child);
      if (!steps) return {};
      work = [all = std::move(*steps)] { return run(all); };
    }
    std::vector<std::size_t> before;
    for (auto const* const other : node->before) before.push_back(step_of.at(other));
    step_of[node] = out.size();
    out.push_back({node, node->type, std::move(work), node->enabled, std::move(before)});
  }
  return out;
}

GraphExec* Graphs::instantiate(Graph const& graph, unsigned long long flags) {
  auto steps = steps_of(graph);
  if (!steps) return nullptr;
  auto made = std::make_unique<GraphExec>();
  made->flags = flags;
  made->steps = std::move(*steps);
  made->keep_objects_of(graph);
  auto* const exec = made.get();
  execs_.emplace(exec, std::move(made));
  return exec;
}

Code run(std::vector<GraphExec::Step> const& steps) {
  OnGraph graph;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    graph.step(s, steps[s].before);
    if (auto const code = steps[s].enabled ? steps[s].work() : Code::success; code != Code::success) return code;
  }
  return Code::success;
}

// ---------------------------------------------------------------- memory

std::shared_ptr<void> Graphs::allocate(Allocations& allocations, std::uint64_t bytes) {
  void* const pointer = allocations.add(MemoryType::device, bytes);
  if (!pointer) return nullptr;
  auto const serial = allocations.holding(pointer).second->serial;
  areas_[pointer] = {bytes, false};
  memory_.reserved += bytes;
  memory_.reserved_high = std::max(memory_.reserved_high, memory_.reserved);
  return {pointer, [serial](void* gone) {
            locked([&](Graphs& graphs, Allocations& all) {
              graphs.use(gone, false);
              graphs.memory_.reserved -= graphs.areas_[gone].bytes;
              graphs.areas_.erase(gone);
              // A reset of the device may have taken it, and given the address to another.
              auto const* const held = all.holding(gone).second;
              if (held && held->serial == serial) all.remove(gone, MemoryType::device);
            });
          }};
}

bool Graphs::use(void* pointer, bool used) {
  auto const found = areas_.find(pointer);
  if (found == areas_.end()) return false;
  auto& [bytes, is_used] = found->second;
  if (used != is_used) memory_.used += used ? bytes : -bytes;
  memory_.used_high = std::max(memory_.used_high, memory_.used);
  is_used = used;
  return true;
}

// ---------------------------------------------------------------- captures

Capture* Graphs::capture_of(Stream stream) {
  auto const found = streams_.find(stream);
  return found == streams_.end() ? nullptr : &found->second;
}

Code Graphs::begin(Stream stream, Graph* into) {
  if (!stream || reinterpret_cast<std::uintptr_t>(stream) == 1) return Code::stream_capture_unsupported;
  if (capture_of(stream)) return Code::invalid_value;
  streams_[stream] = {into ? into : add(), true, ++captures_, {}};
  return Code::success;
}

Code Graphs::end(Stream stream, Graph** graph) {
  *graph = nullptr;
  auto const* const capture = capture_of(stream);
  if (!capture) return Code::invalid_value;
  if (!capture->began_here) return Code::stream_capture_unmatched;
  auto* const captured = capture->graph;
  // All that the other streams have added must lie before what this one has come to.
  std::vector<Node*> reached = capture->last;
  for (std::size_t i = 0; i < reached.size(); ++i)
    for (auto* const before : reached[i]->before)
      if (std::find(reached.begin(), reached.end(), before) == reached.end()) reached.push_back(before);
  bool joined = true;
  std::erase_if(streams_, [&](auto const& other) {
    if (other.second.graph != captured) return false;
    for (auto* const node : other.second.last)
      joined &= std::find(reached.begin(), reached.end(), node) != reached.end();
    return true;
  });
  std::erase_if(events_, [&](auto const& event) { return event.second.graph == captured; });
  if (captured->spoilt || !joined) {
    auto const code = captured->spoilt ? Code::stream_capture_invalidated : Code::stream_capture_unjoined;
    remove(captured);
    return code;
  }
  *graph = captured;
  return Code::success;
}

void Graphs::record(Event event, Stream stream) {
  events_.erase(event);
  if (auto const* const capture = capture_of(stream)) {
    events_[event] = *capture;
    events_[event].began_here = false;
  }
}

bool Graphs::wait(Stream stream, Event event) {
  auto const found = events_.find(event);
  if (found == events_.end()) return false;
  auto* const own = capture_of(stream);
  if (!own)
    streams_[stream] = found->second;
  else
    for (auto* const node : found->second.last)
      if (std::find(own->last.begin(), own->last.end(), node) == own->last.end()) own->last.push_back(node);
  return true;
}

bool add_captured(Graphs& graphs, Stream stream, Node node) {
  auto* const capture = graphs.capture_of(stream);
  if (!capture) return false;
  node.before = capture->last;
  capture->last = {capture->graph->add(std::move(node))};
  return true;
}

Code on_stream(Stream stream, NodeType type, Work work) {
  bool captured = false;
  auto const code = call([&](Graphs& graphs, Streams& streams) {
    if (!streams.known(stream)) return Code::invalid_resource_handle;
    if (graphs.capture_of(stream)) {
      Node node;
      node.type = type;
      node.work = work;
      captured = add_captured(graphs, stream, std::move(node));
    }
    return Code::success;
  });
  if (code != Code::success || captured) return code;
  OnStream const its(stream);
  return work();
}

// ---------------------------------------------------------------- kernels

Code kernel_node(Registry& registry, Kernel& kernel, KernelNodeParameters const& given, bool cooperative, Node& node) {
  if (auto const failure = registry.prepare(kernel); failure != Code::success) return failure;
  auto const& parameters = kernel.function->parameters;
  auto const* const together = packed_arguments(given.extra);
  if (!given.arguments && !together && !parameters.empty()) return Code::invalid_value;
  auto arguments = std::make_shared<PackedArguments>();
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    auto const* const from =
        given.arguments ? static_cast<std::byte const*>(given.arguments[p]) : together + parameters[p].offset;
    arguments->values.emplace_back(from, from + parameters[p].size);
  }
  for (auto& value : arguments->values) arguments->pointers.push_back(value.data());
  node.type = NodeType::kernel;
  node.arguments = arguments;
  node.parameters.emplace();
  node.parameters->type = NodeType::kernel;
  node.parameters->kernel = given;
  node.parameters->kernel.arguments = arguments->pointers.data();
  node.parameters->kernel.extra = nullptr;
  node.work = [&kernel, arguments, given, cooperative] {
    return call([&](Launcher& launcher) {
      LaunchRequest const request{given.grid,  given.block, arguments->pointers.data(), given.shared_bytes, nullptr,
                                  cooperative, {1, 1, 1}};
      return launcher.launch(kernel, request);
    });
  };
  return Code::success;
}

Code launch_or_capture(Graphs& graphs, Registry& registry, Launcher& launcher, Kernel& kernel,
                       LaunchRequest const& request) {
  if (!graphs.capture_of(request.stream)) return launcher.launch(kernel, request);
  if (request.cluster.x * request.cluster.y * request.cluster.z > 1)
    return unsupported("capturing a launch with clusters");
  Node node;
  KernelNodeParameters const parameters{
      nullptr, request.grid, request.block, static_cast<unsigned>(request.shared_bytes), request.arguments, nullptr};
  auto const code = kernel_node(registry, kernel, parameters, request.cooperative, node);
  if (code == Code::success) add_captured(graphs, request.stream, std::move(node));
  return code;
}

}  // namespace kernelcast::cudart
