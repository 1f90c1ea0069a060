// mangrove train: a model from features and targets.
#include <fmt/format.h>

#include "models/forest/model_file.hpp"
#include "models/forest/study/learn.hpp"
#include "models/forest/study/learning.hpp"
#include "records/feature.hpp"
#include "records/target.hpp"
#include "verbs.hpp"

namespace kernelcast::mangrove {

namespace {

struct Options {
  std::shared_ptr<forest::Learning> learning = std::make_shared<forest::Learning>();
  std::string by;
};

void run(Options const& options, cli::Streams& io) {
  auto const sets = forest::datasets(io, *options.learning, options.by);
  if (sets.size() > 1)
    throw Error(Status::usage, fmt::format("the targets are of {} devices", sets.size()),
                "choose one with --device, or learn from all with --device-feature");
  auto const& set = sets.front();
  auto const plan = forest::plan_of(*options.learning, io);
  if (set.data.samples.size() == 1) io.warn("one sample only: the model predicts its target for everything");
  auto const model = forest::learn(set, plan);
  if (model.regressor.min_target() == model.regressor.greatest_target() && set.data.samples.size() > 1)
    io.warn("all targets are equal: the model predicts this value for everything");
  if (plan.calibration_folds > 0 && !model.provenance.contains("calibration_folds"))
    io.warn("too few samples to calibrate the interval: it holds less than it says");
  io.output() << forest::model_text(model);
}

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<Options>();
  forest::declare_learning(tool, options->learning);
  tool.app()
      .add_option(
          "--calibrate-by", options->by,
          "hold out all samples with the same value in this column together: kernel, for an interval that holds "
          "for kernels never seen (default: kernel and case)")
      ->type_name("COLUMN");
  tool.run([options](cli::Streams& io) { run(*options, io); });
}

}  // namespace

int train(int argc, char** argv) {
  cli::About const about{
      .name = "mangrove train",
      .summary = "learn a model of a device from features and measured targets",
      .description =
          "Joins features of kernels with measured targets by kernel and case, grows extremely randomised trees, and "
          "writes the model as JSON. The same data and seed give the same trees, whatever the order of rows and the "
          "number of threads.",
      .operands = cli::Operands::none,
      .input = {&record::Feature::schema(), &record::Target::schema()},
      .output = {},
      .statuses = {},
      .see_also = {"mangrove(1)", "flux-count(1)"},
      .examples = {
          {"mangrove train --features f.csv --targets t.csv --device v100 -o v100.json",
           "times of kernels on one device"},
          {"mangrove train --features f.csv --targets t.csv --target power_w --device v100 -o w.json", "their power"}}};
  return cli::tool_main(argc, argv, about, declare);
}

}  // namespace kernelcast::mangrove
