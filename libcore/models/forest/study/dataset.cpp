#include "models/forest/study/dataset.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "models/forest/random.hpp"

namespace kernelcast::forest {

namespace {

// [braun] section 5.4.3: of each kernel at most so many configurations, at random. Rows are sorted by kernel.
std::size_t thin_out(std::vector<FeatureRow>& rows, std::size_t most, std::uint64_t seed) {
  if (most == 0) return 0;
  std::vector<FeatureRow> kept;
  Random random(seed, 3);
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
  Joiner(Sources const& sources, Selection const& selection) : sources_(sources), selection_(selection) {
    auto const& group = selection.group;
    kernels_ = read_kernels(sources.features, selection.features, group);
    measured_ = read_targets(sources.targets, selection.target, group);
    if (!group.empty() && !kernels_.has_group && !measured_.has_group)
      throw Error(Status::usage, fmt::format("neither file has a column '{}' to leave out by", group),
                  "name a column of the features or of the targets, for example kernel or device");
    projections_ = read_projections(sources.projections);
    find_per();
    if (auto const left = thin_out(kernels_.rows, selection.max_per_kernel, selection.seed); left > 0)
      notes_.push_back(fmt::format("{} configurations left out: more than {} of their kernel (--max-per-kernel)", left,
                                   selection.max_per_kernel));
  }

  Joined join() {
    auto const devices = chosen_devices();
    std::vector<Dataset> out;
    std::map<std::pair<std::string, std::string>, FeatureRow const*> by_name;
    for (auto const& row : kernels_.rows) by_name[{row.kernel, row.case_name}] = &row;
    for (auto const& device : devices) {
      if (out.empty() || !for_several()) out.push_back(empty_set(device));
      for (auto const& target : measured_.rows)
        if (target.device == device)
          if (auto const found = by_name.find({target.kernel, target.case_name}); found != by_name.end())
            add(out.back(), *found->second, target);
    }
    for (auto& set : out) finish(set);
    if (without_value_ > 0) notes_.push_back(fmt::format("{} samples left out: {}", without_value_, first_missing_));
    return {std::move(out), std::move(notes_)};
  }

 private:
  bool for_several() const { return !sources_.devices.features().empty(); }

  void find_per() {
    if (selection_.per.empty()) return;
    auto const found = std::find(kernels_.features.begin(), kernels_.features.end(), selection_.per);
    if (found == kernels_.features.end())
      throw Error(Status::usage, fmt::format("--per: there is no feature '{}'", selection_.per),
                  did_you_mean(selection_.per, kernels_.features));
    per_ = static_cast<std::size_t>(found - kernels_.features.begin());
  }

  std::vector<std::string> chosen_devices() const {
    std::set<std::string> known;
    for (auto const& target : measured_.rows) known.insert(target.device);
    std::vector<std::string> names(known.begin(), known.end());
    if (measured_.rows.empty())
      throw Error(Status::bad_data, Where{sources_.targets.path, 0, 0},
                  fmt::format("no row has a value in column '{}'", selection_.target),
                  "there is nothing to learn from");
    if (selection_.devices.empty()) return names;
    for (auto const& name : selection_.devices)
      if (!known.contains(name))
        throw Error(Status::bad_data, Where{sources_.targets.path, 0, 0}, fmt::format("no target of device '{}'", name),
                    did_you_mean(name, names));
    std::set<std::string> const wanted(selection_.devices.begin(), selection_.devices.end());
    return {wanted.begin(), wanted.end()};
  }

  Dataset empty_set(std::string const& device) const {
    Dataset out;
    out.target = selection_.target;
    out.per = selection_.per;
    if (!for_several()) out.device = device;
    out.kernel_features = kernels_.features;
    out.device_features = sources_.devices.features();
    out.projections = projections_.models;
    out.data.samples.features = out.features().size();
    out.provenance = {{"features_file", sources_.features.path},
                      {"features_xxh3_64", sources_.features.hash},
                      {"targets_file", sources_.targets.path},
                      {"targets_xxh3_64", sources_.targets.hash}};
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
    if (for_several()) take(values_of(sources_.devices.find(target.device), sources_.devices.features()));
    if (!projections_.models.empty()) take(projections_.of(target.kernel, target.case_name, target.device));
    double const work = selection_.per.empty() ? 1 : row.values[per_].value_or(0);
    if (values.missing.empty() && !(work > 0))
      values.missing = fmt::format("feature '{}' is not above 0", selection_.per);
    if (!values.missing.empty())
      return leave_out(fmt::format("{} (first: kernel '{}', case '{}')", values.missing, row.kernel, row.case_name));
    auto& data = set.data;
    data.samples.x.insert(data.samples.x.end(), values.x.begin(), values.x.end());
    data.samples.y.push_back(target.value / work);
    data.measured.push_back(target.value);
    if (!selection_.per.empty()) data.work.push_back(work);
    set.kernels.push_back(target.kernel);
    set.cases.push_back(target.case_name);
    set.devices.push_back(target.device);
    set.groups.push_back(kernels_.has_group ? row.group : target.group);
  }

  void finish(Dataset& set) const {
    if (set.data.samples.size() == 0)
      throw Error(Status::bad_data, Where{sources_.targets.path, 0, 0},
                  set.device.empty()
                      ? "no sample: nothing in the features has a target"
                      : fmt::format("no sample: nothing in the features has a target on '{}'", set.device),
                  "columns kernel and case (or size) of both files must agree");
    std::vector<std::string> names;
    for (std::size_t i = 0; i < set.kernels.size(); ++i) names.push_back(set.kernels[i] + '\0' + set.cases[i]);
    set.data.configurations = groups_of(names);
    set.data.groups = selection_.group.empty() ? set.data.configurations : groups_of(set.groups);
    set.data.kernel_features = set.kernel_features.size();
    if (for_several()) set.data.devices = groups_of(set.devices);
  }

  Sources const& sources_;
  Selection const& selection_;
  KernelTable kernels_;
  TargetTable measured_;
  Projections projections_;
  std::vector<std::string> notes_;
  std::size_t per_ = 0;
  std::size_t without_value_ = 0;
  std::string first_missing_;
};

}  // namespace

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

Joined join(Sources const& sources, Selection const& selection) {
  return Joiner(sources, selection).join();
}

}  // namespace kernelcast::forest
