// Measuring a device: what there is, what is to be measured, and the measuring.
//
// Problem: models need curves and peaks that no data sheet states, from any device that a user has.
// Method: a back end (OpenCL, CUDA, CPU) lists its devices and turns one into points: each a row of the `measurement`
// record still without value, and a function that takes one sample. run() samples them one after the other, judges
// each by plausibility, and hands over every row as soon as it is there. Kernels and what they count are in
// microbench/.
// Limits: one device at a time; the host's other load is watched, not kept away.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/diag/diag.hpp"
#include "measure/probe/statistics.hpp"
#include "records/device/device.hpp"
#include "records/measurement.hpp"

namespace kernelcast::probe {

// What a driver or the operating system states about a device. 0 and empty: it does not say.
struct Facts {
  std::string spec;     // cpu, opencl:0, cuda:1
  std::string backend;  // cpu, opencl, cuda
  std::string device;   // slug made from the name; the caller may replace it by that of the device database
  std::string name, vendor, driver, kind, target, architecture;
  std::uint64_t compute_units = 0, lanes_per_cu = 0, wave_width = 0, max_group_size = 0, threads_per_cu = 0;
  std::uint64_t max_groups_per_cu = 0;
  std::uint64_t compute_capability = 0;  // 90 for 9.0
  std::uint64_t registers_per_cu = 0;
  double clock_hz = 0;
  double memory_bytes = 0, shared_per_group_bytes = 0, shared_per_cu_bytes = 0;
  double l1_bytes = 0, l2_bytes = 0, l3_bytes = 0, line_bytes = 0;  // of one core or unit; l3 of one socket
  double last_cache_bytes = 0;                                      // of the whole device
  double memory_clock_hz = 0;
  std::uint64_t memory_bus_bits = 0;
  double flop_per_cycle_fp32 = 0, flop_per_cycle_fp64 = 0;  // of a compute unit, by its architecture
  bool fp64 = true, fp16 = false, images = false;
};

// "NVIDIA Tesla K40c" -> "nvidia-tesla-k40c"; (R), (TM), "CPU @ 3.40GHz" and the like go.
std::string slug(std::string_view name);
// The slug of the database's device that has the driver's name, else the one made from that name.
std::string slug(Facts const&, device::DeviceDatabase const&);

enum class Depth : std::uint8_t { quick, normal, thorough };

struct Settings {
  Depth depth = Depth::normal;
  std::set<std::string> benches;  // empty: all
  std::uint64_t seed = 0;
  bool wants(std::string const& bench) const { return benches.empty() || benches.contains(bench); }
};

// Names for --bench, in the order in which they run, each with what it measures.
struct Bench {
  std::string_view name, about;
};
std::vector<Bench> const& benches();
// A set of names for Settings. Throws Error(usage) for one that is none.
std::set<std::string> choose_benches(std::vector<std::string> const& names);

// One thing to measure.
struct Point {
  std::string bench;
  record::Measurement row;          // all that tells it from other points
  std::function<double()> measure;  // one sample in the metric's unit. Throws Error
  std::optional<double> stated;     // in place of `measure`: what the driver says
  std::optional<double> most;       // theoretical peak: what lies above it is doubtful
  std::string doubt;                // known beforehand: why the row is doubtful
  std::string unsupported;          // why it cannot be measured: then there is no `measure`
};

// The device is gone: nothing after this can be measured.
class DeviceLost : public Error {
 public:
  using Error::Error;
};

// A device that is open for measuring.
class Probe {
 public:
  virtual ~Probe() = default;
  Facts const& facts() const { return facts_; }
  void rename(std::string device) { facts_.device = std::move(device); }
  // Points in the order in which they should run.
  virtual std::vector<Point> plan(Settings const&) = 0;
  // Clock of the compute units just now; nullopt where it cannot be told.
  virtual std::optional<double> clock_hz() { return std::nullopt; }
  // What makes any measurement doubtful; empty when nothing does.
  virtual std::string trouble() const { return {}; }

 protected:
  Facts facts_;
};

// A device or a whole back end, and why it cannot be used.
struct Listed {
  Facts facts;
  record::RowStatus status = record::RowStatus::ok;  // or unusable
  std::string reason;
};
record::ProbedDevice row_of(Listed const&);

// A family of devices. Opening throws Error(unavailable).
class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string name() const = 0;
  virtual std::vector<Listed> list() = 0;
  // Why list() is empty, and what to do about it.
  virtual std::string absence() const = 0;
  virtual std::string absence_hint() const = 0;
  virtual std::unique_ptr<Probe> open(Facts const&) = 0;
};
std::unique_ptr<Backend> cpu_backend();
std::unique_ptr<Backend> opencl_backend();
std::unique_ptr<Backend> cuda_backend();

// All devices: GPUs of CUDA and OpenCL, then the CPU, then other OpenCL devices.
class Devices {
 public:
  Devices();
  std::vector<Listed> const& all() const { return all_; }
  // By spec ("cuda:0", "opencl", "cpu"), slug, or part of the name; empty: the first usable one. Throws
  // Error(unavailable) that says what there is.
  std::unique_ptr<Probe> open(std::string const& spec);

 private:
  std::vector<std::unique_ptr<Backend>> backends_;
  std::vector<Listed> all_;
};

struct Progress {
  std::size_t done = 0, total = 0;
  double remaining_s = 0;
  std::string text;  // what is being measured
};

struct RunOptions {
  Settings settings;
  double seconds = 0;  // for everything; 0: what the depth says
  std::string source;  // for the rows
  // Rows that are there already, of an earlier run: what they hold is not measured again.
  std::vector<record::Measurement> have;
  std::function<void(record::Measurement const&)> row;
  std::function<void(Progress const&)> progress;
};

struct Report {
  std::vector<record::Measurement> rows;  // those of `have` that belong to the device, and the new ones
  double other_load_pct = 0;              // over the whole run
  double seconds = 0;
  std::size_t sampled = 0, doubtful = 0, failed = 0, unsupported = 0;
};

// Throws DeviceLost after the rows of the points that could not be measured any more.
Report run(Probe&, RunOptions const&);

// How long a run of this depth may take for a CPU, seconds.
double time_limit_s(Depth);

// Takes away the rows of this device that failed: they are to be measured again.
void forget_failures(std::vector<record::Measurement>& rows, Facts const&);

// Two rows that measure the same.
bool same_point(record::Measurement const&, record::Measurement const&);

// ---------------------------------------------------------------- parts of run()

// Why a measured value is invalid, or is not what it claims to be; empty when nothing speaks against it.
std::string doubt_about(Point const&, Facts const&, Sampled const&, std::optional<double> clock_before,
                        std::optional<double> clock_after);

// The points of bench `facts`: what is stated and above 0.
std::vector<Point> stated_points(Facts const&);

// What follows from other rows: latencies in clocks, where the clock is known, and capacities of the caches from the
// latency curve.
std::vector<record::Measurement> derive(std::vector<record::Measurement> const&, Facts const&);

}  // namespace kernelcast::probe
