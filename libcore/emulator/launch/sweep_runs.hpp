// miniemu on a launch file's sweep: one run of it for each point.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "emulator/launch/launch.hpp"
#include "emulator/launch/options.hpp"
#include "records/cli/cli.hpp"
#include "records/kernel.hpp"
#include "records/table/labels.hpp"

namespace kernelcast::launch {

struct SweepCommand {
  std::string points, shard, resume;  // points: a file with a table of them
  std::vector<std::string> labels;    // NAME=VALUE
};

void declare_sweep(cli::Tool&, SweepCommand&);

// Of --label. Throws Error(usage).
record::Labels labels_of(SweepCommand const&);

// Kernel rows with labels behind them, with --timing also the seconds of emulation.
class KernelRows {
 public:
  KernelRows(bool timing, record::Labels labels, cli::Streams& io);
  // `last`: this row's values of the last labels.
  void write(record::Kernel const& row, double emulation_s, std::vector<std::string> const& last = {});
  void write(Report const& report, std::vector<std::string> const& last = {});
  void finish() { out_.finish(); }

 private:
  bool timing_;
  record::Labels labels_;
  record::Writer<record::Kernel> out_;
};

// The rows of each case of an interrupted run, for --resume; not those of its last case, which are perhaps not all.
using Done = std::map<std::string, std::vector<record::Kernel>>;
Done read_done(std::string const& path, cli::Streams&);

// None where it is one run of a kernel or a launch file.
std::optional<Sweep> sweep_of(SweepCommand const&, Options const&, cli::Streams&);

// Rows in the order of the points, each when its point is done; behind each row those of the variants. `note` says what
// a run has noted.
Status run_sweep(SweepCommand const&, Sweep const&, Options const&, RunOptions const&, bool timing,
                 std::function<void(Report const&)> const& note, cli::Streams&);

}  // namespace kernelcast::launch
