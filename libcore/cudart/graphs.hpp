// Graphs of work: captured from streams or built of nodes; an executable one runs its nodes one after the other, in an
// order that their dependencies allow.
//
// A node's work is the call that it stands for, with the arguments that it had: run without a stream.
// Limits: no nodes for external semaphores and memory, no conditional nodes, no launches by the device. Memory that is
// allocated while a stream is captured stays until the graph is gone. The legacy default stream cannot be captured.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "cuda/abi.hpp"

namespace kernelcast::cudart {

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
  std::shared_ptr<Graph> child;
};

struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
  bool spoilt = false;  // something was called that cannot be captured

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

  Step* step_of(Node const*);
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
  bool remove(Graph* graph) { return graphs_.erase(graph) > 0; }
  bool known(Graph const* graph) const { return graphs_.contains(const_cast<Graph*>(graph)); }
  bool known(Node const*) const;
  // Null where its nodes depend on each other in a circle.
  GraphExec* instantiate(Graph const&, unsigned long long flags);
  bool remove(GraphExec* exec) { return execs_.erase(exec) > 0; }
  bool known(GraphExec const* exec) const { return execs_.contains(const_cast<GraphExec*>(exec)); }

  // Captures, by stream and by the event that was last recorded in one.
  Capture* capture_of(Stream);
  Code begin(Stream, Graph* into = nullptr);
  Code end(Stream, Graph** graph);
  void record(Event, Stream);  // takes note of what the stream has captured, if it is
  bool wait(Stream, Event);    // true: the event lies in a capture, which the stream has joined
  bool captured(Event event) const { return events_.contains(event); }

 private:
  std::unordered_map<Graph*, std::shared_ptr<Graph>> graphs_;
  std::unordered_map<GraphExec*, std::unique_ptr<GraphExec>> execs_;
  std::unordered_map<Stream, Capture> streams_;
  std::unordered_map<Event, Capture> events_;
  unsigned long long captures_ = 0;
};

// Does the work, or adds it to the graph that the stream is captured into.
Code on_stream(Stream, NodeType, Work);

// Launches with these parameters: a copy of the arguments belongs to it. In `node`, for queries.
Code kernel_node(Registry&, Kernel&, KernelNodeParameters const&, bool cooperative, Node& node);

// Launches, or adds a node to the graph that the request's stream is captured into.
Code launch_or_capture(Graphs&, Registry&, Launcher&, Kernel&, LaunchRequest const&);

}  // namespace kernelcast::cudart
