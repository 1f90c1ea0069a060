#include "models/trivial.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "base/diag/diag.hpp"

namespace kernelcast::model::trivial {

namespace {

constexpr double part_of_stated_bandwidth = 0.85;

std::optional<double> quotient(std::optional<double> work, std::optional<double> rate) {
  if (!work || !rate || !(*rate > 0)) return std::nullopt;
  return *work / *rate;
}

std::optional<double> bandwidth(device::Device const& d) {
  if (d.measured_bandwidth_bytes_per_s) return d.measured_bandwidth_bytes_per_s;
  if (d.peak_bandwidth_bytes_per_s) return part_of_stated_bandwidth * *d.peak_bandwidth_bytes_per_s;
  return std::nullopt;
}

std::optional<double> instructions_s(record::Kernel const& kernel, device::Device const& d) {
  auto const width = d.wave_width.value_or(32);
  std::size_t const index = width == 16 ? 0 : width == 32 ? 1 : 2;
  double issued = 0;
  for (auto const& by_width : kernel.issues) issued += by_width[index];
  double const throughput = d.throughput_issue.value_or(static_cast<double>(d.lanes_per_cu.value_or(0)));
  if (!d.compute_units || !d.clock_hz) return std::nullopt;
  return quotient(issued * static_cast<double>(width),
                  throughput * static_cast<double>(*d.compute_units) * *d.clock_hz);
}

// Seconds that only order.
std::optional<double> inverse_occupancy(record::Kernel const& kernel, device::Device const& d) {
  try {
    auto registers = device::registers_for(kernel, d);
    auto const items = kernel.block_x * kernel.block_y * kernel.block_z;
    auto const found = device::occupancy(d, registers, kernel.shared_bytes, items);
    return quotient(1.0, found.occupancy);
  } catch (Error const&) {  // a limit that the database lacks
    return std::nullopt;
  }
}

}  // namespace

std::vector<record::Projection> project(record::Kernel const& kernel, device::Device const& d) {
  std::vector<record::Projection> out;
  auto const add = [&](char const* model, std::optional<double> time_s, record::LimiterName limiter) {
    record::Projection p;
    p.kernel = kernel.kernel;
    p.case_name = kernel.case_name;
    p.device = d.device;
    p.model = model;
    if (time_s && *time_s > 0 && std::isfinite(*time_s)) {
      p.time_s = p.time_low_s = p.time_high_s = time_s;
      p.limiter = std::move(limiter);
    } else {
      p.status = record::RowStatus::unknown;
      p.reason = "the device or the kernel lacks a figure";
    }
    out.push_back(std::move(p));
  };
  auto const launches = static_cast<double>(kernel.launches);
  auto const bytes_s = quotient(launches * kernel.global_footprint_bytes, bandwidth(d));
  auto const flop_s = quotient(2 * kernel.inst[record::InstructionClass::fp32], d.peak_fp32_flop_per_s);
  using record::Limiter;
  add("trivial:launches", launches * launch_s, Limiter::launch);
  add("trivial:bytes", bytes_s, Limiter::global);
  add("trivial:roofline", bytes_s && flop_s ? std::optional(std::max(*bytes_s, *flop_s)) : std::nullopt,
      bytes_s && flop_s && *flop_s > *bytes_s ? Limiter::compute : Limiter::global);
  add("trivial:instructions", instructions_s(kernel, d), Limiter::issue);
  add("order:occupancy", inverse_occupancy(kernel, d), {});
  return out;
}

}  // namespace kernelcast::model::trivial
