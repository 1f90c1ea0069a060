#include "models/score.hpp"

#include <cmath>

#include "catch.hpp"
#include "models/trivial.hpp"

using namespace kernelcast;
using model::score;
using record::Score;

namespace {

record::Measured measured(std::string kernel, std::string case_name, std::string device, double time_s,
                          std::string suite = "a", std::string problem = {}) {
  record::Measured m;
  m.kernel = std::move(kernel);
  m.case_name = std::move(case_name);
  m.device = std::move(device);
  m.time_s = time_s;
  m.suite = std::move(suite);
  m.problem = std::move(problem);
  return m;
}

record::Projection projected(std::string kernel, std::string case_name, std::string device, double time_s,
                             double low_s = 0, double high_s = 0, std::string model = "m") {
  record::Projection p;
  p.kernel = std::move(kernel);
  p.case_name = std::move(case_name);
  p.device = std::move(device);
  p.model = std::move(model);
  p.time_s = time_s;
  if (low_s > 0) p.time_low_s = low_s;
  if (high_s > 0) p.time_high_s = high_s;
  return p;
}

Score find(std::vector<Score> const& rows, std::string const& model, std::string const& by = "all",
           std::string const& group = {}) {
  for (auto const& row : rows)
    if (row.model == model && row.by == by && row.group == group) return row;
  FAIL("no row " << model << ' ' << by << ' ' << group);
  return {};
}

}  // namespace

TEST_CASE("scores: errors, their median, mean and bias, and what lacks a time") {
  auto const rows = score(
      {projected("k", "1", "x", 1.1), projected("k", "2", "x", 0.5), projected("k", "3", "x", 4)},
      {measured("k", "1", "x", 1), measured("k", "2", "x", 1), measured("k", "3", "x", 1), measured("k", "4", "x", 1)},
      {});
  auto const row = find(rows, "m");
  CHECK(row.times == 3);
  CHECK(row.missing == 1);
  CHECK(*row.median_error_pct == Approx(50));
  CHECK(*row.mean_error_pct == Approx((10 + 50 + 300) / 3.0));
  CHECK(*row.bias_pct == Approx(100 * (std::cbrt(1.1 * 0.5 * 4) - 1)));
  CHECK(*row.within_15_pct == Approx(100 / 3.0));
  CHECK(*row.within_30_pct == Approx(100 / 3.0));
  CHECK(*row.of_all_within_30_pct == Approx(25));
  CHECK(*row.within_half_pct == Approx(100 / 3.0));
  CHECK(row.cases == 0);
  CHECK_FALSE(row.tau);
  CHECK_FALSE(row.regret_1_pct);
}

TEST_CASE("scores: the order of devices, the choice, and intervals that decide") {
  // Case 1: right order, decided. Case 2: the order reversed, and decided for the wrong one.
  auto const rows = score({projected("k", "1", "x", 1, 0.9, 1.1), projected("k", "1", "y", 2, 1.9, 2.1),
                           projected("k", "1", "z", 4, 3.5, 4.5), projected("k", "2", "x", 4, 3, 5),
                           projected("k", "2", "y", 2.5, 2.4, 2.6), projected("k", "2", "z", 2, 1.9, 2.1)},
                          {measured("k", "1", "x", 1), measured("k", "1", "y", 2), measured("k", "1", "z", 3),
                           measured("k", "2", "x", 1), measured("k", "2", "y", 2), measured("k", "2", "z", 3)},
                          {});
  auto const row = find(rows, "m");
  CHECK(row.cases == 2);
  CHECK(*row.tau == Approx(0).margin(1e-12));
  CHECK(*row.best_picked_pct == Approx(50));
  CHECK(*row.mean_penalty_pct == Approx(100));
  CHECK(*row.decided_pct == Approx(100));
  CHECK(*row.wrongly_decided_pct == Approx(50));
  CHECK(*row.coverage_pct == Approx(100 * 2 / 6.0));
  // What trivial orders do on the same cases.
  auto const often = find(rows, "order:most_often_best");
  CHECK(*often.best_picked_pct == Approx(100));
  CHECK_FALSE(often.median_error_pct);
  CHECK_FALSE(often.decided_pct);
  CHECK(*find(rows, "trivial:constant").bias_pct == Approx(0).margin(1e-9));
}

TEST_CASE("scores: devices projected alike are each chosen in part, and alternatives projected alike are no choice") {
  std::vector<record::Measured> times{measured("k", "1", "x", 1), measured("k", "1", "y", 3),
                                      measured("k", "1", "z", 9), measured("a", "1", "x", 1, "a", "p"),
                                      measured("b", "1", "x", 2, "a", "p")};
  auto const row = find(score({projected("k", "1", "x", 5), projected("k", "1", "y", 5), projected("k", "1", "z", 6),
                               projected("a", "1", "x", 7), projected("b", "1", "x", 7)},
                              times, {}),
                        "m");
  CHECK(row.cases == 1);
  CHECK(*row.best_picked_pct == Approx(50));
  CHECK(*row.mean_penalty_pct == Approx(100));
  CHECK(*row.tau == Approx(2 / 3.0));
  CHECK(row.problems == 0);
}

TEST_CASE("scores: regret among the alternatives of a problem on one device") {
  std::vector<record::Measured> times;
  std::vector<record::Projection> guesses;
  for (int i = 1; i <= 12; ++i) {
    auto const name = std::to_string(i);
    times.push_back(measured("k", name, "x", i, "a", "p"));
    guesses.push_back(projected("k", name, "x", 13 - i));  // the slowest first
  }
  auto const row = find(score(guesses, times, {}), "m");
  CHECK(row.problems == 1);
  CHECK(*row.regret_1_pct == Approx(1100));
  CHECK(*row.regret_5_pct == Approx(700));
  CHECK(*row.regret_10_pct == Approx(200));
}

TEST_CASE("scores: the mean over suites counts each suite once, and groups are by what was asked for") {
  model::ScoreOptions options;
  options.by = {"suite", "device", "architecture", "limiter", "regime"};
  options.devices["x"] = {{1e12, 1e11}, 9e10, "A"};
  std::vector<record::Measured> times{measured("k", "1", "x", 1, "one"), measured("k", "2", "x", 5e-6, "two"),
                                      measured("k", "3", "x", 5e-5, "two"), measured("k", "4", "x", 1e-3, "two")};
  auto fast = projected("k", "2", "x", 1e-5);
  fast.limiter = record::Limiter::global;
  auto const rows =
      score({projected("k", "1", "x", 1.1), fast, projected("k", "3", "x", 1e-4), projected("k", "4", "x", 2e-3)},
            times, options);
  CHECK(*find(rows, "m").median_error_pct == Approx(100));
  CHECK(*find(rows, "m", "suites", "mean").median_error_pct == Approx(55));
  CHECK(find(rows, "m", "suites", "mean").times == 4);
  CHECK(find(rows, "m", "suite", "two").times == 3);
  CHECK(find(rows, "m", "device", "x").times == 4);
  CHECK(find(rows, "m", "architecture", "A").times == 4);
  CHECK(find(rows, "m", "limiter", "global").times == 1);
  CHECK(find(rows, "m", "regime", "< 10 us").times == 1);
  CHECK(find(rows, "m", "regime", "10 to 100 us").times == 1);
  CHECK(find(rows, "m", "regime", ">= 100 us").times == 2);
}

TEST_CASE("scores: what was measured as a whole is compared with the sum of its kernels") {
  auto const rows = score({projected("a", "app", "x", 1), projected("a", "app", "x", 2), projected("b", "app", "x", 3)},
                          {measured("total", "app", "x", 12)}, {});
  CHECK(*find(rows, "m").median_error_pct == Approx(50));
}

TEST_CASE("trivial models: closed forms, and a reason where a figure lacks") {
  record::Kernel kernel;
  kernel.kernel = "k";
  kernel.launches = 2;
  kernel.global_footprint_bytes = 1e9;
  kernel.inst[record::InstructionClass::fp32] = 1e12;
  kernel.issues[record::InstructionClass::fp32][1] = 1e12 / 32;
  device::Device d;
  d.device = "x";
  d.compute_units = 10;
  d.clock_hz = 1e9;
  d.throughput_issue = 128;
  d.peak_bandwidth_bytes_per_s = 1e11;
  d.peak_fp32_flop_per_s = 4e12;
  auto const rows = model::trivial::project(kernel, d);
  REQUIRE(rows.size() == 5);
  CHECK(*rows[0].time_s == Approx(2 * model::trivial::launch_s));
  CHECK(*rows[1].time_s == Approx(2e9 / 0.85e11));
  CHECK(*rows[2].time_s == Approx(0.5));
  CHECK(rows[2].limiter == record::Limiter::compute);
  CHECK(*rows[3].time_s == Approx(1e12 / 1.28e12));
  CHECK(rows[4].model == "order:occupancy");
  CHECK(rows[4].status == record::RowStatus::unknown);
  CHECK_FALSE(rows[4].reason.empty());
  d.measured_bandwidth_bytes_per_s = 5e10;
  CHECK(*model::trivial::project(kernel, d)[1].time_s == Approx(2e9 / 5e10));
}
