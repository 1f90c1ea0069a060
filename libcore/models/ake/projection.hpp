// Launches to projections: how long a kernel takes by the emulation of one compute unit [ake].
//
//   time = (full waves x cycles of a full wave + cycles of the tail) / clock
// A full wave has as many groups on every compute unit as fit (occupancy); the tail has the rest, spread over the
// units, which then share the bandwidth of the memory. With `replace` a group starts when another ends instead, and one
// run has all groups of a unit. The poster emulates the largest set of resident groups only; waves are our addition.
// A launch takes at least as long as its global atomics (rates.hpp), whatever unit issues them.
//
// PTX is not in the order that a device runs, so that each launch is emulated in program order and list-scheduled, and
// with a SASS listing in that order: time_s is that of the listing, else of the list scheduler; the interval spans all.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/ake/engine.hpp"
#include "models/ake/lower.hpp"
#include "models/ake/memory.hpp"
#include "models/ake/sass.hpp"
#include "records/device/device.hpp"
#include "records/emulation.hpp"

namespace kernelcast::model::ake {

inline constexpr char const* model_name = "ake";

struct Options {
  Scheduler scheduler = Scheduler::gto;
  bool dual_issue = false;
  unsigned active_warps = 8;
  MemoryMode memory;
  bool program_order = true, list_order = true;
  bool replace = false;
  double group_launch_cycles = 0;  // with replace
  device::LaunchCost launch_cost;
  bool strict = false;  // a figure that the table lacks is an error of the row, not assumed
  std::map<std::string, Listing> const* sass = nullptr;  // machine code, by kernel
  SlotRows const* slots = nullptr;                       // counts of machine code, for devices that issue by kind
};

// Work-groups per compute unit that are needed in a trace; 0 where the group does not fit or the device is not known.
struct Fit {
  std::size_t groups_per_cu = 0;
  std::uint64_t registers = 0;  // per work-item, as used
  std::string misfit, note;     // why it does not fit; what was assumed
};
Fit fit(record::Trace const& launch, device::Device const&);

// All launches of one device, summed per kernel and case.
class Projector {
 public:
  Projector(device::Device const& device, Resolved resolved, Options options);

  device::Device const& device() const { return device_; }
  Ticks cycle_ticks() const { return resolved_.machine.cycle; }

  // Groups of a launch on a compute unit, with the registers of the device's own code where its counts are known.
  Fit fit(record::Trace launch) const;

  // `observe`, where given, sees the first full wave (or the tail) of the order that time_s has.
  void add(Launch const&, std::function<void(Issue const&)> const& observe = {});
  // The rows, in the order of their first launches; closes them.
  std::vector<record::Emulation> rows();

 private:
  struct Sum;
  struct Run;
  Run run(Launch const&, Code const&, Prepared const&, std::size_t resident,
          std::function<void(Issue const&)> const& observe) const;
  Sum& sum_of(Launch const&);
  record::Kernel const* slots_of(record::Trace const&) const;
  void emulate_launch(Launch const&, Fit const&, Sum&, std::function<void(Issue const&)> const& observe);
  std::string assumptions_of(Kernel const&) const;
  std::pair<record::RowStatus, std::string> refusal_of_products(Kernel const&) const;
  record::Emulation row_of(Sum const&) const;

  device::Device const& device_;
  Resolved resolved_;
  Options options_;
  std::vector<std::shared_ptr<Sum>> sums_;
};

}  // namespace kernelcast::model::ake
