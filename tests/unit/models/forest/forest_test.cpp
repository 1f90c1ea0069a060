// Forests: what must hold for any of them, and what is known in closed form.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <numeric>

#include "base/diag/diag.hpp"
#include "catch.hpp"
#include "models/forest/correlation.hpp"
#include "models/forest/estimator.hpp"
#include "models/forest/folds.hpp"
#include "models/forest/model_file.hpp"
#include "models/forest/onnx.hpp"
#include "models/forest/random.hpp"
#include "models/forest/threads.hpp"
#include "models/forest/validation.hpp"

using namespace kernelcast;
using namespace kernelcast::forest;

namespace {

Samples random_samples(std::size_t n, std::size_t features, std::uint64_t seed) {
  Random random(seed);
  Samples out;
  out.features = features;
  for (std::size_t i = 0; i < n; ++i) {
    double sum = 1;
    for (std::size_t f = 0; f < features; ++f) {
      auto const value = static_cast<float>(100 * random.uniform());
      out.x.push_back(value);
      if (f < 2) sum += value;
    }
    out.y.push_back(1e-6 * sum * (1 + 0.05 * random.uniform()));
  }
  return out;
}

Plan small_plan(std::size_t trees = 32) {
  Plan out;
  out.forest.trees = trees;
  return out;
}

Samples permuted(Samples const& samples, std::uint64_t seed) {
  std::vector<std::size_t> order(samples.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Random(seed).shuffle(order);
  Samples out;
  out.features = samples.features;
  for (auto const i : order) {
    auto const x = samples.row(i);
    out.x.insert(out.x.end(), x.begin(), x.end());
    out.y.push_back(samples.y[i]);
  }
  return out;
}

template <class Forests>  // an Estimator or a Regressor
std::vector<double> predictions(Forests const& forests, Samples const& asked) {
  Scratch scratch;
  std::vector<double> out;
  for (std::size_t i = 0; i < asked.size(); ++i) out.push_back(forests.predict(asked.row(i), scratch).value);
  return out;
}

Model model_of(Estimator estimator, std::size_t samples) {
  std::vector<std::string> features, names;
  for (std::size_t f = 0; f < estimator.low().size(); ++f) features.push_back("f" + std::to_string(f));
  for (std::size_t i = 0; i < samples; ++i) names.push_back("k" + std::to_string(i) + "/c");
  return {"time_s", "", "d", features, {}, {}, names, {{"program", "test"}}, Regressor(std::move(estimator))};
}

// The mean over the trees, walked node by node in the pre-order: another way than Flat's.
double walked(Forest const& forest, std::span<float const> x) {
  double sum = 0;
  for (auto const& tree : forest.trees) {
    std::size_t node = 0, threshold = 0, leaf = 0;
    auto const skip = [&] {  // the subtree at `node`
      for (std::size_t open = 1; open > 0; ++node)
        if (tree.split[node] == Tree::leaf) {
          --open;
          ++leaf;
        } else {
          ++open;
          ++threshold;
        }
    };
    while (tree.split[node] != Tree::leaf) {
      bool const left = x[tree.split[node]] <= tree.threshold[threshold];
      ++node;
      ++threshold;
      if (!left) skip();
    }
    sum += leaf_values(tree, forest)[leaf];
  }
  return sum / static_cast<double>(forest.trees.size());
}

}  // namespace

TEST_CASE("a forest reproduces the samples that it was grown on") {
  auto const samples = random_samples(200, 5, 1);
  for (auto const criterion : {Criterion::mse, Criterion::mae})
    for (auto const rule : {MaxFeatures::all, MaxFeatures::sqrt}) {
      auto plan = small_plan();
      plan.forest.criterion = criterion;
      plan.forest.max_features = rule;
      auto const estimator = Estimator::fit(samples, plan);
      auto const out = predictions(estimator, samples);
      for (std::size_t i = 0; i < out.size(); ++i) CHECK(out[i] == Approx(samples.y[i]).epsilon(1e-12));
    }
}

TEST_CASE("predictions stay within the training targets, and their interval holds them") {
  auto const samples = random_samples(150, 4, 2), asked = random_samples(300, 4, 3);
  auto const [low, high] = std::minmax_element(samples.y.begin(), samples.y.end());
  for (auto const objective : {Objective::mean, Objective::relative}) {
    auto plan = small_plan();
    plan.objective = objective;
    auto const estimator = Estimator::fit(samples, plan);
    Scratch scratch;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      std::vector<float> x(asked.row(i).begin(), asked.row(i).end());
      if (i % 3 == 0) x[0] *= 1e6F;
      auto const p = estimator.predict(x, scratch);
      CHECK((*low <= p.value && p.value <= *high));
      CHECK((p.low <= p.value && p.value <= p.high));
      if (i % 3 == 0 && asked.row(i)[0] > 1) CHECK(p.outside == std::optional<std::size_t>(0));
      if (i % 3 == 0 && asked.row(i)[0] > 1) CHECK(p.extrapolated());
    }
  }
}

TEST_CASE("the flat form predicts what the trees say") {
  auto const samples = random_samples(120, 6, 4), asked = random_samples(200, 6, 5);
  for (std::size_t const trees : {1, 15, 16, 17, 40}) {
    auto plan = small_plan(trees);
    plan.scale = Scale::plain;
    plan.forest.cuts = Cuts::log;
    auto const estimator = Estimator::fit(samples, plan);
    auto const out = predictions(estimator, asked);
    for (std::size_t i = 0; i < out.size(); ++i)
      CHECK(out[i] == Approx(walked(estimator.forest(), asked.row(i))).epsilon(1e-12));
  }
}

TEST_CASE("many rows at once give the bits that one at a time gives") {
  Random random(21);
  for (std::size_t const features : {1, 3, 12, 40}) {
    auto samples = random_samples(150, features, 22), asked = random_samples(1100, features, 23);
    for (auto* const set : {&samples, &asked})  // of either sign, zeros of both signs, equal ones, far ones
      for (float& x : set->x)
        if (auto const kind = random.below(6); kind < 5)
          x = std::array{-x, -0.0F, 0.0F, std::floor(x), x * 1e30F}.at(kind);
    for (auto const objective : {Objective::mean, Objective::relative}) {
      auto plan = small_plan(33);
      plan.objective = objective;
      auto const estimator = Estimator::fit(samples, plan);
      Scratch scratch;
      std::size_t const first[] = {1, 16, 33};
      for (std::size_t const rows : {0, 1, 15, 16, 17, 1100}) {
        std::span const x(asked.x.data(), rows * features);
        auto const together = estimator.predict_rows(x, scratch, first);
        REQUIRE(together.size() == rows * 3);
        for (std::size_t i = 0; i < rows; ++i) {
          auto const alone = estimator.predict(asked.row(i), scratch, first);
          for (std::size_t k = 0; k < 3; ++k) CHECK(together[i * 3 + k] == alone[k]);
        }
        CHECK(estimator.predict_rows(x, scratch).size() == rows);
      }
    }
  }
}

TEST_CASE("neither the order of the rows nor the number of threads changes a forest") {
  auto const samples = random_samples(100, 5, 6), asked = random_samples(50, 5, 7);
  auto const expected = predictions(Estimator::fit(samples, small_plan()), asked);
  CHECK(predictions(Estimator::fit(permuted(samples, 8), small_plan()), asked) == expected);
  auto plan = small_plan();
  plan.forest.threads = 3;
  CHECK(predictions(Estimator::fit(samples, plan), asked) == expected);
  plan.forest.seed = 1;
  CHECK(predictions(Estimator::fit(samples, plan), asked) != expected);
}

TEST_CASE("the first trees of a larger forest are the smaller one") {
  auto const samples = random_samples(80, 3, 9), asked = random_samples(20, 3, 10);
  auto const large = Estimator::fit(samples, small_plan(64)), small = Estimator::fit(samples, small_plan(16));
  Scratch scratch;
  std::size_t const first[] = {16, 64};
  for (std::size_t i = 0; i < asked.size(); ++i)
    CHECK(large.predict(asked.row(i), scratch, first)[0].value == small.predict(asked.row(i), scratch).value);
}

TEST_CASE("a duplicated feature does not hurt") {
  auto const samples = random_samples(300, 4, 11);
  Samples doubled;
  doubled.features = 8;
  doubled.y = samples.y;
  for (std::size_t i = 0; i < samples.size(); ++i)
    for (int twice = 0; twice < 2; ++twice)
      doubled.x.insert(doubled.x.end(), samples.row(i).begin(), samples.row(i).end());
  Groups each(samples.size());
  std::iota(each.begin(), each.end(), std::size_t{0});
  auto const folds = random_folds(each, 5, 1);
  auto const once = score({samples, samples.y, {}}, cross_validate({samples, samples.y, {}}, folds, small_plan(64)));
  auto const twice = score({doubled, doubled.y, {}}, cross_validate({doubled, doubled.y, {}}, folds, small_plan(64)));
  INFO("MAPE " << once.mape_pct << " % once, " << twice.mape_pct << " % twice");
  CHECK(twice.mape_pct < once.mape_pct * 1.15);
}

TEST_CASE("of a step function the cut falls between its sides") {
  Samples samples;
  samples.features = 1;
  for (int i = 0; i < 20; ++i) {
    samples.x.push_back(static_cast<float>(i));
    samples.y.push_back(i < 10 ? 1 : 3);
  }
  auto const estimator = Estimator::fit(samples, small_plan());
  auto const& forest = estimator.forest();
  CHECK(forest.importance == std::vector<double>{1});
  Scratch scratch;
  float const left = 0, right = 19, middle = 9.5;
  CHECK(estimator.predict({&left, 1}, scratch).value == 1);
  CHECK(estimator.predict({&right, 1}, scratch).value == 3);
  auto const p = estimator.predict({&middle, 1}, scratch);
  CHECK((p.value > 1 && p.value < 3));
  CHECK((p.low == 1 && p.high == 3));
}

TEST_CASE("leaves of equal features hold mean or median, and the interval their targets") {
  Samples samples;
  samples.features = 1;
  samples.x = {1, 1, 1, 1, 1};
  samples.y = {1, 2, 3, 10, 100};
  auto plan = small_plan(8);
  plan.scale = Scale::plain;
  Scratch scratch;
  float const x = 1;
  auto const mean = Estimator::fit(samples, plan).predict({&x, 1}, scratch);
  CHECK(mean.value == Approx(116.0 / 5));
  CHECK((mean.low == 1 && mean.high == 100));
  plan.forest.criterion = Criterion::mae;
  CHECK(Estimator::fit(samples, plan).predict({&x, 1}, scratch).value == 3);
  // Least of sum |y - p| / y over p: at 2 it is 1 + 0 + 1/3 + 0.8 + 0.98, at 1: 0 + 0.5 + 2/3 + 0.9 + 0.99 (less).
  plan.objective = Objective::relative;
  CHECK(Estimator::fit(samples, plan).predict({&x, 1}, scratch).value == 1);
}

TEST_CASE("one sample, equal targets, and targets that have no logarithm") {
  Samples one{1, {2}, {5}};
  Scratch scratch;
  float const x = 7;
  CHECK(Estimator::fit(one, small_plan()).predict({&x, 1}, scratch).value == Approx(5));
  Samples equal{1, {1, 2, 3}, {5, 5, 5}};
  CHECK(Estimator::fit(equal, small_plan()).predict({&x, 1}, scratch).value == Approx(5));
  Samples zero{1, {1, 2}, {0, 5}};
  CHECK_THROWS_AS(Estimator::fit(zero, small_plan()), Error);
  Samples negative{1, {1, 2}, {-1, 5}};
  CHECK_THROWS_AS(Estimator::fit(negative, small_plan()), Error);
  Samples none{1, {}, {}};
  CHECK_THROWS_AS(train(none, {}), Error);
  Samples nan{1, {1, 2}, {std::nan(""), 5}};
  CHECK_THROWS_AS(Estimator::fit(nan, small_plan()), Error);
}

TEST_CASE("folds: groups stay together, every row is tested once, the five longest never") {
  Groups groups;
  std::vector<double> seconds;
  Random random(12);
  for (std::size_t i = 0; i < 300; ++i) {
    groups.push_back(i / 2);
    seconds.push_back(std::exp(-14 + 14 * random.uniform()));
  }
  auto const count_tests = [&](Folds const& folds) {
    std::vector<int> tested(groups.size());
    for (auto const& fold : folds)
      for (auto const row : fold) ++tested[row];
    return tested;
  };
  auto const plain = random_folds(groups, 7, 3);
  CHECK(plain.size() == 7);
  CHECK(count_tests(plain) == std::vector<int>(groups.size(), 1));
  for (auto const& fold : plain)
    for (auto const row : fold) CHECK(std::find(fold.begin(), fold.end(), row ^ 1U) != fold.end());
  auto const balanced = balanced_folds(groups, seconds, 5, 3);
  auto const tested = count_tests(balanced);
  CHECK(std::count(tested.begin(), tested.end(), 0) == 10);  // five groups of two
  for (std::size_t i = 0; i < seconds.size(); ++i)
    if (tested[i] == 0) {
      auto const longer = std::count_if(seconds.begin(), seconds.end(), [&](double s) { return s > seconds[i]; });
      auto const partner = std::count_if(seconds.begin(), seconds.end(), [&](double s) { return s > seconds[i ^ 1U]; });
      CHECK(std::min(longer, partner) < 10);
    }
  auto const longs = [&](std::vector<std::size_t> const& fold) {
    return std::count_if(fold.begin(), fold.end(),
                         [&](auto row) { return std::max(seconds[row], seconds[row ^ 1U]) >= 0.1; });
  };
  for (auto const& fold : balanced) CHECK(std::abs(longs(fold) - longs(balanced.front())) <= 2);
  CHECK(leave_group_out(groups, "kernel").size() == 150);
  CHECK_THROWS_AS(leave_group_out(Groups(4, 0), "kernel"), Error);
  CHECK_THROWS_AS(random_folds({0, 0, 1, 1}, 3, 0), Error);
}

TEST_CASE("the score of known errors") {
  Data data{{1, {1, 2, 3, 4}, {1, 2, 4, 10}}, {1, 2, 4, 10}, {}};
  std::vector<HeldOut> held_out;
  double const values[] = {1.1, 1.0, 4.0, 20};  // 10 %, 50 %, 0 %, 100 %
  for (std::size_t i = 0; i < 4; ++i) {
    HeldOut one;
    one.row = i;
    one.prediction.value = values[i];
    one.prediction.low = values[i] * 0.9;
    one.prediction.high = values[i] * 1.5;
    held_out.push_back(one);
  }
  auto const out = score(data, held_out);
  CHECK(out.mape_pct == Approx(40));
  CHECK(out.median_pct == Approx(30));
  CHECK(out.coverage_pct == Approx(50));  // the first and the third
}

TEST_CASE("a widened interval covers its share") {
  auto const samples = random_samples(300, 3, 13);
  Data data{samples, samples.y, {}};
  Groups each(samples.size());
  std::iota(each.begin(), each.end(), std::size_t{0});
  auto const folds = random_folds(each, 5, 1);
  auto plan = small_plan(64);
  auto const held_out = cross_validate(data, folds, plan);
  plan.margin = calibration(data, held_out, plan);
  auto const covered = score(data, cross_validate(data, folds, plan)).coverage_pct;
  INFO("widened by " << plan.margin << ", covers " << covered << " %, shall 90 %");
  CHECK((covered > 88 && covered < 93));
}

TEST_CASE("a model survives its file, and damaged ones are refused") {
  auto const samples = random_samples(60, 4, 14), asked = random_samples(40, 4, 15);
  auto const model = model_of(Estimator::fit(samples, small_plan(8)), samples.size());
  auto const text = model_text(model);
  auto const again = parse_model(text, "m.json");
  CHECK(predictions(again.regressor, asked) == predictions(model.regressor, asked));
  CHECK(model_text(again) == text);
  CHECK_THROWS_AS(parse_model("", "m.json"), Error);
  CHECK_THROWS_AS(parse_model("{}", "m.json"), Error);
  CHECK_THROWS_AS(parse_model("[1]", "m.json"), Error);
  for (std::size_t cut = 0; cut < text.size(); cut += 997)
    CHECK_THROWS_AS(parse_model(text.substr(0, cut), "m.json"), Error);
  // A changed byte is refused or gives a model that predicts within its targets; it never does harm.
  Random random(16);
  Scratch scratch;
  for (int i = 0; i < 1500; ++i) {
    auto damaged = text;
    damaged[random.below(damaged.size())] = static_cast<char>(32 + random.below(95));
    try {
      auto const odd = parse_model(damaged, "m.json");
      if (odd.features() != 4) continue;
      auto const p = odd.regressor.predict(asked.row(0), scratch);
      CHECK(p.low <= p.value);
      scratch = {};
    } catch (Error const& error) {
      CHECK(error.status() == Status::bad_data);
    }
  }
}

TEST_CASE("an ONNX message begins as one, and says what has no such form") {
  auto const samples = random_samples(30, 3, 17);
  auto plan = small_plan(4);
  auto const message = onnx_message(model_of(Estimator::fit(samples, plan), samples.size()), "0");
  CHECK(message.substr(0, 2) == "\x08\x06");  // ir_version 6
  CHECK(message.find("TreeEnsembleRegressor") != std::string::npos);
  plan.objective = Objective::relative;
  CHECK_THROWS_AS(onnx_message(model_of(Estimator::fit(samples, plan), samples.size()), "0"), Error);
}

TEST_CASE("Pearson's coefficient") {
  CHECK(*pearson({1, 2, 3}, {2, 4, 6}) == Approx(1));
  CHECK(*pearson({1, 2, 3}, {3, 2, 1}) == Approx(-1));
  CHECK(*pearson({1, 2, 3, 4}, {1, 3, 2, 4}) == Approx(0.8));
  CHECK_FALSE(pearson({1, 1}, {1, 2}).has_value());
  CHECK_FALSE(pearson({1}, {2}).has_value());
}

TEST_CASE("nested cross-validation chooses among what it was given") {
  auto const samples = random_samples(90, 12, 18);
  Data const data{samples, samples.y, {}};
  Divide const divide = [](std::vector<std::size_t> const& rows, std::size_t count, std::uint64_t seed) {
    Groups each(rows.size());
    std::iota(each.begin(), each.end(), std::size_t{0});
    return random_folds(each, count, seed);
  };
  Search search;
  search.trees = {4, 8};
  std::vector<int> tested(90);
  nested_cross_validate(data, small_plan(), search, 2, 3, 2, divide, [&](Nested const& one) {
    CHECK((one.choice.settings.trees == 4 || one.choice.settings.trees == 8));
    CHECK(one.choice.mape_pct > 0);
    for (auto const& p : one.predictions) ++tested[p.row];
  });
  CHECK(tested == std::vector<int>(90, 2));
}

TEST_CASE("what a thread throws is thrown to the caller when all have ended") {
  std::atomic<int> begun{0}, ended{0};
  auto const body = [&] {
    if (begun++ == 1) throw std::bad_alloc();
    ++ended;
  };
  CHECK_THROWS_AS(on_threads(4, body), std::bad_alloc);
  CHECK(begun == 4);
  CHECK(ended == 3);
}
