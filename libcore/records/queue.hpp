// What the queue model says besides projections: the `stations` record, a projection with everything on the way to it,
// and the `constant` record.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "records/table/schema.hpp"
#include "records/vocabulary.hpp"

namespace kernelcast::record {

// What a work-group takes of a compute unit, each in its own time.
#define KERNELCAST_STATIONS(X) \
  X(issue) X(fp32) X(imad) X(integer) X(fp64) X(special) X(lsu) X(shared) X(l2) X(dram) X(tensor)
#define KERNELCAST_ENUMERATOR(name) name,
enum class Station : std::uint8_t { KERNELCAST_STATIONS(KERNELCAST_ENUMERATOR) };
#undef KERNELCAST_ENUMERATOR
#define KERNELCAST_NAME(name) std::string_view(#name),
template <>
inline constexpr std::array names_of<Station>{KERNELCAST_STATIONS(KERNELCAST_NAME)};
#undef KERNELCAST_NAME
#undef KERNELCAST_STATIONS

struct Stations {
  std::string kernel, case_name, device;
  std::optional<double> time_s;
  LimiterName limiter;
  PerValue<Station, std::optional<double>> station_s;
  std::optional<double> service_s, latency_s, customers, groups_of_unit, queue_s, longest_s, atomics_s, start_s,
      launch_s;
  std::optional<double> l2_bytes, dram_bytes, clock_hz, occupancy;
  std::string bound;  // what bounds the occupancy
  std::optional<std::uint64_t> registers;
  RowStatus status = RowStatus::ok;
  std::string reason;

  static Schema<Stations> const& schema();
};

struct Constant {
  std::string name, target;
  double value = 0;
  std::string unit, source;

  static Schema<Constant> const& schema();
};

}  // namespace kernelcast::record
