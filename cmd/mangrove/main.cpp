// mangrove: time and power of kernels from counts of their instructions, learnt from measurements. [braun] chapter 5.
//
// `mangrove VERB …` is a program of its own for each verb, with its options, help and columns; this is the one in
// front.
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "records/cli/cli.hpp"
#include "records/forest.hpp"
#include "records/operator.hpp"
#include "records/shipped_forest.hpp"
#include "records/target.hpp"
#include "verbs.hpp"

using namespace kernelcast;

namespace kernelcast::mangrove {

std::span<Verb const> verbs() {
  static constexpr std::array all{
      Verb{"collect", "measure time and power of an application's kernels", collect},
      Verb{"train", "learn a model from features and measured targets", train},
      Verb{"predict", "predict time or power of kernels by a model", predict},
      Verb{"validate", "how well a forest predicts what it has not seen", validate},
      Verb{"importance", "what each feature is worth, and how that goes with properties of devices", importance},
      Verb{"export", "write a model for other programs", export_model},
      Verb{"forests", "list the forests that come with the device database", forests},
      Verb{"operators", "features of a neural network's operators from their sizes", operators},
  };
  return all;
}

}  // namespace kernelcast::mangrove

namespace {

std::vector<std::string> names() {
  std::vector<std::string> out;
  for (auto const& verb : mangrove::verbs()) out.emplace_back(verb.name);
  return out;
}

void declare(cli::Tool& tool) {
  auto const verb = std::make_shared<std::string>();
  tool.app().add_option("VERB", *verb, "collect, train, predict, validate, importance, export, forests or operators");
  tool.run([verb](cli::Streams&) {
    if (verb->empty())
      throw Error(Status::usage, "what shall it do?", fmt::format("mangrove {}", fmt::join(names(), "|")));
    throw Error(Status::usage, fmt::format("there is no 'mangrove {}'", *verb), did_you_mean(*verb, names()));
  });
}

}  // namespace

int main(int argc, char** argv) {
  auto const& verbs = mangrove::verbs();
  if (argc > 1)
    for (auto const& verb : verbs)
      if (verb.name == argv[1]) return verb.main(argc - 1, argv + 1);
  std::string description =
      "Learns time or power of kernels on a device from counts of their instructions, by extremely randomised trees, "
      "and predicts them for other kernels. Its verbs, each with its own --help:";
  for (auto const& verb : verbs) description += fmt::format(" {}: {};", verb.name, verb.summary);
  description.back() = '.';
  cli::About const about{
      .name = "mangrove",
      .summary = "predict time and power of kernels, learnt from measurements",
      .description = description,
      .operands = cli::Operands::none,
      .input = {},
      .output = {&record::ForestProjection::schema(), &record::Validation::schema(), &record::HeldOut::schema(),
                 &record::Importance::schema(), &record::Correlation::schema(), &record::Target::schema(),
                 &record::ShippedForest::schema(), &record::OperatorFeature::schema()},
      .statuses = {},
      .see_also = {"flux-count(1)", "rank(1)", "figure(1)"},
      .examples = {{"mangrove train --features f.csv --targets t.csv --device v100 -o v100.json",
                    "learn how long kernels take on a device"},
                   {"flux-count app.toml --emit features | mangrove predict --model v100.json",
                    "how long another kernel takes there"},
                   {"miniemu app.toml | mangrove predict --device rtx3080", "the same by a forest that is shipped"}},
      .verbs = names()};
  return cli::tool_main(argc, argv, about, declare);
}
