// mangrove predict: rows of features -> projections.
#include <memory>

#include "models/forest/study/predict_rows.hpp"
#include "records/forest.hpp"
#include "verbs.hpp"

namespace kernelcast::mangrove {

namespace {

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<forest::PredictRows>();
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
  tool.run([options](cli::Streams& io) { forest::predict_rows(*options, io); });
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
