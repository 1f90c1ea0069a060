// The `advice` record: the best device for one launch of a running application, and what it took to know.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "records/table/schema.hpp"
#include "records/vocabulary.hpp"

namespace kernelcast::record {

struct Advice {
  std::string kernel;
  std::string case_name;                                  // column `case`
  std::string device;                                     // empty where there is no advice
  std::optional<double> time_s, time_low_s, time_high_s;  // of one launch
  LimiterName limiter;
  std::string decided;  // yes, no, or empty
  std::string next_device;
  std::optional<double> next_time_s;
  RowStatus status = RowStatus::ok;
  std::string reason;
  std::string source;  // emulated, cache; empty where there is no advice
  std::optional<double> advice_wall_s, advice_cpu_s;
  std::optional<double> at_s;  // since the application began
  std::uint64_t launches = 0;  // by then
  std::string steered_to;      // of the machine's own devices; empty: launches stay where the application puts them

  static Schema<Advice> const& schema();
};

}  // namespace kernelcast::record
