// One projection by the default model (queue.hpp), in its steps. Internal to models: queue.cpp has pipes, the
// load/store unit and the queue, queue_memory.cpp what caches and memory move.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/queue.hpp"

namespace kernelcast::model::queue {

class Projector {
 public:
  Projector(Kernel const&, device::Device const&, Options const&, Terms&);

  void run();

 private:
  enum class Held : std::uint8_t { nowhere, in_l2, in_l3 };  // all that a launch touches, when it begins
  // Sectors of a group unless it says otherwise.
  struct FirstLevel {
    double bytes = 0;     // that the cache has for loads
    double together = 1;  // groups on all units
    double growth = 1;    // what the groups of a unit load over what one does
    double lost = 0;      // loaded again because it was lost
    double loads = 0;     // asked of the second level
    double textures = 0;
    double local_missed = 0, local_together = 0;  // private memory: missed; of all groups together, bytes
    double local_through = 0;                     // stored to the second level although the first has it
  };
  // Bytes of a launch.
  struct Moved {
    double read = 0, written = 0;  // before what stays in the cache at the end
    double bytes = 0;              // moved
    double writing = 0;            // of these, the part that is written
  };

  // Of a group, in wavefronts of 32.
  double slots(record::Pipe pipe) const { return row_.slots[pipe].value_or(0) / groups_total_ * k_.lanes_ / warp; }
  double of_group(std::optional<double> const& value) const { return value.value_or(0) * k_.scale_; }
  static double sectors_of(std::vector<Kernel::Request> const& requests) {  // asked for
    double sum = 0;
    for (auto const& r : requests) sum += r.count * r.sectors;
    return sum;
  }
  double& station(Station s) { return terms_.stations[s]; }

  bool has_slow_fp64() const { return device_.throughput[record::InstructionClass::fp64].value_or(2) <= 4; }

  void set_up();
  double packed_part(record::PipeRule const&) const;
  void pipes();
  double shared_passes() const;
  double request_cycles(Kernel::Request const&, double min) const;
  double copied_bytes() const;
  void load_store();
  double load_misses(double capacity_bytes, double growth) const;
  double group_union(record::ByAxes const& parts, double groups) const;
  double union_of(std::vector<double> const& unions, double groups) const;
  double groups_held(double cache_bytes) const;
  double distinct_of_launch(record::ByAxes const& parts, double cache_bytes) const;
  double distinct_of_launch(std::vector<double> const& unions, double held) const;
  double fetched_in_vain(record::ByAxes const& sectors, record::ByAxes const& lines) const;
  double looked_up(std::vector<Kernel::Request> const& requests) const;
  bool knows_program() const { return options_.caches == Caches::program && k_.touched_before_; }
  double held_bytes(double capacity_bytes) const;
  FirstLevel first_level() const;
  Moved moved_past(double capacity_bytes, FirstLevel const&) const;
  void caches();
  struct Demand {
    double sum = 0, service = 0, issued = 0;  // of all stations; b; a wavefront's instructions one by one
  };
  double raised(double part) const;
  Demand demand_of(record::PerValue<Station, double> const& stations, double engines, double factors,
                   double slots) const;
  struct Chain {
    double seconds = 0;
    double waits = 1;  // as many of one length are as uneven as these
  };
  Chain chain(record::PerValue<record::Step, double> const& steps) const;
  double delay_of(Demand const&, double chain) const;
  double phases() const;
  double global_atomics() const;
  void one_launch(Held);
  record::Limiter limiter() const;  // of executing
  void finish();

  Kernel const& k_;
  record::Kernel const& row_;
  device::Device const& device_;
  Options const& options_;
  Constants c_;
  Terms& terms_;
  double f_ = 1, slower_ = 1;  // clock; the one at which the database's figures of caches were measured over it
  double wave_ = warp;         // lanes of a wavefront
  double units_ = 1, active_ = 1, groups_ = 1, grid_groups_ = 1, groups_total_ = 1, resident_ = 1, waves_ = 1,
         launches_ = 1;
  double issued_ = 0;                     // slots of a group
  double engines_ = 0;                    // what copy engines and matrix units take of shared memory, seconds
  double factors_ = 0;                    // of these, what matrix units read while they multiply
  std::string no_rate_;                   // a kind of matrix products whose rate is not known
  double from_memory_ = 1, from_l3_ = 0;  // parts of the misses that reach memory, and the last-level cache before it
  double lost_ = 0;  // part of what a group loads again: the first-level cache does not have it any more
  double l3_s_ = 0;  // what a group takes of the last-level cache
};

}  // namespace kernelcast::model::queue
