#include "graph/recording.hpp"

#include <algorithm>
#include <map>
#include <ostream>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "graph/graph_file.hpp"
#include "record/table.hpp"

namespace kernelcast::graph {

namespace {

using Kind = Command::Kind;

// The buffers that a command reads, and those that it writes.
std::pair<std::set<std::uint32_t>, std::set<std::uint32_t>> buffers_of(Command const& command) {
  std::set<std::uint32_t> reads, writes;
  for (auto const& access : command.accesses) (access.write ? writes : reads).insert(access.buffer);
  if (command.kind == Kind::copy) reads.insert(command.from);
  if (command.kind == Kind::to_host) reads.insert(command.buffer);
  if (command.kind == Kind::from_host || command.kind == Kind::copy || command.kind == Kind::fill)
    writes.insert(command.buffer);
  return {reads, writes};
}

std::string text_of(double value) {
  return record::number_text(value);
}

std::string text_of(Access const& access, Recording const& recording) {
  std::string out = fmt::format(R"({{"buffer": {}, "begin": [{}, {}, {}, {}], "bytes": {}, "touched": {})",
                                json_text(recording.buffers[access.buffer].name), text_of(access.first),
                                text_of(access.step[0]), text_of(access.step[1]), text_of(access.step[2]),
                                text_of(access.span_bytes), text_of(access.touched_bytes));
  return out + (access.regular ? "}" : R"(, "regular": false})");
}

void write_node(std::ostream& out, Command const& command, Recording const& recording) {
  out << fmt::format("{{\"name\": {}, \"kind\": ", json_text(command.name));
  auto const range = [&](char const* kind) {
    out << fmt::format(R"("{}", "bytes": {}, "buffer": {}, "begin": {}, "end": {})", kind, text_of(command.bytes),
                       json_text(recording.buffers[command.buffer].name), text_of(command.begin), text_of(command.end));
  };
  if (command.kind == Kind::from_host) {
    range("h2d");
  } else if (command.kind == Kind::to_host) {
    range("d2h");
  } else if (command.kind == Kind::kernel) {
    out << fmt::format(R"("kernel", "kernel": {}, "case": {}, "elements": {}, "groups": [{}])",
                       json_text(command.kernel), json_text(command.case_name),
                       command.groups[0] * command.groups[1] * command.groups[2], fmt::join(command.groups, ", "));
    for (std::size_t r = 0; r < resource_names.size(); ++r)
      if (command.demand[r] > 0) out << fmt::format(", \"{}\": {}", resource_names[r], text_of(command.demand[r]));
    for (bool const write : {false, true}) {
      std::vector<std::string> list;
      for (auto const& access : command.accesses)
        if (access.write == write) list.push_back(text_of(access, recording));
      if (!list.empty())
        out << fmt::format(",\n     \"{}\": [{}]", write ? "writes" : "reads", fmt::join(list, ",\n       "));
    }
  } else {
    // On one device a kernel of the driver's, which reads and writes these bytes.
    bool const copy = command.kind == Kind::copy;
    range("kernel");
    out << fmt::format(R"(, "kernel": "{}", "global_bytes": {})", copy ? "copy" : "fill",
                       text_of(command.bytes * (copy ? 2 : 1)));
    if (copy)
      out << fmt::format(R"(, "from": {}, "from_begin": {}, "from_end": {})",
                         json_text(recording.buffers[command.from].name), text_of(command.from_begin),
                         text_of(command.from_end));
  }
  out << '}';
}

}  // namespace

std::vector<std::pair<std::uint32_t, std::uint32_t>> dependences(Recording const& recording) {
  constexpr std::uint32_t none = ~0U;
  std::vector<std::uint32_t> last_write(recording.buffers.size(), none);
  std::vector<std::vector<std::uint32_t>> read_since(recording.buffers.size());
  std::vector<std::pair<std::uint32_t, std::uint32_t>> out;
  for (std::uint32_t c = 0; c < recording.commands.size(); ++c) {
    auto const [reads, writes] = buffers_of(recording.commands[c]);
    std::set<std::uint32_t> before;
    for (auto const buffer : reads)
      if (last_write[buffer] != none) before.insert(last_write[buffer]);
    for (auto const buffer : writes) {
      if (last_write[buffer] != none) before.insert(last_write[buffer]);
      before.insert(read_since[buffer].begin(), read_since[buffer].end());
    }
    before.erase(c);
    for (auto const earlier : before) out.emplace_back(earlier, c);
    for (auto const buffer : reads) read_since[buffer].push_back(c);
    for (auto const buffer : writes) {
      last_write[buffer] = c;
      read_since[buffer].clear();
    }
  }
  return out;
}

void write_recording(std::ostream& out, Recording const& recording) {
  out << fmt::format("{{\n  \"app\": {},\n  \"buffers\": [", json_text(recording.app));
  for (bool first = true; auto const& buffer : recording.buffers) {
    out << fmt::format("{}\n    {{\"name\": {}, \"bytes\": {}{}}}", first ? "" : ",", json_text(buffer.name),
                       text_of(buffer.bytes), buffer.initial ? ", \"initial\": true" : "");
    first = false;
  }
  out << "\n  ],\n  \"nodes\": [";
  for (bool first = true; auto const& command : recording.commands) {
    out << (first ? "\n    " : ",\n    ");
    write_node(out, command, recording);
    first = false;
  }
  out << "\n  ],\n  \"edges\": [";
  for (bool first = true; auto const& [before, after] : dependences(recording)) {
    out << fmt::format("{}\n    [{}, {}]", first ? "" : ",", json_text(recording.commands[before].name),
                       json_text(recording.commands[after].name));
    first = false;
  }
  out << "\n  ]\n}\n";
}

namespace {

class Reading {
 public:
  explicit Reading(RawGraph const& raw) : raw_(raw) {}

  Recording recording() {
    out_.app = raw_.app;
    for (auto const& buffer : raw_.buffers) {
      if (!index_.emplace(buffer.name, static_cast<std::uint32_t>(out_.buffers.size())).second)
        throw raw_.refuse(buffer.where, fmt::format("buffer '{}' stands twice", buffer.name),
                          "each buffer has a name of its own");
      out_.buffers.push_back({buffer.name, number(buffer, "bytes"), text(buffer, "initial", "false") == "true"});
    }
    for (auto const& node : raw_.nodes) add(node);
    return std::move(out_);
  }

 private:
  // Of a node, a buffer or an access.
  template <class Node>
  static std::string text(Node const& node, std::string const& key, std::string const& otherwise) {
    auto const found = node.attributes.find(key);
    return found == node.attributes.end() ? otherwise : found->second.text;
  }
  template <class Node>
  double number(Node const& node, std::string const& key) const {
    auto const found = node.attributes.find(key);
    if (found == node.attributes.end())
      throw raw_.refuse(node.where, fmt::format("'{}' has no {}", node.name, key), fmt::format("\"{}\": 4096", key));
    return raw_.number(found->second, node.name, key);
  }
  template <class Node>
  std::uint32_t buffer(Node const& node, std::string const& key) const {
    auto const found = node.attributes.find(key);
    if (found == node.attributes.end())
      throw raw_.refuse(node.where, fmt::format("'{}' has no {}", node.name, key), "the name of a buffer");
    auto const known = index_.find(found->second.text);
    if (known == index_.end()) {
      std::vector<std::string> names;
      for (auto const& b : out_.buffers) names.push_back(b.name);
      throw raw_.refuse(found->second.where, fmt::format("'{}': unknown buffer '{}'", node.name, found->second.text),
                        did_you_mean(found->second.text, names));
    }
    return known->second;
  }

  void add(RawNode const& node) {
    auto const kind = text(node, "kind", "");
    if (kind == "start" || kind == "end" || kind == "join") return;
    Command command;
    command.name = node.name;
    command.kernel = text(node, "kernel", node.name);
    command.case_name = text(node, "case", "");
    if (kind == "d2d")
      throw raw_.refuse(node.where, fmt::format("'{}': a recording has one device", node.name),
                        "a graph with buffers has no copies from part to part");
    if (kind == "kernel" && !node.attributes.contains("buffer")) {
      add_launch(node, command);
    } else {
      command.kind = kind == "h2d"                      ? Kind::from_host
                     : kind == "d2h"                    ? Kind::to_host
                     : node.attributes.contains("from") ? Kind::copy
                                                        : Kind::fill;
      command.buffer = buffer(node, "buffer");
      command.begin = number(node, "begin");
      command.end = number(node, "end");
      check_range(node, command.buffer, command.begin, command.end);
      command.bytes = node.attributes.contains("bytes") ? number(node, "bytes") : command.end - command.begin;
      if (command.kind == Kind::copy) {
        command.from = buffer(node, "from");
        command.from_begin = number(node, "from_begin");
        command.from_end = number(node, "from_end");
        check_range(node, command.from, command.from_begin, command.from_end);
      }
    }
    out_.commands.push_back(std::move(command));
  }

  void check_range(RawNode const& node, std::uint32_t which, double begin, double end) const {
    if (begin <= end && end <= out_.buffers[which].bytes) return;
    throw raw_.refuse(node.where,
                      fmt::format("'{}': {} to {} is no range of buffer '{}' of {} bytes", node.name, text_of(begin),
                                  text_of(end), out_.buffers[which].name, text_of(out_.buffers[which].bytes)),
                      "begin and end count bytes from 0");
  }

  void add_launch(RawNode const& node, Command& command) {
    for (std::size_t r = 0; r < resource_names.size(); ++r)
      if (node.attributes.contains(std::string(resource_names[r])))
        command.demand[r] = number(node, std::string(resource_names[r]));
    if (node.groups.size() != 3)
      throw raw_.refuse(node.where, fmt::format("kernel '{}' does not say how many groups it has", node.name),
                        R"("groups": [16, 16, 1])");
    for (std::size_t i = 0; i < 3; ++i) {
      double const side = raw_.number(node.groups[i], node.name, "groups");
      if (side < 1 || side != static_cast<double>(static_cast<std::uint64_t>(side)))
        throw raw_.refuse(node.groups[i].where, fmt::format("kernel '{}': {} groups", node.name, node.groups[i].text),
                          "whole numbers from 1");
      command.groups[i] = static_cast<std::uint64_t>(side);
    }
    for (auto const& raw : node.accesses) {
      Access access;
      access.write = raw.write;
      access.buffer = buffer(raw, "buffer");
      access.regular = text(raw, "regular", "true") != "false";
      access.span_bytes = number(raw, "bytes");
      access.touched_bytes = number(raw, "touched");
      if (raw.begin.size() != 4)
        throw raw_.refuse(raw.where, fmt::format("'{}': begin has {} numbers", node.name, raw.begin.size()),
                          "four: of group 0, and by how much it moves along x, y and z");
      access.first = raw_.signed_number(raw.begin[0], node.name, "begin");
      for (std::size_t i = 0; i < 3; ++i) access.step[i] = raw_.signed_number(raw.begin[i + 1], node.name, "begin");
      command.accesses.push_back(access);
    }
  }

  RawGraph const& raw_;
  Recording out_;
  std::map<std::string, std::uint32_t, std::less<>> index_;
};

}  // namespace

Recording recording_of(RawGraph const& raw) {
  return Reading(raw).recording();
}

}  // namespace kernelcast::graph
