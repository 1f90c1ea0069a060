#include "runtimes/advise/messages.hpp"

#include <fmt/format.h>

#include "records/table/table.hpp"

namespace kernelcast::advise {

std::string message(std::optional<double> const& seconds) {
  return seconds ? record::scaled_text(*seconds, record::Unit::seconds) : "?";
}

std::string message(record::Advice const& a) {
  std::string const launch = a.case_name.empty() ? a.kernel : a.kernel + ' ' + a.case_name;
  if (a.status != record::RowStatus::ok) return fmt::format("{}: no advice: {}", launch, a.reason);
  std::string const next =
      a.next_device.empty() ? "" : fmt::format(", then {} {}", a.next_device, message(a.next_time_s));
  std::string const steered = a.steered_to.empty() ? "" : "; from now on it runs on " + a.steered_to;
  return fmt::format("{}: {} {} ({}){}{}; {} in {}{}", launch, a.device, message(a.time_s), a.limiter.text(), next,
                     a.decided == "no" ? ", too close to call" : "", a.source, message(a.advice_wall_s), steered);
}

std::string message(record::Steering const& s) {
  auto const device = [](std::string const& place, std::string const& id) {
    return fmt::format("device {}{}", place, id.empty() ? id : " (" + id + ')');
  };
  if (s.launches_steered == 0) return {};
  return fmt::format("{} {}: {} of {} launches went from {} to {}", s.kernel, s.case_name, s.launches_steered,
                     s.launches, device(s.place, s.device), device(s.to_place, s.to_device));
}

}  // namespace kernelcast::advise
