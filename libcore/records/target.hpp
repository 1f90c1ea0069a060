// Times and powers of kernels as `mangrove collect` measures them: what `mangrove train` learns. [braun] section 5.3
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "records/table/schema.hpp"
#include "records/vocabulary.hpp"

namespace kernelcast::record {

struct Target {
  std::string kernel;
  std::string case_name;  // column `case`
  std::string device;
  std::optional<double> time_s, power_w;
  std::optional<double> time_mad_s;
  std::uint64_t runs = 0;
  std::uint64_t power_samples = 0;
  std::string power_source;
  RowStatus status = RowStatus::ok;
  std::string reason;

  static Schema<Target> const& schema();
};

}  // namespace kernelcast::record
