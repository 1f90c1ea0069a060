// How long an application's commands take together on one device, where streams, copies and the host overlap.
//
// Method: the commands are issued in the order of the calls. A command begins when the host has issued it, all that it
// waits for has ended, and its engine is free; of those that are ready the one that became so first is next. Engines:
// one for kernels, fills and copies on the device, one for copies to the device, one for copies to the host. A copy
// takes its bytes over the link's bandwidth, one on the device twice its bytes over the memory's. The host goes on at
// once unless the call waits. Several processes run one after the other.
// Limits: kernels of different streams do not run at the same time, which a kernel that fills its device does not; the
// latencies of link and host are left out; copies of pageable memory are as fast as others; several devices of an
// application count as one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "records/command.hpp"
#include "records/device/device.hpp"
#include "records/projection.hpp"

namespace kernelcast::model {

// Bytes per second in one direction of what attaches a device to its host (device database, column link): lanes times
// the rate of its generation times the part that copies reach; empty for links that are not known.
std::optional<double> host_link_bytes_per_s(std::string const& link);

// Commands with what they wait for, as places in the same list.
class CommandOrder {
 public:
  // Behind those that it waits for. Says what is wrong with its numbers, and then it is not added; empty: nothing is.
  std::string add(record::Command);

  struct Times {
    double together_s = 0;  // from the first call to the end of the last command
    double sum_s = 0;       // of all commands, one after the other
  };
  // `seconds` of each command. With `host` the host's own time counts.
  Times times(std::vector<double> const& seconds, bool host) const;
  std::span<record::Command const> commands() const { return commands_; }

 private:
  std::vector<record::Command> commands_;
  std::map<std::pair<std::string, std::uint64_t>, std::size_t> places_;  // by process and number
  std::vector<std::vector<std::size_t>> after_, before_;                 // what each waits for, and what waits for it
};

// The times of an application on each device that the projections have, as rows of a kernel `total`, where commands
// overlap, and `sum`, one after the other. Left out are devices without a time for one of the kernels, and, if there
// are copies, those of which it is not known how they are attached.
struct ApplicationTimes {
  std::vector<record::Projection> rows;
  std::vector<std::string> left_out, no_link;
};
ApplicationTimes application_times(CommandOrder const&, std::vector<record::Projection> const&,
                                   device::DeviceDatabase const&, std::string const& case_name, bool host);

}  // namespace kernelcast::model
