#include "models/forest/study/predict_rows.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "models/forest/model_file.hpp"
#include "models/forest/study/learning.hpp"
#include "models/forest/study/predictor.hpp"
#include "models/forest/study/shipped.hpp"
#include "models/forest/study/shipped_index.hpp"
#include "records/device/device.hpp"

namespace kernelcast::forest {

namespace {

// The input's columns that the model does not know and the output does not have pass through.
class PassedColumns {
 public:
  std::vector<std::string> const& names() const { return names_; }
  // All inputs have the first one's, or the output would have no header.
  void choose(record::RowReader const& rows) {
    for (auto const& name : rows.extra_names())
      if (record::ForestProjection::schema().find(name) == nullptr) names_.push_back(name);
  }
  void find(record::RowReader const& rows) {
    places_.clear();
    auto const& names = rows.extra_names();
    for (auto const& name : names_)
      places_.push_back(static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin()));
  }
  std::vector<std::string> of(record::RowReader const& rows) const {
    std::vector<std::string> out;
    if (places_.empty()) return out;
    auto const cells = rows.extras();
    for (auto const place : places_) out.push_back(place < cells.size() ? cells[place] : "");
    return out;
  }

 private:
  std::vector<std::string> names_;
  std::vector<std::size_t> places_;
};

// The model of --model, or a shipped one of each device; their kernel features are the same. Predictors refer to
// models.
struct Forests {
  struct Shipped {
    record::ShippedForest about;
    std::map<std::string, std::uint64_t> rows;  // of each kernel
  };
  std::deque<Model> models;
  std::vector<Predictor> predictors;
  std::vector<Shipped> shipped;  // [predictor], or none

  std::vector<std::string> const& features() const { return models.front().kernel_features; }
};

Forests named(PredictRows const& options, cli::Streams& io) {
  Forests out;
  auto const content = read_all(io, options.model);
  auto const& model = out.models.emplace_back(parse_model(content.text, content.path));
  if (!model.device.empty()) io.set_device(model.device);
  out.predictors.emplace_back(model, device_table(io, options.devices_file, options.devdb, model.device_features),
                              options.devices, read_all(io, options.stack), io.threads());
  return out;
}

// By the columns of the first input.
Forests shipped(PredictRows const& options, std::vector<std::string> const& columns, cli::Streams& io) {
  auto const folder = device::find_database(options.devdb);
  auto const database = device::load(folder);
  auto const index = shipped_index(io, folder);
  Forests out;
  for (auto const& name : options.devices) {
    auto const& about = choose(index, database.find(name).device, columns);
    auto const content = read_all(io, shipped_path(folder, about.file));
    auto const& model = out.models.emplace_back(parse_model(content.text, content.path));
    if (model.kernel_features != features_of(about) || model.device != about.device)
      throw Error(Status::bad_data, Where{content.path, 0, 0}, "this model is not the one that the index describes",
                  "make -C bench-suites/mangrove ship makes both");
    if (model.kernel_features != out.features())
      throw Error(
          Status::usage,
          fmt::format("the forests of '{}' and '{}' read other columns", out.models.front().device, model.device),
          "predict for them one after the other");
    out.predictors.emplace_back(model, DeviceTable(), std::vector<std::string>(), std::vector<Content>(), io.threads());
    out.shipped.push_back({about, {}});
  }
  if (options.devices.size() == 1) io.set_device(out.models.front().device);
  return out;
}

void note_trust(Forests const& forests, cli::Streams& io) {
  for (std::size_t i = 0; i < forests.shipped.size(); ++i) {
    auto const& [about, rows] = forests.shipped[i];
    std::set<std::string> kernels;
    std::uint64_t all = 0, seen_rows = 0;
    for (auto const& [kernel, count] : rows) kernels.insert(kernel), all += count;
    for (auto const& kernel : seen(forests.models[i].samples, kernels)) seen_rows += rows.at(kernel);
    io.note(trust(about, seen_rows, all - seen_rows));
  }
}

}  // namespace

void predict_rows(PredictRows const& options, cli::Streams& io) {
  if (options.model.empty() && options.devices.empty())
    throw Error(Status::usage, "which model? --model FILE is missing, or --device NAME for a shipped forest",
                "mangrove train writes a model, mangrove forests lists the shipped ones");
  if (options.model.empty() && (!options.stack.empty() || !options.devices_file.empty()))
    throw Error(Status::usage, "shipped forests read neither --stack nor --devices", "name a model with --model FILE");
  Forests forests;
  if (!options.model.empty()) forests = named(options, io);
  std::optional<record::Schema<FeatureRow>> schema;
  PassedColumns passed;
  std::optional<record::Writer<record::ForestProjection>> out;
  auto const finish = [&] {
    for (auto& one : forests.predictors)
      one.finish([&](auto const& row, auto const& extras) { out->write(row, extras); });
  };
  for (auto const& path : io.inputs()) {
    auto csv = io.csv(path);
    if (forests.models.empty()) forests = shipped(options, csv.header(), io);
    if (!schema) schema.emplace(kernel_schema(forests.features()));
    record::RowReader rows(*schema, csv);
    if (!out) {
      passed.choose(rows);
      out.emplace(io.writer<record::ForestProjection>(passed.names()));
    }
    passed.find(rows);
    for (FeatureRow row; rows.next(&row); row = {}) {
      check_range(rows, row, forests.features());
      for (auto& one : forests.shipped) ++one.rows[row.kernel];
      for (auto& one : forests.predictors) one.add(row, passed.of(rows));
      if (forests.predictors.front().full()) finish();
    }
  }
  finish();
  out->finish();
  note_trust(forests, io);
}

}  // namespace kernelcast::forest
