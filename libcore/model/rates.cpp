#include "model/rates.hpp"

#include <algorithm>

namespace kernelcast::model {

double dram_bytes_per_s(device::Device const& device, queue::Constants const& c) {
  return device.measured_bandwidth_bytes_per_s.value_or(c.dram_part * device.peak_bandwidth_bytes_per_s.value_or(1e11));
}

double dram_write_bytes_per_s(device::Device const& device, queue::Constants const& c) {
  auto const& written = device.global_write.bandwidth_bytes_per_s;
  double const rate = dram_bytes_per_s(device, c);
  return written.empty() ? rate : std::min(rate, *std::max_element(written.begin(), written.end()));
}

double l2_bytes_per_s(device::Device const& device, double clock_hz, queue::Constants const& c) {
  if (device.l2_bandwidth_bytes_per_s)
    return *device.l2_bandwidth_bytes_per_s * clock_hz / device.clock_hz.value_or(clock_hz);
  double const channels = device.memory_bus_bits ? static_cast<double>(*device.memory_bus_bits) / 32 : 8;
  return std::max(c.l2_bytes_per_channel * channels * clock_hz, dram_bytes_per_s(device, c));
}

double global_atomics_s(Atomics const& a, device::Device const& device, double clock_hz, queue::Constants const& c) {
  double const parts = l2_bytes_per_s(device, clock_hz, c) / clock_hz / queue::sector_bytes;  // a sector a clock each
  double const busy = std::clamp(a.bytes / c.atomic_part_bytes, 1.0, std::max(1.0, parts));
  double const taken = std::max(a.lines * c.atomic_line_cycles, a.wide_lanes * c.atomic_same_cycles);
  return std::max(a.same_address * c.atomic_same_cycles, taken / busy) / clock_hz;
}

}  // namespace kernelcast::model
