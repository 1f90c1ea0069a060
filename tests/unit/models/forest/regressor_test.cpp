// Targets taken apart into a kernel's level and the ratios of devices.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/diag/diag.hpp"
#include "catch.hpp"
#include "models/forest/model_file.hpp"
#include "models/forest/random.hpp"
#include "models/forest/regressor.hpp"
#include "models/forest/validation.hpp"

using namespace kernelcast;
using namespace kernelcast::forest;

namespace {

constexpr double speed[] = {1, 3, 0.5, 7, 2};
constexpr std::size_t device_count = std::size(speed);

// Kernels with three features on devices with one: time = size * noise / speed, with work that only features show.
Data measured(std::size_t kernels, double noise, std::uint64_t seed) {
  Random random(seed);
  Data out;
  out.samples.features = 4;
  out.kernel_features = 3;
  for (std::size_t k = 0; k < kernels; ++k) {
    float x[3];
    for (float& v : x) v = static_cast<float>(100 * random.uniform());
    for (std::size_t d = 0; d < device_count; ++d) {
      out.samples.x.insert(out.samples.x.end(), std::begin(x), std::end(x));
      out.samples.x.push_back(static_cast<float>(speed[d]));
      out.samples.y.push_back(1e-6 * std::exp(x[0] / 10) / speed[d] * std::exp(noise * random.uniform()));
      out.configurations.push_back(k);
      out.devices.push_back(d);
    }
  }
  out.groups = out.configurations;
  out.measured = out.samples.y;
  return out;
}

std::vector<std::size_t> without(Data const& data, std::vector<std::size_t> const& left_out) {
  std::vector<std::size_t> rows;
  for (std::size_t i = 0; i < data.samples.size(); ++i)
    if (std::find(left_out.begin(), left_out.end(), i) == left_out.end()) rows.push_back(i);
  return rows;
}

Plan ratios(std::size_t trees = 24) {
  Plan out;
  out.forest.trees = trees;
  out.form = TargetForm::ratio;
  return out;
}

std::vector<double> values(Regressor const& regressor, Samples const& asked) {
  Scratch scratch;
  std::vector<double> out;
  for (auto const& p : regressor.predict_rows(asked.x, scratch)) out.push_back(p.value);
  return out;
}

Model model_of(Regressor regressor, std::size_t samples) {
  std::vector<std::string> const names(samples, "k/c on d");
  return {"time_s", "", "", {"a", "b", "c"}, {"speed"}, {}, names, {}, std::move(regressor)};
}

}  // namespace

TEST_CASE("devices that differ by a factor are ranked perfectly for kernels never seen") {
  auto const data = measured(40, 0, 1), asked = measured(30, 0, 2);
  auto const out = values(Regressor::fit(data, ratios()), asked.samples);
  auto const [least, greatest] = std::minmax_element(data.samples.y.begin(), data.samples.y.end());
  for (std::size_t k = 0; k < 30; ++k)
    for (std::size_t d = 1; d < device_count; ++d) {
      double const first = out[k * device_count], other = out[k * device_count + d];
      if (std::min(first, other) <= *least || std::max(first, other) >= *greatest) continue;  // held within the targets
      CHECK(first / other == Approx(speed[d] / speed[0]).epsilon(1e-9));
    }
}

TEST_CASE("a level does not depend on which devices measured it") {
  auto const data = measured(20, 0, 3);
  // Kernel 0 lacks the two fastest devices, kernel 1 the slowest, kernel 2 has one alone.
  auto const some = subset(data, without(data, {1, 3, 7, 10, 11, 12, 14}));
  auto const all = parts_of(data), parts = parts_of(some);
  auto levels = all.level.y, again = parts.level.y;
  std::sort(levels.begin(), levels.end());
  std::sort(again.begin(), again.end());
  REQUIRE(levels.size() == again.size());
  for (std::size_t i = 0; i < levels.size(); ++i) CHECK(again[i] == Approx(levels[i]).epsilon(1e-9));
  for (std::size_t i = 0; i < parts.ratio.size(); ++i)
    CHECK(parts.ratio[i] == Approx(all.ratio[some.devices[i]]).epsilon(1e-9));
  // Without gaps the level is the mean.
  double mean = 0;
  for (std::size_t d = 0; d < device_count; ++d) mean += std::log(data.samples.y[d]) / device_count;
  CHECK(std::log(all.level.y[0] * all.ratio[0]) ==
        Approx(std::log(data.samples.y[0]) - mean + std::log(all.level.y[0])));
}

TEST_CASE("of two forests the product stays within the targets, and inside its interval") {
  auto const data = measured(30, 0.5, 4), asked = measured(60, 0.5, 5);
  auto const [least, greatest] = std::minmax_element(data.samples.y.begin(), data.samples.y.end());
  for (auto const objective : {Objective::mean, Objective::relative})
    for (double const margin : {-0.3, 0.0, 0.3}) {
      auto plan = ratios();
      plan.objective = objective;
      auto regressor = Regressor::fit(data, plan);
      regressor.set_margin(margin);
      CHECK(regressor.plan().margin == margin);
      Scratch one, many;
      auto const together = regressor.predict_rows(asked.samples.x, many);
      for (std::size_t i = 0; i < together.size(); ++i) {
        auto const& p = together[i];
        CHECK((*least <= p.value && p.value <= *greatest));
        CHECK((0 < p.low && p.low <= p.value && p.value <= p.high));
        CHECK(p == regressor.predict(asked.samples.row(i), one));
      }
    }
}

TEST_CASE("neither rows' order nor numbers of groups nor threads change ratios") {
  auto const data = measured(25, 0.4, 6), asked = measured(20, 0.4, 7);
  auto const some = without(data, {3, 17, 40});
  auto const expected = values(Regressor::fit(subset(data, some), ratios()), asked.samples);
  auto order = some;
  Random(8).shuffle(order);
  auto other = subset(data, order);
  for (auto& device : other.devices) device = 10 - 2 * device;
  auto plan = ratios();
  plan.forest.threads = 3;
  CHECK(values(Regressor::fit(other, plan), asked.samples) == expected);
}

TEST_CASE("ratios rank noisy devices no worse than one forest of times") {
  auto const data = measured(60, 1.0, 9);
  auto const folds = leave_group_out(data.configurations, "kernel and case");
  auto const penalty = [&](TargetForm form) {
    auto plan = ratios(32);
    plan.form = form;
    std::vector<double> projected(data.samples.size());
    for (auto const& one : cross_validate(data, folds, plan)) projected[one.row] = one.prediction.value;
    double sum = 0;
    for (std::size_t begin = 0; begin < projected.size(); begin += device_count) {
      auto const first = projected.begin() + static_cast<std::ptrdiff_t>(begin);
      auto const chosen = begin + static_cast<std::size_t>(std::min_element(first, first + device_count) - first);
      auto const times = data.measured.begin() + static_cast<std::ptrdiff_t>(begin);
      sum += data.measured[chosen] / *std::min_element(times, times + device_count) - 1;
    }
    return sum;
  };
  double const direct = penalty(TargetForm::direct), ratio = penalty(TargetForm::ratio);
  INFO("penalties " << direct << " of times, " << ratio << " of ratios");
  CHECK(ratio <= direct);
}

TEST_CASE("a model of ratios survives its file, and damaged ones are refused") {
  auto const data = measured(15, 0.5, 10), asked = measured(10, 0.5, 11);
  auto regressor = Regressor::fit(data, ratios(6));
  regressor.set_margin(0.25);
  auto const model = model_of(std::move(regressor), data.samples.size());
  auto const text = model_text(model);
  auto const again = parse_model(text, "m.json");
  CHECK(values(again.regressor, asked.samples) == values(model.regressor, asked.samples));
  CHECK(model_text(again) == text);
  auto const replaced = [&](std::string const& what, std::string const& by) {
    auto out = text;
    auto const at = out.find(what);
    REQUIRE(at != std::string::npos);
    return out.replace(at, what.size(), by);
  };
  for (auto const& damaged :
       {replaced("\"level\"", "\"levels\""), replaced("\"least\": ", "\"least\": -"),
        replaced("\"greatest\"", "\"most\""), replaced("\"scale\": \"log\"", "\"scale\": \"plain\""),
        replaced("\"of\": \"device\"", "\"of\": \"projection\""),
        replaced("\"target_form\": \"ratio\"", "\"target_form\": \"double\"")})
    CHECK_THROWS_AS(parse_model(damaged, "m.json"), Error);
  for (std::size_t cut = 0; cut < text.size(); cut += 499)
    CHECK_THROWS_AS(parse_model(text.substr(0, cut), "m.json"), Error);
  Random random(12);
  for (int i = 0; i < 1000; ++i) {
    auto damaged = text;
    damaged[random.below(damaged.size())] = static_cast<char>(32 + random.below(95));
    try {
      auto const odd = parse_model(damaged, "m.json");
      if (odd.features() != 4) continue;
      Scratch scratch;
      auto const p = odd.regressor.predict(asked.samples.row(0), scratch);
      CHECK(p.low <= p.value);
    } catch (Error const& error) {
      CHECK(error.status() == Status::bad_data);
    }
  }
}

TEST_CASE("a model of the version before is read") {
  Samples const samples{1, {1, 2, 3}, {1, 2, 4}};
  Plan plan;
  plan.forest.trees = 4;
  Model const model{"time_s", "", "d", {"a"}, {}, {}, {"x", "y", "z"}, {}, Regressor(Estimator::fit(samples, plan))};
  auto text = model_text(model);
  auto const drop = [&](std::string const& what, std::string const& by) {
    text.replace(text.find(what), what.size(), by);
  };
  drop("\"version\": 3", "\"version\": 2");
  drop("\"target_form\": \"direct\",", "");
  CHECK(values(parse_model(text, "m.json").regressor, samples) == values(model.regressor, samples));
  drop("\"version\": 2", "\"version\": 3");
  CHECK_THROWS_AS(parse_model(text, "m.json"), Error);
}

TEST_CASE("ratios say what they lack") {
  auto data = measured(5, 0, 13);
  auto plan = ratios();
  plan.scale = Scale::plain;
  CHECK_THROWS_AS(Regressor::fit(data, plan), Error);
  data.samples.y[3] = 0;
  CHECK_THROWS_WITH(Regressor::fit(data, ratios()), Contains("not above 0"));
  data.devices.clear();
  CHECK_THROWS_AS(Regressor::fit(data, ratios()), Error);
}

TEST_CASE("importances of two forests come to 1, and a device's belongs to its feature") {
  auto const regressor = Regressor::fit(measured(40, 0, 14), ratios());
  auto const out = regressor.importance();
  CHECK(std::accumulate(out.begin(), out.end(), 0.0) == Approx(1));
  // Without noise the device's feature explains the ratios, and all of them.
  double of_ratio = 0, mean = 0;
  for (double const s : speed) mean += std::log(s) / device_count;
  for (double const s : speed) of_ratio += (std::log(s) - mean) * (std::log(s) - mean) / device_count;
  auto const& levels = regressor.level()->forest().targets;
  double const level_mean = std::accumulate(levels.begin(), levels.end(), 0.0) / static_cast<double>(levels.size());
  double of_level = 0;
  for (double const l : levels) of_level += (l - level_mean) * (l - level_mean) / static_cast<double>(levels.size());
  CHECK(out[3] == Approx(of_ratio / (of_ratio + of_level)).epsilon(1e-6));
}
