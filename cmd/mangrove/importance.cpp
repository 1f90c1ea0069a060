// mangrove importance: what each feature is worth, and how that goes with properties of the devices.
#include "models/forest/study/importances.hpp"
#include "models/forest/study/learning.hpp"
#include "verbs.hpp"

namespace kernelcast::mangrove {

namespace {

struct Options {
  std::shared_ptr<forest::Learning> learning = std::make_shared<forest::Learning>();
  std::string from, properties_file;
  std::vector<std::string> properties;
  std::size_t permutations = 0, folds = 10;
};

std::vector<record::Importance> read_importances(cli::Streams& io, std::string const& path) {
  auto csv = io.csv(path);
  auto out = record::read_rows<record::Importance>(csv);
  if (out.empty())
    throw Error(Status::bad_data, Where{path, 0, 0}, "no row of importances", "the file has a header only");
  return out;
}

// Columns of numbers of the file of devices, in its order.
std::vector<std::string> properties_of(forest::Content const& content, std::vector<std::string> const& chosen) {
  if (!chosen.empty()) return chosen;
  auto const all = forest::numeric_columns(content);
  if (all.empty())
    throw Error(Status::bad_data, Where{content.path, 1, 0}, "no column of numbers to compare with",
                "a CSV with a column device and properties of the devices");
  return all;
}

void run(Options const& options, cli::Streams& io) {
  std::vector<record::Importance> rows;
  if (!options.from.empty())
    rows = read_importances(io, options.from);
  else
    for (auto const& set : forest::datasets(io, *options.learning, ""))
      for (auto& row :
           forest::importances(set, forest::plan_of(*options.learning, io), options.permutations, options.folds))
        rows.push_back(std::move(row));
  if (options.properties_file.empty()) return io.write(rows);
  auto const content = forest::read_all(io, options.properties_file);
  io.write(forest::correlations(rows, {content, properties_of(content, options.properties)}));
}

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<Options>();
  auto& app = tool.app();
  app.add_option("--permutations", options->permutations,
                 "also exchange the values of each feature among held-out samples, so many times (default 0)")
      ->type_name("N");
  app.add_option("--folds", options->folds, "with --permutations: hold out in so many parts (default 10)")
      ->type_name("N");
  app.add_option("--from", options->from, "take importances from these rows instead of training")->type_name("FILE");
  auto* const correlate =
      app.add_option("--correlate", options->properties_file,
                     "correlate the importances over devices with their properties: a CSV with a column device and "
                     "columns of numbers")
          ->type_name("FILE");
  tool.list("--property", options->properties, "with --correlate: only these columns", "COLUMN")->needs(correlate);
  forest::declare_learning(tool, options->learning);
  tool.run([options](cli::Streams& io) { run(*options, io); });
}

}  // namespace

int importance(int argc, char** argv) {
  cli::About const about{
      .name = "mangrove importance",
      .summary = "what each feature is worth, and how that goes with properties of devices",
      .description =
          "Trains as mangrove train does, a forest for each device, and writes by how much each feature reduces the "
          "criterion; with --permutations also by how much predictions suffer without it.",
      .operands = cli::Operands::none,
      .input = {},
      .output = {&record::Importance::schema(), &record::Correlation::schema()},
      .statuses = {},
      .see_also = {"mangrove(1)"},
      .examples = {{"mangrove importance --features f.csv --targets t.csv --device v100 --format table",
                    "what decides the time of kernels on a device?"},
                   {"mangrove importance --features f.csv --targets t.csv --correlate devices.csv",
                    "which property of a device makes a feature important?"}}};
  return cli::tool_main(argc, argv, about, declare);
}

}  // namespace kernelcast::mangrove
