// Nodes of graphs from their parameters.
#pragma once

#include "runtimes/cudart/call.hpp"
#include "runtimes/cudart/graphs.hpp"
#include "runtimes/cudart/registry.hpp"

namespace kernelcast::cudart {

// Fills in type, work and the parameters to query. NotSupported for kinds of nodes that there are not.
Code make_node(Registry&, KernelNodeParameters const*, Node&);
Code make_node(Registry&, Copy3D const*, Node&);
Code make_node(Registry&, FillNodeParameters const*, Node&);
Code make_node(Registry&, HostNodeParameters const*, Node&);
// Any node. Where it allocates, the memory's address is left in what is given; what it waits for outside of the graph
// is done, and what it frees is a graph's or goes when it runs.
Code make_node(Registry&, NodeParameters*, Node&);
Node copy_node(void* to, void const* from, std::size_t bytes, CopyKind);

// Puts it into the graph behind others; what they are called by is given back.
Code add_node(Graphs&, Node** out, Graph*, Node* const* before, std::size_t count, Node);
// Gives the node, in its graph or (where `exec` is given) in the executable one, what a new one has.
Code change_node(Graphs&, Node* node, Node made);
Code change_node(Graphs&, GraphExec* exec, Node* node, Node made);

// Calls of the runtime and of the driver, whose versions differ in whether there are data of edges. There are none:
// where they are asked for they are zeros. `there`: whether the edges are added or removed. `behind`: those that depend
// on the node, else those that it depends on. The count is that of what there is, and no more are written than it was.
// `given` are parameters of one kind, or of any.
template <class Parameters>
Code add_made(Node** out, Graph* graph, Node* const* before, std::size_t count, Parameters* given) {
  return call([&](Registry& registry, Graphs& graphs) {
    Node node;
    auto const code = make_node(registry, given, node);
    return code == Code::success ? add_node(graphs, out, graph, before, count, std::move(node)) : code;
  });
}
// Of the executable graph's node, where there is one.
template <class Parameters>
Code change_made(GraphExec* exec, Node* of, Parameters* given) {
  return call([&](Registry& registry, Graphs& graphs) {
    Node node;
    if (auto const code = make_node(registry, given, node); code != Code::success) return code;
    return exec ? change_node(graphs, exec, of, std::move(node)) : change_node(graphs, of, std::move(node));
  });
}
template <class Read>
Code parameters_of(Node* node, NodeType type, Read const& read) {
  return call([&](Graphs& graphs) {
    if (!graphs.known(node) || node->type != type || !node->parameters) return Code::invalid_value;
    read(*node->parameters);
    return Code::success;
  });
}
Code connect_nodes(Graph*, Node* const* from, Node* const* to, std::size_t count, bool there);
Code edges_of(Graph*, Node** from, Node** to, void* data, std::size_t* count);
Code neighbours_of(Node*, Node** out, void* data, std::size_t* count, bool behind);

}  // namespace kernelcast::cudart
