#include "models/forest/study/learning.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/process/input.hpp"
#include "base/version/version.hpp"
#include "models/forest/names.hpp"
#include "records/cli/stdio.hpp"
#include "records/cli/values.hpp"
#include "records/device/device.hpp"

namespace kernelcast::forest {

namespace {

template <class E, std::size_t N>
std::vector<std::string> texts(Words<E, N> const& words) {
  std::vector<std::string> out;
  for (auto const& entry : words) out.emplace_back(entry.first);
  return out;
}

template <class E, std::size_t N>
void add_choice(CLI::App& app, std::string const& name, std::string& value, std::string const& text,
                Words<E, N> const& words) {
  app.add_option(name, value, text)
      ->type_name(fmt::format("{}", fmt::join(texts(words), "|")))
      ->check(CLI::IsMember(texts(words)));
}

std::string scale_of(Learning const& options) {
  if (!options.scale.empty()) return options.scale;
  return options.target == "time_s" ? "log" : "plain";
}

// Before anything is read.
void check_form(Learning const& options) {
  if (options.form != "ratio") return;
  if (options.device_features.empty())
    throw Error(Status::usage, "--target-form ratio compares devices, and none has features",
                "name columns of devices with --device-feature");
  if (!options.stack.empty())
    throw Error(Status::usage, "--target-form ratio has no use for --stack: a projected time is not a ratio",
                "leave one of them out");
  if (scale_of(options) != "log") throw Error(Status::usage, "ratios are learnt as logarithms", "add --scale log");
}

}  // namespace

void declare_learning(cli::Tool& tool, std::shared_ptr<Learning> const& options) {
  auto& app = tool.app();
  app.add_option("--features", options->features,
                 "features of kernels: rows of flux-count --emit features, or any CSV with kernel, case (or size) and "
                 "columns of numbers")
      ->type_name("FILE");
  app.add_option("--targets", options->targets, "what was measured: kernel, case (or size), device and the target")
      ->type_name("FILE");
  app.add_option("--target", options->target, "the column to learn: time_s (default) or power_w")
      ->type_name("time_s|power_w")
      ->check(CLI::IsMember({"time_s", "power_w"}));
  tool.list("--device", options->devices, "only targets of these devices (default all)", "NAME");
  tool.list("--feature", options->feature_names,
            "columns to learn from (default: the twelve of flux-count, or else all columns of numbers)", "COLUMN");
  app.add_option("--max-per-kernel", options->max_per_kernel,
                 "take at most so many configurations of a kernel, at random (default 100); 0: all")
      ->type_name("N");
  std::string const of_forest = "The forest";
  app.add_option("--trees", options->trees, "trees (default 512)")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, max_tree_count));
  add_choice(app, "--max-features", options->max_features, "features tried at each node (default all)",
             max_features_words);
  add_choice(app, "--criterion", options->criterion,
             "what a cut reduces: squared (default) or absolute error of the target", criterion_words);
  add_choice(app, "--cuts", options->cuts,
             "draw cuts evenly between the values (default) or their logarithms, for counts of many magnitudes",
             cuts_words);
  add_choice(app, "--scale", options->scale, "learn the target's logarithm (default for time_s) or itself (power_w)",
             scale_words);
  add_choice(app, "--objective", options->objective,
             "predict the trees' mean (default), or what has the least expected relative error", objective_words);
  app.add_option("--per", options->per, "learn the target per unit of this feature, so that long kernels extrapolate")
      ->type_name("COLUMN");
  app.add_option("--interval", options->interval_pct, "percentage that the interval shall hold (default 90)")
      ->type_name("PCT")
      ->check(cli::number_from(1, 99.9));
  app.add_option("--calibrate", options->calibrate,
                 "hold samples out in so many parts, and widen the interval to what they show it needs (default 5); 0: "
                 "the spread of the training samples near")
      ->type_name("N");
  tool.list("--device-feature", options->device_features,
            "one forest for several devices: columns of devices to learn from too", "COLUMN");
  add_choice(
      app, "--target-form", options->form,
      "with --device-feature: direct (default), or ratio: learn a kernel's mean over the devices and each device's "
      "ratio to it by a forest each, to choose among devices",
      target_form_words);
  app.add_option("--devices", options->devices_file, "the file with these columns (default: the device database)")
      ->type_name("FILE");
  cli::database_option(app, options->devdb);
  tool.list("--stack", options->stack, "projections of other models: their times become a feature", "FILE");
  for (char const* name : {"--trees", "--max-features", "--criterion", "--cuts", "--scale", "--objective", "--per",
                           "--interval", "--calibrate"})
    app.get_option(name)->group(of_forest);
  for (char const* name : {"--device-feature", "--target-form", "--devices", "--devdb", "--stack"})
    app.get_option(name)->group("More than counts");
}

void need_files(Learning const& options) {
  if (options.features.empty())
    throw Error(Status::usage, "which features? --features FILE is missing", "flux-count --emit features writes them");
  if (options.targets.empty())
    throw Error(Status::usage, "which measurements? --targets FILE is missing",
                "a CSV with kernel, case, device and time_s or power_w");
}

Plan plan_of(Learning const& options, cli::Streams& io) {
  Plan out;
  out.forest.trees = options.trees;
  out.forest.max_features = *find_word(max_features_words, options.max_features);
  out.forest.criterion = *find_word(criterion_words, options.criterion);
  out.forest.cuts = *find_word(cuts_words, options.cuts);
  out.forest.seed = io.seed();
  out.forest.threads = io.threads();
  out.scale = *find_word(scale_words, scale_of(options));
  out.objective = *find_word(objective_words, options.objective);
  out.form = *find_word(target_form_words, options.form);
  out.interval = options.interval_pct / 100;
  out.calibration_folds = options.calibrate;
  return out;
}

Content read_all(cli::Streams& io, std::string const& path) {
  auto const name = cli::Streams::input_name(path);
  Content out{name, kernelcast::read_all(io.input(path), name), {}};
  cli::ContentHash hash;
  hash.add(out.text.data(), out.text.size());
  out.hash = hash.hex();
  return out;
}

std::vector<Content> read_all(cli::Streams& io, std::vector<std::string> const& paths) {
  std::vector<Content> out;
  for (auto const& path : paths) out.push_back(read_all(io, path));
  return out;
}

DeviceTable device_table(cli::Streams& io, std::string const& file, std::string const& devdb,
                         std::vector<std::string> const& features) {
  if (features.empty()) return {};
  if (!file.empty()) return {read_all(io, file), features};
  auto const folder = device::find_database(devdb);
  return {read_all(io, folder + "/devices.csv"), features, device::load(folder)};
}

std::vector<Dataset> datasets(cli::Streams& io, Learning const& options, std::string const& group) {
  need_files(options);
  check_form(options);
  Sources const sources{read_all(io, options.features), read_all(io, options.targets), read_all(io, options.stack),
                        device_table(io, options.devices_file, options.devdb, options.device_features)};
  auto joined = join(sources, {options.target, options.per, group, options.feature_names, options.devices,
                               options.max_per_kernel, io.seed()});
  for (auto const& note : joined.notes) io.note(note);
  for (auto& set : joined.sets) set.provenance["program"] = fmt::format("kernelcast mangrove {}", version());
  return std::move(joined.sets);
}

}  // namespace kernelcast::forest
