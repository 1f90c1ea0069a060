// Intervals and decided orders from residuals: coverage of exchangeable programs, cells that replace others, what
// leaving out costs, weights.
#include "models/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "catch.hpp"
#include "models/rank.hpp"
#include "records/device/intervals.hpp"

using namespace kernelcast;
using device::Cell;
using model::Residual;
using record::Interval, record::Limiter, record::Ratio, record::Regime, record::Relation, record::ResidualModel,
    record::Tested;

namespace {

Residual residual(std::string suite, std::string program, std::string device, double log) {
  Residual r;
  r.suite = std::move(suite);
  r.program = std::move(program);
  r.kernel = r.program;
  r.device = std::move(device);
  r.architecture = "A";
  r.vendor = "V";
  r.limiter = Limiter::dram;
  r.time_s = 1e-3;
  r.log = log;
  return r;
}

// Of each program so many times, which err together.
std::vector<Residual> programs(std::mt19937_64& random, int count, int times, std::string const& prefix = "p") {
  std::exponential_distribution<double> skewed(2);
  std::normal_distribution<double> noise(0, 0.05);
  std::vector<Residual> out;
  for (int p = 0; p < count; ++p) {
    double const of_program = skewed(random) - 0.2;
    for (int t = 0; t < times; ++t)
      out.push_back(residual("s", prefix + std::to_string(p), "d", of_program + noise(random)));
  }
  return out;
}

Interval row(std::vector<Interval> const& rows, Tested tested, Cell const& cell) {
  auto const found = std::find_if(rows.begin(), rows.end(), [&](Interval const& r) {
    return r.tested == tested && Cell{r.architecture, r.limiter, r.regime} == cell;
  });
  REQUIRE(found != rows.end());
  return *found;
}

bool has(std::vector<Interval> const& rows, Cell const& cell) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](Interval const& r) { return Cell{r.architecture, r.limiter, r.regime} == cell; });
}

Cell const dram_of_a{"A", Limiter::dram, Regime::long_};

}  // namespace

TEST_CASE("programs like the known ones are covered at the nominal rate") {
  std::mt19937_64 random(7);
  double inside = 0, below = 0, above = 0, all = 0;
  for (int repeat = 0; repeat < 20; ++repeat) {
    auto const r = row(model::intervals(programs(random, 120, 5)), Tested::device, dram_of_a);
    for (auto const& fresh : programs(random, 500, 1)) {
      double const factor = std::exp(fresh.log);
      ++all, below += factor<r.low, above += factor> r.high, inside += factor >= r.low && factor <= r.high;
    }
  }
  CHECK(inside / all == Approx(0.9).margin(0.025));
  // One factor for both ends: the long side of these is missed more often.
  CHECK(below / all > 0);
  CHECK(below / all < above / all);
}

TEST_CASE("what is left out is covered at the nominal rate") {
  std::mt19937_64 random(8);
  auto const rows = model::coverage(programs(random, 300, 3));
  REQUIRE(rows.size() == 2);  // there is no other device or architecture to make the rest from
  CHECK(rows[0].suite == "s");
  CHECK(rows[0].left_out == "kernels");
  CHECK(rows[0].coverage_pct == Approx(90).margin(3));
  CHECK(rows[1].suite == "mean");
  CHECK(rows[1].kernels == 300);
}

TEST_CASE("a cell of too few programs has no row, and the next of its chain replaces it") {
  std::mt19937_64 random(9);
  auto all = programs(random, 30, 1);
  for (auto r : programs(random, 10, 1, "q")) {
    r.architecture = "B";
    r.device = "e";
    r.limiter = Limiter::l2;
    all.push_back(r);
  }
  auto const rows = model::intervals(all);
  CHECK(row(rows, Tested::device, dram_of_a).kernels == 30);
  CHECK(row(rows, Tested::device, {"", {}, Regime::long_}).kernels == 40);
  CHECK_FALSE(has(rows, {"B", Limiter::l2, Regime::long_}));
  CHECK_FALSE(has(rows, {"B", {}, Regime::long_}));
  CHECK_FALSE(has(rows, {"", Limiter::l2, Regime::long_}));

  std::map<std::string, std::string> const architectures{{"d", "A"}, {"e", "B"}, {"f", "B"}, {"g", "C"}};
  device::ResidualTables tables(rows);
  auto const at = [&](std::string const& device, Limiter limiter, double time_s) {
    return tables.of(device, architectures).at(ResidualModel::queue, limiter, time_s);
  };
  auto const same = [](device::Factors const& f, Interval const& r) { return f.low == r.low && f.high == r.high; };
  CHECK(same(at("d", Limiter::dram, 1e-3), row(rows, Tested::device, dram_of_a)));
  CHECK(same(at("d", Limiter::issue, 1e-3), row(rows, Tested::device, {"A", {}, Regime::long_})));
  CHECK(same(at("e", Limiter::l2, 1e-3), row(rows, Tested::device, {"", {}, Regime::long_})));
  CHECK(same(at("e", Limiter::dram, 1e-3), row(rows, Tested::device, {"", Limiter::dram, Regime::long_})));
  CHECK(same(at("e", Limiter::dram, 1e-5), row(rows, Tested::device, {"", {}, {}})));
  CHECK(same(at("f", Limiter::l2, 1e-3), row(rows, Tested::architecture, {"", {}, Regime::long_})));
  CHECK(same(at("g", Limiter::l2, 1e-3), row(rows, Tested::none, {"", {}, Regime::long_})));
  CHECK(tables.of("d", architectures).at(ResidualModel::ake, Limiter::dram, 1e-3).high == 0);  // nothing is known
}

TEST_CASE("devices and architectures that err each in their own way make those unknown wider") {
  std::mt19937_64 random(10);
  std::normal_distribution<double> noise(0, 0.02);
  std::vector<Residual> all;
  struct Known {
    char const *device, *architecture;
    double offset;
  };
  for (auto const& [device, architecture, offset] : {Known{"d1", "A", -0.2}, Known{"d2", "A", 0}, Known{"d3", "A", 0.2},
                                                     Known{"e1", "B", 0.8}, Known{"e2", "B", 1}, Known{"e3", "B", 1.2}})
    for (int p = 0; p < 30; ++p) {
      auto r = residual("s", "p" + std::to_string(p), device, offset + noise(random));
      r.architecture = architecture;
      all.push_back(std::move(r));
    }
  auto const rows = model::intervals(all);
  auto const width = [&](Tested tested) {
    auto const r = row(rows, tested, {});
    return r.high / r.low;
  };
  CHECK(width(Tested::architecture) > 1.2 * width(Tested::device));
  CHECK(width(Tested::none) > 2 * width(Tested::architecture));
  CHECK(row(rows, Tested::device, {}).devices == "d1;d2;d3;e1;e2;e3");
}

TEST_CASE("a suite counts as much as another, and a program with many times as much as one with few") {
  std::vector<Residual> all;
  for (int p = 0; p < 200; ++p) all.push_back(residual("large", std::to_string(p), "d", 0.01 * (p % 3 - 1)));
  for (int t = 0; t < 4000; ++t) all.push_back(residual("large", "tuned", "d", 3));
  CHECK(row(model::intervals(all), Tested::device, dram_of_a).high < 1.1);
  for (int p = 0; p < 20; ++p) all.push_back(residual("small", std::to_string(p), "d", p % 2 ? 1 : -1));
  auto const both = row(model::intervals(all), Tested::device, dram_of_a);  // a quarter of the weight on either side
  CHECK(both.low == Approx(std::exp(-1)).margin(0.002));
  CHECK(both.high == Approx(std::exp(1)).margin(0.002));
}

TEST_CASE("a suite of few programs does not make the ends of a cell") {
  std::vector<Residual> all;
  auto const add = [&](char const* suite, char const* architecture, int programs, double first) {
    for (int p = 0; p < programs; ++p) {
      auto r = residual(suite, std::to_string(p), architecture, p == 0 ? first : 0.01 * (p % 11 - 5));
      r.architecture = architecture;
      all.push_back(std::move(r));
    }
  };
  for (auto const* const suite : {"one", "two", "three"}) add(suite, "A", 40, 0);
  add("large", "B", 40, 0);
  add("small", "B", 4, 3);  // an eighth of the architecture, if both suites counted alike
  CHECK(row(model::intervals(all), Tested::device, {"B", Limiter::dram, Regime::long_}).high < 1.5);
}

TEST_CASE("what a kernel's counts miss cancels in the order of two devices") {
  std::mt19937_64 random(11);
  std::normal_distribution<double> of_program(0, 1), noise(0, 0.1);
  std::vector<Residual> all;
  for (int p = 0; p < 400; ++p) {
    double const both = of_program(random);
    for (auto const* const device : {"d", "e"})
      all.push_back(residual("s", std::to_string(p), device, both + noise(random)));
  }
  auto const rows = model::ratios(all);
  REQUIRE(rows.size() == 3);
  // The absolute difference of two normal variables of 0.1 is below 1.150 times 0.1414 three times of four.
  CHECK(rows[0].relation == Relation::same_architecture);
  CHECK(rows[0].pairs == 400);
  CHECK(rows[0].factor == Approx(std::exp(1.150 * std::sqrt(0.02))).margin(0.03));
  CHECK(rows[1].kernels == 0);
  CHECK(rows[1].factor == rows[0].factor);  // nothing is known: that of the one before
  CHECK(rows[2].factor == rows[0].factor);
}

TEST_CASE("an order is decided beyond the factor of the two devices, and by intervals where it is not known") {
  device::Device a, b, c;
  a.device = "a", b.device = "b", c.device = "c";
  a.vendor = b.vendor = "V", c.vendor = "W";
  a.architecture = b.architecture = "A", c.architecture = "C";
  Ratio same, other;
  same.factor = 1.5;
  other.relation = Relation::other_vendor;
  other.factor = 3;
  for (auto* const d : {&a, &b, &c}) d->residuals.set_ratios({same, other});
  model::Orders const orders({&a, &b, &c});
  auto const projection = [](std::string device, double time_s, std::string model = "queue") {
    record::Projection p;
    p.kernel = "k";
    p.device = std::move(device);
    p.model = std::move(model);
    p.time_s = time_s;
    p.time_low_s = time_s / 2;
    p.time_high_s = time_s * 2;
    return p;
  };
  CHECK_FALSE(orders.decides(projection("a", 1), projection("b", 1.5)));
  CHECK(orders.decides(projection("a", 1), projection("b", 1.51)));
  CHECK(orders.decides(projection("b", 1.51), projection("a", 1)));
  CHECK_FALSE(orders.decides(projection("a", 1), projection("c", 2.9)));
  CHECK(orders.decides(projection("a", 1), projection("c", 3.1)));
  CHECK_FALSE(orders.decides(projection("a", 1, "another"), projection("b", 3.9, "another")));
  CHECK(orders.decides(projection("a", 1, "another"), projection("b", 4.1, "another")));
  CHECK_FALSE(orders.decides(projection("a", 1), projection("unknown", 3.9)));
  auto const rows =
      model::rank({projection("a", 1), projection("b", 1.4), projection("c", 4)}, model::Together::model, orders);
  CHECK_FALSE(rows[0].decided);
  CHECK_FALSE(rows[1].decided);
  CHECK(rows[2].decided);
}
