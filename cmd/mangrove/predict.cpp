// mangrove predict: rows of features -> projections.
#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "learning.hpp"
#include "models/forest/model_file.hpp"
#include "models/forest/study/predictor.hpp"
#include "models/forest/study/shipped.hpp"
#include "records/device/device.hpp"
#include "shipped.hpp"
#include "verbs.hpp"

namespace kernelcast::mangrove {

namespace {

struct Options {
  std::string model, devices_file, devdb;
  std::vector<std::string> devices, stack;
};

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
  std::deque<forest::Model> models;
  std::vector<forest::Predictor> predictors;
  std::vector<Shipped> shipped;  // [predictor], or none

  std::vector<std::string> const& features() const { return models.front().kernel_features; }
};

Forests named(Options const& options, cli::Streams& io) {
  Forests out;
  auto const content = read_all(io, options.model);
  auto const& model = out.models.emplace_back(forest::parse_model(content.text, content.path));
  if (!model.device.empty()) io.set_device(model.device);
  out.predictors.emplace_back(model, device_table(io, options.devices_file, options.devdb, model.device_features),
                              options.devices, read_all(io, options.stack), io.threads());
  return out;
}

// By the columns of the first input.
Forests shipped(Options const& options, std::vector<std::string> const& columns, cli::Streams& io) {
  auto const folder = device::find_database(options.devdb);
  auto const database = device::load(folder);
  auto const index = shipped_index(io, folder);
  Forests out;
  for (auto const& name : options.devices) {
    auto const& about = forest::choose(index, database.find(name).device, columns);
    auto const content = read_all(io, shipped_path(folder, about.file));
    auto const& model = out.models.emplace_back(forest::parse_model(content.text, content.path));
    if (model.kernel_features != forest::features_of(about) || model.device != about.device)
      throw Error(Status::bad_data, Where{content.path, 0, 0}, "this model is not the one that the index describes",
                  "make -C bench-suites/mangrove ship makes both");
    if (model.kernel_features != out.features())
      throw Error(
          Status::usage,
          fmt::format("the forests of '{}' and '{}' read other columns", out.models.front().device, model.device),
          "predict for them one after the other");
    out.predictors.emplace_back(model, forest::DeviceTable(), std::vector<std::string>(),
                                std::vector<forest::Content>(), io.threads());
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
    for (auto const& kernel : forest::seen(forests.models[i].samples, kernels)) seen_rows += rows.at(kernel);
    io.note(forest::trust(about, seen_rows, all - seen_rows));
  }
}

void run(Options const& options, cli::Streams& io) {
  if (options.model.empty() && options.devices.empty())
    throw Error(Status::usage, "which model? --model FILE is missing, or --device NAME for a shipped forest",
                "mangrove train writes a model, mangrove forests lists the shipped ones");
  if (options.model.empty() && (!options.stack.empty() || !options.devices_file.empty()))
    throw Error(Status::usage, "shipped forests read neither --stack nor --devices", "name a model with --model FILE");
  Forests forests;
  if (!options.model.empty()) forests = named(options, io);
  std::optional<record::Schema<forest::FeatureRow>> schema;
  PassedColumns passed;
  std::optional<record::Writer<record::ForestProjection>> out;
  auto const finish = [&] {
    for (auto& one : forests.predictors)
      one.finish([&](auto const& row, auto const& extras) { out->write(row, extras); });
  };
  for (auto const& path : io.inputs()) {
    auto csv = io.csv(path);
    if (forests.models.empty()) forests = shipped(options, csv.header(), io);
    if (!schema) schema.emplace(forest::kernel_schema(forests.features()));
    record::RowReader rows(*schema, csv);
    if (!out) {
      passed.choose(rows);
      out.emplace(io.writer<record::ForestProjection>(passed.names()));
    }
    passed.find(rows);
    for (forest::FeatureRow row; rows.next(&row); row = {}) {
      forest::check_range(rows, row, forests.features());
      for (auto& one : forests.shipped) ++one.rows[row.kernel];
      for (auto& one : forests.predictors) one.add(row, passed.of(rows));
      if (forests.predictors.front().full()) finish();
    }
  }
  finish();
  out->finish();
  note_trust(forests, io);
}

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<Options>();
  auto& app = tool.app();
  app.add_option("--model", options->model,
                 "the model, as mangrove train wrote it (default: the shipped forests of --device)")
      ->type_name("FILE");
  tool.list("--device", options->devices,
            "without --model: predict by the shipped forests of these devices; with a model of several: for these "
            "(default: all that --devices or the device database has)",
            "NAME");
  app.add_option("--devices", options->devices_file,
                 "features of devices, for a model of several (default: the device database)")
      ->type_name("FILE");
  cli::database_option(app, options->devdb);
  tool.list("--stack", options->stack, "projections of the models whose times are features of this one", "FILE");
  tool.run([options](cli::Streams& io) { run(*options, io); });
}

}  // namespace

int predict(int argc, char** argv) {
  cli::About const about{
      .name = "mangrove predict",
      .summary = "predict time or power of kernels by a model",
      .description =
          "Reads rows of features and writes projections, each with the interval that the training samples near it "
          "span, and with a reason when the model has seen nothing like it. Columns that the model does not know pass "
          "through. Without --model, forests of the device database predict; which of them, the columns decide, and a "
          "note says how far their held-out predictions were off.",
      .input = {},
      .output = {&record::ForestProjection::schema()},
      .statuses = {{Status::unavailable, "the model is of another device, or none of the device is shipped"}},
      .see_also = {"mangrove(1)", "flux-count(1)", "rank(1)"},
      .examples = {{"flux-count app.toml --emit features | mangrove predict --model v100.json --format table",
                    "how long the kernels of a program take on the model's device"},
                   {"miniemu app.toml | mangrove predict --device rtx3080", "the same by a shipped forest"}}};
  return cli::tool_main(argc, argv, about, declare);
}

}  // namespace kernelcast::mangrove
