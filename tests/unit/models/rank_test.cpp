#include "models/rank.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "catch.hpp"

using namespace kernelcast;
using record::Measured;
using record::Projection;

namespace {

Projection projection(std::string kernel, std::string device, double time_s, std::string model = "m") {
  Projection p;
  p.kernel = std::move(kernel);
  p.device = std::move(device);
  p.model = std::move(model);
  p.time_s = time_s;
  return p;
}

std::string text(record::Ranking const& r) {
  return r.model + "/" + r.kernel + "/" + r.case_name + " " + std::to_string(r.rank) + " " + r.device + " " +
         std::to_string(r.relative_time) + (r.decided ? " yes" : " no");
}

// The least makespan by trying every placement.
double brute_force(std::vector<std::vector<double>> const& time, std::size_t job, std::vector<double>& load) {
  if (job == time.size()) return *std::max_element(load.begin(), load.end());
  double best = std::numeric_limits<double>::infinity();
  for (std::size_t d = 0; d < load.size(); ++d) {
    if (std::isinf(time[job][d])) continue;
    auto const before = load[d];
    load[d] += time[job][d];
    best = std::min(best, brute_force(time, job + 1, load));
    load[d] = before;
  }
  return best;
}

}  // namespace

TEST_CASE("equal times share a rank and the next rank counts them") {
  auto const rows = model::rank({projection("k", "c", 2), projection("k", "a", 1), projection("k", "b", 1)});
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].device == "a");
  CHECK(rows[0].rank == 1);
  CHECK(rows[1].device == "b");
  CHECK(rows[1].rank == 1);
  CHECK(rows[2].rank == 3);
  CHECK(rows[2].relative_time == 2);
  CHECK_FALSE(rows[0].decided);
  CHECK_FALSE(rows[1].decided);
  CHECK(rows[2].decided);
}

TEST_CASE("a device whose interval overlaps the best one's is undecided") {
  auto a = projection("k", "a", 10), b = projection("k", "b", 12), c = projection("k", "c", 20);
  a.time_high_s = 13;
  b.time_low_s = 12.5;
  c.time_low_s = 13;  // touches
  auto rows = model::rank({a, b, c});
  CHECK_FALSE(rows[0].decided);
  CHECK_FALSE(rows[2].decided);
  c.time_low_s = 13.1;
  b.time_low_s = 13.1;
  rows = model::rank({a, b, c});
  CHECK(rows[0].decided);
  CHECK(rows[1].decided);
  CHECK(rows[2].decided);
}

TEST_CASE("of several models' times the first one's counts, whatever the order of the rows") {
  auto none = projection("k", "c", 1, "fine");
  none.time_s.reset();
  // "k" on b was launched in two ways, which one row of the fine model sums up.
  std::vector<Projection> rows{projection("k", "a", 3, "fine"),
                               projection("k", "a", 1, "coarse"),
                               projection("k", "b", 1, "coarse"),
                               projection("k", "b", 1.5, "coarse"),
                               projection("k", "b", 2, "fine"),
                               projection("k", "c", 4, "coarse"),
                               none,
                               projection("k", "d", 5, "coarse"),
                               projection("l", "a", 7, "coarse")};
  std::mt19937 random(3);
  for (int round = 0; round < 20; ++round) {
    std::shuffle(rows.begin(), rows.end(), random);
    std::vector<std::string> texts;
    for (auto const& r : model::rank(model::prefer(rows, {"fine", "coarse"}), model::Together::all))
      texts.push_back(text(r));
    CHECK(texts == std::vector<std::string>{"fine/k/ 1 b 1.000000 yes", "fine/k/ 2 a 1.500000 yes",
                                            "coarse/k/ 3 c 2.000000 yes", "coarse/k/ 4 d 2.500000 yes",
                                            "coarse/l/ 1 a 1.000000 yes"});
    // The other way round the fine rows go, and both launches on b stay.
    auto coarse = model::prefer(rows, {"coarse", "fine"});
    CHECK(coarse.size() == 6);
    for (auto& p : coarse) CHECK(p.model == "coarse");
  }
  // Where no model has a time, the last one's rows stay, so that a sum sees that one is missing.
  auto other = none;
  other.model = "coarse";
  auto const left = model::prefer({none, other}, {"fine", "coarse"});
  REQUIRE(left.size() == 1);
  CHECK(left[0].model == "coarse");
}

TEST_CASE("undecided rows are those of open choices, and of what overlaps their best") {
  auto a = projection("k", "a", 10), b = projection("k", "b", 12), c = projection("k", "c", 20);
  a.time_high_s = 13;
  auto rows = model::rank({a, b, c, projection("l", "a", 1), projection("l", "b", 2)});
  REQUIRE(std::erase_if(rows, [](auto const& row) { return row.decided; }) == 3);
  REQUIRE(rows.size() == 2);
  CHECK(text(rows[0]) == "m/k/ 1 a 1.000000 no");
  CHECK(text(rows[1]) == "m/k/ 2 b 1.200000 no");
}

TEST_CASE("a projection without time takes no part") {
  auto none = projection("k", "b", 1);
  none.time_s.reset();
  CHECK(model::rank({projection("k", "a", 1), none}).size() == 1);
  CHECK(model::rank({none}).empty());
  CHECK(model::share({none}).empty());
  CHECK(model::assign({none}).empty());
}

TEST_CASE("a ranking does not depend on the order of the rows") {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<Projection> rows;
    for (std::string const model : {"m", "n"})
      for (std::string const kernel : {"j", "k"})
        for (std::string const device : {"a", "b", "c", "d"}) {
          rows.push_back(projection(kernel, device, 1 + random() % 3, model));
          rows.back().time_low_s = *rows.back().time_s * 0.6;
          rows.back().time_high_s = *rows.back().time_s * 1.2;
        }
    auto shuffled = rows;
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    auto const first = model::rank(rows), second = model::rank(shuffled);
    REQUIRE(first.size() == second.size());
    for (std::size_t i = 0; i < first.size(); ++i) CHECK(text(first[i]) == text(second[i]));
    auto const one = model::share(rows), two = model::share(shuffled);
    for (std::size_t i = 0; i < one.size(); ++i) CHECK(one[i].share == two[i].share);
  }
}

TEST_CASE("shares are proportional to 1/time and sum to 1") {
  auto const rows = model::share({projection("k", "a", 1), projection("k", "b", 3)});
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].share == Approx(0.75));
  CHECK(rows[1].share == Approx(0.25));
  auto const tiny = model::share({projection("k", "a", 5e-324), projection("k", "b", 1e300)});
  CHECK(tiny[0].share + tiny[1].share == Approx(1));
}

TEST_CASE("selection penalty and relative error are those of the paper") {
  // Chosen: a (projected 1); best: b (measured 2). Penalty (3 - 2) / 2. Unit vectors: measured (3, 2)/sqrt(13),
  // projected (1, 2)/sqrt(5).
  std::vector<Projection> const projected{projection("k", "a", 1), projection("k", "b", 2), projection("k", "x", 0.1)};
  std::vector<Measured> const measured{{"k", "", "a", 3.0}, {"k", "", "b", 2.0}, {"k", "", "y", 0.5}};
  auto const result = model::assess(projected, measured);
  REQUIRE(result.rows.size() == 1);
  CHECK(result.rows[0].chosen_device == "a");
  CHECK(result.rows[0].best_device == "b");
  CHECK(result.rows[0].selection_penalty_pct == Approx(50));
  double const da = 3 / std::sqrt(13) - 1 / std::sqrt(5), db = 2 / std::sqrt(13) - 2 / std::sqrt(5);
  CHECK(result.rows[0].relative_error_pct == Approx(100 * std::sqrt((da * da + db * db) / 2)));
  CHECK(result.measured_not_projected == 1);
  CHECK(model::assess(projected, {{"k", "", "a", 3.0}}).too_few == 1);
}

TEST_CASE("proportional times have no error and repeated measurements count with their median") {
  auto const result =
      model::assess({projection("k", "a", 1e-200), projection("k", "b", 2e-200)},
                    {{"k", "", "a", 4.0}, {"k", "", "a", 5.0}, {"k", "", "a", 900.0}, {"k", "", "b", 10.0}});
  REQUIRE(result.rows.size() == 1);
  CHECK(result.rows[0].relative_error_pct == Approx(0).margin(1e-9));
  CHECK(result.rows[0].selection_penalty_pct == 0);
}

TEST_CASE("the summary holds means and the trivial rankings") {
  std::vector<Projection> projected;
  std::vector<Measured> measured;
  auto const add = [&](std::string const& kernel, double pa, double pb, double ma, double mb) {
    projected.push_back(projection(kernel, "a", pa));
    projected.push_back(projection(kernel, "b", pb));
    measured.push_back({kernel, "", "a", ma});
    measured.push_back({kernel, "", "b", mb});
  };
  add("j", 1, 2, 1, 2);  // right, a
  add("k", 1, 2, 3, 2);  // wrong: penalty 50 %
  add("l", 2, 1, 1, 4);  // wrong: penalty 300 %
  auto const rows = model::summarise(projected, measured, {{"a", {1e12, 1e9}}, {"b", {2e12, 1e8}}});
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].model == "m");
  CHECK(rows[0].cases == 3);
  CHECK(rows[0].best_picked_pct == Approx(100.0 / 3));
  CHECK(rows[0].mean_selection_penalty_pct == Approx(350.0 / 3));
  CHECK(rows[0].max_selection_penalty_pct == Approx(300));
  CHECK(rows[1].model == "trivial:peak_flops");  // always b
  CHECK(rows[1].mean_selection_penalty_pct == Approx((100.0 + 0 + 300) / 3));
  CHECK(rows[1].mean_relative_error_pct);
  CHECK(rows[2].model == "trivial:peak_bandwidth");  // always a
  CHECK(rows[2].best_picked_pct == Approx(200.0 / 3));
  CHECK(rows[3].model == "trivial:most_often_best");  // a
  CHECK(rows[3].mean_selection_penalty_pct == Approx(50.0 / 3));
  CHECK_FALSE(rows[3].mean_relative_error_pct);
  CHECK(model::summarise(projected, measured, {{"a", {1e12, 1e9}}}).size() == 2);  // b's peaks are unknown
}

TEST_CASE("an assignment is as short as the best of all placements") {
  std::mt19937 random(6);
  for (int round = 0; round < 300; ++round) {
    std::size_t const devices = 1 + random() % 4, jobs = 1 + random() % 7;
    std::vector<std::vector<double>> time(jobs, std::vector<double>(devices));
    std::vector<Projection> rows;
    for (std::size_t j = 0; j < jobs; ++j)
      for (std::size_t d = 0; d < devices; ++d) {
        bool const possible = d == j % devices || random() % 4 > 0;
        time[j][d] = possible ? 1 + static_cast<double>(random() % 1000) / 7 : std::numeric_limits<double>::infinity();
        if (possible) rows.push_back(projection("k" + std::to_string(j), "d" + std::to_string(d), time[j][d]));
      }
    auto const schedules = model::assign(rows);
    REQUIRE(schedules.size() == 1);
    std::vector<double> load(devices);
    double const expected = brute_force(time, 0, load);
    CHECK(schedules[0].exact);
    CHECK(schedules[0].makespan_s == Approx(expected));
    CHECK(schedules[0].rows.size() == jobs);
    std::map<std::string, double> end;
    for (auto const& row : schedules[0].rows) {
      CHECK(row.start_s == end[row.device]);  // no gap, no overlap
      end[row.device] = row.end_s;
    }
    double last = 0;
    for (auto const& [device, t] : end) last = std::max(last, t);
    CHECK(last == Approx(expected));
  }
}

TEST_CASE("many kernels are placed soon, at most twice as long as any placement can be") {
  std::mt19937 random(7);
  std::vector<Projection> rows;
  double sum = 0, longest = 0;
  for (int j = 0; j < 200; ++j) {
    double shortest = 1e9;
    for (int d = 0; d < 6; ++d) {
      double const t = 1 + static_cast<double>(random() % 1000);
      shortest = std::min(shortest, t);
      rows.push_back(projection("k" + std::to_string(j), "d" + std::to_string(d), t));
    }
    sum += shortest;
    longest = std::max(longest, shortest);
  }
  auto const schedule = model::assign(rows, 20000).at(0);
  CHECK_FALSE(schedule.exact);
  CHECK(schedule.rows.size() == 200);
  CHECK(schedule.makespan_s >= std::max(sum / 6, longest));
  CHECK(schedule.makespan_s <= 2 * std::max(sum / 6, longest));
}
