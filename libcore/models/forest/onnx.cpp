// The message is written by hand: the few fields of onnx.proto that a forest needs, each as tag, length, content.
#include "models/forest/onnx.hpp"

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/diag/diag.hpp"

namespace kernelcast::forest {

namespace {

class Message {
 public:
  Message& integer(unsigned field, std::uint64_t value) {
    varint(field << 3);
    varint(value);
    return *this;
  }
  Message& bytes(unsigned field, std::string_view content) {
    varint(field << 3 | 2);
    varint(content.size());
    data_ += content;
    return *this;
  }
  Message& message(unsigned field, Message const& content) { return bytes(field, content.data_); }
  Message& floats(unsigned field, std::vector<float> const& values) {
    std::string content(values.size() * sizeof(float), '\0');
    if (!values.empty()) std::memcpy(content.data(), values.data(), content.size());
    return bytes(field, content);
  }
  Message& integers(unsigned field, std::vector<std::int64_t> const& values) {
    Message content;
    for (auto const value : values) content.varint(static_cast<std::uint64_t>(value));
    return message(field, content);
  }
  std::string const& data() const { return data_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 128; value >>= 7) data_ += static_cast<char>(value | 128);
    data_ += static_cast<char>(value);
  }
  std::string data_;
};

// AttributeProto: name 1, i 3, s 4, floats 7, ints 8, strings 9, type 20.
Message attribute(std::string_view name, unsigned type) {
  return Message().bytes(1, name).integer(20, type);
}
Message of(std::string_view name, std::vector<float> const& values) {
  return attribute(name, 6).floats(7, values);
}
Message of(std::string_view name, std::vector<std::int64_t> const& values) {
  return attribute(name, 7).integers(8, values);
}
Message of(std::string_view name, std::vector<std::string_view> const& values) {
  auto out = attribute(name, 8);
  for (auto const value : values) out.bytes(9, value);
  return out;
}

// ValueInfoProto of a float tensor [N, columns].
Message tensor(std::string_view name, std::size_t columns) {
  auto const shape = Message()
                         .message(1, Message().bytes(2, "N"))
                         .message(1, Message().integer(1, static_cast<std::uint64_t>(columns)));
  auto const type = Message().integer(1, 1).message(2, shape);
  return Message().bytes(1, name).message(2, Message().message(1, type));
}

struct Nodes {
  std::vector<std::int64_t> tree, id, feature, yes, no, leaf_tree, leaf_id, target;
  std::vector<float> value, weight;
  std::vector<std::string_view> mode;
};

// Ids are the places in pre-order; the yes branch is the next node.
void add(Nodes& nodes, Tree const& tree, std::int64_t number, std::vector<double> const& leaves) {
  std::size_t next_leaf = 0;
  auto const base = nodes.id.size();
  std::vector<std::size_t> waiting;
  std::size_t threshold = 0;
  for (std::size_t i = 0; i < tree.split.size(); ++i) {
    bool const leaf = tree.split[i] == Tree::leaf;
    auto const id = static_cast<std::int64_t>(i);
    nodes.tree.push_back(number);
    nodes.id.push_back(id);
    nodes.feature.push_back(leaf ? 0 : tree.split[i]);
    nodes.value.push_back(leaf ? 0 : tree.threshold[threshold++]);
    nodes.mode.emplace_back(leaf ? "LEAF" : "BRANCH_LEQ");
    nodes.yes.push_back(leaf ? 0 : id + 1);
    nodes.no.push_back(0);
    if (!leaf) {
      waiting.push_back(i);
      continue;
    }
    nodes.leaf_tree.push_back(number);
    nodes.leaf_id.push_back(id);
    nodes.target.push_back(0);
    nodes.weight.push_back(static_cast<float>(leaves[next_leaf++]));
    if (waiting.empty()) break;
    nodes.no[base + waiting.back()] = id + 1;
    waiting.pop_back();
  }
}

Message ensemble(Forest const& forest, std::string_view output) {
  Nodes nodes;
  for (std::size_t k = 0; k < forest.trees.size(); ++k)
    add(nodes, forest.trees[k], static_cast<std::int64_t>(k), leaf_values(forest.trees[k], forest));
  return Message()
      .bytes(1, "features")
      .bytes(2, output)
      .bytes(3, output)
      .bytes(4, "TreeEnsembleRegressor")
      .bytes(7, "ai.onnx.ml")
      .message(5, attribute("n_targets", 2).integer(3, 1))
      .message(5, attribute("aggregate_function", 3).bytes(4, "AVERAGE"))
      .message(5, attribute("post_transform", 3).bytes(4, "NONE"))
      .message(5, of("nodes_treeids", nodes.tree))
      .message(5, of("nodes_nodeids", nodes.id))
      .message(5, of("nodes_featureids", nodes.feature))
      .message(5, of("nodes_values", nodes.value))
      .message(5, of("nodes_modes", nodes.mode))
      .message(5, of("nodes_truenodeids", nodes.yes))
      .message(5, of("nodes_falsenodeids", nodes.no))
      .message(5, of("target_treeids", nodes.leaf_tree))
      .message(5, of("target_nodeids", nodes.leaf_id))
      .message(5, of("target_ids", nodes.target))
      .message(5, of("target_weights", nodes.weight));
}

Message node(std::string_view operation, std::vector<std::string_view> const& inputs, std::string_view output) {
  Message out;
  for (auto const input : inputs) out.bytes(1, input);
  return out.bytes(2, output).bytes(3, output).bytes(4, operation);
}

// TensorProto of one number.
Message scalar(std::string_view name, double value) {
  return Message().integer(2, 1).floats(4, {static_cast<float>(value)}).bytes(8, name);
}

void add_nodes(Message& graph, Regressor const& regressor) {
  auto const& main = regressor.estimator().forest();
  if (auto const* const level = regressor.level(); level != nullptr) {
    graph.message(1, ensemble(level->forest(), "level"))
        .message(1, ensemble(main, "ratio"))
        .message(1, node("Add", {"level", "ratio"}, "logarithm"))
        .message(1, node("Exp", {"logarithm"}, "product"))
        .message(1, node("Clip", {"product", "least", "greatest"}, "prediction"))
        .message(5, scalar("least", regressor.min_target()))
        .message(5, scalar("greatest", regressor.greatest_target()));
  } else if (regressor.plan().scale == Scale::log) {
    graph.message(1, ensemble(main, "logarithm")).message(1, node("Exp", {"logarithm"}, "prediction"));
  } else {
    graph.message(1, ensemble(main, "prediction"));
  }
}

std::string joined(Model const& model) {
  std::string out;
  for (auto const* names : {&model.kernel_features, &model.device_features, &model.projections})
    for (auto const& name : *names) out += (out.empty() ? "" : ",") + name;
  return out;
}

}  // namespace

std::string onnx_message(Model const& model, std::string const& producer_version) {
  auto const plan = model.regressor.plan();
  if (plan.objective != Objective::mean)
    throw Error(Status::unavailable, "ONNX has no forest whose prediction is a weighted median",
                "train with --objective mean");
  if (!model.per.empty())
    throw Error(Status::unavailable, fmt::format("ONNX export of multiples of '{}' is not possible", model.per),
                "train without --per");
  Message graph;
  add_nodes(graph, model.regressor);
  graph.bytes(2, "mangrove").message(11, tensor("features", model.features())).message(12, tensor("prediction", 1));
  auto const property = [](std::string_view key, std::string_view value) {
    return Message().bytes(1, key).bytes(2, value);
  };
  return Message()
      .integer(1, 6)
      .bytes(2, "kernelcast mangrove")
      .bytes(3, producer_version)
      .message(7, graph)
      .message(8, Message().bytes(1, "").integer(2, 11))
      .message(8, Message().bytes(1, "ai.onnx.ml").integer(2, 1))
      .message(14, property("target", model.target))
      .message(14, property("device", model.device))
      .message(14, property("features", joined(model)))
      .data();
}

}  // namespace kernelcast::forest
