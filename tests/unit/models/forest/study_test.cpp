// From tables to models: joining, stacking, calibration.
#include <cmath>

#include <fmt/format.h>

#include "base/diag/diag.hpp"
#include "catch.hpp"
#include "models/forest/random.hpp"
#include "models/forest/study/dataset.hpp"
#include "models/forest/study/learn.hpp"
#include "models/forest/study/scheme.hpp"

using namespace kernelcast;
using namespace kernelcast::forest;

namespace {

// Kernels whose time depends on a count and on something that no count shows, which another model projects to within
// a tenth.
struct Tables {
  std::string features = "kernel,case,count\n", targets = "kernel,case,device,time_s\n",
              projections = "kernel,case,device,model,time_s,time_low_s,time_high_s,limiter,status,reason\n";
  explicit Tables(std::size_t rows, std::size_t kernels = 20) {
    Random random(5);
    for (std::size_t i = 0; i < rows; ++i) {
      auto const name = fmt::format("k{},c{}", i % kernels, i);
      double const count = std::exp(8 * random.uniform()), hidden = std::exp(3 * random.uniform());
      double const time = 1e-6 * count * hidden;
      features += fmt::format("{},{}\n", name, count);
      targets += fmt::format("{},d,{}\n", name, time);
      projections += fmt::format("{},d,other,{},,,,ok,\n", name, time * (0.9 + 0.2 * random.uniform()));
    }
  }
  Dataset set(bool stacked, Selection const& selection = {}) const {
    Sources sources{{"f", features, ""}, {"t", targets, ""}, {}, {}};
    if (stacked) sources.projections.push_back({"p", projections, ""});
    return join(sources, selection).sets.front();
  }
};

Plan plan_of(std::size_t calibration_folds) {
  Plan out;
  out.forest.trees = 64;
  out.calibration_folds = calibration_folds;
  return out;
}

Score score_of(Dataset const& set, Plan const& plan, Scheme const& scheme = {}) {
  Score out;
  validate(set, plan, scheme, [&](Round const& round) { out = score(set.data, round.held_out); });
  return out;
}

}  // namespace

TEST_CASE("another model's projection is worth what it knows") {
  Tables const tables(300);
  auto const alone = score_of(tables.set(false), plan_of(0)), stacked = score_of(tables.set(true), plan_of(0));
  INFO("MAPE alone " << alone.mape_pct << " %, stacked " << stacked.mape_pct << " %");
  CHECK(alone.mape_pct > 60);
  CHECK(stacked.mape_pct < 20);
  auto const set = tables.set(true);
  CHECK(set.features() == std::vector<std::string>{"count", "other"});
  CHECK(learn(set, plan_of(0)).projections == std::vector<std::string>{"other"});
  // The feature is the logarithm of the projected time.
  auto const line = tables.projections.substr(tables.projections.find("k0,c0,d,other,") + 14);
  CHECK(set.data.samples.row(0)[1] == Approx(std::log(std::stod(line))));
}

TEST_CASE("a calibrated interval holds its share of what was not learnt, an uncalibrated one less") {
  Tables const tables(400);
  auto const set = tables.set(false);
  auto const plain = score_of(set, plan_of(0)), calibrated = score_of(set, plan_of(5));
  INFO("covered " << plain.coverage_pct << " % and " << calibrated.coverage_pct << " %");
  CHECK(plain.coverage_pct < 86);
  CHECK((calibrated.coverage_pct > 86 && calibrated.coverage_pct < 94));
  CHECK(plain.mape_pct == calibrated.mape_pct);
  auto const model = learn(set, plan_of(5));
  CHECK(model.regressor.plan().margin > 0);
  CHECK(model.provenance.at("calibration_folds") == "5");
  CHECK_FALSE(learn(set, plan_of(0)).provenance.contains("calibration_folds"));
}

TEST_CASE("held out by kernel the interval is wider, where kernels are unlike each other") {
  Tables tables(200, 10);
  tables.features = "kernel,case,count\n";
  tables.targets = "kernel,case,device,time_s\n";
  Random random(9);
  for (std::size_t i = 0; i < 200; ++i) {  // a factor that each kernel has
    auto const kernel = i % 10;
    tables.features += fmt::format("k{},c{},{}\n", kernel, i, 1000 * kernel + 100 * random.uniform());
    tables.targets += fmt::format("k{},c{},d,{}\n", kernel, i, std::exp(static_cast<double>(kernel * 7 % 10)) * 1e-6);
  }
  Selection by_kernel;
  by_kernel.group = "kernel";
  auto const like = calibrate(tables.set(false).data, plan_of(5)),
             unlike = calibrate(tables.set(false, by_kernel).data, plan_of(5));
  CHECK(unlike.margin > like.margin + 1);
  Scheme scheme;
  scheme.kind = Scheme::Kind::leave_group_out;
  scheme.group = "kernel";
  CHECK(score_of(tables.set(false, by_kernel), plan_of(5), scheme).coverage_pct >= 80);
  CHECK(score_of(tables.set(false, by_kernel), plan_of(0), scheme).coverage_pct < 50);
}

TEST_CASE("what cannot be calibrated is not") {
  // Groups whose numbers have gaps, because others are held out: each fold keeps something to learn from.
  auto some = subset(Tables(40).set(false).data, {3, 17, 39});
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    auto plan = plan_of(5);
    plan.forest.seed = seed;
    CHECK(calibrate(some, plan).folds == 3);
  }
  Tables const one(1), two(2);
  CHECK(calibrate(one.set(false).data, plan_of(5)).folds == 0);
  CHECK(calibrate(two.set(false).data, plan_of(5)).folds == 2);
  CHECK(calibrate(two.set(false).data, plan_of(0)).folds == 0);
}

TEST_CASE("tables that do not fit are refused by name") {
  Tables const tables(10);
  Sources sources{{"f", tables.features, ""}, {"t", tables.targets, ""}, {}, {}};
  Selection selection;
  selection.group = "suite";
  CHECK_THROWS_AS(join(sources, selection), Error);
  selection = {};
  selection.features = {"cout"};
  CHECK_THROWS_WITH(join(sources, selection), Contains("there is no feature 'cout'"));
  selection = {};
  selection.per = "counts";
  CHECK_THROWS_AS(join(sources, selection), Error);
  selection = {};
  selection.max_per_kernel = 0;
  sources.targets.text = "kernel,case,device,time_s\nother,1,d,5\n";
  CHECK_THROWS_WITH(join(sources, selection), Contains("nothing in the features has a target"));
}
