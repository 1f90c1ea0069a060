// Nodes of graphs from their parameters.
#pragma once

#include "cudart/state.hpp"

namespace kernelcast::cudart {

// Fills in type, work and the parameters to query. NotSupported for kinds of nodes that there are not.
Code make_node(State&, KernelNodeParameters const*, Node&);
Code make_node(Copy3D const*, Node&);
Code make_node(FillNodeParameters const*, Node&);
Code make_node(HostNodeParameters const*, Node&);
Code make_node(State&, NodeParameters const*, Node&);  // any of them
Node copy_node(void* to, void const* from, std::size_t bytes, CopyKind);

// Puts it into the graph behind others; what they are called by is given back.
Code add_node(State&, Node** out, Graph*, Node* const* before, std::size_t count, Node);
// Gives the node, in its graph or (where `exec` is given) in the executable one, what a new one has.
Code change_node(State&, Node* node, Node made);
Code change_node(State&, GraphExec* exec, Node* node, Node made);

}  // namespace kernelcast::cudart
