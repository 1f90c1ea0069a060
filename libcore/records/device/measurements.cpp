#include "records/device/measurements.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

namespace kernelcast::device {

namespace {

using record::Measurement;

void check(Measurement const& row, record::Reader<Measurement> const& reader) {
  refuse_unknown_metric(row, reader);
  if (row.status != record::RowStatus::ok && row.status != record::RowStatus::doubtful) return;
  if (row.status == record::RowStatus::ok && (!row.value || !(*row.value > 0)))
    throw reader.error("value", "must be above 0 where something was measured",
                       "the status of what was not measured is failed or unsupported");
  if (row.occupancy && !(*row.occupancy > 0 && *row.occupancy <= 1))
    throw reader.error("occupancy", "must be above 0 and at most 1", "it is a part of the most wavefronts");
}

Curve* curve_of(Device& device, Measurement const& row) {
  struct Place {
    std::string_view direction;
    Curve Device::*global, Device::*shared;
  };
  static constexpr std::array<Place, 4> places{{{"read", &Device::global_read, &Device::shared_read},
                                                {"write", &Device::global_write, &Device::shared_write},
                                                {"copy", &Device::global_copy, nullptr},
                                                {"triad", &Device::global_triad, nullptr}}};
  bool const word = row.word_bytes == 4 || row.word_bytes == 8;
  auto const* const place = std::ranges::find(places, row.direction, &Place::direction);
  if (!row.occupancy || row.access != "coalesced" || !word || place == places.end()) return nullptr;
  auto const curve = row.metric == "global_bandwidth_bytes_per_s"   ? place->global
                     : row.metric == "shared_bandwidth_bytes_per_s" ? place->shared
                                                                    : nullptr;
  return curve == nullptr ? nullptr : &(device.*curve);
}

// Adds a point, in order of occupancy. Words of 4 bytes displace others.
void add_point(Curve& curve, Measurement const& row, record::Reader<Measurement> const& reader) {
  if (curve.empty() || *row.word_bytes < curve.word_bytes) {
    curve = {};
    curve.word_bytes = *row.word_bytes;
  }
  if (*row.word_bytes > curve.word_bytes) return;
  auto const at = std::lower_bound(curve.occupancy.begin(), curve.occupancy.end(), *row.occupancy);
  auto const i = static_cast<std::size_t>(at - curve.occupancy.begin());
  if (at == curve.occupancy.end() || *at != *row.occupancy) {
    auto const offset = static_cast<std::ptrdiff_t>(i);
    curve.occupancy.insert(at, *row.occupancy);
    curve.bandwidth_bytes_per_s.insert(curve.bandwidth_bytes_per_s.begin() + offset, *row.value);
    curve.backend.insert(curve.backend.begin() + offset, row.backend);
  } else if (curve.backend[i] == row.backend) {
    throw reader.error("occupancy", "this point of the curve is there twice", "keep one of them");
  } else if (curve.bandwidth_bytes_per_s[i] < *row.value) {
    curve.bandwidth_bytes_per_s[i] = *row.value;
    curve.backend[i] = row.backend;
  }
  curve.source = row.source;
}

}  // namespace

void refuse_unknown_metric(Measurement const& row, record::Reader<Measurement> const& reader) {
  if (record::find_metric(row.metric)) return;
  std::vector<std::string> known;
  for (auto const& metric : record::metrics()) known.emplace_back(metric.name);
  throw reader.error("metric", fmt::format("no metric '{}'", row.metric), did_you_mean(row.metric, known));
}

record::MatrixRule const* Device::matrix_rule(std::string_view kind) const {
  auto const found = std::ranges::find(matrix, kind, &record::MatrixRule::kind);
  return found == matrix.end() ? nullptr : &*found;
}

std::optional<double> Device::matrix_flop_per_cycle(std::string_view types) const {
  std::optional<double> out;
  for (auto const& one : matrix)
    if (std::string_view(one.kind).substr(one.kind.find('/') + 1) == types && one.flop_per_cycle)
      out = std::max(out.value_or(0), *one.flop_per_cycle);
  return out;
}

double Device::shared_slowdown() const {
  auto const [slow, fast] = std::minmax(highest_shared_read_bytes_per_s, highest_shared_write_bytes_per_s);
  return slow > 0 && fast > 2 * slow ? fast / slow : 1;
}

void add_measurement(Device& device, Measurement const& row, record::Reader<Measurement> const& reader, Trust trust) {
  check(row, reader);
  if (row.metric == "shared_bandwidth_bytes_per_s" && row.access == "coalesced" && row.value) {
    double& highest =
        row.direction == "read" ? device.highest_shared_read_bytes_per_s : device.highest_shared_write_bytes_per_s;
    highest = std::max(highest, *row.value);
  }
  if (row.status != record::RowStatus::ok && !(row.status == record::RowStatus::doubtful && trust == Trust::doubtful))
    return;
  if (!row.value || !(*row.value > 0)) return;  // doubtful for that
  if (Curve* const curve = curve_of(device, row)) add_point(*curve, row, reader);
  if (row.metric == "peak_flop_per_s" && row.item_class.starts_with("fp32"))
    device.measured_fp32_flop_per_s = std::max(device.measured_fp32_flop_per_s.value_or(0), *row.value);
  if (row.metric == "launch_delay_s")
    device.launch_delay_s = std::min(device.launch_delay_s.value_or(*row.value), *row.value);
  if (row.metric == "launch_throughput_s" && (row.variant.empty() || row.variant == "copies")) {
    auto const set = static_cast<double>(row.working_set_bytes.value_or(0));
    if (!device.queued_launch_s || set < device.queued_set_bytes)
      device.queued_launch_s = row.value, device.queued_set_bytes = set;
  }
  if (row.metric == "launch_s") device.launch_s = std::min(device.launch_s.value_or(*row.value), *row.value);
}

}  // namespace kernelcast::device
