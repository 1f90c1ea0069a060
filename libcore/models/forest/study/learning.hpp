// What the verbs of mangrove have in common: files read, and the options of those that learn.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/forest/study/dataset.hpp"
#include "records/cli/cli.hpp"

namespace kernelcast::forest {

struct Learning {
  std::string features, targets, target = "time_s";
  std::vector<std::string> feature_names, devices, device_features;
  std::string devices_file, devdb, per;
  std::vector<std::string> stack;
  std::size_t max_per_kernel = 100;
  std::size_t trees = 512;
  std::string max_features = "all", criterion = "mse", cuts = "uniform", scale, objective = "mean", form = "direct";
  double interval_pct = 90;
  std::size_t calibrate = 5;
};

// Declares them; files are asked for by need_files() when the program runs, since --config may hold them.
void declare_learning(cli::Tool& tool, std::shared_ptr<Learning> const& options);
void need_files(Learning const& options);

Plan plan_of(Learning const& options, cli::Streams& io);

Content read_all(cli::Streams& io, std::string const& path);
std::vector<Content> read_all(cli::Streams& io, std::vector<std::string> const& paths);

// From `file`, or from the device database where it is empty.
DeviceTable device_table(cli::Streams& io, std::string const& file, std::string const& devdb,
                         std::vector<std::string> const& features);

// `group`: the column to leave out by, or empty. Says on standard error what was left out.
std::vector<Dataset> datasets(cli::Streams& io, Learning const& options, std::string const& group);

}  // namespace kernelcast::forest
