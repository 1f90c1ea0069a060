#include "models/graph/recording.hpp"

#include <map>

#include <fmt/format.h>

#include "models/graph/graph_file.hpp"
#include "records/table/table.hpp"

namespace kernelcast::graph {

namespace {

using Kind = Command::Kind;

class Reading {
 public:
  explicit Reading(RawGraph const& raw) : raw_(raw) {}

  Recording recording() {
    out_.app = raw_.app;
    for (auto const& buffer : raw_.buffers) {
      if (!index_.emplace(buffer.name, static_cast<std::uint32_t>(out_.buffers.size())).second)
        throw raw_.refuse(buffer.where, fmt::format("buffer '{}' is duplicated", buffer.name),
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
    throw raw_.refuse(
        node.where,
        fmt::format("'{}': {} to {} is not a range of buffer '{}' of {} bytes", node.name, record::number_text(begin),
                    record::number_text(end), out_.buffers[which].name, record::number_text(out_.buffers[which].bytes)),
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
      if (!(side >= 1 && side < 0x1p53) || side != static_cast<double>(static_cast<std::uint64_t>(side)))
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
