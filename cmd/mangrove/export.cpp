// mangrove export: a model in another program's form.
#include <fmt/format.h>

#include "base/version/version.hpp"
#include "models/forest/model_file.hpp"
#include "models/forest/onnx.hpp"
#include "models/forest/study/learning.hpp"
#include "verbs.hpp"

namespace kernelcast::mangrove {

namespace {

struct Options {
  std::string model;
  bool onnx = false;
};

void run(Options const& options, cli::Streams& io) {
  if (options.model.empty())
    throw Error(Status::usage, "which model? --model FILE is missing", "mangrove train writes one");
  if (!options.onnx) throw Error(Status::usage, "in which form?", "--onnx");
  auto const content = forest::read_all(io, options.model);
  auto const model = forest::parse_model(content.text, content.path);
  io.output() << forest::onnx_message(model, std::string(version()));
}

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<Options>();
  tool.app().add_option("--model", options->model, "the model, as mangrove train wrote it")->type_name("FILE");
  tool.app().add_flag("--onnx", options->onnx,
                      "ONNX: a TreeEnsembleRegressor, followed by Exp where the logarithm was learnt; input `features` "
                      "(float, in the model's order), output `prediction`");
  tool.run([options](cli::Streams& io) { run(*options, io); });
}

}  // namespace

int export_model(int argc, char** argv) {
  cli::About const about{
      .name = "mangrove export",
      .summary = "write a model for other programs",
      .description = "Writes the forest without its intervals in a form that run-times of other languages read.",
      .operands = cli::Operands::none,
      .input = {},
      .output = {},
      .statuses = {{Status::unavailable, "the model has no such form"}},
      .see_also = {"mangrove(1)"},
      .examples = {{"mangrove export --onnx --model v100.json -o v100.onnx", "for an ONNX run-time"}}};
  return cli::tool_main(argc, argv, about, declare);
}

}  // namespace kernelcast::mangrove
