#include "models/graph/graph_file.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <istream>
#include <ostream>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diag/text.hpp"
#include "base/process/input.hpp"
#include "records/table/table.hpp"

namespace kernelcast::graph {

Error RawGraph::refuse(Where const& where, std::string const& message, std::string hint) const {
  std::string const line = where.line >= 1 && where.line <= lines.size() ? lines[where.line - 1] : "";
  return Error(Status::bad_data, where, message, std::move(hint), line);
}

double RawGraph::signed_number(RawValue const& value, std::string const& node, std::string_view key) const {
  auto const& text = value.text;
  auto const out = to_number<double>(text);
  if (!out || !(std::abs(*out) <= 1e300))
    throw refuse(value.where, fmt::format("node '{}': {} must be a number, got '{}'", node, key, text),
                 "for example 4096 or 1.5e-3");
  return *out;
}

double RawGraph::number(RawValue const& value, std::string const& node, std::string_view key) const {
  auto const& text = value.text;
  auto const out = to_number<double>(text);
  if (!out || !(*out >= 0 && *out <= 1e300))
    throw refuse(value.where, fmt::format("node '{}': {} must be a number of 0 or more, got '{}'", node, key, text),
                 "for example 4096 or 1.5e-3");
  return *out;
}

namespace {

constexpr std::uint32_t max_parts = 4096;

// Raw nodes to tasks.
class Assembly {
 public:
  explicit Assembly(RawGraph const& raw) : raw_(raw) {}

  Graph graph() {
    out_.app = raw_.app;
    std::map<std::string, std::uint32_t> index;
    for (auto const& node : raw_.nodes) {
      if (!index.emplace(node.name, static_cast<std::uint32_t>(out_.tasks.size())).second)
        throw raw_.refuse(node.where, fmt::format("node '{}' is duplicated", node.name),
                          "each node has a name of its own");
      add(node);
    }
    if (out_.tasks.empty()) throw Error(Status::bad_data, where_, "a graph without nodes", "it needs at least one");
    out_.parts = parts_;
    out_.part_columns = parts_;
    std::vector<std::string> names;
    for (auto const& [name, task] : index) names.push_back(name);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
    auto const node_of = [&](RawValue const& end) {
      auto const found = index.find(end.text);
      if (found == index.end())
        throw raw_.refuse(end.where, fmt::format("unknown node '{}'", end.text), did_you_mean(end.text, names));
      return found->second;
    };
    for (auto const& [before, after] : raw_.edges) edges.emplace_back(node_of(before), node_of(after));
    set_edges(out_, edges);
    if (auto const cycle = find_cycle(out_); !cycle.empty()) {
      std::vector<std::string> path;
      for (auto const task : cycle) path.push_back(raw_.nodes[task].name);
      path.push_back(path.front());
      auto const closing =
          std::find(edges.begin(), edges.end(), std::pair{cycle.back(), cycle.front()}) - edges.begin();
      throw raw_.refuse(raw_.edges[static_cast<std::size_t>(closing)].first.where,
                        fmt::format("the graph has a cycle: {}", fmt::join(path, " -> ")),
                        "tasks of a cycle wait for each other for ever");
    }
    if (!raw_.memory_bytes.empty() && raw_.memory_bytes.size() != parts_)
      throw Error(Status::bad_data, where_,
                  fmt::format("memory_bytes has {} numbers for {} parts", raw_.memory_bytes.size(), parts_),
                  "one for each");
    out_.memory_bytes = raw_.memory_bytes;
    return std::move(out_);
  }

 private:
  std::optional<double> number(RawNode const& node, std::string_view key) const {
    auto const found = node.attributes.find(std::string(key));
    if (found == node.attributes.end()) return std::nullopt;
    return raw_.number(found->second, node.name, key);
  }
  std::uint32_t part(RawNode const& node, std::string_view key) {
    auto const value = number(node, key).value_or(0);
    if (!(value < max_parts) || value != static_cast<std::uint32_t>(value))
      throw raw_.refuse(node.attributes.at(std::string(key)).where,
                        fmt::format("node '{}': {} must be a whole number below {}", node.name, key, max_parts),
                        "0, 1, 2, …");
    parts_ = std::max(parts_, static_cast<std::uint32_t>(value) + 1);
    return static_cast<std::uint32_t>(value);
  }

  void add(RawNode const& node) {
    where_ = {node.where.file, 0, 0};
    auto const found = node.attributes.find("kind");
    if (found == node.attributes.end())
      throw raw_.refuse(node.where, fmt::format("node '{}' has no kind, so it cannot be costed", node.name),
                        "kind is kernel, h2d, d2h, d2d, join, start or end");
    static std::vector<std::pair<std::string, TaskKind>> const kinds{
        {"kernel", TaskKind::kernel}, {"h2d", TaskKind::h2d},    {"d2h", TaskKind::d2h}, {"d2d", TaskKind::d2d},
        {"join", TaskKind::join},     {"start", TaskKind::join}, {"end", TaskKind::join}};
    auto const kind =
        std::find_if(kinds.begin(), kinds.end(), [&](auto const& k) { return k.first == found->second.text; });
    if (kind == kinds.end()) {
      std::vector<std::string> known;
      for (auto const& k : kinds) known.push_back(k.first);
      throw raw_.refuse(found->second.where, fmt::format("node '{}': unknown kind '{}'", node.name, found->second.text),
                        did_you_mean(found->second.text, known));
    }
    Task task;
    task.kind = kind->second;
    task.name = static_cast<std::uint32_t>(out_.names.size());
    out_.names.push_back(node.name);
    if (task.kind != TaskKind::join) task.part = part(node, "part");
    if (task.kind == TaskKind::kernel) {
      add_kernel(node, task);
    } else if (task.kind != TaskKind::join) {
      auto const bytes = number(node, "bytes");
      if (!bytes)
        throw raw_.refuse(node.where, fmt::format("copy '{}' has no bytes, so it cannot be costed", node.name),
                          "bytes = 4096");
      task.amount = *bytes;
    }
    if (task.kind == TaskKind::d2d) {
      if (!node.attributes.contains("to"))
        throw raw_.refuse(node.where, fmt::format("copy '{}' does not say to which part", node.name), "to = 1");
      task.to = part(node, "to");
      if (task.to == task.part)
        throw raw_.refuse(node.attributes.at("to").where,
                          fmt::format("copy '{}' goes from a part to itself", node.name), "part and to are two parts");
    }
    out_.tasks.push_back(task);
  }

  void add_kernel(RawNode const& node, Task& task) {
    Kernel kernel;
    auto const function = node.attributes.find("kernel");
    kernel.name = function == node.attributes.end() ? node.name : function->second.text;
    kernel.where = node.where;
    kernel.elements = number(node, "elements").value_or(1);
    kernel.time_s = number(node, "time_s");
    for (std::size_t r = 0; r < resource_names.size(); ++r)
      kernel.demand[r] = number(node, resource_names[r]).value_or(0);
    task.kernel = static_cast<std::uint32_t>(out_.kernels.size());
    out_.kernels.push_back(std::move(kernel));
  }

  RawGraph const& raw_;
  Graph out_;
  std::uint32_t parts_ = 1;
  Where where_;
};

bool begins_like_dot(std::string const& text) {
  std::istringstream in(text);
  std::string line;
  while (std::getline(in, line)) {
    auto const begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#' || line.compare(begin, 2, "//") == 0 ||
        line.compare(begin, 2, "/*") == 0)
      continue;
    return line[begin] != '{' && line[begin] != '[';
  }
  return false;
}

}  // namespace

Graph read_graph(std::string const& path, std::istream& in) {
  return read_graph_file(path, in).graph;
}

GraphFile read_graph_file(std::string const& path, std::istream& in) {
  std::string const file = path == "-" ? "<stdin>" : path;
  std::string const text = read_all(in, file);
  bool const dot = begins_like_dot(text);
  auto raw = dot ? parse_dot(file, text) : parse_json_graph(file, text);
  if (dot) read_cuda_labels(raw);
  if (raw.app.empty()) raw.app = std::filesystem::path(file).stem().string();
  GraphFile out{Assembly(raw).graph(), std::nullopt};
  if (raw.is_recording) out.recording = recording_of(raw);
  return out;
}

namespace {

// Attributes of a task beside its kind, in one order for both formats.
std::vector<std::pair<std::string, std::string>> attributes(Graph const& graph, std::size_t index,
                                                            std::vector<double> const& kernel_s) {
  auto const& task = graph.tasks[index];
  std::vector<std::pair<std::string, std::string>> out;
  auto const add = [&](std::string key, double value) { out.emplace_back(std::move(key), record::number_text(value)); };
  if (task.kind == TaskKind::join) return out;
  add("part", task.part);
  if (task.kind == TaskKind::d2d) add("to", task.to);
  if (task.kind != TaskKind::kernel) {
    add("bytes", task.amount);
    return out;
  }
  auto const& kernel = graph.kernels[task.kernel];
  out.emplace_back("kernel", kernel.name);
  add("elements", kernel.elements);
  for (std::size_t r = 0; r < resource_names.size(); ++r)
    if (kernel.demand[r] > 0) add(std::string(resource_names[r]), kernel.demand[r]);
  add("time_s", kernel_s[task.kernel]);
  return out;
}

// What a written graph begins and ends with: a task of the graph's where one alone has no predecessor (or successor)
// and takes no time, else a node beside its tasks, of a name that none of them has.
class Ends {
 public:
  explicit Ends(Graph const& graph) {
    std::vector<char> has_predecessor(graph.tasks.size(), 0);
    for (auto const task : graph.successors) has_predecessor[task] = 1;
    for (std::size_t t = 0; t < graph.tasks.size(); ++t) {
      if (!has_predecessor[t]) sources_.push_back(t);
      if (graph.successors_of(t).empty()) sinks_.push_back(t);
    }
    auto const is_end = [&](std::vector<std::size_t> const& tasks) {
      return tasks.size() == 1 && graph.tasks[tasks.front()].kind == TaskKind::join;
    };
    if (is_end(sources_)) start_ = sources_.front();
    if (is_end(sinks_) && sinks_ != sources_) end_ = sinks_.front();
    std::set<std::string> labels;
    for (std::size_t t = 0; t < graph.tasks.size(); ++t) labels.insert(graph.label(t));
    while (labels.contains(start_name)) start_name += '_';
    while (labels.contains(end_name)) end_name += '_';
  }

  bool adds_start() const { return !start_; }
  bool adds_end() const { return !end_; }
  bool is_source(std::size_t task) const { return std::binary_search(sources_.begin(), sources_.end(), task); }
  bool is_sink(std::size_t task) const { return std::binary_search(sinks_.begin(), sinks_.end(), task); }
  // Of a task that takes no time.
  std::string_view kind(std::size_t task) const { return task == start_ ? "start" : task == end_ ? "end" : "join"; }

  std::string start_name = "start", end_name = "end";

 private:
  std::vector<std::size_t> sources_, sinks_;  // ascending
  std::optional<std::size_t> start_, end_;
};

}  // namespace

void write_graph(std::ostream& out, Graph const& graph, std::vector<double> const& kernel_s, std::string const& gpu,
                 GraphFormat format) {
  bool const dot = format == GraphFormat::dot;
  Ends const ends(graph);
  if (dot)
    out << fmt::format("digraph {} {{\n  // times on {}\n", json_text(graph.app), json_text(gpu));
  else
    out << fmt::format("{{\n  \"app\": {},\n  \"gpu\": {},\n", json_text(graph.app), json_text(gpu));
  if (!dot && !graph.memory_bytes.empty()) {
    std::vector<std::string> bytes;
    for (double const b : graph.memory_bytes) bytes.push_back(record::number_text(b));
    out << fmt::format("  \"memory_bytes\": [{}],\n", fmt::join(bytes, ", "));
  }
  if (!dot) out << "  \"nodes\": [";
  bool first_node = true;
  auto const node = [&](std::string const& label, std::string const& kind) {
    if (dot)
      out << fmt::format("  {} [kind={}", label, kind);
    else
      out << fmt::format("{}\n    {{\"name\": {}, \"kind\": {}", std::exchange(first_node, false) ? "" : ",", label,
                         kind);
  };
  auto const end_node = dot ? "];\n" : "}";
  auto const add_end = [&](std::string const& name, char const* kind) {
    node(dot ? name : json_text(name), dot ? kind : json_text(kind));
    out << end_node;
  };
  if (ends.adds_start()) add_end(ends.start_name, "start");
  if (ends.adds_end()) add_end(ends.end_name, "end");
  for (std::size_t t = 0; t < graph.tasks.size(); ++t) {
    auto const kind = graph.tasks[t].kind;
    node(json_text(graph.label(t)), json_text(std::string(kind == TaskKind::join ? ends.kind(t) : name(kind))));
    for (auto const& [key, value] : attributes(graph, t, kernel_s))
      if (dot)  // where a number has no exponent
        out << ", " << key << '='
            << (key == "kernel" || value.find('e') != std::string::npos ? json_text(value) : value);
      else
        out << ", \"" << key << "\": " << (key == "kernel" ? json_text(value) : value);
    out << end_node;
  }
  if (!dot) out << "\n  ],\n  \"edges\": [";
  bool first = true;
  auto const edge = [&](std::string const& before, std::string const& after) {
    if (dot)
      out << "  " << json_text(before) << " -> " << json_text(after) << ";\n";
    else
      out << (std::exchange(first, false) ? "\n    [" : ",\n    [") << json_text(before) << ", " << json_text(after)
          << ']';
  };
  for (std::size_t t = 0; t < graph.tasks.size(); ++t) {
    if (ends.adds_start() && ends.is_source(t)) edge(ends.start_name, graph.label(t));
    for (auto const next : graph.successors_of(t)) edge(graph.label(t), graph.label(next));
    if (ends.adds_end() && ends.is_sink(t)) edge(graph.label(t), ends.end_name);
  }
  out << (dot ? "}\n" : "\n  ]\n}\n");
}

std::string find_file(std::string const& devdb, std::string const& folder, std::string const& extension,
                      std::string const& name, std::string const& option) {
  if (name.find('/') != std::string::npos || std::filesystem::path(name).has_extension()) return name;
  auto const file = std::filesystem::path(devdb) / folder / (name + extension);
  std::error_code error;
  if (std::filesystem::is_regular_file(file, error)) return file.string();
  std::vector<std::string> known;
  for (auto const& entry : std::filesystem::directory_iterator(std::filesystem::path(devdb) / folder, error))
    if (entry.path().extension() == extension) known.push_back(entry.path().stem().string());
  std::sort(known.begin(), known.end());
  throw Error(Status::unavailable,
              fmt::format("{}: there is no '{}' in {}", option, name, (std::filesystem::path(devdb) / folder).string()),
              did_you_mean(name, known, 20) + "; a path has a / or an extension");
}

}  // namespace kernelcast::graph
