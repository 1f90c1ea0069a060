// What train, validate and importance have in common: their options, and the samples that come of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/cli.hpp"
#include "forest/validation.hpp"
#include "tables.hpp"

namespace kernelcast::mangrove {

struct Learning {
  std::string features, targets, target = "time_s";
  std::vector<std::string> feature_names, devices, device_features;
  std::string devices_file, devdb, per;
  std::vector<std::string> stack;
  std::size_t max_per_kernel = 100;
  std::size_t trees = 512;
  std::string max_features = "all", criterion = "mse", cuts = "uniform", scale, objective = "mean";
  double interval_pct = 90;
};

// Declares them; files are asked for by need_files() when the program runs, since --config may hold them.
void declare_learning(cli::Tool& tool, std::shared_ptr<Learning> const& options);
void need_files(Learning const& options);

forest::Plan plan_of(Learning const& options, cli::Streams& io);

// The samples of one forest: of a device, or of all where devices have features.
struct Dataset {
  std::string device;  // empty: several
  std::vector<std::string> kernel_features, device_features, projections;
  forest::Data data;
  std::vector<std::string> kernels, cases, devices, groups;  // [row]
  forest::Groups configurations;                             // [row]: rows of one kernel and case belong together
  std::map<std::string, std::string> provenance;

  std::string label(std::size_t row) const;  // kernel/case, and the device where there are several
  std::vector<std::string> features() const;
};

// By device in the order of their names. `group`: the column to leave out by, or empty. Throws Error(bad_data) when
// nothing joins; says on standard error what was left out.
std::vector<Dataset> datasets(cli::Streams& io, Learning const& options, std::string const& group);

}  // namespace kernelcast::mangrove
