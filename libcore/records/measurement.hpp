// What devprobe writes: measurements, one row for one metric at one point; the devices that it sees; and how a device
// compares with its row of the database.
//
// The metrics are a closed list, metrics() below: the same names in devprobe's output, in devdb/curves and in the
// models that read them. A metric's name ends in the unit of its value.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "records/table/schema.hpp"
#include "records/vocabulary.hpp"

namespace kernelcast::record {

struct Measurement {
  using Number = std::optional<double>;
  using Count = std::optional<std::uint64_t>;

  std::string device;   // slug of the device database, or one made from the device's name
  std::string backend;  // opencl, cuda, hip, cpu; what a data set says it used
  std::string metric;
  std::string access;     // coalesced, stride<k>, block<k>, random; empty where the metric knows no access
  std::string direction;  // read, write, copy, triad; empty where it makes no difference
  Count word_bytes;
  Number occupancy;  // part of the most resident wavefronts; on CPUs part of the cores
  Number working_set_bytes;
  Number value, mad, ci_low, ci_high;  // median, median absolute deviation, 95 % interval of the median
  Count samples;
  RowStatus status = RowStatus::ok;
  std::string reason;
  // Beyond what every measurement has; a file may lack these columns.
  std::string item_class;  // column `class`: fp32, fp64, … of InstructionClass, or finer (fp32_fma, shared_load)
  std::string variant;     // what else tells two rows of a metric apart: fma, add_mul, h2d pinned, level 2
  Count outliers;          // samples further than 5 MAD from the median; they stay in the statistics
  Number clock_hz;         // clock of the device during the measurement, where it can be known
  Number other_load_pct;   // of the host's processor time, used by other programs meanwhile
  std::string source;      // program, driver and date, or the data set that the row was taken from

  static Schema<Measurement> const& schema();
};

// A device that can be measured, or why it cannot.
struct ProbedDevice {
  std::string spec;  // what --device takes: cpu, opencl:0, cuda:1
  std::string device, backend, kind, name, vendor, driver;
  std::optional<std::uint64_t> compute_units;
  std::optional<double> clock_hz, memory_bytes;
  RowStatus status = RowStatus::ok;
  std::string reason;

  static Schema<ProbedDevice> const& schema();
};

// One figure of the device database beside what was measured.
struct DeviceDifference {
  std::string device, column;
  std::optional<double> stated, measured, difference_pct;
  std::string verdict;  // agrees, differs, unknown
  std::string reason;

  static Schema<DeviceDifference> const& schema();
};

// One entry of the closed list.
struct Metric {
  std::string_view name;
  Unit unit;
  std::string_view meaning;
};
std::span<Metric const> metrics();
// nullptr for a name that is not in the list.
Metric const* find_metric(std::string_view name);
// The list for a man page in scdoc.
void describe_metrics(std::ostream&);

}  // namespace kernelcast::record
