// mangrove predict: rows of features -> projections.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "forest/model_file.hpp"
#include "projected.hpp"
#include "tables.hpp"
#include "verbs.hpp"

namespace kernelcast::mangrove {

namespace {

struct Options {
  std::string model, devices_file, devdb;
  std::vector<std::string> devices, stack;
};

// A row of features on a device, and what comes of it.
struct Task {
  record::ForestProjection row;
  std::vector<float> x;
  double work = 1;
  std::vector<std::string> extras;
};

struct Device {
  std::string name;
  Values values;
};

class Predictor {
 public:
  Predictor(cli::Streams& io, Options const& options, forest::Model const& model)
      : io_(io), model_(model), features_(model.kernel_features) {
    for (auto const* more : {&model.device_features, &model.projections})
      features_.insert(features_.end(), more->begin(), more->end());
    find_devices(options);
    find_projections(options);
    if (!model.per.empty())
      per_ = static_cast<std::size_t>(std::find(features_.begin(), features_.end(), model.per) - features_.begin());
  }

  void run() {
    auto const schema = kernel_schema(model_.kernel_features);
    // All inputs have the same extra columns, or the output would have no header.
    std::optional<std::vector<std::string>> extra_names;
    std::optional<record::Writer<record::ForestProjection>> out;
    for (auto const& path : io_.inputs()) {
      auto csv = io_.csv(path);
      record::RowReader rows(schema, csv);
      if (!out) {
        for (auto const& name : rows.extra_names())
          if (record::ForestProjection::schema().find(name) == nullptr) kept_.push_back(name);
        out.emplace(io_.writer<record::ForestProjection>(kept_));
      }
      read(rows, *out);
    }
    flush(*out);
    out->finish();
  }

 private:
  static constexpr std::size_t block = 4096;

  void find_devices(Options const& options) {
    if (model_.device_features.empty()) {
      if (!options.devices.empty() && options.devices != std::vector{model_.device})
        throw Error(Status::unavailable, fmt::format("this model is of device '{}' alone", model_.device),
                    "a model of several devices is trained with --device-feature");
      devices_.push_back({model_.device, {}});
      return;
    }
    auto const table = options.devices_file.empty()
                           ? DeviceTable::from_database(io_, options.devdb, model_.device_features)
                           : DeviceTable::from_file(read_all(io_, options.devices_file), model_.device_features);
    for (auto const& name : options.devices.empty() ? table.names() : options.devices) {
      auto const& row = table.find(name);
      devices_.push_back({row.device, values_of(row, model_.device_features)});
    }
  }

  void find_projections(Options const& options) {
    if (model_.projections.empty()) return;
    if (options.stack.empty())
      throw Error(Status::usage,
                  fmt::format("this model needs the projected times of '{}'", model_.projections.front()),
                  "--stack FILE gives them");
    projections_ = read_projections(io_, options.stack);
    if (projections_.models != model_.projections)
      throw Error(Status::bad_data,
                  fmt::format("the projections are of '{}', the model was trained with '{}'",
                              fmt::join(projections_.models, ", "), fmt::join(model_.projections, ", ")),
                  "give rows of the same models");
  }

  void read(record::RowReader& rows, record::Writer<record::ForestProjection>& out) {
    std::vector<std::size_t> places;
    for (auto const& name : kept_) {
      auto const& names = rows.extra_names();
      places.push_back(static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin()));
    }
    for (FeatureRow row; rows.next(&row); row = {}) {
      for (std::size_t f = 0; f < model_.kernel_features.size(); ++f)
        if (row.values[f] && !std::isfinite(static_cast<float>(*row.values[f])))
          throw rows.error(model_.kernel_features[f], "the value is beyond the range of a float",
                           "features are at most 3.4e38");
      std::vector<std::string> extras;
      if (!places.empty()) {
        auto const cells = rows.extras();
        for (auto const place : places) extras.push_back(place < cells.size() ? cells[place] : "");
      }
      for (auto const& device : devices_) add(row, device, extras);
      if (tasks_.size() >= block) flush(out);
    }
  }

  void add(FeatureRow const& row, Device const& device, std::vector<std::string> const& extras) {
    Task task;
    task.row.kernel = row.kernel;
    task.row.case_name = row.case_name;
    task.row.device = device.name;
    task.extras = extras;
    auto values = values_of(row, model_.kernel_features);
    auto const take = [&](Values const& more) {
      if (values.missing.empty()) values.missing = more.missing;
      values.x.insert(values.x.end(), more.x.begin(), more.x.end());
    };
    take(device.values);
    if (!model_.projections.empty()) take(projections_.of(row.kernel, row.case_name, device.name));
    if (!model_.per.empty() && values.missing.empty()) {
      task.work = *row.values[per_];
      if (!(task.work > 0)) values.missing = fmt::format("feature '{}' is not above 0", model_.per);
    }
    if (!values.missing.empty()) {
      task.row.model = model_name;
      task.row.status = "unknown";
      task.row.reason = values.missing;
      values.x.clear();
    }
    task.x = std::move(values.x);
    tasks_.push_back(std::move(task));
  }

  void flush(record::Writer<record::ForestProjection>& out) {
    constexpr std::size_t piece = 1024;
    std::atomic<std::size_t> next{0};
    auto const work = [&] {
      forest::Scratch scratch;
      for (std::size_t begin = (next += piece) - piece; begin < tasks_.size(); begin = (next += piece) - piece)
        predict(begin, std::min(begin + piece, tasks_.size()), scratch);
    };
    {
      std::vector<std::jthread> threads;
      for (unsigned i = 1; i < io_.threads() && i * piece < tasks_.size(); ++i) threads.emplace_back(work);
      work();
    }
    for (auto const& task : tasks_) out.write(task.row, task.extras);
    tasks_.clear();
  }

  void predict(std::size_t begin, std::size_t end, forest::Scratch& scratch) {
    std::vector<float> rows;
    for (std::size_t i = begin; i < end; ++i) rows.insert(rows.end(), tasks_[i].x.begin(), tasks_[i].x.end());
    auto const predictions = model_.estimator.predict_rows(rows, scratch);
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

  cli::Streams& io_;
  forest::Model const& model_;
  std::vector<std::string> features_;
  std::vector<Device> devices_;
  Projections projections_;
  std::size_t per_ = 0;
  std::vector<std::string> kept_;  // columns of the first input that pass through
  std::vector<Task> tasks_;
};

void run(Options const& options, cli::Streams& io) {
  if (options.model.empty())
    throw Error(Status::usage, "which model? --model FILE is missing", "mangrove train writes one");
  auto const content = read_all(io, options.model);
  auto const model = forest::parse_model(content.text, content.path);
  if (!model.device.empty()) io.set_device(model.device);
  Predictor(io, options, model).run();
}

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<Options>();
  auto& app = tool.app();
  app.add_option("--model", options->model, "the model, as mangrove train wrote it")->type_name("FILE");
  tool.list("--device", options->devices,
            "predict for these devices, with a model of several (default: all that --devices or the device database "
            "has)",
            "NAME");
  app.add_option("--devices", options->devices_file,
                 "features of devices, for a model of several (default: the device database)")
      ->type_name("FILE");
  app.add_option("--devdb", options->devdb, "the device database (default: the installed one)")->type_name("DIR");
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
          "span, and with a word when the model has seen nothing like it. Columns that the model does not know pass "
          "through.",
      .input = {},
      .output = {&record::ForestProjection::schema()},
      .statuses = {{Status::unavailable, "the model is of another device"}},
      .see_also = {"mangrove(1)", "flux-count(1)", "rank(1)"},
      .examples = {{"flux-count app.toml --emit features | mangrove predict --model v100.json --format table",
                    "how long the kernels of a program take on the model's device"}}};
  return cli::tool_main(argc, argv, about, declare);
}

}  // namespace kernelcast::mangrove
