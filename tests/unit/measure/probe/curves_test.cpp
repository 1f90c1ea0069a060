// The measured curves of the device database: what devprobe would doubt, and where the caches end.
//
// A set that a cache holds no longer is not late as a whole: parts of it stay. So a curve steps over a range of sizes,
// and the rule is one for its middle, the geometric mean of the two levels.
//  - Latency, a random cycle: from 0.75 to twice the capacity. Of a second level in parts the capacity is that of one.
//  - Bandwidth of groups that read sets in turn or repeat one: from 0.75 to four times the capacity, because groups
//    that run together share what one of them has fetched.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

#include "catch.hpp"
#include "devdb.hpp"
#include "measure/probe/probe.hpp"
#include "measure/probe/statistics.hpp"
#include "records/device/device.hpp"
#include "records/table/table.hpp"

using namespace kernelcast;

namespace {

using Rows = std::vector<record::Measurement>;

char const* const measured_devices[] = {"a100", "a100-80", "a40",   "gh200",  "h100-pcie", "h200",    "l40",
                                        "v100", "mi100",   "mi210", "mi300a", "mi300x",    "rx6900xt"};

Rows curves_of(std::string const& device) {
  auto const path = KERNELCAST_SOURCE_DIR "/devdb/curves/" + device + ".csv";
  std::ifstream in(path, std::ios::binary);
  return record::read_rows<record::Measurement>(in, path);
}

struct AtSize {
  double bytes, value;
};

// Points of one metric and variant over the working set, in order.
std::vector<AtSize> over_size(Rows const& rows, std::string const& metric, std::string const& variant) {
  std::vector<AtSize> out;
  for (auto const& row : rows)
    if (row.metric == metric && row.variant == variant && row.direction == "read" && row.working_set_bytes)
      out.push_back({*row.working_set_bytes, *row.value});
  std::sort(out.begin(), out.end(), [](AtSize const& a, AtSize const& b) { return a.bytes < b.bytes; });
  return out;
}

struct Level {
  double bytes, latency_s;
};

std::vector<Level> levels_of(device::Device const& d) {
  double const parts = static_cast<double>(d.l2_parts.value_or(1));
  std::vector<Level> out{{std::max(*d.l1_per_cu_bytes, d.l1_array_bytes.value_or(0)), *d.l1_latency_s},
                         {*d.l2_bytes / parts, *d.l2_latency_s}};
  if (d.l3_bytes) out.push_back({*d.l3_bytes, *d.l3_latency_s});
  out.push_back({INFINITY, *d.global_latency_s});
  return out;
}

}  // namespace

TEST_CASE("curves: devprobe doubts none of the measured values") {
  for (auto const* const name : measured_devices) {
    auto const& device = database().find(name);
    probe::Facts facts;
    facts.last_cache_bytes = std::max(device.l2_bytes.value_or(0), device.l3_bytes.value_or(0));
    auto const rows = curves_of(name);
    CHECK(rows.size() > 100);
    for (auto const& row : rows) {
      INFO(name << " " << row.metric << " " << row.direction << " " << row.variant << " " << *row.value);
      CHECK(row.device == name);
      CHECK(row.status == record::RowStatus::ok);
      probe::Point point;
      point.row = row;
      if (row.metric == "global_bandwidth_bytes_per_s") point.most = device.peak_bandwidth_bytes_per_s;
      probe::Sampled sampled;
      sampled.statistics.median = *row.value;
      CHECK(probe::doubt_about(point, facts, sampled, std::nullopt, std::nullopt).empty());
    }
  }
}

TEST_CASE("curves: latency steps where the caches end") {
  int steps = 0;
  for (auto const* const name : measured_devices) {
    auto const& device = database().find(name);
    auto const curve = over_size(curves_of(name), "load_latency_s", "");
    if (curve.empty()) continue;  // h200
    auto const levels = levels_of(device);
    for (std::size_t i = 0; i + 1 < levels.size(); ++i) {
      INFO(name << ", level " << i + 1);
      CHECK(levels[i].latency_s < levels[i + 1].latency_s);
      double const middle = std::sqrt(levels[i].latency_s * levels[i + 1].latency_s);
      auto const step =
          std::find_if(curve.begin(), curve.end(), [middle](AtSize const& p) { return p.value > middle; });
      REQUIRE(step != curve.end());
      CHECK(step->bytes > 0.75 * levels[i].bytes);
      CHECK(step->bytes < 2 * levels[i].bytes);
      ++steps;
    }
  }
  CHECK(steps == 27);  // of twelve devices; three have a third level
}

TEST_CASE("curves: bandwidth steps where the last caches end") {
  std::map<std::string, int> steps;
  for (auto const* const name : measured_devices) {
    auto const& d = database().find(name);
    auto const rows = curves_of(name);
    for (char const* const variant : {"turns", "stream"}) {
      auto const curve = over_size(rows, "cache_bandwidth_bytes_per_s", variant);
      // What a single load for each work-item reads of a second level that is alone is latency, no bandwidth.
      if (curve.empty() || (!d.l3_bytes && variant == std::string("stream"))) continue;
      INFO(name << " " << variant);
      double const capacity = d.l3_bytes.value_or(*d.l2_bytes);
      double const within = d.l3_bytes ? *d.l3_bandwidth_bytes_per_s : *d.l2_bandwidth_bytes_per_s;
      double const middle = std::sqrt(within * *d.measured_bandwidth_bytes_per_s);
      auto const step =
          std::find_if(curve.begin(), curve.end(), [middle](AtSize const& p) { return p.value < middle; });
      REQUIRE(step != curve.end());
      CHECK(step->bytes > 0.75 * capacity);
      CHECK(step->bytes < 4 * capacity);
      ++steps[variant];
    }
  }
  CHECK(steps["turns"] == 7);
  CHECK(steps["stream"] == 3);
}
