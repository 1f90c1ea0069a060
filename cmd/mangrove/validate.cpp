// mangrove validate: cross-validation of what mangrove train would learn.
#include <algorithm>

#include <fmt/format.h>

#include "forest/names.hpp"
#include "learning.hpp"
#include "projected.hpp"
#include "verbs.hpp"

namespace kernelcast::mangrove {

namespace {

struct Options {
  std::shared_ptr<Learning> learning = std::make_shared<Learning>();
  std::string leave_out, split, emit = "scores";
  bool leave_one_out = false, nested = false;
  std::size_t folds = 10, iterations = 0, outer = 5, inner = 3;

  std::string scheme() const {
    if (nested) return "nested";
    if (leave_one_out) return "leave-one-out";
    if (!leave_out.empty()) return "leave-" + leave_out + "-out";
    return "k-fold";
  }
};

// One forest's validation, written as rows of the records asked for.
class Validator {
 public:
  Validator(Options const& options, cli::Streams& io, Dataset const& set)
      : options_(options), io_(io), set_(set), plan_(plan_of(*options.learning, io)), features_(set.features()) {}

  template <class Scores, class HeldOuts>
  void run(Scores write_score, HeldOuts write_held_out) {
    auto const visit = [&](std::size_t iteration, std::vector<forest::HeldOut> const& held_out,
                           forest::Choice const& choice, bool nested) {
      if (options_.emit == "predictions") {
        for (auto const& one : held_out) write_held_out(held_out_row(one, iteration));
        return;
      }
      if (nested || options_.emit == "folds") {
        for (auto const& fold : by_fold(held_out)) write_score(score_row(fold, iteration, choice, true, nested));
        return;
      }
      write_score(score_row(held_out, iteration, choice, false, false));
    };
    if (options_.nested) return run_nested(visit);
    std::size_t const iterations = std::max<std::size_t>(1, options_.iterations);
    for (std::size_t i = 0; i < iterations; ++i) {
      auto plan = plan_;
      plan.forest.seed += i;
      io_.progress(fmt::format("{} {} of {}", set_.device, i + 1, iterations));
      visit(i, forest::cross_validate(set_.data, folds(plan.forest.seed), plan), {plan.forest, 0}, false);
    }
    io_.progress("");
  }

 private:
  template <class Visit>
  void run_nested(Visit visit) {
    auto const iterations = options_.iterations == 0 ? 30 : options_.iterations;
    auto const divide = [&](std::vector<std::size_t> const& rows, std::size_t count, std::uint64_t seed) {
      return divided(rows, count, seed);
    };
    forest::nested_cross_validate(
        set_.data, plan_, {}, iterations, options_.outer, options_.inner, divide, [&](forest::Nested const& one) {
          io_.progress(
              fmt::format("{} iteration {} of {}, fold {}", set_.device, one.iteration + 1, iterations, one.fold));
          auto held_out = one.predictions;
          for (auto& prediction : held_out) prediction.fold = one.fold;
          visit(one.iteration, held_out, one.choice, true);
        });
    io_.progress("");
  }

  bool balanced() const {
    return options_.split.empty() ? options_.learning->target == "time_s" : options_.split == "balanced";
  }

  forest::Folds divided(std::vector<std::size_t> const& rows, std::size_t count, std::uint64_t seed) const {
    std::vector<std::string> names;
    std::vector<double> seconds;
    for (auto const i : rows) {
      names.push_back(std::to_string(set_.configurations[i]));
      seconds.push_back(set_.data.measured[i]);
    }
    auto const groups = forest::groups_of(names);
    return balanced() ? forest::balanced_folds(groups, seconds, count, seed)
                      : forest::random_folds(groups, count, seed);
  }

  forest::Folds folds(std::uint64_t seed) const {
    if (options_.leave_one_out) return forest::leave_group_out(set_.configurations, "kernel and case");
    if (!options_.leave_out.empty()) return forest::leave_group_out(forest::groups_of(set_.groups), options_.leave_out);
    std::vector<std::size_t> all(set_.kernels.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    return divided(all, options_.folds, seed);
  }

  static std::vector<std::vector<forest::HeldOut>> by_fold(std::vector<forest::HeldOut> const& held_out) {
    std::map<std::size_t, std::vector<forest::HeldOut>> out;
    for (auto const& one : held_out) out[one.fold].push_back(one);
    std::vector<std::vector<forest::HeldOut>> folds;
    for (auto& [fold, rows] : out) folds.push_back(std::move(rows));
    return folds;
  }

  record::Validation score_row(std::vector<forest::HeldOut> const& held_out, std::size_t iteration,
                               forest::Choice const& choice, bool one_fold, bool nested) const {
    auto const score = forest::score(set_.data, held_out);
    record::Validation row;
    row.device = set_.device.empty() ? "all" : set_.device;
    row.target = options_.learning->target;
    row.scheme = options_.scheme();
    row.iteration = iteration;
    if (one_fold) row.fold = held_out.front().fold;
    row.samples = held_out.size();
    row.trees = choice.settings.trees;
    row.max_features = forest::word(forest::max_features_words, choice.settings.max_features);
    row.criterion = forest::word(forest::criterion_words, choice.settings.criterion);
    row.mape_pct = score.mape_pct;
    row.median_pct = score.median_pct;
    row.within_10_pct = score.within_10_pct;
    row.coverage_pct = score.coverage_pct;
    row.extrapolated = static_cast<std::uint64_t>(
        std::count_if(held_out.begin(), held_out.end(), [](auto const& one) { return one.prediction.extrapolated(); }));
    if (nested) row.chosen_mape_pct = choice.mape_pct;
    return row;
  }

  record::HeldOut held_out_row(forest::HeldOut const& one, std::size_t iteration) const {
    record::HeldOut row;
    row.kernel = set_.kernels[one.row];
    row.case_name = set_.cases[one.row];
    row.device = set_.devices[one.row];
    fill(row, one.prediction, options_.learning->target, features_);
    row.nearest = set_.label(one.prediction.nearest);
    double const measured = set_.data.measured[one.row];
    (options_.learning->target == "time_s" ? row.measured_s : row.measured_w) = measured;
    row.error_pct = std::abs(measured - one.prediction.value) / measured * 100;
    row.scheme = options_.scheme();
    row.iteration = iteration;
    row.fold = one.fold;
    return row;
  }

  Options const& options_;
  cli::Streams& io_;
  Dataset const& set_;
  forest::Plan plan_;
  std::vector<std::string> features_;
};

void run(Options const& options, cli::Streams& io) {
  auto const sets = datasets(io, *options.learning, options.leave_out);
  if (options.emit == "predictions") {
    auto out = io.writer<record::HeldOut>();
    for (auto const& set : sets)
      Validator(options, io, set)
          .run([](record::Validation const&) {}, [&](record::HeldOut const& row) { out.write(row); });
    return out.finish();
  }
  auto out = io.writer<record::Validation>();
  for (auto const& set : sets)
    Validator(options, io, set)
        .run([&](record::Validation const& row) { out.write(row); }, [](record::HeldOut const&) {});
  out.finish();
}

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<Options>();
  auto& app = tool.app();
  auto* const folds = app.add_option("--folds", options->folds,
                                     "divide the samples into so many parts (default 10) and predict each by "
                                     "a forest of the others")
                          ->type_name("N");
  auto* const one =
      app.add_flag("--leave-one-out", options->leave_one_out, "predict each kernel and case by all others");
  auto* const group = app.add_option("--leave-out", options->leave_out,
                                     "predict all samples with the same value in this column by the others: kernel, "
                                     "suite, device, or any column of either file")
                          ->type_name("COLUMN");
  auto* const nested =
      app.add_flag("--nested", options->nested,
                   "choose trees, max-features and criterion anew in each outer fold by an inner cross-validation");
  folds->excludes(one)->excludes(group)->excludes(nested);
  one->excludes(group)->excludes(nested);
  group->excludes(nested);
  app.add_option("--outer", options->outer, "outer folds with --nested (default 5)")->type_name("N")->needs(nested);
  app.add_option("--inner", options->inner, "inner folds with --nested (default 3)")->type_name("N")->needs(nested);
  app.add_option("--iterations", options->iterations, "repeat with so many seeds (default 1; 30 with --nested)")
      ->type_name("N");
  app.add_option("--split", options->split,
                 "balanced: the five longest kernels and cases always train, and each fold has as many short, medium "
                 "and long ones (default for times); random: neither (default for power)")
      ->type_name("balanced|random")
      ->check(CLI::IsMember({"balanced", "random"}));
  app.add_option("--emit", options->emit,
                 "scores (default): a row per device and iteration; folds: a row per fold; predictions: a row per "
                 "sample, which rank --measured and figure read")
      ->type_name("scores|folds|predictions")
      ->check(CLI::IsMember({"scores", "folds", "predictions"}));
  declare_learning(tool, options->learning);
  tool.run([options](cli::Streams& io) { run(*options, io); });
}

}  // namespace

int validate(int argc, char** argv) {
  cli::About const about{
      .name = "mangrove validate",
      .summary = "how well a forest predicts what it has not seen",
      .description =
          "Holds samples out, predicts them by a forest of the others, and compares with what was measured. Samples of "
          "one kernel and case are always held out together. Without --device a forest for each device of the targets.",
      .operands = cli::Operands::none,
      .input = {},
      .output = {&record::Validation::schema(), &record::HeldOut::schema()},
      .statuses = {},
      .see_also = {"mangrove(1)", "rank(1)", "figure(1)"},
      .examples = {{"mangrove validate --features f.csv --targets t.csv --leave-out kernel --format table",
                    "how well are kernels predicted that the model has never seen?"},
                   {"mangrove validate --features f.csv --targets t.csv --emit predictions > p.csv; "
                    "rank --measured t.csv --summary p.csv",
                    "would it choose the right device?"}}};
  return cli::tool_main(argc, argv, about, declare);
}

}  // namespace kernelcast::mangrove
