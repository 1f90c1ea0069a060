#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/diag/diag.hpp"
#include "base/diag/text.hpp"
#include "records/device/device.hpp"

namespace kernelcast::device {

double Device::host_launch_s(double otherwise) const {
  if (launch_s) return *launch_s;
  for (auto const& [constant, value] : constants)
    if (constant == &record::QueueConstants::launch_s) return value;
  return otherwise;
}

std::optional<double> LaunchCost::on(Device const& device, std::optional<double> queued) const {
  auto const own = of.find(device.device);
  auto const of_queue = [&] {
    return queued ? device.queued_launch_s.value_or(std::min(*queued, device.host_launch_s(*of_host)))
                  : device.host_launch_s(*of_host);
  };
  double const sum = own != of.end() ? own->second
                     : of_host       ? of_queue()
                                     : seconds + (of_device ? device.launch_delay_s.value_or(0) : 0);
  return sum > 0 ? std::optional(sum) : std::nullopt;
}

namespace {

double seconds_of(std::string_view text) {
  auto const out = to_number<double>(text);
  if (!out || !(*out >= 0 && *out <= 1))
    throw Error(Status::usage, fmt::format("--launch-cost: '{}' is not a launch's cost", text),
                "0, device, or seconds up to 1, for example 5e-6; rtx3080=2e-6 for one device");
  return *out;
}

}  // namespace

LaunchCost launch_cost_named(std::string_view text, DeviceDatabase const& database, LaunchCost unless_named) {
  LaunchCost out = std::move(unless_named);
  for (auto const one : split(text, ',')) {
    if (auto const equals = one.find('='); equals != std::string_view::npos) {
      out.of[database.find(one.substr(0, equals)).device] = seconds_of(one.substr(equals + 1));
    } else {
      out.of_host.reset();
      out.of_device = one == "device";
      out.seconds = out.of_device ? 0 : seconds_of(one);
    }
  }
  return out;
}

}  // namespace kernelcast::device
