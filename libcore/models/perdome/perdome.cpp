#include "models/perdome/perdome.hpp"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace kernelcast::model::perdome {

double Processor::roofline(double intensity) const {
  return 1 / std::max(flop_s, byte_s / intensity);
}

Processor processor(device::Device const& device, bool paper) {
  Processor out{device.device, 0, 0, device.tdp_w, {}};
  if (paper && device.perdome_flop_s && device.perdome_byte_s) {
    out.flop_s = *device.perdome_flop_s;
    out.byte_s = *device.perdome_byte_s;
    out.rates = "perdome";
    return out;
  }
  auto const lacking = [&](char const* column) {
    return Error(Status::unavailable, fmt::format("the device database has no {} of '{}'", column, device.device),
                 "give its rates with --flop-rate and --byte-rate, or put them into your copy of the database");
  };
  if (!device.peak_fp32_flop_per_s) throw lacking("peak_fp32_flop_per_s");
  auto const bandwidth =
      device.measured_bandwidth_bytes_per_s ? device.measured_bandwidth_bytes_per_s : device.peak_bandwidth_bytes_per_s;
  if (!bandwidth) throw lacking("peak_bandwidth_bytes_per_s");
  out.flop_s = 1 / *device.peak_fp32_flop_per_s;
  out.byte_s = 1 / *bandwidth;
  out.rates = device.measured_bandwidth_bytes_per_s ? "measured" : "peak";
  return out;
}

PerdomeBound bound(Processors const& processors, double intensity, Division const& d, double link_s_per_flop) {
  PerdomeBound out;
  double slowest_s = -1;  // per operation of the whole code
  for (std::size_t k = 0; k < processors.size(); ++k) {
    double const terms[] = {d.x[k] * processors[k].flop_s, d.y[k] * processors[k].byte_s / intensity};
    for (bool const memory : {false, true}) {
      if (!(terms[memory] > slowest_s)) continue;
      slowest_s = terms[memory];
      out.processor = k;
      out.memory = memory;
    }
  }
  out.flop_per_s = 1 / (slowest_s + link_s_per_flop);
  return out;
}

std::string lemma_violation(double whole, double first, double second) {
  if (first == 0 && second == 0) return "both intensities are 0: neither device runs the code";
  if (first == 0 || second == 0) {
    double const other = first == 0 ? second : first;
    if (other == whole) return {};
    return fmt::format(
        "one processor is unused (intensity 0), so the other runs the whole code and has its intensity {}, not {} "
        "(Lemma 1 of [perdome])",
        whole, other);
  }
  if ((first == whole) != (second == whole))
    return fmt::format(
        "where one part has the intensity of the whole, {}, so has the other, or it is 0; it is {} (Lemma 1 of "
        "[perdome])",
        whole, first == whole ? second : first);
  if ((first > whole && second > whole) || (first < whole && second < whole))
    return fmt::format(
        "the intensities {} and {} of the parts are both {} that of the whole, {}; one must be above it and one below "
        "(Lemma 2 of [perdome])",
        first, second, first > whole ? "above" : "below", whole);
  return {};
}

Division division(double whole, double first, double second) {
  double const y = (whole - second) / (first - second);  // (16) over N_b
  if (y == 0) return {{0, 1}, {0, 1}};                   // not -0
  double const x = first * y / whole;                    // (18) over N_f
  return {{x, 1 - x}, {y, 1 - y}};
}

Division data_partition(Processors const& processors, double intensity) {
  Division out;
  double sum = 0;
  for (auto const& p : processors) sum += p.roofline(intensity);
  for (auto const& p : processors) out.x.push_back(p.roofline(intensity) / sum);
  out.y = out.x;
  return out;
}

namespace {

// Shares of at most cap_k each that add up to 1: the range of each while the others may take any value.
std::vector<Interval> within(std::vector<double> caps) {
  for (double& cap : caps) cap = std::min(cap, 1.0);
  double const all = std::accumulate(caps.begin(), caps.end(), 0.0);
  std::vector<Interval> out;
  for (double const cap : caps) out.push_back({std::clamp(1 - (all - cap), 0.0, cap), cap});
  return out;
}

}  // namespace

PerdomeOptimum optimum(Processors const& processors, double intensity) {
  double flops = 0, bytes = 0;
  for (auto const& p : processors) {
    flops += p.flop_per_s();
    bytes += p.bytes_per_s();
  }
  PerdomeOptimum out;
  out.memory = intensity * bytes < flops;
  out.flop_per_s = std::min(flops, intensity * bytes);
  std::vector<double> x_caps, y_caps;
  for (std::size_t k = 0; k < processors.size(); ++k) {
    auto const& p = processors[k];
    out.division.x.push_back(p.flop_per_s() / flops);
    out.division.y.push_back(p.bytes_per_s() / bytes);
    x_caps.push_back(p.flop_per_s() / out.flop_per_s);
    y_caps.push_back(intensity * p.bytes_per_s() / out.flop_per_s);
    double const alone = p.roofline(intensity);
    out.data_partition_flop_per_s += alone;
    if (alone > out.single_flop_per_s) {
      out.single_flop_per_s = alone;
      out.best_single = k;
    }
  }
  // The share that binds has no room: its interval is the point itself.
  auto const points = [](std::vector<double> const& shares) {
    std::vector<Interval> at;
    for (double const share : shares) at.push_back({share, share});
    return at;
  };
  out.x = out.memory ? within(x_caps) : points(out.division.x);
  out.y = out.memory ? points(out.division.y) : within(y_caps);
  return out;
}

}  // namespace kernelcast::model::perdome
