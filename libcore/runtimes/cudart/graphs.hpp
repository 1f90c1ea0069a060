// Graphs of work: captured from streams or built of nodes; an executable one runs its nodes one after the other, in an
// order that their dependencies allow.
//
// A node's work is the call that it stands for, with the arguments that it had: run without a stream.
// Memory that a graph allocates has its address from the node's making on and stays until the graph and all that was
// made of it are gone, whatever frees it: the graph may run again. Limits: no nodes for external semaphores and memory,
// no conditional nodes, no launches by the device. The legacy default stream cannot be captured.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "kernels/cuda/abi.hpp"
#include "runtimes/cudart/user_objects.hpp"

namespace kernelcast::cudart {

class Allocations;
struct Kernel;
struct LaunchRequest;
class Launcher;
class Registry;

using Work = std::function<Code()>;

// Copies of a kernel's arguments.
struct PackedArguments {
  std::vector<std::vector<std::byte>> values;
  std::vector<void*> pointers;
};

struct Node {
  NodeType type = NodeType::empty;
  Graph* graph = nullptr;
  std::vector<Node*> before;
  Work work;
  bool enabled = true;
  // The node's parameters, where they can be queried.
  std::optional<NodeParameters> parameters;
  std::shared_ptr<PackedArguments> arguments;  // of a kernel
  std::shared_ptr<Graph> child;                // its work is this graph's
  Node const* original = nullptr;              // of a clone's node; only compared
};

struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
  bool spoilt = false;  // something was called that cannot be captured
  UserObjects objects;

  Node* add(Node);
  // Nodes behind what they depend on, else as they were added. Empty where there is a cycle.
  std::vector<Node*> ordered() const;
};

struct GraphExec {
  struct Step {
    Node const* of;  // the graph may be gone: only compared
    NodeType type;
    Work work;
    bool enabled;
    std::vector<std::size_t> before;  // steps that it depends on
  };
  std::vector<Step> steps;
  unsigned long long flags = 0;
  UserObjects objects;

  void keep_objects_of(Graph const&);

  Step* step_of(Node const*);
};

// Runs the steps, in their order.
Code run(std::vector<GraphExec::Step> const&);

// Memory of graphs, in bytes.
struct GraphMemory {
  std::uint64_t used = 0, used_high = 0, reserved = 0, reserved_high = 0;
};

// What a stream that is being captured adds to, and behind what.
struct Capture {
  Graph* graph = nullptr;
  bool began_here = false;
  unsigned long long id = 0;
  std::vector<Node*> last;
};

class Graphs {
 public:
  Graph* add();
  Graph* clone(Graph const&);
  bool remove(Graph*);
  bool known(Graph const* graph) const { return graphs_.contains(const_cast<Graph*>(graph)); }
  bool known(Node const*) const;
  // Of a node's child: a copy of the graph, known by its address.
  std::shared_ptr<Graph> child_of(Graph const& graph) { return graphs_.at(clone(graph)); }
  // Nothing where its nodes depend on each other in a circle.
  std::optional<std::vector<GraphExec::Step>> steps_of(Graph const&);
  GraphExec* instantiate(Graph const&, unsigned long long flags);  // null where there are no steps
  bool remove(GraphExec* exec) { return execs_.erase(exec) > 0; }
  bool known(GraphExec const* exec) const { return execs_.contains(const_cast<GraphExec*>(exec)); }

  // Captures, by stream and by the event that was last recorded in one.
  Capture* capture_of(Stream);
  Code begin(Stream, Graph* into = nullptr);
  Code end(Stream, Graph** graph);
  void record(Event, Stream);  // takes note of what the stream has captured, if it is
  bool wait(Stream, Event);    // true: the event lies in a capture, which the stream has joined
  bool captured(Event event) const { return events_.contains(event); }

  // Memory for a node that allocates; null where it does not fit. It is in use, or not, as nodes and calls say; false
  // where it is no graph's.
  std::shared_ptr<void> allocate(Allocations&, std::uint64_t bytes);
  bool use(void* pointer, bool used);
  GraphMemory& memory() { return memory_; }

 private:
  std::unordered_map<Graph*, std::shared_ptr<Graph>> graphs_;
  std::unordered_map<GraphExec*, std::unique_ptr<GraphExec>> execs_;
  std::unordered_map<Stream, Capture> streams_;
  std::unordered_map<Event, Capture> events_;
  unsigned long long captures_ = 0;
  struct Area {
    std::uint64_t bytes = 0;
    bool used = false;
  };
  std::unordered_map<void*, Area> areas_;
  GraphMemory memory_;
};

// Does the work, or adds it to the graph that the stream is captured into.
Code on_stream(Stream, NodeType, Work);
// Adds the node to the graph that the stream is captured into; false where it is not captured.
bool add_captured(Graphs&, Stream, Node);

// Launches with these parameters: a copy of the arguments belongs to it. In `node`, for queries.
Code kernel_node(Registry&, Kernel&, KernelNodeParameters const&, bool cooperative, Node& node);

// Launches, or adds a node to the graph that the request's stream is captured into.
Code launch_or_capture(Graphs&, Registry&, Launcher&, Kernel&, LaunchRequest const&);

}  // namespace kernelcast::cudart
