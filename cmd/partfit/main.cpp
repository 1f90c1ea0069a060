// partfit: fit the time over problem size and number of GPUs, and choose the number of GPUs.
#include <memory>

#include "models/fit/rows.hpp"
#include "records/fit.hpp"
#include "records/simulation.hpp"

using namespace kernelcast;

namespace {

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<model::fit::FitRows>();
  auto& app = tool.app();
  tool.list("--model", options->models, "nnls (default), wls, lassolars; several are fitted one after the other",
            "MODEL");
  app.add_option("--weights", options->weights,
                 "relative (default): an error of 1 % counts alike whatever the time; or equal")
      ->type_name("WEIGHTS")
      ->check(CLI::IsMember({"relative", "equal"}));
  app.add_option("--alpha", options->alpha,
                 "lassolars: the penalty as a fraction of the least that leaves no term, or cv (default): by "
                 "cross-validation")
      ->type_name("FRACTION");
  tool.list("--n", options->sizes, "choose for these sizes: 4096, or LOW:HIGH:STEP", "SIZES");
  tool.list("--gpus", options->gpus, "choose among these numbers of GPUs: 4, or 1-16 (default: those of the input)",
            "COUNTS");
  app.add_option("--assess", options->assess, "compare the choices with the times in this file: what they lose")
      ->type_name("FILE");
  app.add_option("--emit", options->emit,
                 "fit, choice (with --n), penalty or residual (against --assess, or the input itself)")
      ->type_name("WHAT")
      ->check(CLI::IsMember({"fit", "choice", "penalty", "residual"}));
  tool.run([options](cli::Streams& io) { model::fit::fit_rows(*options, io); });
}

}  // namespace

int main(int argc, char** argv) {
  cli::About const about{
      .name = "partfit",
      .summary = "fit the time over size and number of GPUs, and choose",
      .description =
          "Reads simulated or measured times (columns n, gpus, time_s), fits a model of t(n, g) for each "
          "application, GPU and system, and writes the model, or the best number of GPUs for other sizes.",
      .input = {&record::Simulation::schema()},
      .output = {&record::Fit::schema(), &record::Choice::schema(), &record::Penalty::schema(),
                 &record::Residual::schema()},
      .statuses = {},
      .see_also = {"partsim(1)", "figure(1)"},
      .examples = {
          {"partsim --app matmul --n 4096:61440:4096 --gpu v100 --system victoria | partfit --n 10000",
           "how many GPUs for a size in between"},
          {"partfit --model wls --n 20000 --gpus 1-16 measured.csv", "from times of a few numbers of GPUs"},
          {"partfit --model nnls,lassolars --assess real.csv times.csv", "what the choices of two models lose"}}};
  return cli::tool_main(argc, argv, about, declare);
}
