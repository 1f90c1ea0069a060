// [perdome]: bounds against a search that knows no closed form, and the figures of its Tables 1 and 2.
#include <algorithm>
#include <cmath>
#include <random>

#include "catch.hpp"
#include "devdb.hpp"
#include "models/perdome/perdome.hpp"

using namespace kernelcast;
using model::perdome::Processors;

namespace {

Processors random_processors(std::mt19937_64& random, std::size_t count) {
  std::uniform_real_distribution<double> exponent(-1.5, 1.5);
  Processors out;
  for (std::size_t k = 0; k < count; ++k)
    out.push_back({"p", std::pow(10, exponent(random)), std::pow(10, exponent(random)), {}, {}});
  return out;
}

// [perdome] (4), (5) with operations and bytes, term by term.
double by_definition(Processors const& p, std::vector<double> const& flops, std::vector<double> const& bytes) {
  double time = 0, all = 0;
  for (std::size_t k = 0; k < p.size(); ++k) {
    time = std::max({time, flops[k] * p[k].flop_s, bytes[k] * p[k].byte_s});
    all += flops[k];
  }
  return all / time;
}

// The largest value of `f` over [0, 1] x [0, 1]: a grid that is laid ever finer around its best point.
template <class F>
double search(F f) {
  double x = 0.5, y = 0.5, half = 0.5, best = 0;
  for (int round = 0; round < 26; ++round, half *= 0.4) {
    double const cx = x, cy = y;
    for (int i = -4; i <= 4; ++i)
      for (int j = -4; j <= 4; ++j) {
        double const u = std::clamp(cx + half * i / 4, 0.0, 1.0), v = std::clamp(cy + half * j / 4, 0.0, 1.0);
        if (double const value = f(u, v); value > best) {
          best = value;
          x = u;
          y = v;
        }
      }
  }
  return best;
}

model::perdome::Processor paper(char const* name) {
  return model::perdome::processor(database().find(name), true);
}

double cp_gain_pct(Processors const& p, double whole, double first, double second) {
  double const cp = model::perdome::bound(p, whole, model::perdome::division(whole, first, second)).flop_per_s;
  return 100 * (cp / model::perdome::bound(p, whole, model::perdome::data_partition(p, whole)).flop_per_s - 1);
}

}  // namespace

TEST_CASE("perdome: the optimum equals a search over all divisions on 10,000 random systems") {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-1.5, 1.5);
  int memory_bound = 0;
  for (int trial = 0; trial < 10000; ++trial) {
    auto const p = random_processors(random, 2);
    double const intensity = std::pow(10, exponent(random));
    auto const best = model::perdome::optimum(p, intensity);
    memory_bound += best.memory;
    double const found =
        search([&](double x, double y) { return by_definition(p, {x * intensity, (1 - x) * intensity}, {y, 1 - y}); });
    INFO("trial " << trial << ": closed form " << best.flop_per_s << ", search " << found);
    REQUIRE(found <= best.flop_per_s * (1 + 1e-12));
    REQUIRE(found >= best.flop_per_s * (1 - 1e-6));
    REQUIRE(model::perdome::bound(p, intensity, best.division).flop_per_s == Approx(best.flop_per_s).epsilon(1e-12));
    // The data partition: the best of all divisions with x = y.
    double const shared =
        search([&](double x, double) { return by_definition(p, {x * intensity, (1 - x) * intensity}, {x, 1 - x}); });
    REQUIRE(best.data_partition_flop_per_s >= shared * (1 - 1e-12));
    REQUIRE(best.data_partition_flop_per_s == Approx(shared).epsilon(1e-6));
  }
  CHECK(memory_bound > 2000);
  CHECK(memory_bound < 8000);
}

TEST_CASE("perdome: (15) to (19) equal the definition, and no bound exceeds min(sum F, I sum B)") {
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> unit(0, 1);
  for (int trial = 0; trial < 10000; ++trial) {
    std::size_t const count = 1 + trial % 6;
    auto const p = random_processors(random, count);
    std::vector<double> flops, bytes;
    double all_flops = 0, all_bytes = 0, peak = 0, bandwidth = 0;
    for (auto const& each : p) {
      flops.push_back(unit(random));
      bytes.push_back(unit(random));
      all_flops += flops.back();
      all_bytes += bytes.back();
      peak += each.flop_per_s();
      bandwidth += each.bytes_per_s();
    }
    model::perdome::Division d{flops, bytes};
    for (double& x : d.x) x /= all_flops;
    for (double& y : d.y) y /= all_bytes;
    double const intensity = all_flops / all_bytes;
    double const expected = by_definition(p, flops, bytes), got = model::perdome::bound(p, intensity, d).flop_per_s;
    REQUIRE(got == Approx(expected).epsilon(1e-12));
    REQUIRE(got <= std::min(peak, intensity * bandwidth) * (1 + 1e-12));
    if (count != 2) continue;
    double const first = flops[0] / bytes[0], second = flops[1] / bytes[1];
    auto const same = model::perdome::division(intensity, first, second);
    REQUIRE(model::perdome::lemma_violation(intensity, first, second).empty());
    REQUIRE(same.x[0] == Approx(d.x[0]).epsilon(1e-9));
    REQUIRE(same.y[1] == Approx(d.y[1]).epsilon(1e-9));
  }
}

TEST_CASE("perdome: the intervals of the share that does not bind are all that keeps the bound") {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 2000; ++trial) {
    auto const p = random_processors(random, 2);
    double const intensity = std::pow(10, std::uniform_real_distribution<double>(-1, 1)(random));
    auto const best = model::perdome::optimum(p, intensity);
    auto const at = [&](double share) {
      auto d = best.division;
      (best.memory ? d.x : d.y) = {share, 1 - share};
      return model::perdome::bound(p, intensity, d).flop_per_s / best.flop_per_s;
    };
    auto const range = best.memory ? best.x[0] : best.y[0];
    REQUIRE(at(range.low) > 1 - 1e-9);
    REQUIRE(at(range.high) > 1 - 1e-9);
    if (range.low > 1e-3) REQUIRE(at(range.low * 0.999) < 1 - 1e-12);
    if (range.high < 0.999) REQUIRE(at(range.high * 1.001) < 1 - 1e-12);
  }
}

TEST_CASE("perdome: the figures that follow from Tables 1 and 2") {
  Processors const i7_750{paper("i7-2600k"), paper("gtx750")}, i3_750{paper("i3-2100t"), paper("gtx750")};
  Processors const i7_titan{paper("i7-2600k"), paper("gtx-titan")}, i3_titan{paper("i3-2100t"), paper("gtx-titan")};
  CHECK(model::perdome::optimum(i7_750, 1.7).data_partition_flop_per_s / 1e9 == Approx(128.47).epsilon(1e-4));
  CHECK(model::perdome::bound(i7_750, 1.7, model::perdome::division(1.7, 0.1, 2.0)).flop_per_s / 1e9 ==
        Approx(136.40).epsilon(1e-4));
  CHECK(cp_gain_pct(i7_750, 1.7, 0.1, 2.0) == Approx(6.17).margin(0.01));
  CHECK(cp_gain_pct(i3_750, 1.7, 0.1, 2.0) == Approx(13.80).margin(0.01));
  CHECK(cp_gain_pct(i7_titan, 1.7, 0.1, 2.0) == Approx(-61.85).margin(0.01));
  CHECK(cp_gain_pct(i3_titan, 1.7, 0.1, 2.0) == Approx(-64.85).margin(0.01));
  CHECK(cp_gain_pct(i7_750, 4.4, 0.4, 5.4) == Approx(7.38).margin(0.01));
  // On the other systems p-DP > CP1 > CP2.
  for (auto const& p : {i3_750, i7_titan, i3_titan}) {
    CHECK(cp_gain_pct(p, 4.4, 0.4, 5.4) < 0);
    CHECK(cp_gain_pct(p, 4.4, 1.5, 9.2) < cp_gain_pct(p, 4.4, 0.4, 5.4));
  }
}

TEST_CASE("perdome: lemmas as corrected") {
  CHECK(model::perdome::lemma_violation(2, 2, 2).empty());
  CHECK(model::perdome::lemma_violation(2, 2, 0).empty());
  CHECK(model::perdome::lemma_violation(2, 0, 2).empty());
  CHECK(model::perdome::lemma_violation(2, 1, 3).empty());
  CHECK(model::perdome::lemma_violation(2, 2, 3).find("Lemma 1") != std::string::npos);
  CHECK(model::perdome::lemma_violation(2, 0, 3).find("Lemma 1") != std::string::npos);
  CHECK(model::perdome::lemma_violation(2, 3, 4).find("Lemma 2") != std::string::npos);
  CHECK(model::perdome::lemma_violation(2, 1, 1.5).find("Lemma 2") != std::string::npos);
  CHECK_FALSE(model::perdome::lemma_violation(2, 0, 0).empty());
}
