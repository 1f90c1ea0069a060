// mangrove operators: features of a neural network's operators from their sizes.
#include <algorithm>

#include "models/forest/study/learning.hpp"
#include "models/forest/study/operators.hpp"
#include "verbs.hpp"

namespace kernelcast::mangrove {

namespace {

void run(cli::Streams& io) {
  auto out = io.writer<record::OperatorFeature>();
  for (auto const& path : io.inputs()) {
    auto csv = io.csv(path);
    record::Reader<record::OperatorSize> rows(csv);
    for (record::OperatorSize row; rows.next(row);) {
      auto const known = forest::operator_names();
      bool const named = std::ranges::find(known, row.kernel) != known.end();
      try {
        out.write(forest::operator_features(row.kernel, row.case_name));
      } catch (Error const& error) {
        throw rows.error(named ? "case" : "kernel", error.what(), error.hint());
      }
    }
  }
  out.finish();
}

void declare(cli::Tool& tool) {
  tool.run([](cli::Streams& io) { run(io); });
}

}  // namespace

int operators(int argc, char** argv) {
  cli::About const about{
      .name = "mangrove operators",
      .summary = "features of a neural network's operators from their sizes",
      .description =
          "Reads operators with their sizes, such as linear,B1_M512_N1024_K256, and writes the features that the "
          "shipped forests of NeuSight's measurements read.",
      .input = {&record::OperatorSize::schema()},
      .output = {&record::OperatorFeature::schema()},
      .statuses = {},
      .see_also = {"mangrove(1)"},
      .examples = {{"printf 'kernel,case\\nlinear,B1_M512_N1024_K256\\n' | mangrove operators | "
                    "mangrove predict --device v100",
                    "how long a fully connected layer takes on a V100"}}};
  return cli::tool_main(argc, argv, about, declare);
}

}  // namespace kernelcast::mangrove
