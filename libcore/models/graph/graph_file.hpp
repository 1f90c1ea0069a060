// Compute graphs from and to files: JSON, and Graphviz DOT with our attributes or as cudaGraphDebugDotPrint writes it.
//
// A node has a name and attributes: kind (kernel, h2d, d2h, d2d, join, start, end), part, to (of a d2d), bytes (of a
// copy), kernel (name of its function), time_s, elements, and demands (global_bytes, shared_bytes, fp64_flops,
// fp32_flops, int_ops, logic_ops). JSON: {"app", "nodes": [{…}], "edges": [["a", "b"], …]}, and on the graph
// "memory_bytes": [of each part]. In DOT they are attributes of nodes.
// "buffers" and the nodes' accesses make it a recording, which can be divided: recording.hpp.
// A CUDA graph names kernels, copies with their extent, fills, and nodes that take no time; it runs on part 0. What
// cannot be costed is refused with its place.
#pragma once

#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/graph/compute_graph.hpp"
#include "models/graph/recording.hpp"

namespace kernelcast::graph {

enum class GraphFormat { json, dot };

// DOT when the content begins like a DOT graph, else JSON. Throws Error(bad_data): text that cannot be parsed, nodes
// that are duplicated or unknown (with near names), kinds and attributes that make no sense, cycles.
Graph read_graph(std::string const& path, std::istream& in);
// The same, and where the graph has buffers also what is recorded of the program.
struct GraphFile {
  Graph graph;
  std::optional<Recording> recording;
};
GraphFile read_graph_file(std::string const& path, std::istream& in);

// `kernel_s` are the times of the graph's kernels on `gpu`; they are written beside the demands.
void write_graph(std::ostream& out, Graph const& graph, std::vector<double> const& kernel_s, std::string const& gpu,
                 GraphFormat format);

// What the parsers hand over.
struct RawValue {
  std::string text;
  Where where;
};
// What the groups of a recorded launch do with a buffer, see recording.hpp.
struct RawAccess {
  bool write = false;
  std::string name;
  Where where;
  std::map<std::string, RawValue> attributes;
  std::vector<RawValue> begin;  // of group 0, and by how much it moves along each axis
};
struct RawNode {
  std::string name;
  Where where;
  std::map<std::string, RawValue> attributes;
  std::vector<RawValue> groups = {};  // of a recorded launch
  std::vector<RawAccess> accesses = {};
};
struct RawGraph {
  std::string app;
  std::vector<RawNode> nodes;
  bool is_recording = false;  // it has buffers, if only none
  std::vector<RawNode> buffers;
  std::vector<std::pair<RawValue, RawValue>> edges;  // names
  std::vector<double> memory_bytes;
  std::vector<std::string> lines;  // of the file, for errors
  Error refuse(Where const& where, std::string const& message, std::string hint = {}) const;
  double signed_number(RawValue const&, std::string const& node, std::string_view key) const;
  double number(RawValue const&, std::string const& node, std::string_view key) const;  // 0 or more
};

RawGraph parse_json_graph(std::string const& path, std::string const& text);
RawGraph parse_dot(std::string const& path, std::string const& text);
// Gives the nodes of a CUDA graph our attributes; leaves others as they are.
void read_cuda_labels(RawGraph& graph);

// A name of the database's folder of applications or systems, or a file's path. Throws Error(unavailable) with near
// names.
std::string find_file(std::string const& devdb, std::string const& folder, std::string const& extension,
                      std::string const& name, std::string const& option);

}  // namespace kernelcast::graph
