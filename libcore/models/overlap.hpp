// How long an application's commands take together on one device, where streams, copies and the host overlap.
//
// Method: the commands are issued in the order of the calls, each of which keeps the host for a while. A command begins
// when the host's call has reached its device, all that it waits for has ended, and its engine is free; of those that
// are ready the one that became so first is next, and between two commands of an engine, and between a command and
// what waited for it, the device needs a moment. Engines of each device: one for kernels, fills and copies on it, one
// for copies to it, one for copies to the host. The host goes on at once unless the call waits. Several processes run
// one after the other.
// What a launch costs falls apart so: the call keeps the host for what lies between two launches that nothing waits for
// (queued_launch_s), the kernel begins what a lone launch costs after the call (launch_s), and after the kernel before
// it has ended, what lies between two (queued_gap_s); of a graph the first node is a launch, and each other begins
// graph_node_s after what it waits for. So a launch that the host waits for costs launch_s, as in its row, and of a
// hundred that are issued at once each costs what its kernel does not hide.
// A copy has the link's rate and latency (copies.hpp), one on the device twice its bytes over the memory's rate.
// A kernel that is given pinned memory takes as long as that needs to cross the link once, at least.
// Kernels run at the same time as far as their groups fit the device together, and each as if it were alone.
// Limits: such kernels do not slow each other down.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "models/copies.hpp"
#include "records/command.hpp"
#include "records/device/device.hpp"
#include "records/projection.hpp"

namespace kernelcast::model {

// Commands with what they wait for, as places in the same list.
class CommandOrder {
 public:
  // Behind those that it waits for. Says what is wrong with its numbers, and then it is not added; empty: nothing is.
  std::string add(record::Command);

  // Of one command, in seconds.
  struct Cost {
    double device_s = 0;  // of its engine
    double call_s = 0;    // of the host, unless it waits longer
    double delay_s = 0;   // from the call to its beginning on an idle device
    double gap_s = 0;     // from the end of what was before it on its engine, or what it waited for, to its beginning
    double share = 1;     // of its engine: as many run at a time as fit
  };
  struct Times {
    double together_s = 0;  // from the first call to the end of the last command
    double sum_s = 0;       // of all commands, one after the other
  };
  // `costs` of each command; the host's own time counts `host` times.
  Times times(std::vector<Cost> const& costs, double host) const;
  std::span<record::Command const> commands() const { return commands_; }

 private:
  std::vector<record::Command> commands_;
  std::map<std::pair<std::string, std::uint64_t>, std::size_t> places_;  // by process and number
  std::vector<std::vector<std::size_t>> after_, before_;                 // what each waits for, and what waits for it
};

// By the vendor on whose devices an application asks for them; empty: on those of all others.
using VendorOrders = std::map<std::string, CommandOrder>;

// The times of an application on each device that the projections have, as rows of a kernel `total`, where commands
// overlap, and `sum`, one after the other. The cost of a launch is that of its kernel's projection, nothing where that
// has none. Kernels that no device has a row of take no time: `uncounted`. Left out are devices without a time for one
// of the others, and, if there are copies, those of which it is not known how they are attached.
struct ApplicationTimes {
  std::vector<record::Projection> rows;
  std::vector<std::string> left_out, no_link, uncounted;
};
ApplicationTimes application_times(VendorOrders const&, std::vector<record::Projection> const&,
                                   device::DeviceDatabase const&, DeviceLinks const&, std::string const& case_name,
                                   double host);

}  // namespace kernelcast::model
