// The default model: a compute unit is a closed queue, and its work-groups are the customers.
//
// Problem: a maximum over resources (panwar.hpp) has no caches, no latency and no launches, and misses recent devices
// by a factor of two. Method, for one launch; f the clock, G groups on `units` compute units, R of them resident on
// one, W wavefronts each:
//  - stations: what a group takes of each pipe, of the matrix units, of the load/store unit, of shared memory, of the
//  second-level cache and of
//    memory, in seconds of one compute unit. Those of the whole device are shared by the units that have work.
//  - a lone group's latency Z: the longest chain of its results, with the device's latencies.
//  - queue: b = (sum of D^p)^(1/p) of the stations D; Z' = Z + max(0, sum of D - b) / W, and not less than wavefronts
//    need to issue one by one; N = min(R, n) groups, each W customers, take turns at one station of service b
//    and a delay of Z' (exact mean-value analysis): the throughput X.
//  - barriers: wavefronts overlap each other between two of them only. A group alone takes the sum of its phases
//    (records/phases.hpp), each as a group without barriers that is alone; what that is longer than b is its delay, and
//    it is one customer.
//  - time = n / X + what starts cold and is not hidden + launch, n = groups of the busiest unit; not less than atomics
//  need.
//  - caches: a sector is fetched from memory once for all groups as far as the second-level cache holds what is touched
//    in between; from there once for each group as far as its part of the first-level cache does. Stack distances and
//    what groups share are counted by miniemu. What the program has touched before the launch is not fetched as far as
//    the cache still holds it (Caches).
// Source: Reiser and Lavenberg 1980 for the queue; the rest is described in kernelcast-models(7).
// Architectures differ in data: pipes.csv and constants.csv of the device database. Rows of AMD's machine code count
// for its devices; without one, PTX by rules.
// Limits: rows without issue slots, and architectures without pipes, are projected by panwar.hpp, and say so. SHOC's
// kernels alone have tested GT200 to Maxwell, GCN and the VLIW devices, micro-benchmarks alone CDNA and RDNA.
// Concurrent kernels are not modelled.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "models/panwar.hpp"
#include "records/phases.hpp"
#include "records/queue.hpp"
#include "records/queue_constants.hpp"
#include "records/table/by_axes.hpp"
#include "records/table/histogram.hpp"

namespace kernelcast::model::queue {

inline constexpr char const* model_name = "queue";
inline constexpr double sector_bytes = 32, warp = 32;

using Constants = record::QueueConstants;
// Of the device's architecture: those of all, unless it has its own.
Constants constants_on(device::Device const&, Constants of_all = {});

// Which data the second-level cache holds when a launch begins: nothing of it, what a launch like it has left, or what
// the program before it has, where the row says so, else nothing.
enum class Caches : std::uint8_t { cold, warm, program };

// Alone: the host waits for each launch. Back to back: it does not, launches of next to nothing begin each
// queued_launch_s, and others cost what the launch before does not hide. Graph: the launches of a row are nodes of one
// CUDA graph, each after the one before; the first costs a launch, the others graph_node_s, which nothing hides: a node
// begins when the one before has ended.
enum class Launches : std::uint8_t { alone, back_to_back, graph };

struct Options {
  panwar::Options common;  // its launch_cost counts when has_launch_cost
  bool has_launch_cost = false;
  Caches caches = Caches::program;
  Launches launches = Launches::alone;
  Constants constants = {};
};

// What one launch costs besides its execution, in seconds. `constants`: those of the device's architecture.
double launch_s(Options const& options, Constants const& constants, device::Device const& device);

using record::Station;

// Seconds unless it says otherwise, of the first launch.
struct Quantities {
  record::PerValue<Station, double> stations = {};  // of one group
  double service = 0, latency = 0, customers = 0;   // b, Z', N
  double groups_of_unit = 0;                        // n
  double queue = 0;                                 // n / X
  double longest = 0;                               // the longest group alone
  double atomics = 0, start = 0, launch = 0;
  double l2_bytes = 0, dram_bytes = 0;  // of one launch
};
struct Terms : Quantities {
  record::Projection projection;
  panwar::Quantities common;  // clock, occupancy, registers
};

// A kernel row made ready for many devices.
class Kernel {
 public:
  explicit Kernel(record::Kernel const&);

  Terms explain(device::Device const& device, Options const& options = {}) const {
    Terms terms;
    explain(device, options, terms);
    return terms;
  }
  void explain(device::Device const&, Options const&, Terms&) const;  // in these, as panwar::explain
  record::Projection project(device::Device const& device, Options const& options = {}) const {
    return explain(device, options).projection;
  }
  // Throws Error(bad_data) with the column where a histogram is not one.
  static void check(record::Reader<record::Kernel> const&, record::Kernel const&);

 private:
  friend class Projector;
  struct Request {
    double lines = 0, sectors = 0, degree = 0, count = 0;
    bool by_engine() const { return degree <= 0; }  // a copy engine's: it asks nothing of the load/store unit
  };
  std::array<double, 3> grid_sizes() const;
  double grid_groups() const;
  char const* read_group();  // the first column that is no histogram; empty: none
  void scale_copies();
  void estimate_group(double slots);

  record::Kernel const* row_;
  record::GroupColumns group_;
  bool complete_ = false;          // has the columns of one group
  char const* wrong_column_ = "";  // the first of them that is no histogram
  bool estimated_ = false;         // has been given them
  std::vector<Request> loads_, stores_, locals_, local_stores_;
  std::vector<std::pair<double, double>> shared_;  // clocks of 32 banks, loads and stores; none: not known
  record::ByAxes load_parts_{}, store_parts_{}, load_lines_{}, store_lines_{};
  std::vector<double> load_unions_, store_unions_;  // sectors of 2^k groups, the last: of all; empty: not known
  std::vector<record::Phase> phases_;               // from barrier to barrier; none: without, or not known
  std::vector<std::pair<double, double>> reuse_;    // distance in sectors (upper end of a bucket), loads
  std::optional<record::Powers> touched_before_;    // of the row
  double past_l1_ = 0;                              // sectors of loads that pass the first-level cache by
  double load_sectors_ = 0, store_sectors_ = 0;     // distinct, of one group
  double atomic_sectors_ = 0;                       // distinct, of all groups; 0: not known
  double lanes_ = warp;                             // of the wavefronts that slots are of
  double scale_ = 1;                                // of the mean group to the one profiled
};

record::Stations explanation(Terms const&);

}  // namespace kernelcast::model::queue
