// parse_json_graph(): JSON with a place for every value, which nlohmann's documents do not have; its events do.
#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/diag/text.hpp"
#include "models/graph/graph_file.hpp"

namespace kernelcast::graph {

namespace {

// Reads characters and knows how far it has come.
class Position {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = char const*;
  using reference = char const&;

  Position(char const* at, char const** furthest) : at_(at), furthest_(furthest) {}
  reference operator*() const { return *at_; }
  Position& operator++() {
    ++at_;
    if (furthest_) *furthest_ = at_;
    return *this;
  }
  Position operator++(int) {
    auto const old = *this;
    ++*this;
    return old;
  }
  bool operator==(Position const& other) const { return at_ == other.at_; }
  bool operator!=(Position const& other) const { return at_ != other.at_; }

 private:
  char const* at_;
  char const** furthest_;
};

// A value with its place.
struct Value {
  enum Kind { null, text, number, boolean, array, object } kind = null;
  std::string scalar;
  std::vector<std::string> keys;
  std::vector<Value> items;
  Where where;
};

class Events : public nlohmann::json_sax<nlohmann::json> {
 public:
  Events(std::string file, std::string const& text, char const** furthest)
      : file_(std::move(file)), text_(text), furthest_(furthest) {}
  Value root;
  std::optional<Error> error;

  bool null() override { return put({Value::null, "null", {}, {}, here()}); }
  bool boolean(bool b) override { return put({Value::boolean, b ? "true" : "false", {}, {}, here()}); }
  bool number_integer(number_integer_t i) override {
    return put({Value::number, fmt::format("{}", i), {}, {}, here()});
  }
  bool number_unsigned(number_unsigned_t u) override {
    return put({Value::number, fmt::format("{}", u), {}, {}, here()});
  }
  bool number_float(number_float_t, string_t const& s) override { return put({Value::number, s, {}, {}, here()}); }
  bool string(string_t& s) override { return put({Value::text, s, {}, {}, here()}); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Value::object); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Value::array); }
  bool end_array() override { return close(); }
  bool key(string_t& k) override {
    stack_.back().keys.push_back(k);
    return true;
  }
  bool parse_error(std::size_t position, std::string const&, nlohmann::detail::exception const& e) override {
    std::string what = e.what();  // "[json.exception.parse_error.101] parse error at line 2, column 3: syntax error …"
    if (auto const begin = what.find("error while"); begin != std::string::npos) what = what.substr(begin);
    error =
        Error(Status::bad_data, at(position > 0 ? position - 1 : 0), "no JSON: " + what, "a graph file is JSON or DOT");
    return false;
  }

 private:
  // Offsets only grow, so the lines are counted once.
  Where at(std::size_t offset) {
    offset = std::min(offset, text_.size());
    for (; counted_ < offset; ++counted_)
      if (text_[counted_] == '\n') {
        ++line_;
        line_begin_ = counted_ + 1;
      }
    return {file_, line_, offset >= line_begin_ ? offset - line_begin_ + 1 : 1};
  }
  Where here() {
    auto const offset = static_cast<std::size_t>(*furthest_ - text_.data());
    return at(offset > 0 ? offset - 1 : 0);
  }
  bool put(Value value) {
    if (stack_.empty())
      root = std::move(value);
    else
      stack_.back().items.push_back(std::move(value));
    return true;
  }
  bool open(Value::Kind kind) {
    if (stack_.size() >= 64) {
      error = Error(Status::bad_data, here(), "nested too deeply", "a graph file has lists of flat nodes");
      return false;
    }
    stack_.push_back({kind, "", {}, {}, here()});
    return true;
  }
  bool close() {
    auto value = std::move(stack_.back());
    stack_.pop_back();
    return put(std::move(value));
  }

  std::string file_;
  std::string const& text_;
  char const** furthest_;
  std::size_t counted_ = 0, line_ = 1, line_begin_ = 0;
  std::vector<Value> stack_;
};

}  // namespace

namespace {

RawValue raw(Value const& value) {
  return {value.scalar, value.where};
}

// Objects become nodes: their scalars, and the lists of a recorded launch.
class NodeReader {
 public:
  explicit NodeReader(RawGraph const& out) : out_(out) {}

  std::vector<RawNode> list(Value const& value, std::string const& key) const {
    std::vector<RawNode> nodes;
    for (auto const& item : items(value, key)) nodes.push_back(node(item));
    return nodes;
  }

  RawNode node(Value const& value) const {
    if (value.kind != Value::object)
      throw out_.refuse(value.where, "a node is an object", R"({"name": "a", "kind": "kernel"})");
    RawNode node{"", value.where, {}};
    for (std::size_t k = 0; k < value.keys.size(); ++k) {
      auto const& key = value.keys[k];
      auto const& item = value.items[k];
      if (key == "name")
        node.name = item.scalar;
      else if (key == "groups")
        for (auto const& side : items(item, key)) node.groups.push_back(raw(side));
      else if (key == "reads" || key == "writes")
        for (auto const& one : items(item, key)) node.accesses.push_back(access(one, key == "writes"));
      else
        node.attributes[key] = raw(item);
    }
    if (node.name.empty()) throw out_.refuse(value.where, "a node has no name", R"("name": "a")");
    return node;
  }

 private:
  std::vector<Value> const& items(Value const& value, std::string const& key) const {
    if (value.kind != Value::array) throw out_.refuse(value.where, fmt::format("{} must be a list", key), "[ ... ]");
    return value.items;
  }

  RawAccess access(Value const& value, bool write) const {
    if (value.kind != Value::object)
      throw out_.refuse(value.where, "an access is an object",
                        R"({"buffer": "b", "begin": [0, 256, 0, 0], "bytes": 256, "touched": 256})");
    RawAccess out{write, write ? "a write" : "a read", value.where, {}, {}};
    for (std::size_t k = 0; k < value.keys.size(); ++k)
      if (value.keys[k] == "begin")
        for (auto const& number : items(value.items[k], "begin")) out.begin.push_back(raw(number));
      else
        out.attributes[value.keys[k]] = raw(value.items[k]);
    return out;
  }

  RawGraph const& out_;
};

}  // namespace

RawGraph parse_json_graph(std::string const& path, std::string const& text) {
  RawGraph out;
  for (auto const line : kernelcast::split(text, '\n')) out.lines.emplace_back(line);
  char const* furthest = text.data();
  Events events(path, text, &furthest);
  bool const parsed = nlohmann::json::sax_parse(Position(text.data(), &furthest),
                                                Position(text.data() + text.size(), nullptr), &events);
  if (events.error) throw out.refuse(events.error->where(), events.error->what(), events.error->hint());
  if (!parsed || events.root.kind != Value::object)
    throw out.refuse(events.root.where, "a graph file holds one object", R"({"nodes": [...], "edges": [...]})");
  auto const& root = events.root;
  auto const list = [&](Value const& value, std::string const& key) -> std::vector<Value> const& {
    if (value.kind != Value::array) throw out.refuse(value.where, fmt::format("{} must be a list", key), "[ ... ]");
    return value.items;
  };
  for (std::size_t i = 0; i < root.keys.size(); ++i) {
    auto const& key = root.keys[i];
    auto const& value = root.items[i];
    if (key == "app") {
      out.app = value.scalar;
    } else if (key == "gpu") {
      continue;  // on what the times were computed
    } else if (key == "memory_bytes") {
      for (auto const& item : list(value, key)) {
        if (item.kind != Value::number)
          throw out.refuse(item.where, "memory_bytes holds numbers", "bytes of each part");
        out.memory_bytes.push_back(std::strtod(item.scalar.c_str(), nullptr));
      }
    } else if (key == "nodes") {
      out.nodes = NodeReader(out).list(value, key);
    } else if (key == "buffers") {
      out.is_recording = true;
      out.buffers = NodeReader(out).list(value, key);
    } else if (key == "edges") {
      for (auto const& item : list(value, key)) {
        if (item.kind != Value::array || item.items.size() != 2)
          throw out.refuse(item.where, "an edge is a list of two names", R"(["before", "after"])");
        out.edges.emplace_back(RawValue{item.items[0].scalar, item.items[0].where},
                               RawValue{item.items[1].scalar, item.items[1].where});
      }
    } else {
      throw out.refuse(value.where, fmt::format("unknown key '{}'", key),
                       did_you_mean(key, {"app", "nodes", "edges", "memory_bytes", "gpu", "buffers"}));
    }
  }
  return out;
}

}  // namespace kernelcast::graph
