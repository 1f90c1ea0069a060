// What `perdome` reads and writes: how a code is divided over the processors of a system, the bound that follows, and
// the best division there is. [perdome]
#pragma once

#include <optional>
#include <string>

#include "records/table/schema.hpp"
#include "records/vocabulary.hpp"

namespace kernelcast::record {

// One way to divide a code. Either intensities (operations per byte; 0: that processor is unused), or raw operations
// and bytes of the first and second processor, or of any number of them as lists in the order of the system.
struct Partition {
  std::string partition, system;
  std::optional<double> intensity, intensity_cpu, intensity_gpu;
  std::optional<double> flops_cpu, bytes_cpu, flops_gpu, bytes_gpu;
  std::string flops_each, bytes_each;  // "1e9;2e9;5e8"
  std::optional<double> link_bytes, link_intensity;

  static Schema<Partition> const& schema();
};

struct Bound {
  std::string partition, system;
  double bound_flop_per_s = 0;
  std::string limiter;
  double relative_to_best = 1;
  double intensity = 0;
  std::optional<double> intensity_cpu, intensity_gpu;  // of the first and second processor
  std::string flops_shares, bytes_shares;              // in the order of the system, joined by ;
  std::optional<double> power_w, flop_per_j;
  std::string rates;

  static Schema<Bound> const& schema();
};

// The best division of freely divisible code, one row per processor.
struct Optimum {
  std::string system;
  double intensity = 0;
  double bound_flop_per_s = 0;
  Limiter limiter = Limiter::compute;
  std::string device;
  double flops_share = 0, flops_share_low = 0, flops_share_high = 0;
  double bytes_share = 0, bytes_share_low = 0, bytes_share_high = 0;
  double data_partition_flop_per_s = 0, gain_over_data_partition_pct = 0;
  std::string best_single_device;
  double single_flop_per_s = 0, gain_over_single_pct = 0;
  std::string rates;

  static Schema<Optimum> const& schema();
};

}  // namespace kernelcast::record
