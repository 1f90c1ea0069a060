// read_cuda_labels(): the labels of cudaGraphDebugDotPrint, as CUDA 11 to 13 write them.
//
// A label is a record: "{KERNEL | {ID | 0 (topoId: 3) | name\<\<\<1,128,0\>\>\>} | …}". Tables in it stand as a group
// of keys and a group of values, "{{kind | bytes} | {a | 4}}", or as pairs, "{Width | 4096}". Without the verbose flag
// a kernel is an octagon labelled with its number and its name.
#include <cxxabi.h>
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "base/diag/text.hpp"
#include "models/graph/graph_file.hpp"

namespace kernelcast::graph {

namespace {

// The cells of a record label in order, as a tree.
struct Cell {
  std::string text;
  std::vector<Cell> cells;
};

std::vector<Cell> cells(std::string const& label, std::size_t& at, int depth) {
  std::vector<Cell> out(1);
  for (; at < label.size(); ++at) {
    char const c = label[at];
    if (c == '\\' && at + 1 < label.size()) {
      char const next = label[++at];
      out.back().text += next == 'n' || next == 'l' || next == 'r' ? '\n' : next;
    } else if (c == '|') {
      out.emplace_back();
    } else if (c == '{' && depth < 50) {
      ++at;
      out.back().cells = cells(label, at, depth + 1);
    } else if (c == '}') {
      break;
    } else {
      out.back().text += c;
    }
  }
  for (auto& cell : out) cell.text = trimmed(cell.text);
  return out;
}

bool is_number(std::string const& text) {
  return !text.empty() && text[0] >= '0' && text[0] <= '9';
}

// Every key with its value, wherever it stands: pairs before tables, since a row of pairs looks like a table.
void collect(std::vector<Cell> const& row, std::map<std::string, std::string>& out) {
  if (row.size() == 2 && row[0].cells.empty() && row[1].cells.empty() && is_number(row[1].text))
    out.emplace(row[0].text, row[1].text);
  for (auto const& cell : row) collect(cell.cells, out);
  for (std::size_t i = 0; i + 1 < row.size(); ++i) {
    auto const& keys = row[i].cells;
    auto const& values = row[i + 1].cells;
    if (keys.size() != values.size()) continue;
    for (std::size_t k = 0; k < keys.size(); ++k)
      if (keys[k].cells.empty() && values[k].cells.empty()) out.emplace(keys[k].text, values[k].text);
  }
}

std::vector<std::string> texts(std::vector<Cell> const& row) {
  std::vector<std::string> out;
  for (auto const& cell : row) {
    if (!cell.text.empty()) out.push_back(cell.text);
    auto const inner = texts(cell.cells);
    out.insert(out.end(), inner.begin(), inner.end());
  }
  return out;
}

// name<<<grid,block,shared>>> without the launch, demangled to the bare function name where it is mangled.
std::string function_name(std::string text) {
  text = trimmed(text.substr(0, text.find("<<<")));
  int status = 0;
  std::unique_ptr<char, void (*)(void*)> const plain(abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status),
                                                     std::free);
  if (status != 0 || !plain) return text;
  std::string name = plain.get();
  int depth = 0;
  std::string bare;
  for (char const c : name) {
    if (c == '(' && depth == 0) break;
    depth += c == '<' ? 1 : 0;
    if (depth == 0) bare += c;
    depth -= c == '>' ? 1 : 0;
  }
  auto const space = bare.rfind(' ');  // a template's return type
  return space == std::string::npos ? bare : bare.substr(space + 1);
}

double number(std::map<std::string, std::string> const& table, std::string const& key, double otherwise) {
  auto const found = table.find(key);
  return found == table.end() ? otherwise : to_number<double>(found->second).value_or(otherwise);
}

class CudaGraph {
 public:
  explicit CudaGraph(RawGraph& graph) : graph_(graph) {}

  void read() {
    for (auto& node : graph_.nodes) {
      auto const label = node.attributes.find("label");
      if (label == node.attributes.end() || node.attributes.contains("kind")) continue;
      std::size_t at = 0;
      auto const row = cells(label->second.text, at, 0);
      std::map<std::string, std::string> table;
      collect(row, table);
      auto const words = texts(row);
      if (words.empty()) continue;
      auto const shape = node.attributes.find("shape");
      std::string const form = shape == node.attributes.end() ? "" : shape->second.text;
      describe(node, words, table, form);
    }
  }

 private:
  void set(RawNode& node, std::string const& key, std::string value) {
    node.attributes[key] = {std::move(value), node.where};
  }
  Error cannot(RawNode const& node, std::string const& what, std::string hint) const {
    return graph_.refuse(node.where, fmt::format("node '{}' cannot be costed: {}", node.name, what), std::move(hint));
  }

  void describe(RawNode& node, std::vector<std::string> const& words, std::map<std::string, std::string> const& table,
                std::string const& form) {
    // The first word of a record is the type; without the verbose flag a number and the type or name, on two lines.
    auto type = words.front();
    if (auto const line = type.find('\n'); line != std::string::npos) type = trimmed(type.substr(line));
    if (type == "KERNEL") return kernel(node, words);
    if (type == "MEMCPY") return copy(node, words, table);
    if (type == "MEMSET") return fill(node, table);
    static std::vector<std::string> const timeless{"EMPTY", "EVENT_RECORD", "WAIT_EVENT", "MEM_ALLOC", "MEM_FREE"};
    for (auto const& known : timeless)
      if (type.starts_with(known)) return set(node, "kind", "join");
    if (form == "octagon") {
      set(node, "kind", "kernel");
      set(node, "kernel", function_name(type));
      return;
    }
    if (type.starts_with("graph_"))
      throw cannot(node, "it is a child graph", "print the graph with its child graphs in line");
    if (type.starts_with("HOST"))
      throw cannot(node, "it is a function on the host", "give it kind=join, or kind=kernel and time_s");
    if (form == "record" || form == "octagon" || form == "rectangle")
      throw cannot(node, fmt::format("unknown type '{}'", type.substr(0, 40)), "give it kind and what that needs");
  }

  void kernel(RawNode& node, std::vector<std::string> const& words) {
    auto const launch =
        std::find_if(words.begin(), words.end(), [](auto const& w) { return w.find("<<<") != std::string::npos; });
    if (launch == words.end()) throw cannot(node, "no name of a kernel in its label", "was the label edited?");
    set(node, "kind", "kernel");
    set(node, "kernel", function_name(*launch));
  }

  void copy(RawNode& node, std::vector<std::string> const& words, std::map<std::string, std::string> const& table) {
    double const bytes = number(table, "Width", 0) * number(table, "Height", 1) * number(table, "Depth", 1);
    if (!(bytes > 0))
      throw cannot(node, "its label does not say how much is copied",
                   "print the graph with cudaGraphDebugDotFlagsVerbose");
    auto const has = [&](char const* what) {
      return std::any_of(words.begin(), words.end(), [&](auto const& w) { return w.starts_with(what); });
    };
    if (has("HtoD") || has("DtoH")) {
      set(node, "kind", has("HtoD") ? "h2d" : "d2h");
      set(node, "bytes", fmt::format("{}", bytes));
    } else if (has("DtoD")) {  // within the GPU: read and written
      set(node, "kind", "kernel");
      set(node, "kernel", "copy within the GPU");
      set(node, "global_bytes", fmt::format("{}", 2 * bytes));
    } else if (has("HtoH")) {
      throw cannot(node, "it copies within the host", "give it kind=join, or kind=kernel and time_s");
    } else {
      throw cannot(node, "its label does not say between what it copies", "give it kind=d2d, part, to and bytes");
    }
  }

  void fill(RawNode& node, std::map<std::string, std::string> const& table) {
    double const bytes = number(table, "elementSize", 1) * number(table, "width", 0) * number(table, "height", 1);
    if (!(bytes > 0))
      throw cannot(node, "its label does not say how much is filled",
                   "print the graph with cudaGraphDebugDotFlagsVerbose");
    set(node, "kind", "kernel");
    set(node, "kernel", "fill");
    set(node, "global_bytes", fmt::format("{}", bytes));
  }

  RawGraph& graph_;
};

}  // namespace

void read_cuda_labels(RawGraph& graph) {
  CudaGraph(graph).read();
}

}  // namespace kernelcast::graph
