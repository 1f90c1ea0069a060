// mangrove importance: what each feature is worth, and how that goes with properties of the devices.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "forest/correlation.hpp"
#include "forest/importance.hpp"
#include "learning.hpp"
#include "record/forest.hpp"
#include "verbs.hpp"

namespace kernelcast::mangrove {

namespace {

struct Options {
  std::shared_ptr<Learning> learning = std::make_shared<Learning>();
  std::string from, properties_file;
  std::vector<std::string> properties;
  std::size_t permutations = 0, folds = 10;
};

std::vector<record::Importance> of_set(Dataset const& set, Options const& options, cli::Streams& io) {
  auto const plan = plan_of(*options.learning, io);
  auto const features = set.features();
  auto const estimator = forest::Estimator::fit(set.data.samples, plan);
  auto const& impurity = estimator.forest().importance;
  std::vector<double> permutation;
  if (options.permutations > 0)
    permutation = forest::permutation_importance(
        set.data, forest::random_folds(set.configurations, options.folds, plan.forest.seed), plan,
        options.permutations);
  std::vector<std::size_t> order(features.size());
  for (std::size_t f = 0; f < order.size(); ++f) order[f] = f;
  std::sort(order.begin(), order.end(),
            [&](auto a, auto b) { return impurity[a] != impurity[b] ? impurity[a] > impurity[b] : a < b; });
  std::vector<record::Importance> out(features.size());
  for (std::size_t place = 0; place < order.size(); ++place) {
    auto const f = order[place];
    out[f] = {set.device.empty() ? "all" : set.device,
              options.learning->target,
              features[f],
              impurity[f] * 100,
              {},
              place + 1};
    if (!permutation.empty()) out[f].permutation_pct = permutation[f];
  }
  return out;
}

std::vector<record::Importance> read_importances(cli::Streams& io, std::string const& path) {
  auto csv = io.csv(path);
  record::Reader<record::Importance> rows(csv);
  std::vector<record::Importance> out;
  for (record::Importance row; rows.next(row);) out.push_back(row);
  if (out.empty())
    throw Error(Status::bad_data, Where{path, 0, 0}, "no row of importances", "the file has a header only");
  return out;
}

// Columns of numbers of the file of devices, in its order.
std::vector<std::string> properties_of(Content const& content, std::vector<std::string> const& chosen) {
  if (!chosen.empty()) return chosen;
  auto const all = numeric_columns(content);
  if (all.empty())
    throw Error(Status::bad_data, Where{content.path, 1, 0}, "no column of numbers to compare with",
                "a CSV with a column device and properties of the devices");
  return all;
}

std::vector<record::Correlation> correlate(std::vector<record::Importance> const& importances, Options const& options,
                                           cli::Streams& io) {
  auto const content = read_all(io, options.properties_file);
  auto const properties = properties_of(content, options.properties);
  auto const devices = DeviceTable::from_file(content, properties);
  std::vector<std::pair<std::string, std::string>> features;  // target, feature in order of appearance
  for (auto const& row : importances)
    if (std::pair const key{row.target, row.feature};
        std::find(features.begin(), features.end(), key) == features.end())
      features.push_back(key);
  std::vector<record::Correlation> out;
  for (auto const& [target, feature] : features)
    for (std::size_t p = 0; p < properties.size(); ++p) {
      std::vector<double> importance, property;
      for (auto const& row : importances) {
        if (row.target != target || row.feature != feature) continue;
        auto const value = devices.find(row.device).values[p];
        if (!value) continue;
        importance.push_back(row.impurity_pct);
        property.push_back(*value);
      }
      out.push_back({target, feature, properties[p], importance.size(), forest::pearson(importance, property)});
    }
  return out;
}

void run(Options const& options, cli::Streams& io) {
  std::vector<record::Importance> rows;
  if (!options.from.empty())
    rows = read_importances(io, options.from);
  else
    for (auto const& set : datasets(io, *options.learning, ""))
      for (auto& row : of_set(set, options, io)) rows.push_back(std::move(row));
  if (!options.properties_file.empty()) {
    auto out = io.writer<record::Correlation>();
    for (auto const& row : correlate(rows, options, io)) out.write(row);
    return out.finish();
  }
  auto out = io.writer<record::Importance>();
  for (auto const& row : rows) out.write(row);
  out.finish();
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
  declare_learning(tool, options->learning);
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
