#include "models/forest/study/predictor.hpp"

#include <algorithm>
#include <atomic>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diag/diag.hpp"
#include "models/forest/study/rows.hpp"
#include "models/forest/threads.hpp"

namespace kernelcast::forest {

namespace {

// Values one after the other; missing where either is.
void append(Values& values, Values const& more) {
  if (values.missing.empty()) values.missing = more.missing;
  values.x.insert(values.x.end(), more.x.begin(), more.x.end());
}

}  // namespace

Predictor::Predictor(Model const& model, DeviceTable const& table, std::vector<std::string> const& devices,
                     std::vector<Content> const& projections, unsigned threads)
    : model_(model), threads_(threads), features_(model.kernel_features) {
  for (auto const* more : {&model.device_features, &model.projections})
    features_.insert(features_.end(), more->begin(), more->end());
  if (!model.per.empty())
    per_ = static_cast<std::size_t>(std::find(features_.begin(), features_.end(), model.per) - features_.begin());
  if (model.device_features.empty()) {
    if (!devices.empty() && devices != std::vector{model.device})
      throw Error(Status::unavailable, fmt::format("this model is of device '{}' alone", model.device),
                  "a model of several devices is trained with --device-feature");
    devices_.push_back({model.device, {}});
  } else {
    for (auto const& name : devices.empty() ? table.names() : devices) {
      auto const& row = table.find(name);
      devices_.push_back({row.device, values_of(row, model.device_features)});
    }
  }
  if (model.projections.empty()) return;
  if (projections.empty())
    throw Error(Status::usage,
                fmt::format("this model needs the projected times of '{}'", fmt::join(model.projections, "', '")),
                "--stack FILE gives them");
  projections_ = read_projections(projections);
  if (projections_.models != model.projections)
    throw Error(Status::bad_data,
                fmt::format("the projections are of '{}', the model was trained with '{}'",
                            fmt::join(projections_.models, ", "), fmt::join(model.projections, ", ")),
                "give rows of the same models");
}

void Predictor::add(FeatureRow const& row, std::vector<std::string> const& passed) {
  auto const kernel = values_of(row, model_.kernel_features);
  for (auto const& device : devices_) add(row, kernel, device, passed);
}

void Predictor::add(FeatureRow const& row, Values values, Device const& device,
                    std::vector<std::string> const& passed) {
  auto& task = tasks_.emplace_back();
  task.row.kernel = row.kernel;
  task.row.case_name = row.case_name;
  task.row.device = device.name;
  task.passed = passed;
  append(values, device.values);
  if (!model_.projections.empty()) append(values, projections_.of(row.kernel, row.case_name, device.name));
  if (!model_.per.empty() && values.missing.empty()) {
    task.work = row.values[per_].value_or(0);
    if (!(task.work > 0)) values.missing = fmt::format("feature '{}' is not above 0", model_.per);
  }
  if (values.missing.empty()) {
    task.x = std::move(values.x);
    return;
  }
  task.row.model = model_name;
  task.row.status = record::RowStatus::unknown;
  task.row.reason = values.missing;
}

void Predictor::finish(Visit const& visit) {
  constexpr std::size_t piece = 1024;
  std::atomic<std::size_t> next{0};
  on_threads(std::min<std::size_t>(threads_, (tasks_.size() + piece - 1) / piece), [&] {
    Scratch scratch;
    for (std::size_t begin = (next += piece) - piece; begin < tasks_.size(); begin = (next += piece) - piece)
      predict(begin, std::min(begin + piece, tasks_.size()), scratch);
  });
  for (auto const& task : tasks_) visit(task.row, task.passed);
  tasks_.clear();
}

void Predictor::predict(std::size_t begin, std::size_t end, Scratch& scratch) {
  std::vector<float> rows;
  for (std::size_t i = begin; i < end; ++i) rows.insert(rows.end(), tasks_[i].x.begin(), tasks_[i].x.end());
  auto const predictions = model_.regressor.predict_rows(rows, scratch);
  auto next = predictions.begin();
  for (std::size_t i = begin; i < end; ++i) {
    auto& task = tasks_[i];
    if (task.x.empty()) continue;
    auto p = *next++;
    p.value *= task.work;
    p.low *= task.work;
    p.high *= task.work;
    fill(task.row, p, model_.target, features_);
    task.row.nearest = model_.samples[p.nearest];
  }
}

}  // namespace kernelcast::forest
