// Statistics, the runner and its judgement, on devices that are made up.
#include <sys/wait.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include <fmt/format.h>

#include "catch.hpp"
#include "error_of.hpp"
#include "measure/probe/access.hpp"
#include "measure/probe/probe.hpp"
#include "measure/probe/random.hpp"
#include "measure/probe/summary.hpp"

using namespace kernelcast;
using namespace kernelcast::probe;

namespace {

// Measures what it is told to.
class FakeProbe final : public Probe {
 public:
  explicit FakeProbe(std::function<void(std::vector<Point>&)> make) : make_(std::move(make)) {
    facts_.device = "made-up";
    facts_.backend = "cpu";
    facts_.kind = "cpu";
    facts_.last_cache_bytes = 1 << 20;
  }
  std::vector<Point> plan(Settings const&) override {
    std::vector<Point> points;
    make_(points);
    return points;
  }
  std::optional<double> clock_hz() override { return clocks.empty() ? 1e9 : clocks[at_++ % clocks.size()]; }
  std::string trouble() const override { return known_trouble; }
  std::vector<double> clocks;
  std::string known_trouble;

 private:
  std::function<void(std::vector<Point>&)> make_;
  std::size_t at_ = 0;
};

Point point(std::string metric, std::function<double()> measure) {
  Point p;
  p.row.metric = std::move(metric);
  p.measure = std::move(measure);
  return p;
}

std::vector<record::Measurement> rows_of(Probe& probe, std::vector<record::Measurement> have = {}) {
  RunOptions options;
  options.seconds = 0.2;
  options.have = std::move(have);
  return run(probe, options).rows;
}

}  // namespace

TEST_CASE("median, deviation and interval") {
  std::vector<double> const odd{5, 1, 9, 3, 7};
  auto const s = summarise(odd, 1);
  CHECK(s.median == 5);
  CHECK(s.mad == 2);  // |5-5| |1-5| |9-5| |3-5| |7-5|: 0 2 2 4 4
  CHECK(s.samples == 5);
  CHECK(s.outliers == 0);
  CHECK(summarise(std::vector<double>{2, 4}, 1).median == 3);
  std::vector<double> far(99, 10.0);
  for (std::size_t i = 0; i < far.size(); ++i) far[i] += 0.01 * static_cast<double>(i % 3);
  far.push_back(1000);
  CHECK(summarise(far, 1).outliers == 1);
  CHECK(summarise(far, 1).median == Approx(10.01));
}

TEST_CASE("the interval holds the true median in about 95 of 100 sets") {
  std::mt19937_64 random(42);
  std::normal_distribution<double> normal(100, 5);
  int inside = 0;
  for (int set = 0; set < 400; ++set) {
    std::vector<double> samples(25);
    for (auto& x : samples) x = normal(random);
    auto const s = summarise(samples, static_cast<std::uint64_t>(set));
    inside += s.ci_low <= 100 && 100 <= s.ci_high;
  }
  CHECK(inside >= 366);  // 380 expected, standard deviation 4.4; the bootstrap of a median is a little narrow
  CHECK(inside <= 396);
  std::vector<double> const same{1, 2, 3, 4, 5, 6, 7};
  CHECK(summarise(same, 9).ci_low == summarise(same, 9).ci_low);
}

TEST_CASE("sampling stops when the interval is narrow, or the time is spent") {
  Budget budget;
  budget.seconds = 5;
  std::size_t calls = 0;
  auto const steady = sample([&] { return ++calls, 7.0; }, budget, 1);
  CHECK(steady.narrow);
  CHECK(steady.statistics.samples >= budget.least);
  CHECK(calls <= 3 * budget.least);
  std::mt19937_64 random(1);
  budget.seconds = 0.05;
  budget.most = 1000000;
  auto const noisy = sample(
      [&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return static_cast<double>(random() % 1000);
      },
      budget, 1);
  CHECK_FALSE(noisy.narrow);
}

TEST_CASE("iterations are chosen by the runs that nothing interrupted") {
  // A microsecond, and 2 ns for each iteration; 1 ms asked for.
  auto const steady = [](std::uint64_t n) { return 1e-6 + 2e-9 * static_cast<double>(n); };
  double const chosen = static_cast<double>(iterations_for(steady, 1e-3));
  CHECK(chosen == Approx(500000).epsilon(0.01));
  int calls = 0;
  auto const interrupted = [&](std::uint64_t n) { return steady(n) + (++calls % 4 == 0 ? 0 : 0.02); };
  CHECK(iterations_for(interrupted, 1e-3) == static_cast<std::uint64_t>(chosen));
  CHECK(iterations_for([](std::uint64_t) { return 0.5; }, 1e-3) == 8);                       // one is too long already
  CHECK(iterations_for([](std::uint64_t) { return 0.0; }, 1e-3) == std::uint64_t{1} << 30);  // never long enough
}

TEST_CASE("what cannot be is doubtful, and says why") {
  FakeProbe probe([](std::vector<Point>& points) {
    points.push_back(point("clock_hz", [] { return 1e9; }));
    auto high = point("peak_flop_per_s", [] { return 2e12; });
    high.most = 1e12;
    points.push_back(high);
    points.push_back(point("launch_s", [] { return std::nan(""); }));
    points.push_back(point("copy_row_s", [] { return -1e-9; }));
    auto small = point("global_bandwidth_bytes_per_s", [] { return 1e10; });
    small.row.working_set_bytes = 3 << 20;
    points.push_back(small);
    small.row.working_set_bytes = 4 << 20;
    points.push_back(small);
  });
  auto const rows = rows_of(probe);
  REQUIRE(rows.size() == 6);
  CHECK(rows[0].status == record::RowStatus::ok);
  CHECK(rows[1].status == record::RowStatus::doubtful);
  CHECK_THAT(rows[1].reason, Contains("above the theoretical peak"));
  CHECK(rows[2].status == record::RowStatus::doubtful);
  CHECK_FALSE(rows[2].value);
  CHECK_THAT(rows[2].reason, Contains("not finite"));
  CHECK(rows[3].status == record::RowStatus::doubtful);
  CHECK(rows[4].status == record::RowStatus::doubtful);
  CHECK_THAT(rows[4].reason, Contains("under four times the last cache"));
  CHECK(rows[5].status == record::RowStatus::ok);
}

TEST_CASE("a clock that moves makes a row doubtful") {
  FakeProbe probe([](std::vector<Point>& points) { points.push_back(point("barrier_s", [] { return 1e-6; })); });
  probe.clocks = {1e9, 1.04e9};
  CHECK(rows_of(probe).at(0).status == record::RowStatus::ok);
  FakeProbe moving([](std::vector<Point>& points) { points.push_back(point("barrier_s", [] { return 1e-6; })); });
  moving.clocks = {1e9, 1.06e9};
  auto const row = rows_of(moving).at(0);
  CHECK(row.status == record::RowStatus::doubtful);
  CHECK(row.reason == "the clock moved from 1000 to 1060 MHz");
}

TEST_CASE("what makes any measurement doubtful stands beside what makes this one so") {
  FakeProbe probe([](std::vector<Point>& points) {
    points.push_back(point("clock_hz", [] { return 1e9; }));
    points.push_back(point("copy_row_s", [] { return -1e-9; }));
  });
  probe.known_trouble = "threads could not be held";
  auto const rows = rows_of(probe);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].status == record::RowStatus::doubtful);
  CHECK(rows[0].reason == "threads could not be held");
  CHECK(rows[1].status == record::RowStatus::doubtful);
  CHECK(rows[1].reason == "a value of -1e-09 is invalid; threads could not be held");
}

TEST_CASE("a failure is a row; a lost device ends the run with all rows there") {
  auto const plan = [](std::vector<Point>& points) {
    points.push_back(point("launch_s", [] { return 1e-6; }));
    points.push_back(point("compile_s", []() -> double { throw Error(Status::limit, "out of memory on the device"); }));
    points.push_back(
        point("barrier_s", []() -> double { throw DeviceLost(Status::unavailable, "the device was lost"); }));
    points.push_back(point("clock_hz", [] { return 1e9; }));
    Point absent;
    absent.row.metric = "texture_bandwidth_bytes_per_s";
    absent.unsupported = "no images";
    points.push_back(absent);
  };
  FakeProbe probe(plan);
  std::vector<record::Measurement> seen;
  RunOptions options;
  options.seconds = 0.1;
  options.row = [&](record::Measurement const& row) { seen.push_back(row); };
  try {
    run(probe, options);
    FAIL("the loss must be reported");
  } catch (DeviceLost const& error) {
    CHECK(error.status() == Status::unavailable);
  }
  REQUIRE(seen.size() == 5);
  CHECK(seen[0].status == record::RowStatus::ok);
  CHECK(seen[1].status == record::RowStatus::failed);
  CHECK(seen[1].reason == "out of memory on the device");
  CHECK(seen[2].status == record::RowStatus::failed);
  CHECK(seen[3].status == record::RowStatus::failed);
  CHECK(seen[3].reason == "not measured: the device was lost");

  // Another run goes on where that one ended: what was measured is not measured again.
  int measured = 0;
  FakeProbe again([&](std::vector<Point>& points) {
    for (char const* const metric : {"launch_s", "compile_s", "barrier_s", "clock_hz"})
      points.push_back(point(metric, [&] { return ++measured, 2.0; }));
  });
  auto const rows = rows_of(again, {seen[0]});
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].value == 1e-6);
  CHECK(rows[1].value == 2.0);
  CHECK(measured > 0);
}

TEST_CASE("capacities follow from the stair of latencies") {
  Facts facts;
  facts.device = "made-up";
  std::vector<record::Measurement> rows;
  // 1 ns to 32 KiB, 4 ns to 1 MiB, 15 ns to 16 MiB, 90 ns beyond; each step takes two points to rise.
  for (double bytes = 4096; bytes <= 256 << 20; bytes *= 2) {
    record::Measurement row;
    row.metric = "load_latency_s";
    row.working_set_bytes = bytes;
    row.value = bytes <= 32768        ? 1e-9
                : bytes == 65536      ? 2.6e-9
                : bytes <= (1 << 20)  ? 4e-9
                : bytes == (2 << 20)  ? 9e-9
                : bytes <= (16 << 20) ? 15e-9
                : bytes == (32 << 20) ? 60e-9
                                      : 90e-9;
    rows.push_back(row);
  }
  auto const found = derive(rows, facts);
  REQUIRE(found.size() == 3);
  CHECK(found[0].variant == "l1");
  CHECK(found[0].value == 32768);
  CHECK(found[1].value == 1 << 20);
  CHECK(found[2].value == 16 << 20);
  CHECK(found[2].ci_high == 32 << 20);

  // Where the clock is known, latencies also in its cycles.
  rows.resize(1);
  rows[0].clock_hz = 2.5e9;
  rows[0].ci_low = 0.8e-9;
  rows[0].status = record::RowStatus::doubtful;
  auto const cycles = derive(rows, facts);
  REQUIRE(cycles.size() == 1);
  CHECK(cycles[0].metric == "load_latency_cycles");
  CHECK(cycles[0].value == 2.5);
  CHECK(cycles[0].ci_low == 2);
  CHECK_FALSE(cycles[0].mad);
  CHECK(cycles[0].working_set_bytes == 4096);
  CHECK(cycles[0].status == record::RowStatus::doubtful);
}

TEST_CASE("names become slugs") {
  CHECK(slug("NVIDIA Tesla K40c") == "nvidia-tesla-k40c");
  CHECK(slug("Intel(R) Core(TM) i7-4770K CPU @ 3.50GHz") == "intel-core-i7-4770k");
  CHECK(slug("AMD Ryzen 9 7950X 16-Core Processor") == "amd-ryzen-9-7950x");
  CHECK(slug("") == "device");
  auto const database = device::load(KERNELCAST_SOURCE_DIR "/devdb");
  for (auto const& [name, known] : {std::pair{"NVIDIA H100 80GB HBM3", "h100"},
                                    {"NVIDIA H100 PCIe", "h100-pcie"},
                                    {"NVIDIA A100-SXM4-80GB", "a100-80"},
                                    {"NVIDIA H200", "h200"},
                                    {"Tesla V100-SXM2-32GB", "v100-sxm2"},
                                    {"NVIDIA GeForce RTX 4090", "rtx4090"}}) {
    Facts facts;
    facts.name = name;
    CHECK(slug(facts, database) == known);
  }
}

TEST_CASE("a CUDA device's row says how groups fit") {
  std::vector<record::Measurement> rows(2);
  rows[0].device = rows[1].device = "made-up";
  rows[0].backend = rows[1].backend = "cuda";
  rows[0].metric = "compute_capability";
  rows[1].metric = "wave_width";
  rows[0].value = 90;
  rows[1].value = 32;
  rows[0].status = rows[1].status = record::RowStatus::ok;
  auto const facts = facts_from(rows, "");
  auto const device = summarise_device(rows, facts);
  CHECK(device.vendor == "NVIDIA");
  CHECK(device.target == "sm_90");
  CHECK(device.occupancy_target == "cc9.0");
  CHECK(device.wave_width == 32);
}

TEST_CASE("random contents and orders") {
  auto const words = random_words(1000, 7);
  CHECK(words == random_words(1000, 7));
  CHECK(words != random_words(1000, 8));
  int bits = 0;
  for (auto const word : words) bits += std::popcount(word);
  CHECK(bits == Approx(16000).margin(360));  // four standard deviations of 32,000 fair bits
  std::vector<std::byte> bytes(13);          // not a whole number of words
  fill_randomly(bytes, 7);
  CHECK(std::memcmp(bytes.data(), words.data(), 13) == 0);
  fill_randomly({}, 1);
  // All orders of four, each as often: chi squared with 23 degrees of freedom, 1 in 1000 is above 49.7.
  std::map<std::vector<std::uint32_t>, int> orders;
  for (std::uint64_t seed = 0; seed < 24000; ++seed) ++orders[random_order(4, seed)];
  REQUIRE(orders.size() == 24);
  double chi = 0;
  for (auto const& [order, times] : orders) chi += (times - 1000.0) * (times - 1000.0) / 1000;
  CHECK(chi < 49.7);
  CHECK(random_order(0, 1).empty());
  CHECK(random_order(1, 1) == std::vector<std::uint32_t>{0});
}

TEST_CASE("device files that may not be opened") {
  namespace fs = std::filesystem;
  auto const folder = fs::temp_directory_path() / fmt::format("kernelcast-devices-{}", getpid());
  fs::create_directories(folder / "dri");
  fs::permissions(folder, fs::perms::all);
  fs::permissions(folder / "dri", fs::perms::all);
  for (char const* const name : {"kfd", "nvidia0", "nvidiactl", "null", "dri/renderD128", "dri/card0"}) {
    std::ofstream(folder / name) << ' ';
    fs::permissions(folder / name, fs::perms::owner_read);
  }
  fs::permissions(folder / "nvidiactl", fs::perms::all);
  // As the user nobody: root may open everything.
  auto const child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (getuid() == 0 && setuid(65534) != 0) _exit(2);
    auto const refused = refused_device_files(folder.string());
    std::vector<std::string> const expected{folder / "kfd", folder / "nvidia0", folder / "dri/renderD128"};
    _exit(refused == expected ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(refused_device_files((folder / "no such folder").string()).empty());
  fs::remove_all(folder);
}

TEST_CASE("a library that is there and does not load says why") {
  auto const none = open_library({"libkernelcast-none.so.1", "/nowhere/libkernelcast.so"});
  CHECK(none.handle == nullptr);
  CHECK(none.trouble.empty());
  auto const wrong = open_library({"libkernelcast-none.so.1", "/proc/self/status"});
  CHECK(wrong.handle == nullptr);
  CHECK_THAT(wrong.trouble, Contains("/proc/self/status"));
  auto const good = open_library({"libkernelcast-none.so.1", "libc.so.6"});
  CHECK(good.handle != nullptr);
  CHECK(good.trouble.empty());
}

TEST_CASE("a device that is not there") {
  Devices devices;
  CHECK_THROWS_WITH(devices.open("no such device"), Contains("no device 'no such device'"));
  auto const error = error_of([&] { devices.open("cuda:9"); });
  CHECK(error.status() == Status::unavailable);
  CHECK_FALSE(error.hint().empty());
}

TEST_CASE("comparing with the database") {
  record::Device stated, measured;
  stated.device = "d";
  stated.compute_units = 8;
  measured.compute_units = 10;
  stated.peak_fp32_flop_per_s = 1e12;
  measured.peak_fp32_flop_per_s = 0.9e12;
  stated.automatch_barrier_s = 1e-6;
  measured.automatch_barrier_s = 1.3e-6;
  stated.l2_bytes = 1024;
  auto const rows = compare(measured, stated);
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].column == "compute_units");
  CHECK(rows[0].verdict == "differs");
  CHECK(rows[0].difference_pct == Approx(25));
  CHECK(rows[1].verdict == "agrees");
  CHECK(rows[2].column == "l2_bytes");
  CHECK(rows[2].verdict == "unknown");
  CHECK(rows[3].verdict == "differs");
}

TEST_CASE("the measurement record begins with what every reader expects; a metric's name ends in its unit") {
  auto const names = record::Measurement::schema().column_names();
  std::vector<std::string> const required{
      "device", "backend", "metric", "access",  "direction", "word_bytes", "occupancy", "working_set_bytes",
      "value",  "mad",     "ci_low", "ci_high", "samples",   "status",     "reason"};
  REQUIRE(names.size() > required.size());
  CHECK(std::vector<std::string>(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(required.size())) ==
        required);
  for (auto const& metric : record::metrics()) {
    INFO(metric.name);
    CHECK(metric.name.ends_with(record::suffix(metric.unit)));
    CHECK(record::find_metric(metric.name) == &metric);
  }
  CHECK(record::find_metric("no_such_metric") == nullptr);
}
