// What a program did on one device: its kernels, copies and buffers in order, and what each work-group touches.
//
// Problem: "how many GPUs for this program" needs a graph for every number of GPUs, and a program that ran on one
// device gives one graph. Method: a recording has, for each kernel and each of its buffers, the range that a work-group
// reads or writes, as an affine function of the group's place in the grid. From it follow what a part of the grid
// needs, and which part has it (split.hpp). In a graph file a recording is a graph of one part, whose nodes have
// "groups", "reads" and "writes", or "buffer" and "begin", beside what other nodes have, and "buffers" on the graph.
#pragma once

#include <array>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "models/graph/compute_graph.hpp"

namespace kernelcast::graph {

struct RawGraph;

// What the work-groups of a launch do with one buffer. Group (x, y, z) touches bytes from first + step · (x, y, z) on,
// `span_bytes` of them at most; `touched_bytes` of those by one group. Where the ranges of groups are not such, they
// are all of the buffer, and `regular` is false.
struct Access {
  std::uint32_t buffer = 0;
  bool write = false, regular = true;
  double first = 0;
  std::array<double, 3> step{};
  double span_bytes = 0, touched_bytes = 0;
};

struct Command {
  enum class Kind : std::uint8_t { kernel, from_host, to_host, copy, fill };
  Kind kind = Kind::kernel;
  std::string name;  // of the node
  // A launch: of `kernel`, with `demand` in all, by groups[0] x groups[1] x groups[2] groups.
  std::string kernel, case_name;
  std::array<std::uint64_t, 3> groups{1, 1, 1};
  Demand demand{};
  std::vector<Access> accesses;
  // The others: bytes of a range; a copy is from `from` to `buffer`.
  std::uint32_t buffer = 0, from = 0;
  double begin = 0, end = 0, bytes = 0, from_begin = 0, from_end = 0;
};

struct Recording {
  struct Buffer {
    std::string name;
    double bytes = 0;
    bool initial = false;  // it was made with contents
  };
  std::string app;
  std::vector<Buffer> buffers;
  std::vector<Command> commands;  // in the order in which they were given
};

// Pairs (before, after) of commands that must not change places, by buffers as wholes.
std::vector<std::pair<std::uint32_t, std::uint32_t>> dependences(Recording const&);

// The text in quotes, as JSON and DOT have it; bytes that are no UTF-8 are replaced.
std::string json_text(std::string_view text);

void write_recording(std::ostream& out, Recording const&);

// Of a graph that has buffers. Throws Error(bad_data) for what makes no sense.
Recording recording_of(RawGraph const&);

}  // namespace kernelcast::graph
