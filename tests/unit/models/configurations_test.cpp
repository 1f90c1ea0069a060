#include "models/configurations.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include "catch.hpp"

using namespace kernelcast;
using namespace kernelcast::model;

namespace {

record::Projection time(std::string const& device, std::string const& name, double time_s, double occupancy = 1) {
  record::Projection p;
  p.kernel = "k";
  p.model = "m";
  p.device = device;
  p.case_name = name;
  p.time_s = time_s;
  p.occupancy = occupancy;
  return p;
}

}  // namespace

TEST_CASE("configurations in the order of their times, each device by itself") {
  auto const rows = rank_configurations({time("a", "x", 2), time("a", "y", 1), time("a", "z", 2), time("b", "x", 3)});
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].case_name == "y");
  CHECK(rows[1].case_name == "x");
  CHECK(rows[1].rank == 2);
  CHECK(rows[2].rank == 2);
  CHECK(rows[1].relative_time == 2);
  CHECK(rows[3].device == "b");
  CHECK(rows[3].rank == 1);
  CHECK(rank_configurations({time("a", "x", 2), time("a", "y", 1), time("b", "x", 3)}, 1).size() == 2);
}

TEST_CASE("the portable configuration loses least where it loses most") {
  // x is the best on a and 4 times as slow on b, y the other way round, z is 1.5 times as slow on both; c lacks z.
  auto const rows = portable({time("a", "x", 1), time("a", "y", 4), time("a", "z", 1.5), time("b", "x", 8),
                              time("b", "y", 2), time("b", "z", 3), time("c", "x", 1), time("c", "y", 9)});
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].case_name == "z");
  CHECK(rows[0].devices == 2);
  CHECK(rows[0].worst_loss_pct == Approx(50));
  CHECK(rows[0].mean_loss_pct == Approx(50));
  CHECK(rows[1].worst_loss_pct == Approx(300));
  CHECK(rows[1].mean_loss_pct == Approx(150));
  CHECK(rows[1].case_name == "x");
  CHECK(rows[1].worst_device == "b");
  CHECK(rows[2].rank == 2);
}

TEST_CASE("a random order loses what all orders lose in the mean") {
  std::vector<double> const times{3, 1, 4, 2, 7};
  for (std::size_t const top : {1U, 2U, 3U, 5U, 9U}) {
    std::vector<double> order = times;
    std::ranges::sort(order);
    double sum = 0, count = 0;
    do sum += loss_of_first(order, top), ++count;
    while (std::ranges::next_permutation(order).found);
    INFO(top);
    CHECK(loss_at_random(times, top) == Approx(sum / count).margin(1e-12));
  }
}

TEST_CASE("tau is 1 for the same order, -1 for its reverse, and pairs that tie count for nothing") {
  CHECK(kendall_tau({1, 2, 3, 4}, {10, 20, 30, 40}) == Approx(1));
  CHECK(kendall_tau({1, 2, 3, 4}, {4, 3, 2, 1}) == Approx(-1));
  CHECK(kendall_tau({1, 2, 3}, {5, 5, 5}) == 0);
  // Of 6 pairs one ties in a, and one of the others disagrees: (4 - 1) / sqrt(5 * 6).
  CHECK(kendall_tau({1, 1, 2, 3}, {2, 1, 4, 3}) == Approx(3 / std::sqrt(30.0)));
}

TEST_CASE("scores of an order stand beside those of none") {
  std::vector<record::Projection> projected;
  std::vector<record::Measured> measured;
  for (int i = 0; i < 20; ++i) {
    auto const name = "c" + std::to_string(i);
    projected.push_back(time("a", name, 1 + i, 0.5 + 0.02 * i));
    measured.push_back({"k", name, "a", 100.0 + i});
  }
  projected.push_back(time("a", "not measured", 0.1));
  auto const rows = score_configurations(projected, measured);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].model == "m");
  CHECK(rows[0].configurations == 20);
  CHECK(rows[0].tau == Approx(1));
  CHECK(rows[0].loss_top1_pct == 0);
  CHECK(rows[1].model == "trivial:occupancy");
  CHECK(rows[1].tau == Approx(-1));
  CHECK(rows[1].loss_top1_pct == Approx(19));
  CHECK(rows[1].loss_top5_pct == Approx(15));
  CHECK(rows[2].model == "trivial:random");
  CHECK(rows[2].loss_top1_pct == Approx(9.5));
  CHECK(rows[2].tau == 0);
}
