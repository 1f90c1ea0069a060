// What `kernelcast submit` reads and writes: the partitions of a Slurm cluster, and when a job would end on each.
#pragma once

#include <optional>
#include <string>

#include "records/table/schema.hpp"

namespace kernelcast::record {

// One kind of GPU of a partition.
struct ClusterPartition {
  std::string partition, device;
  std::string gres, options;  // for sbatch

  static Schema<ClusterPartition> const& schema();
};

// A job that is not submitted yet. Times in seconds from now; empty: unknown, as `reason` says.
struct Submission {
  std::string partition, device;
  std::optional<double> start_s;
  std::optional<double> time_s, time_low_s, time_high_s;
  std::optional<double> end_s;
  std::string command, reason;

  static Schema<Submission> const& schema();
};

}  // namespace kernelcast::record
