// Kernel rows read, and what a model says of them written: what perfcast does.
#pragma once

#include <string>
#include <vector>

#include "records/cli/cli.hpp"

namespace kernelcast::model {

struct ProjectRows {
  std::string devdb;                 // its folder; empty: the installed one
  std::vector<std::string> devices;  // none: every GPU
  std::string clock = "usual";       // base, boost or hertz
  std::string model = "queue";       // panwar, trivial
  std::string launch_cost;           // seconds, of each device, or device; empty: as the model has it
  std::string calibrate;             // a file of measured times
  std::string caches = "program", launches = "alone";
  std::vector<std::string> constants;  // NAME=VALUE
  bool constants_only = false, explain = false, doubtful = false, launch_delay = false;
  CLI::App const* app = nullptr;  // to see whether --format was given
};

// Rows of `io` in, projections, terms or constants out. Throws Error(usage, bad_data, unavailable).
void project_rows(ProjectRows const&, cli::Streams& io);

}  // namespace kernelcast::model
