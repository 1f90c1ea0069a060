#include "models/rates.hpp"

#include <algorithm>
#include <cmath>

namespace kernelcast::model {

double dram_bytes_per_s(device::Device const& device, queue::Constants const& c) {
  return device.measured_bandwidth_bytes_per_s.value_or(c.dram_part * device.peak_bandwidth_bytes_per_s.value_or(1e11));
}

namespace {
double best(device::Curve const& curve) {  // 0 where nothing was measured
  if (curve.empty()) return 0;
  return *std::max_element(curve.bandwidth_bytes_per_s.begin(), curve.bandwidth_bytes_per_s.end());
}
}  // namespace

double dram_s_per_byte(device::Device const& device, double written, queue::Constants const& c) {
  double const read = dram_bytes_per_s(device, c);
  double const write = device.global_write.empty() ? read : std::min(read, best(device.global_write));
  // Over the most that the same benchmark reads, where it has that: it may keep too little in flight for the memory.
  double const max_read = std::max(best(device.global_read), best(device.global_triad));
  double const mixed =
      device.global_copy.empty() ? c.dram_mixed_part : best(device.global_copy) / (max_read > 0 ? max_read : read);
  double const apart = device.global_copy.empty() ? 2 / (1 + read / write) : 1;  // each at its own rate
  double const copy = read * std::min({1.0, mixed, apart});
  return written < 0.5 ? std::lerp(1 / read, 1 / copy, 2 * written) : std::lerp(1 / copy, 1 / write, 2 * written - 1);
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
