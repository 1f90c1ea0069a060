#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "device/device.hpp"
#include "diag/diag.hpp"

namespace kernelcast::device {

std::optional<double> LaunchCost::on(Device const& device) const {
  double const sum = seconds + (of_device ? device.launch_delay_s.value_or(0) : 0);
  return sum > 0 ? std::optional(sum) : std::nullopt;
}

LaunchCost launch_cost_named(std::string_view text) {
  LaunchCost out;
  if (text == "device") {
    out.of_device = true;
    return out;
  }
  auto const result = std::from_chars(text.data(), text.data() + text.size(), out.seconds);
  if (result.ec != std::errc{} || result.ptr != text.data() + text.size() || !std::isfinite(out.seconds) ||
      out.seconds < 0 || out.seconds > 1)
    throw Error(Status::usage, fmt::format("--launch-cost: '{}' is not a launch's cost", text),
                "0, device, or seconds up to 1, for example 5e-6");
  return out;
}

}  // namespace kernelcast::device
