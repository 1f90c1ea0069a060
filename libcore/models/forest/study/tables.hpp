// The tables that forests learn from.
//
// Problem: any numeric columns may be features, and the columns to group by are the user's too; no fixed record has
// them. Method: a file is read once as text to see which columns are numbers, then as a record whose columns are made
// for it, so that mistakes are refused at their place as anywhere in the suite.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/forest/forest.hpp"
#include "records/device/device.hpp"
#include "records/table/schema.hpp"
#include "records/table/table.hpp"

namespace kernelcast::forest {

// A row of features: of a kernel and case, or of a device.
struct FeatureRow {
  std::string kernel, case_name, device, group;
  std::array<std::optional<double>, max_feature_count> values;
};

// The twelve of flux-count, in the order of its record.
std::vector<std::string> default_features();

// A record `feature` of these columns; with a text column `group` unless it is empty.
record::Schema<FeatureRow> kernel_schema(std::vector<std::string> const& features, std::string const& group = {});
record::Schema<FeatureRow> device_schema(std::vector<std::string> const& features);

// The values as a forest reads them, or why there are none: "feature 'ctas' is empty". An empty arithmetic_intensity is
// that of a kernel without memory accesses: its arithmetic instructions stand for it.
struct Values {
  std::vector<float> x;
  std::string missing;
};
Values values_of(FeatureRow const& row, std::vector<std::string> const& features);

// Throws Error(bad_data) at a value beyond the range of a float.
void check_range(record::RowReader const& rows, FeatureRow const& row, std::vector<std::string> const& features);

// A file as it was read, and the hash of its bytes.
struct Content {
  std::string path, text, hash;
};

// Columns with more numbers than words, except those that are never features (launches, time_s, …). A word among
// numbers is refused where the column is read.
std::vector<std::string> numeric_columns(Content const& content);

struct KernelTable {
  std::vector<std::string> features;
  std::vector<FeatureRow> rows;
  bool has_group = false;
};
// `chosen` empty: the twelve where all are there, else all columns of numbers. Rows with the same kernel and case are
// refused, as are values beyond the range of a float.
KernelTable read_kernels(Content const& content, std::vector<std::string> chosen, std::string const& group);

struct Target {
  std::string kernel, case_name, device, group;
  double value = 0;
};
// Rows without a value are left out; a value of 0 or below, or beyond 1e±100, is refused. Of several rows for one
// kernel, case and device the median counts [braun] section 5.3.2.
struct TargetTable {
  std::vector<Target> rows;
  bool has_group = false;
};
TargetTable read_targets(Content const& content, std::string const& column, std::string const& group);

// Features of devices by name: from a CSV with a column `device`, or from the device database.
class DeviceTable {
 public:
  DeviceTable() = default;  // devices have no features
  DeviceTable(Content const& content, std::vector<std::string> features);
  // `content` is the database's devices.csv; devices are found by their other names too.
  DeviceTable(Content const& content, std::vector<std::string> features, device::DeviceDatabase const& database);
  std::vector<std::string> const& features() const { return features_; }
  std::vector<std::string> const& names() const { return names_; }
  // Throws Error(bad_data) for an unknown device.
  FeatureRow const& find(std::string const& name) const;

 private:
  std::vector<std::string> features_, names_;
  std::map<std::string, FeatureRow> rows_;          // by id
  std::map<std::string, std::string> other_names_;  // -> id
};

// Projected times of other models: (kernel, case, device) -> seconds, for each model.
struct Projections {
  std::vector<std::string> models;
  std::map<std::array<std::string, 3>, std::vector<std::optional<double>>> times;
  // Natural logarithms, one for each model; missing says which has none.
  Values of(std::string const& kernel, std::string const& case_name, std::string const& device) const;
};
Projections read_projections(std::vector<Content> const& contents);

}  // namespace kernelcast::forest
