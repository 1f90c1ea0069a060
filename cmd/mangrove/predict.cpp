// mangrove predict: rows of features -> projections.
#include <algorithm>
#include <optional>

#include "forest/model_file.hpp"
#include "forest/study/predictor.hpp"
#include "learning.hpp"
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

void predict_all(forest::Predictor& predictor, std::vector<std::string> const& features, cli::Streams& io) {
  auto const schema = forest::kernel_schema(features);
  PassedColumns passed;
  std::optional<record::Writer<record::ForestProjection>> out;
  auto const finish = [&] { predictor.finish([&](auto const& row, auto const& extras) { out->write(row, extras); }); };
  for (auto const& path : io.inputs()) {
    auto csv = io.csv(path);
    record::RowReader rows(schema, csv);
    if (!out) {
      passed.choose(rows);
      out.emplace(io.writer<record::ForestProjection>(passed.names()));
    }
    passed.find(rows);
    for (forest::FeatureRow row; rows.next(&row); row = {}) {
      forest::check_range(rows, row, features);
      predictor.add(row, passed.of(rows));
      if (predictor.full()) finish();
    }
  }
  finish();
  out->finish();
}

void run(Options const& options, cli::Streams& io) {
  if (options.model.empty())
    throw Error(Status::usage, "which model? --model FILE is missing", "mangrove train writes one");
  auto const content = read_all(io, options.model);
  auto const model = forest::parse_model(content.text, content.path);
  if (!model.device.empty()) io.set_device(model.device);
  forest::Predictor predictor(model, device_table(io, options.devices_file, options.devdb, model.device_features),
                              options.devices, read_all(io, options.stack), io.threads());
  predict_all(predictor, model.kernel_features, io);
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
