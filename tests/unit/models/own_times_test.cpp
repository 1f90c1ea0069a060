// What a user's own times tell of a device: figures that made them are found again, and intervals narrow.
#include "models/own_times.hpp"
#include "devdb.hpp"
#include "kernels.hpp"

#include <cmath>
#include <deque>

#include "catch.hpp"
#include "models/rates.hpp"

using namespace kernelcast;
using model::OwnTime;

namespace {

device::Device const& rtx3080() {
  return database().find("rtx3080");
}

// Each work-item loads and stores a word, and has so many instructions.
record::Kernel kernel(std::string name, std::uint64_t groups, double instructions) {
  auto k = stream_kernel(groups);
  k.kernel = std::move(name);
  k.slots[record::Pipe::fp32] = 8 * instructions * static_cast<double>(groups);
  k.group.slots = 8 * instructions;
  return k;
}

struct System {
  device::Device device = rtx3080();
  model::queue::Options options;
  std::deque<record::Kernel> rows;
  std::vector<OwnTime> times;

  System() {
    device.measured_bandwidth_bytes_per_s = 0.7 * model::dram_bytes_per_s(device);
    options.has_launch_cost = true;
    options.common.launch_cost.seconds = 9e-6;
    options.common.clock_hz = 0.8 * model::queue::Kernel(kernel("k", 1, 1)).explain(rtx3080()).common.clock_hz;
  }
  void measure(record::Kernel row) {
    auto const& kept = rows.emplace_back(std::move(row));
    times.push_back({&kept, *model::queue::Kernel(kept).project(device, options).time_s});
  }
};

}  // namespace

TEST_CASE("the launches, the bandwidth and the clock that made times are found again") {
  System s;
  for (int i = 1; i <= 5; ++i) {
    s.measure(kernel("launched", 8U << i, 4));
    s.measure(kernel("streaming", 200000U << i, 1));
    s.measure(kernel("computing", 20000U << i, 4000));
  }
  auto const own = model::learn(rtx3080(), s.times, {});
  REQUIRE(own.launch_s);
  CHECK(own.launch_s->value == Approx(9e-6).epsilon(0.1));
  CHECK(own.launch_s->times == 5);
  REQUIRE(own.bandwidth_bytes_per_s);
  CHECK(own.bandwidth_bytes_per_s->value == Approx(*s.device.measured_bandwidth_bytes_per_s).epsilon(0.05));
  REQUIRE(own.clock_hz);
  CHECK(own.clock_hz->value == Approx(*s.options.common.clock_hz).epsilon(0.02));
  for (auto const& t : s.times) {
    double const before = *model::queue::Kernel(*t.row).project(rtx3080()).time_s / t.measured_s;
    double const after = *model::queue::Kernel(*t.row).project(own.device, own.options).time_s / t.measured_s;
    CHECK(std::fabs(std::log(after)) < 0.1);
    CHECK(std::fabs(std::log(after)) < std::fabs(std::log(before)));
  }
  CHECK(own.kernels == 0);  // three are too few for an interval
}

TEST_CASE("two times of a kind tell nothing") {
  System s;
  for (int i = 1; i <= 2; ++i) s.measure(kernel("streaming", 200000U << i, 1)), s.measure(kernel("launched", 8, 4));
  auto const own = model::learn(rtx3080(), s.times, {});
  CHECK_FALSE(own.launch_s);
  CHECK_FALSE(own.bandwidth_bytes_per_s);
  CHECK_FALSE(own.clock_hz);
  CHECK(model::learn(rtx3080(), {}, {}).kernels == 0);
}

TEST_CASE("times of nineteen kernels make an interval of their own") {
  for (unsigned const count : {18U, 19U, 40U}) {
    System s;
    for (unsigned i = 0; i < count; ++i) s.measure(kernel("k" + std::to_string(i), 100000 + 5000 * i, 3000));
    auto const own = model::learn(rtx3080(), s.times, {});
    auto const width = [&](device::Device const& device, model::queue::Options const& options) {
      auto const p = model::queue::Kernel(s.rows.front()).project(device, options);
      return *p.time_high_s / *p.time_low_s;
    };
    INFO(count);
    CHECK(own.kernels == (count < 19 ? 0 : count));
    CHECK((width(own.device, own.options) < 1.2) == (count >= 19));
    CHECK(width(rtx3080(), {}) > 1.5);
  }
}
