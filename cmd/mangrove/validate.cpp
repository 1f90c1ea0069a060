// mangrove validate: cross-validation of what mangrove train would learn.
#include <fmt/format.h>

#include "models/forest/study/learning.hpp"
#include "models/forest/study/rows.hpp"
#include "models/forest/study/scheme.hpp"
#include "verbs.hpp"

namespace kernelcast::mangrove {

namespace {

struct Options {
  std::shared_ptr<forest::Learning> learning = std::make_shared<forest::Learning>();
  std::string leave_out, split, emit = "scores";
  bool leave_one_out = false, nested = false;
  std::size_t folds = 10, iterations = 0, outer = 5, inner = 3;
};

forest::Scheme scheme_of(Options const& options) {
  using Kind = forest::Scheme::Kind;
  forest::Scheme out;
  out.kind = options.nested               ? Kind::nested
             : options.leave_one_out      ? Kind::leave_one_out
             : !options.leave_out.empty() ? Kind::leave_group_out
                                          : Kind::k_fold;
  out.group = options.leave_out;
  out.folds = options.folds;
  out.outer = options.outer;
  out.inner = options.inner;
  out.iterations = options.iterations > 0 ? options.iterations : options.nested ? 30 : 1;
  out.balanced = options.split.empty() ? options.learning->target == "time_s" : options.split == "balanced";
  return out;
}

template <class Record, class Rows>
void write_rounds(Options const& options, cli::Streams& io, Rows rows_of) {
  auto const sets = forest::datasets(io, *options.learning, options.leave_out);
  auto const plan = forest::plan_of(*options.learning, io);
  auto const scheme = scheme_of(options);
  auto out = io.writer<Record>();
  for (auto const& set : sets)
    forest::validate(set, plan, scheme, [&](forest::Round const& round) {
      for (auto const& row : rows_of(set, scheme, round)) out.write(row);
      io.progress(fmt::format("{} iteration {} of {}, fold {}", set.device, round.iteration + 1, scheme.iterations,
                              round.fold));
    });
  io.progress("");
  out.finish();
}

void run(Options const& options, cli::Streams& io) {
  if (options.emit == "predictions") return write_rounds<record::HeldOut>(options, io, forest::held_out_rows);
  write_rounds<record::Validation>(options, io, [&](auto const& set, auto const& scheme, auto const& round) {
    return forest::score_rows(set, scheme, round, options.emit == "folds");
  });
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
      ->type_name("N")
      ->check(CLI::Range(1, 1000000));
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
  forest::declare_learning(tool, options->learning);
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
