#include "models/forest/model_file.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/diag/diag.hpp"
#include "models/forest/base64.hpp"
#include "models/forest/names.hpp"

namespace kernelcast::forest {

namespace {

using Json = nlohmann::ordered_json;

constexpr auto format_name = "kernelcast-forest";

// Reads values by name and refuses what is missing or of another kind.
class Object {
 public:
  Object(Json const& json, std::string file, std::string path)
      : json_(&json), file_(std::move(file)), path_(std::move(path)) {
    if (!json.is_object()) refuse(fmt::format("'{}' is not an object", path_));
  }

  [[noreturn]] void refuse(std::string const& what) const {
    throw Error(Status::bad_data, Where{file_, 0, 0}, "this model cannot be used: " + what,
                "it is damaged or was not written by mangrove train; train it again");
  }
  Json const& at(std::string const& key) const {
    auto const found = json_->find(key);
    if (found == json_->end()) refuse(fmt::format("'{}{}' is missing", path_, key));
    return *found;
  }
  Object object(std::string const& key) const { return {at(key), file_, path_ + key + "."}; }
  std::string text(std::string const& key) const {
    if (!at(key).is_string()) refuse(fmt::format("'{}{}' is not text", path_, key));
    return at(key).get<std::string>();
  }
  double number(std::string const& key) const {
    if (!at(key).is_number()) refuse(fmt::format("'{}{}' is not a number", path_, key));
    return at(key).get<double>();
  }
  std::uint64_t count(std::string const& key) const {
    if (!at(key).is_number_unsigned()) refuse(fmt::format("'{}{}' is not a whole number, 0 or more", path_, key));
    return at(key).get<std::uint64_t>();
  }
  Json const& list(std::string const& key) const {
    if (!at(key).is_array()) refuse(fmt::format("'{}{}' is not a list", path_, key));
    return at(key);
  }
  std::vector<std::string> texts(std::string const& key) const {
    std::vector<std::string> out;
    for (auto const& item : list(key)) {
      if (!item.is_string()) refuse(fmt::format("'{}{}' holds something else than text", path_, key));
      out.push_back(item.get<std::string>());
    }
    return out;
  }
  template <class T>
  std::vector<T> numbers(std::string const& key) const {
    auto out = unpacked<T>(text(key));
    if (!out) refuse(fmt::format("'{}{}' is not base64 of numbers", path_, key));
    return *std::move(out);
  }
  template <class E, std::size_t N>
  E word(Words<E, N> const& words, std::string const& key) const {
    auto const value = text(key);
    auto const* const found = find_word(words, value);
    if (found == nullptr) refuse(fmt::format("'{}{}' must not be '{}'", path_, key, value));
    return *found;
  }
  Json const& json() const { return *json_; }
  std::string const& file() const { return file_; }

 private:
  Json const* json_;
  std::string file_, path_;
};

Json settings_json(Plan const& plan) {
  auto const& forest = plan.forest;
  return {{"trees", forest.trees},
          {"max_features", word(max_features_words, forest.max_features)},
          {"criterion", word(criterion_words, forest.criterion)},
          {"cuts", word(cuts_words, forest.cuts)},
          {"seed", forest.seed},
          {"scale", word(scale_words, plan.scale)},
          {"objective", word(objective_words, plan.objective)},
          {"target_form", word(target_form_words, plan.form)},
          {"interval", plan.interval},
          {"margin", plan.margin}};
}

Plan plan_of(Object const& settings, std::uint64_t version) {
  Plan out;
  out.forest.trees = settings.count("trees");
  out.forest.max_features = settings.word(max_features_words, "max_features");
  out.forest.criterion = settings.word(criterion_words, "criterion");
  out.forest.cuts = settings.word(cuts_words, "cuts");
  out.forest.seed = settings.count("seed");
  out.scale = settings.word(scale_words, "scale");
  out.objective = settings.word(objective_words, "objective");
  if (version > 2) out.form = settings.word(target_form_words, "target_form");
  out.interval = settings.number("interval");
  out.margin = settings.number("margin");
  if (!(out.interval > 0 && out.interval < 1)) settings.refuse("'settings.interval' is not between 0 and 1");
  if (!(std::fabs(out.margin) < 1e6)) settings.refuse("'settings.margin' is not a sensible distance");
  return out;
}

// In their own unit.
std::vector<double> targets_of(Object const& root, Plan const& plan) {
  auto targets = root.object("training").numbers<double>("targets");
  if (targets.empty() || targets.size() > max_sample_count) root.refuse("no targets, or too many");
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (!std::isfinite(targets[i])) root.refuse("a target is not a number");
    if (i > 0 && targets[i] < targets[i - 1]) root.refuse("the targets do not ascend");
    if (!(targets[i] > 0) && (plan.scale == Scale::log || plan.objective == Objective::relative))
      root.refuse("a target is not above 0");
  }
  return targets;
}

struct Features {
  std::vector<std::string> kernel, device, projections;
  std::vector<float> low, high;
  std::vector<double> importance;
};

Features features_of(Object const& root) {
  Features out;
  std::set<std::string> names;
  auto const& list = root.list("features");
  if (list.empty() || list.size() > max_feature_count) root.refuse(fmt::format("it has {} features", list.size()));
  std::size_t stage = 0;  // kernel, device, projection: in this order
  for (auto const& item : list) {
    Object const feature(item, root.file(), "features.");
    auto const name = feature.text("name"), of = feature.text("of");
    if (name.empty() || !names.insert(of + "." + name).second) root.refuse("a feature has no name of its own");
    std::size_t const at = of == "kernel" ? 0 : of == "device" ? 1 : of == "projection" ? 2 : 3;
    if (at == 3 || at < stage) root.refuse("a feature is of neither kernel, device nor projection, in this order");
    stage = at;
    (at == 0 ? out.kernel : at == 1 ? out.device : out.projections).push_back(name);
    auto const low = feature.number("low"), high = feature.number("high");
    if (!std::isfinite(static_cast<float>(low)) || !std::isfinite(static_cast<float>(high)) || low > high)
      root.refuse(fmt::format("the range of feature '{}' is none", name));
    out.low.push_back(static_cast<float>(low));
    out.high.push_back(static_cast<float>(high));
    out.importance.push_back(feature.number("importance"));
    if (!(out.importance.back() >= 0 && out.importance.back() <= 1 + 1e-9))
      root.refuse(fmt::format("the importance of feature '{}' is not between 0 and 1", name));
  }
  if (out.kernel.empty()) root.refuse("it has no feature of kernels");
  return out;
}

Forest forest_of(Object const& root, Plan const& plan, Features const& features, std::vector<double> const& targets) {
  Forest out;
  out.settings = plan.forest;
  out.features = features.low.size();
  out.importance = features.importance;
  for (double const target : targets) out.targets.push_back(scaled(target, plan.scale));
  out.order.resize(out.targets.size());
  std::iota(out.order.begin(), out.order.end(), 0U);
  for (auto const& item : root.list("trees")) {
    Object const tree(item, root.file(), "trees.");
    out.trees.push_back({tree.numbers<std::uint8_t>("split"), tree.numbers<float>("threshold"),
                         tree.numbers<std::uint32_t>("leaf_size"), tree.numbers<std::uint32_t>("members")});
  }
  if (out.trees.size() != plan.forest.trees)
    root.refuse(fmt::format("it has {} trees of {}", out.trees.size(), plan.forest.trees));
  return out;
}

Json parsed(std::string_view text, std::string const& file) {
  auto const refuse = [&](std::size_t line) {
    throw Error(Status::bad_data, Where{file, line, 0}, "this is not complete JSON, so no model",
                "name a file that mangrove train wrote");
  };
  try {
    return Json::parse(text);
  } catch (Json::parse_error const& error) {
    auto const read = text.substr(0, error.byte);
    refuse(1 + static_cast<std::size_t>(std::count(read.begin(), read.end(), '\n')));
  } catch (Json::exception const&) {
    refuse(0);  // a number out of range
  }
  return {};
}

// The features that the estimator reads: all, or the kernel's alone.
void add_features(Json& out, Model const& model, Estimator const& estimator) {
  out["features"] = Json::array();
  std::size_t f = 0;
  auto const add = [&](std::vector<std::string> const& names, char const* of) {
    for (auto const& name : names) {
      if (f == estimator.low().size()) return;
      out["features"].push_back({{"name", name},
                                 {"of", of},
                                 {"low", estimator.low()[f]},
                                 {"high", estimator.high()[f]},
                                 {"importance", estimator.forest().importance[f]}});
      ++f;
    }
  };
  add(model.kernel_features, "kernel");
  add(model.device_features, "device");
  add(model.projections, "projection");
}

void add_trees(Json& out, Forest const& forest) {
  out["trees"] = Json::array();
  for (auto const& tree : forest.trees)
    out["trees"].push_back({{"split", packed(tree.split)},
                            {"threshold", packed(tree.threshold)},
                            {"leaf_size", packed(tree.leaf_size)},
                            {"members", packed(tree.members)}});
}

Estimator estimator_of(Object const& root, Plan const& plan, Features const& features) {
  auto targets = targets_of(root, plan);
  auto forest = forest_of(root, plan, features, targets);
  return {std::move(forest), plan, std::move(targets), features.low, features.high};
}

// Of two forests the level's has an object of its own.
Regressor regressor_of(Object const& root, Plan const& plan, Features const& features) {
  if (plan.form == TargetForm::direct) return Regressor(estimator_of(root, plan, features));
  if (plan.scale != Scale::log) root.refuse("its ratios are not logarithms");
  if (features.device.empty() || !features.projections.empty())
    root.refuse("ratios need features of devices, and no projections");
  auto const training = root.object("training");
  double const least = training.number("least"), greatest = training.number("greatest");
  if (!(least > 0 && least <= greatest && std::isfinite(greatest))) root.refuse("the range of its targets is none");
  auto const below = root.object("level");
  auto const of_kernel = features_of(below);
  if (of_kernel.kernel != features.kernel || !of_kernel.device.empty() || !of_kernel.projections.empty())
    below.refuse("'level.features' are not the kernel's");
  Plan level = plan;
  level.form = TargetForm::direct;
  level.margin = 0;
  Plan ratio = level;
  ratio.objective = Objective::mean;
  return {estimator_of(below, level, of_kernel), estimator_of(root, ratio, features), plan.margin, least, greatest};
}

}  // namespace

std::string model_text(Model const& model) {
  auto const& main = model.regressor.estimator();
  auto out = Json::object();
  out["format"] = format_name;
  out["version"] = model_version;
  out["target"] = model.target;
  out["per"] = model.per;
  out["device"] = model.device;
  out["settings"] = settings_json(model.regressor.plan());
  out["provenance"] = Json::object();
  for (auto const& [key, value] : model.provenance) out["provenance"][key] = value;
  add_features(out, model, main);
  std::vector<std::string> samples;
  for (auto const row : main.forest().order) samples.push_back(model.samples[row]);
  out["training"] = {{"samples", samples}, {"targets", packed(main.targets())}};
  if (auto const* const level = model.regressor.level(); level != nullptr) {
    out["training"]["least"] = model.regressor.min_target();
    out["training"]["greatest"] = model.regressor.greatest_target();
    auto of_level = Json::object();
    add_features(of_level, model, *level);
    of_level["training"] = {{"targets", packed(level->targets())}};
    add_trees(of_level, level->forest());
    out["level"] = of_level;
  }
  add_trees(out, main.forest());
  return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Model parse_model(std::string_view text, std::string const& file) {
  auto const json = parsed(text, file);
  Object const root(json, file, "");
  if (root.text("format") != format_name) root.refuse(fmt::format("its format is '{}'", root.text("format")));
  auto const version = root.count("version");
  if (version < min_model_version || version > model_version)
    throw Error(
        Status::bad_data, Where{file, 0, 0},
        fmt::format("the model has version {}, this program reads {} to {}", version, min_model_version, model_version),
        "train it again with this version");
  auto const plan = plan_of(root.object("settings"), version);
  auto features = features_of(root);
  auto samples = root.object("training").texts("samples");
  std::map<std::string, std::string> provenance;
  for (auto const& [key, value] : root.object("provenance").json().items())
    if (value.is_string()) provenance[key] = value.get<std::string>();
  auto const per = root.text("per"), target = root.text("target");
  if (target != "time_s" && target != "power_w") root.refuse(fmt::format("its target is '{}'", target));
  if (!per.empty() && std::find(features.kernel.begin(), features.kernel.end(), per) == features.kernel.end())
    root.refuse(fmt::format("it predicts multiples of '{}', which is not a feature", per));
  try {
    auto regressor = regressor_of(root, plan, features);
    if (samples.size() != regressor.estimator().targets().size()) root.refuse("not one name for each training sample");
    return {target,
            per,
            root.text("device"),
            std::move(features.kernel),
            std::move(features.device),
            std::move(features.projections),
            std::move(samples),
            std::move(provenance),
            std::move(regressor)};
  } catch (Error const& error) {
    if (error.where().file == file) throw;
    root.refuse(error.what());
  }
}

}  // namespace kernelcast::forest
