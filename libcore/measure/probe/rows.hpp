// A device measured, or rows of an earlier run read; measurements, a summary or differences written: what devprobe
// does.
#pragma once

#include <string>
#include <vector>

#include "records/cli/cli.hpp"

namespace kernelcast::probe {

// The options of devprobe(1), by their names.
struct ProbeRows {
  std::string device, name, resume, from, check, devdb;
  std::vector<std::string> benches;
  bool list = false, man_metrics = false, quick = false, thorough = false, summary = false;
};

// Returns Status::finding where measured figures differ from the database's. Throws Error(usage, unavailable,
// bad_data).
Status probe_rows(ProbeRows const&, cli::Streams&);

}  // namespace kernelcast::probe
