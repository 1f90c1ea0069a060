#include "models/copies.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diag/diag.hpp"
#include "base/diag/text.hpp"

namespace kernelcast::model {

namespace {

// One after the other.
double both(double link_bytes_per_s, double staging_bytes_per_s) {
  return 1 / (1 / link_bytes_per_s + 1 / staging_bytes_per_s);
}

// What a kernel's faults move; devices before Pascal have no faults, all is moved before the kernel.
void slow_down(CopyRate& rate, record::HostLink const& link, std::string_view target) {
  constexpr unsigned pascal = 60;
  if (!link.fault_bytes_per_s || sm_number(target).value_or(pascal) < pascal) return;
  rate.bytes_per_s = std::min(rate.bytes_per_s, *link.fault_bytes_per_s);
  rate.low_bytes_per_s = std::min(rate.low_bytes_per_s, *link.fault_low_bytes_per_s);
  rate.high_bytes_per_s = std::min(rate.high_bytes_per_s, *link.fault_high_bytes_per_s);
}

}  // namespace

std::optional<unsigned> sm_number(std::string_view target) {
  return target.starts_with("sm_") ? to_number<unsigned>(target.substr(3)) : std::nullopt;
}

std::optional<DeviceLinks::Attached> DeviceLinks::read(std::string_view text) const {
  double lanes = 1;
  if (auto const by = text.rfind(" x"); by != std::string_view::npos) {
    auto const number = to_number<double>(text.substr(by + 2));
    if (!number || !(*number >= 1 && *number <= 64)) return std::nullopt;
    lanes = *number;
    text = text.substr(0, by);
  } else if (text.starts_with("PCIe")) {
    return std::nullopt;
  }
  auto const& links = database_.host_links();
  auto const found = std::ranges::find_if(
      links, [&](auto const& link) { return link.link == text || link.link == std::string(text) + ".0"; });
  if (found == links.end()) return std::nullopt;
  return Attached{&*found, lanes};
}

DeviceLinks::DeviceLinks(device::DeviceDatabase const& database, std::string_view stated) : database_(database) {
  if (stated.empty()) return;
  stated_ = read(stated);
  if (stated_) return;
  stated_bytes_per_s_ = to_number<double>(stated);
  if (stated_bytes_per_s_ && *stated_bytes_per_s_ >= 1e3 && *stated_bytes_per_s_ <= 1e15) return;
  std::vector<std::string> known;
  for (auto const& link : database.host_links())
    known.push_back(link.link.starts_with("PCIe") ? link.link + " x16" : link.link);
  throw Error(Status::usage, fmt::format("--link: '{}' is no link", stated),
              fmt::format("{}, with other numbers of lanes, or bytes a second", fmt::join(known, ", ")));
}

std::optional<CopyRate> DeviceLinks::rate(device::Device const& device, record::HostMemory memory,
                                          bool to_device) const {
  auto const attached = stated_ ? stated_ : read(device.link);
  bool const pageable = memory == record::HostMemory::pageable, managed = memory == record::HostMemory::managed;
  if (stated_bytes_per_s_) {
    double const all = *stated_bytes_per_s_;
    CopyRate out{all, all, all, attached ? attached->link->latency_s : 0};
    if (managed && attached) slow_down(out, *attached->link, device.target);
    if (!pageable || !attached) return out;
    auto const& link = *attached->link;
    out.bytes_per_s = both(all, link.staging_bytes_per_s);
    out.low_bytes_per_s = both(all, link.staging_low_bytes_per_s);
    out.high_bytes_per_s = both(all, link.staging_high_bytes_per_s);
    return out;
  }
  if (!attached) return std::nullopt;
  auto const& link = *attached->link;
  double const all = attached->lanes * link.lane_bytes_per_s * (to_device ? link.to_device_part : link.to_host_part);
  CopyRate out{all, all * link.reached_low * (stated_ ? 1 : link.slot_low), all * link.reached_high, link.latency_s};
  if (managed) slow_down(out, link, device.target);
  if (!pageable) return out;
  out.bytes_per_s = both(out.bytes_per_s, link.staging_bytes_per_s);
  out.low_bytes_per_s = both(out.low_bytes_per_s, link.staging_low_bytes_per_s);
  out.high_bytes_per_s = both(out.high_bytes_per_s, link.staging_high_bytes_per_s);
  return out;
}

void DeviceLinks::check_number(std::uint64_t device) const {
  if (device < system_->devices) return;
  throw Error(Status::unavailable,
              fmt::format("--system: {} has {} GPUs, and the application uses one of number {}", system_->name,
                          system_->devices, device),
              "a system with as many as the application uses");
}

std::optional<CopyRate> DeviceLinks::between(device::Device const& device, std::uint64_t from, std::uint64_t to) const {
  auto const in = rate(device, record::HostMemory::pinned, true), out = rate(device, record::HostMemory::pinned, false);
  if (system_) {
    check_number(std::max(from, to));
    auto const route = system_->route(from, to);
    double const all = peer_part * route.bytes_per_s;
    return CopyRate{all, all, all, std::max(in ? in->latency_s : 0, route.latency_s)};
  }
  if (!in || !out) return std::nullopt;
  return CopyRate{std::min(in->bytes_per_s, out->bytes_per_s), std::min(in->low_bytes_per_s, out->low_bytes_per_s),
                  std::min(in->high_bytes_per_s, out->high_bytes_per_s), in->latency_s};
}

std::optional<Fabric> DeviceLinks::fabric(device::Device const& device, std::uint64_t devices) const {
  if (system_ && devices > 1) {
    check_number(devices - 1);
    Fabric out{HUGE_VAL, true, true};
    for (std::uint64_t other = 1; other < devices; ++other) {
      auto const route = system_->route(0, other);
      out.bytes_per_s = std::min(out.bytes_per_s, route.bytes_per_s);
      out.nvlink &= route.nvlink;
      out.switched &= route.switched;
    }
    return out;
  }
  auto const in = rate(device, record::HostMemory::pinned, true);
  return in ? std::optional(Fabric{in->bytes_per_s, false, false}) : std::nullopt;
}

}  // namespace kernelcast::model
