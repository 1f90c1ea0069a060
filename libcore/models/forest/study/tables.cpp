#include "models/forest/study/tables.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "base/statistics/median.hpp"
#include "records/feature.hpp"
#include "records/projection.hpp"

namespace kernelcast::forest {

namespace {

using record::Unit;

// Also what is none but is meant to be one: nan, inf, 1e999. It is refused where it is read.
bool is_number(std::string_view text) {
  double value = 0;
  auto const result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec != std::errc::invalid_argument && result.ptr == text.data() + text.size();
}

void add_values(record::Schema<FeatureRow>& schema, std::vector<std::string> const& features) {
  for (std::size_t i = 0; i < features.size(); ++i)
    schema.column(features[i], [i](FeatureRow& row) -> auto& { return row.values.at(i); }, Unit::none, "a feature");
}

// Columns of numbers that are not features.
bool is_no_feature(std::string const& name) {
  static std::set<std::string> const names{"kernel",   "case",   "size",   "device", "suite",
                                           "launches", "status", "reason", "time_s", "power_w"};
  return names.contains(name);
}

std::vector<std::string> header_of(Content const& content) {
  std::istringstream in(content.text);
  return csv::Reader(in, content.path).header();
}

bool has(std::vector<std::string> const& names, std::string const& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The chosen features; numbers where nothing was chosen.
std::vector<std::string> chosen_or_default(Content const& content, std::vector<std::string> chosen) {
  auto const header = header_of(content);
  if (chosen.empty()) {
    auto const twelve = default_features();
    bool const all = std::all_of(twelve.begin(), twelve.end(), [&](auto const& name) { return has(header, name); });
    chosen = all ? twelve : numeric_columns(content);
  }
  if (chosen.empty())
    throw Error(Status::bad_data, Where{content.path, 1, 0}, "no column of numbers to learn from",
                "features come from flux-count --emit features, or any columns of numbers");
  if (chosen.size() > max_feature_count)
    throw Error(Status::bad_data, Where{content.path, 1, 0},
                fmt::format("{} features, at most {} are possible", chosen.size(), max_feature_count),
                "choose columns with --feature");
  std::set<std::string> seen;
  for (auto const& name : chosen) {
    if (!has(header, name))
      throw Error(Status::bad_data, Where{content.path, 1, 0}, fmt::format("there is no feature '{}'", name),
                  did_you_mean(name, header));
    if (!seen.insert(name).second)
      throw Error(Status::usage, fmt::format("feature '{}' is named twice", name), "name each column once");
  }
  return chosen;
}

// Beyond them sums of squares are not numbers.
constexpr double min_target = 1e-100, greatest_target = 1e100;

struct TargetRow {
  std::string kernel, case_name, device, group;
  std::optional<double> value;
};

}  // namespace

std::vector<std::string> default_features() {
  std::vector<std::string> out;
  for (auto const& column : record::Feature::schema().columns())
    if (!is_no_feature(column.name)) out.push_back(column.name);
  return out;
}

record::Schema<FeatureRow> kernel_schema(std::vector<std::string> const& features, std::string const& group) {
  record::Schema<FeatureRow> out("feature", "features of a kernel");
  out.column("kernel", &FeatureRow::kernel, Unit::none, "name of the kernel function")
      .column("case", &FeatureRow::case_name, Unit::none, "problem size or launch of the kernel")
      .may_be_empty()
      .accepts("size");
  if (!group.empty()) out.column(group, &FeatureRow::group, Unit::none, "what to leave out together");
  add_values(out, features);
  return out;
}

record::Schema<FeatureRow> device_schema(std::vector<std::string> const& features) {
  record::Schema<FeatureRow> out("device", "features of a device");
  out.column("device", &FeatureRow::device, Unit::none, "the device");
  add_values(out, features);
  return out;
}

Values values_of(FeatureRow const& row, std::vector<std::string> const& features) {
  Values out;
  for (std::size_t f = 0; f < features.size(); ++f) {
    auto value = row.values[f];
    if (!value && features[f] == "arithmetic_intensity") {
      auto const arithmetic = std::find(features.begin(), features.end(), "inst_arithmetic");
      if (arithmetic != features.end()) value = row.values[static_cast<std::size_t>(arithmetic - features.begin())];
    }
    if (!value) {
      out.missing = fmt::format("feature '{}' is empty", features[f]);
      return out;
    }
    out.x.push_back(static_cast<float>(*value));
  }
  return out;
}

std::vector<std::string> numeric_columns(Content const& content) {
  std::istringstream in(content.text);
  csv::Reader csv(in, content.path);
  auto const header = csv.header();
  std::vector<std::size_t> numbers(header.size()), words(header.size());
  while (csv.next())
    for (std::size_t i = 0; i < header.size(); ++i)
      if (!csv[i].empty()) ++(is_number(csv[i]) ? numbers : words)[i];
  std::vector<std::string> out;
  for (std::size_t i = 0; i < header.size(); ++i)
    if (numbers[i] > words[i] && !is_no_feature(header[i])) out.push_back(header[i]);
  return out;
}

KernelTable read_kernels(Content const& content, std::vector<std::string> chosen, std::string const& group) {
  KernelTable out;
  out.features = chosen_or_default(content, std::move(chosen));
  // The group may be one of the columns that every row has, or stand with the targets.
  bool const of_row = group == "kernel" || group == "case" || group == "size";
  out.has_group = !group.empty() && (of_row || has(header_of(content), group));
  if (has(out.features, group)) std::erase(out.features, group);
  auto const schema = kernel_schema(out.features, out.has_group && !of_row ? group : "");
  std::istringstream in(content.text);
  csv::Reader csv(in, content.path);
  record::RowReader rows(schema, csv);
  std::set<std::pair<std::string, std::string>> seen;
  for (FeatureRow row; rows.next(&row); row = {}) {
    check_range(rows, row, out.features);
    if (of_row) row.group = group == "kernel" ? row.kernel : row.case_name;
    if (!seen.emplace(row.kernel, row.case_name).second)
      throw rows.error("kernel", fmt::format("kernel '{}', case '{}' is duplicated", row.kernel, row.case_name),
                       "one row of features for each kernel and case");
    out.rows.push_back(row);
  }
  std::sort(out.rows.begin(), out.rows.end(), [](auto const& a, auto const& b) {
    return std::tie(a.kernel, a.case_name) < std::tie(b.kernel, b.case_name);
  });
  return out;
}

TargetTable read_targets(Content const& content, std::string const& column, std::string const& group) {
  auto const header = header_of(content);
  TargetTable out;
  out.has_group = !group.empty() && has(header, group);
  bool const of_row = group == "kernel" || group == "case" || group == "size" || group == "device";
  record::Schema<TargetRow> schema("target", "measured targets");
  schema.column("kernel", &TargetRow::kernel, Unit::none, "name of the kernel function")
      .column("case", &TargetRow::case_name, Unit::none, "problem size or launch of the kernel")
      .may_be_empty()
      .accepts("size")
      .optional_column("device", &TargetRow::device, Unit::none, "the device it was measured on")
      .column(column, &TargetRow::value, Unit::none, "what to learn");
  if (out.has_group && !of_row) schema.column(group, &TargetRow::group, Unit::none, "what to leave out together");
  std::istringstream in(content.text);
  csv::Reader csv(in, content.path);
  record::RowReader rows(schema, csv);
  std::map<std::array<std::string, 3>, std::pair<std::string, std::vector<double>>> values;
  for (TargetRow row; rows.next(&row); row = {}) {
    if (!row.value) continue;
    if (!(*row.value > 0)) throw rows.error(column, "a target must be above 0", "an unknown one is an empty cell");
    if (*row.value < min_target || *row.value > greatest_target)
      throw rows.error(column, fmt::format("a target must be between {} and {}", min_target, greatest_target),
                       "such a time or power is none");
    if (of_row) row.group = group == "device" ? row.device : group == "kernel" ? row.kernel : row.case_name;
    auto& at = values[{row.kernel, row.case_name, row.device}];
    at.first = row.group;
    at.second.push_back(*row.value);
  }
  for (auto& [key, at] : values) out.rows.push_back({key[0], key[1], key[2], std::move(at.first), median(at.second)});
  return out;
}

void check_range(record::RowReader const& rows, FeatureRow const& row, std::vector<std::string> const& features) {
  for (std::size_t f = 0; f < features.size(); ++f)
    if (row.values[f] && !std::isfinite(static_cast<float>(*row.values[f])))
      throw rows.error(features[f], "the value is beyond the range of a float", "features are at most 3.4e38");
}

DeviceTable::DeviceTable(Content const& content, std::vector<std::string> features) : features_(std::move(features)) {
  auto const schema = device_schema(features_);
  std::istringstream in(content.text);
  csv::Reader csv(in, content.path);
  record::RowReader rows(schema, csv);
  for (FeatureRow row; rows.next(&row); row = {}) {
    check_range(rows, row, features_);
    names_.push_back(row.device);
    if (!rows_.emplace(row.device, row).second)
      throw rows.error("device", fmt::format("device '{}' is duplicated", row.device), "one row for each");
  }
}

DeviceTable::DeviceTable(Content const& content, std::vector<std::string> features,
                         device::DeviceDatabase const& database)
    : DeviceTable(content, std::move(features)) {
  std::map<std::string, std::set<std::string>> ids;
  for (auto const& known : database.devices()) ids[known.name].insert(known.device);
  for (auto const& alias : database.aliases()) ids[alias.name].insert(alias.device);
  for (auto const& [name, candidates] : ids)
    if (candidates.size() == 1) other_names_[name] = *candidates.begin();
}

FeatureRow const& DeviceTable::find(std::string const& name) const {
  auto found = rows_.find(name);
  if (found == rows_.end())
    if (auto const other = other_names_.find(name); other != other_names_.end()) found = rows_.find(other->second);
  if (found == rows_.end())
    throw Error(Status::bad_data, fmt::format("there are no features of device '{}'", name),
                did_you_mean(name, names_) + "; --devices FILE gives features of your own");
  return found->second;
}

Values Projections::of(std::string const& kernel, std::string const& case_name, std::string const& device) const {
  Values out;
  auto const found = times.find({kernel, case_name, device});
  for (std::size_t k = 0; k < models.size(); ++k) {
    if (found == times.end() || !found->second.at(k)) {
      out.missing = fmt::format("model '{}' has no time for it", models[k]);
      return out;
    }
    out.x.push_back(static_cast<float>(std::log(*found->second[k])));
  }
  return out;
}

Projections read_projections(std::vector<Content> const& contents) {
  Projections out;
  std::map<std::array<std::string, 3>, std::map<std::string, double>> times;
  std::set<std::string> models;
  for (auto const& content : contents) {
    std::istringstream in(content.text);
    csv::Reader csv(in, content.path);
    record::Reader<record::Projection> rows(csv);
    for (record::Projection p; rows.next(p);) {
      models.insert(p.model);
      if (!p.time_s) continue;
      if (!(*p.time_s > 0)) throw rows.error("time_s", "a time must be above 0", "an unknown time is an empty cell");
      if (!times[{p.kernel, p.case_name, p.device}].emplace(p.model, *p.time_s).second)
        throw rows.error("device", "is duplicated for its model, kernel and case", "add them up with rank --total");
    }
  }
  out.models.assign(models.begin(), models.end());
  for (auto const& [key, by_model] : times) {
    auto& row = out.times[key];
    for (auto const& model : out.models) {
      auto const found = by_model.find(model);
      row.push_back(found == by_model.end() ? std::nullopt : std::optional(found->second));
    }
  }
  return out;
}

}  // namespace kernelcast::forest
