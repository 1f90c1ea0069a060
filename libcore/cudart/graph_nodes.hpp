// Nodes of graphs from their parameters.
#pragma once

#include "cudart/graphs.hpp"
#include "cudart/registry.hpp"

namespace kernelcast::cudart {

// Fills in type, work and the parameters to query. NotSupported for kinds of nodes that there are not.
Code make_node(Registry&, KernelNodeParameters const*, Node&);
Code make_node(Registry&, Copy3D const*, Node&);
Code make_node(Registry&, FillNodeParameters const*, Node&);
Code make_node(Registry&, HostNodeParameters const*, Node&);
Code make_node(Registry&, NodeParameters const*, Node&);  // any of them
Node copy_node(void* to, void const* from, std::size_t bytes, CopyKind);

// Puts it into the graph behind others; what they are called by is given back.
Code add_node(Graphs&, Node** out, Graph*, Node* const* before, std::size_t count, Node);
// Gives the node, in its graph or (where `exec` is given) in the executable one, what a new one has.
Code change_node(Graphs&, Node* node, Node made);
Code change_node(Graphs&, GraphExec* exec, Node* node, Node made);

}  // namespace kernelcast::cudart
