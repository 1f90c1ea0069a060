#include "learning.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "forest/names.hpp"
#include "forest/random.hpp"

namespace kernelcast::mangrove {

namespace {

template <class E, std::size_t N>
std::vector<std::string> texts(forest::Words<E, N> const& words) {
  std::vector<std::string> out;
  for (auto const& entry : words) out.emplace_back(entry.first);
  return out;
}

template <class E, std::size_t N>
void add_choice(CLI::App& app, std::string const& name, std::string& value, std::string const& text,
                forest::Words<E, N> const& words) {
  app.add_option(name, value, text)
      ->type_name(fmt::format("{}", fmt::join(texts(words), "|")))
      ->check(CLI::IsMember(texts(words)));
}

// [braun] section 5.4.3: of each kernel at most so many configurations, at random. Rows are sorted by kernel.
std::size_t thin_out(std::vector<FeatureRow>& rows, std::size_t most, std::uint64_t seed) {
  if (most == 0) return 0;
  std::vector<FeatureRow> kept;
  forest::Random random(seed, 3);
  auto const before = rows.size();
  for (std::size_t begin = 0; begin < rows.size();) {
    std::size_t end = begin;
    while (end < rows.size() && rows[end].kernel == rows[begin].kernel) ++end;
    std::vector<std::size_t> places(end - begin);
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = begin + i;
    if (places.size() > most) {
      random.shuffle(places);
      places.resize(most);
      std::sort(places.begin(), places.end());
    }
    for (auto const i : places) kept.push_back(rows[i]);
    begin = end;
  }
  rows = std::move(kept);
  return before - rows.size();
}

class Joiner {
 public:
  Joiner(cli::Streams& io, Learning const& options, std::string const& group)
      : io_(io), options_(options), features_(read_all(io, options.features)), targets_(read_all(io, options.targets)) {
    kernels_ = read_kernels(features_, options.feature_names, group);
    measured_ = read_targets(targets_, options.target, group);
    if (!group.empty() && !kernels_.has_group && !measured_.has_group)
      throw Error(Status::usage, fmt::format("neither file has a column '{}' to leave out by", group),
                  "--leave-out takes a column of the features or of the targets, for example kernel or device");
    if (!options.stack.empty()) projections_ = read_projections(io, options.stack);
    if (!options.device_features.empty())
      devices_ = options.devices_file.empty()
                     ? DeviceTable::from_database(io, options.devdb, options.device_features)
                     : DeviceTable::from_file(read_all(io, options.devices_file), options.device_features);
    find_per();
    if (auto const left = thin_out(kernels_.rows, options.max_per_kernel, io.seed()); left > 0)
      io.note(fmt::format("{} configurations left out: more than {} of their kernel (--max-per-kernel)", left,
                          options.max_per_kernel));
  }

  std::vector<Dataset> join() {
    auto const devices = chosen_devices();
    std::vector<Dataset> out;
    std::map<std::pair<std::string, std::string>, FeatureRow const*> by_name;
    for (auto const& row : kernels_.rows) by_name[{row.kernel, row.case_name}] = &row;
    for (auto const& device : devices) {
      if (out.empty() || options_.device_features.empty()) out.push_back(empty_set(device));
      for (auto const& target : measured_.rows)
        if (target.device == device)
          if (auto const found = by_name.find({target.kernel, target.case_name}); found != by_name.end())
            add(out.back(), *found->second, target);
    }
    for (auto& set : out) finish(set);
    if (without_value_ > 0) io_.note(fmt::format("{} samples left out: {}", without_value_, first_missing_));
    return out;
  }

 private:
  void find_per() {
    if (options_.per.empty()) return;
    auto const found = std::find(kernels_.features.begin(), kernels_.features.end(), options_.per);
    if (found == kernels_.features.end())
      throw Error(Status::usage, fmt::format("--per: there is no feature '{}'", options_.per),
                  did_you_mean(options_.per, kernels_.features));
    per_ = static_cast<std::size_t>(found - kernels_.features.begin());
  }

  std::vector<std::string> chosen_devices() const {
    std::set<std::string> known;
    for (auto const& target : measured_.rows) known.insert(target.device);
    std::vector<std::string> const names(known.begin(), known.end());
    if (measured_.rows.empty())
      throw Error(Status::bad_data, Where{targets_.path, 0, 0},
                  fmt::format("no row has a value in column '{}'", options_.target), "there is nothing to learn from");
    if (options_.devices.empty()) return names;
    for (auto const& name : options_.devices)
      if (!known.contains(name))
        throw Error(Status::bad_data, Where{targets_.path, 0, 0}, fmt::format("no target of device '{}'", name),
                    did_you_mean(name, names));
    std::set<std::string> const wanted(options_.devices.begin(), options_.devices.end());
    return {wanted.begin(), wanted.end()};
  }

  Dataset empty_set(std::string const& device) const {
    Dataset out;
    if (options_.device_features.empty()) out.device = device;
    out.kernel_features = kernels_.features;
    out.device_features = options_.device_features;
    out.projections = projections_.models;
    out.data.samples.features = out.features().size();
    out.provenance = {{"features_file", features_.path},
                      {"features_xxh3_64", features_.hash},
                      {"targets_file", targets_.path},
                      {"targets_xxh3_64", targets_.hash},
                      {"program", "kernelcast mangrove " KERNELCAST_VERSION}};
    return out;
  }

  void leave_out(std::string const& why) {
    if (without_value_++ == 0) first_missing_ = why;
  }

  void add(Dataset& set, FeatureRow const& row, Target const& target) {
    auto values = values_of(row, kernels_.features);
    auto const take = [&](Values const& more) {
      if (values.missing.empty()) values.missing = more.missing;
      values.x.insert(values.x.end(), more.x.begin(), more.x.end());
    };
    if (!options_.device_features.empty()) take(values_of(devices_.find(target.device), options_.device_features));
    if (!projections_.models.empty()) take(projections_.of(target.kernel, target.case_name, target.device));
    double const work = options_.per.empty() ? 1 : row.values[per_].value_or(0);
    if (values.missing.empty() && !(work > 0))
      values.missing = fmt::format("feature '{}' is not above 0", options_.per);
    if (!values.missing.empty())
      return leave_out(fmt::format("{} (first: kernel '{}', case '{}')", values.missing, row.kernel, row.case_name));
    auto& data = set.data;
    data.samples.x.insert(data.samples.x.end(), values.x.begin(), values.x.end());
    data.samples.y.push_back(target.value / work);
    data.measured.push_back(target.value);
    if (!options_.per.empty()) data.work.push_back(work);
    set.kernels.push_back(target.kernel);
    set.cases.push_back(target.case_name);
    set.devices.push_back(target.device);
    set.groups.push_back(kernels_.has_group ? row.group : target.group);
  }

  void finish(Dataset& set) const {
    if (set.data.samples.size() == 0)
      throw Error(Status::bad_data, Where{targets_.path, 0, 0},
                  set.device.empty()
                      ? "no sample: nothing in the features has a target"
                      : fmt::format("no sample: nothing in the features has a target on '{}'", set.device),
                  "columns kernel and case (or size) of both files must agree");
    std::vector<std::string> names;
    for (std::size_t i = 0; i < set.kernels.size(); ++i) names.push_back(set.kernels[i] + '\0' + set.cases[i]);
    set.configurations = forest::groups_of(names);
  }

  cli::Streams& io_;
  Learning const& options_;
  Content features_, targets_;
  KernelTable kernels_;
  TargetTable measured_;
  Projections projections_;
  DeviceTable devices_;
  std::size_t per_ = 0;
  std::size_t without_value_ = 0;
  std::string first_missing_;
};

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
  std::string const forest = "The forest";
  app.add_option("--trees", options->trees, "trees (default 512)")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{1}, forest::max_tree_count));
  add_choice(app, "--max-features", options->max_features, "features tried at each node (default all)",
             forest::max_features_words);
  add_choice(app, "--criterion", options->criterion,
             "what a cut reduces: squared (default) or absolute error of the target", forest::criterion_words);
  add_choice(app, "--cuts", options->cuts,
             "draw cuts evenly between the values (default) or their logarithms, for counts of many magnitudes",
             forest::cuts_words);
  add_choice(app, "--scale", options->scale, "learn the target's logarithm (default for time_s) or itself (power_w)",
             forest::scale_words);
  add_choice(app, "--objective", options->objective,
             "predict the trees' mean (default), or what has the least expected relative error",
             forest::objective_words);
  app.add_option("--per", options->per, "learn the target per unit of this feature, so that long kernels extrapolate")
      ->type_name("COLUMN");
  app.add_option("--interval", options->interval_pct, "percentage that the interval shall hold (default 90)")
      ->type_name("PCT")
      ->check(CLI::Range(1.0, 99.9));
  tool.list("--device-feature", options->device_features,
            "one forest for several devices: columns of devices to learn from too", "COLUMN");
  app.add_option("--devices", options->devices_file, "the file with these columns (default: the device database)")
      ->type_name("FILE");
  app.add_option("--devdb", options->devdb, "the device database (default: the installed one)")->type_name("DIR");
  tool.list("--stack", options->stack, "projections of other models: their times become a feature", "FILE");
  for (char const* name :
       {"--trees", "--max-features", "--criterion", "--cuts", "--scale", "--objective", "--per", "--interval"})
    app.get_option(name)->group(forest);
  for (char const* name : {"--device-feature", "--devices", "--devdb", "--stack"})
    app.get_option(name)->group("More than counts");
}

void need_files(Learning const& options) {
  if (options.features.empty())
    throw Error(Status::usage, "which features? --features FILE is missing", "flux-count --emit features writes them");
  if (options.targets.empty())
    throw Error(Status::usage, "which measurements? --targets FILE is missing",
                "a CSV with kernel, case, device and time_s or power_w");
}

forest::Plan plan_of(Learning const& options, cli::Streams& io) {
  forest::Plan out;
  out.forest.trees = options.trees;
  out.forest.max_features = *forest::find_word(forest::max_features_words, options.max_features);
  out.forest.criterion = *forest::find_word(forest::criterion_words, options.criterion);
  out.forest.cuts = *forest::find_word(forest::cuts_words, options.cuts);
  out.forest.seed = io.seed();
  out.forest.threads = io.threads();
  auto const scale = options.scale.empty() ? (options.target == "time_s" ? "log" : "plain") : options.scale;
  out.scale = *forest::find_word(forest::scale_words, scale);
  out.objective = *forest::find_word(forest::objective_words, options.objective);
  out.interval = options.interval_pct / 100;
  return out;
}

std::string Dataset::label(std::size_t row) const {
  auto out = kernels[row] + "/" + cases[row];
  if (device.empty() && !devices[row].empty()) out += " on " + devices[row];
  return out;
}

std::vector<std::string> Dataset::features() const {
  auto out = kernel_features;
  out.insert(out.end(), device_features.begin(), device_features.end());
  out.insert(out.end(), projections.begin(), projections.end());
  return out;
}

std::vector<Dataset> datasets(cli::Streams& io, Learning const& options, std::string const& group) {
  need_files(options);
  return Joiner(io, options, group).join();
}

}  // namespace kernelcast::mangrove
