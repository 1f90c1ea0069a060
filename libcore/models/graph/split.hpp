// A recorded program divided over GPUs: the compute graph of any number of parts.
//
// Problem: [braun] 3.2.3 has a generator of graphs for each application; a recorded program has none.
// Method: the work-groups of every launch are divided evenly along the slowest axis of the grid that has enough of
// them. What a part reads and writes of a buffer follows from the recording's ranges. Each range of each buffer has
// holders, host or parts, as caches of a coherent system have; a part that reads what it does not hold gets a copy and
// holds it too, from the host what the host wrote, from the nearest part that holds it what a part computed; a write
// makes the writer the only holder.
//   a kernel waits for the copies that it needs, for the kernel before it on its part, and for copies that leave what
//   it overwrites;
//   the host reads from every part what that part holds; what it writes after that waits for it.
// A buffer whose writes leave gaps between a part's bytes (columns of rows) is scattered: every part holds its share of
// every range. One that several parts write in the same place (a sum by atomics) is partial: every part holds its own
// version, and a reader gets all of them.
// Limits: a part never works on what another computes at the same time; kernels whose ranges are not regular are taken
// to touch all of a buffer; demands are divided evenly.
#pragma once

#include <map>
#include <string>

#include "models/graph/recording.hpp"

namespace kernelcast::graph {

// The largest number of parts that a kernel is divided over, by its name; kernels without one use all. The first parts
// are used: [braun] 3.1.2 leaves partitions of parts of a graph, with changing numbers of GPUs, to future work.
using KernelParts = std::map<std::string, std::uint32_t>;

// `parts` at least 1. The result has n = 0 and names that tell node and part.
Graph split(Recording const&, std::uint32_t parts, KernelParts const& of_kernels = {});

}  // namespace kernelcast::graph
