// mangrove train: a model from features and targets.
#include <fmt/format.h>

#include "forest/model_file.hpp"
#include "learning.hpp"
#include "verbs.hpp"

namespace kernelcast::mangrove {

namespace {

struct Options {
  std::shared_ptr<Learning> learning = std::make_shared<Learning>();
  std::size_t calibrate = 0;
};

// Folds of what is learnt, to set the interval's width and to say in the model how good it is.
void calibrate(forest::Model& model, Dataset const& set, forest::Plan const& plan, Options const& options) {
  auto const folds = forest::random_folds(set.configurations, options.calibrate, plan.forest.seed);
  auto const held_out = forest::cross_validate(set.data, folds, plan);
  model.estimator.widen(forest::calibration(set.data, held_out, plan));
  auto const score = forest::score(set.data, held_out);
  model.provenance["folds"] = std::to_string(options.calibrate);
  model.provenance["mape_pct"] = record::number_text(score.mape_pct);
  model.provenance["median_pct"] = record::number_text(score.median_pct);
}

void run(Options const& options, cli::Streams& io) {
  auto const sets = datasets(io, *options.learning, "");
  if (sets.size() > 1)
    throw Error(Status::usage, fmt::format("the targets are of {} devices", sets.size()),
                "choose one with --device, or learn from all with --device-feature");
  auto const& set = sets.front();
  auto const plan = plan_of(*options.learning, io);
  if (set.data.samples.size() == 1) io.warn("one sample only: the model predicts its target for everything");
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < set.kernels.size(); ++i) labels.push_back(set.label(i));
  forest::Model model{options.learning->target, options.learning->per, set.device,
                      set.kernel_features,      set.device_features,   set.projections,
                      std::move(labels),        set.provenance,        forest::Estimator::fit(set.data.samples, plan)};
  if (model.estimator.least_target() == model.estimator.greatest_target() && set.data.samples.size() > 1)
    io.warn("all targets are equal: the model predicts this value for everything");
  if (options.calibrate > 0) calibrate(model, set, plan, options);
  io.output() << forest::model_text(model);
}

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<Options>();
  declare_learning(tool, options->learning);
  tool.app()
      .add_option("--calibrate", options->calibrate,
                  "cross-validate in so many folds, note the scores in the model, and widen the interval to what "
                  "they show it needs")
      ->type_name("N");
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
      .input = {},
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
