// partfit: fit the time over problem size and number of GPUs, and choose the number of GPUs.
#include <algorithm>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "models/fit/report.hpp"
#include "records/cli/cli.hpp"
#include "records/cli/values.hpp"
#include "records/simulation.hpp"

using namespace kernelcast;
namespace fit = model::fit;

namespace {

// Beyond these, powers and squares of the fit overflow.
constexpr double min_time_s = 1e-30, max_time_s = 1e30, max_size = 1e20;

struct Options {
  std::vector<std::string> models, sizes, gpus;
  std::string weights = "relative", alpha = "cv", assess, emit;
};

std::vector<fit::Series> read(cli::Streams& io, std::vector<std::string> const& paths) {
  std::vector<fit::Series> out;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> index;
  for (auto const& path : paths) {
    auto csv = io.csv(path);
    record::Reader<record::Simulation> rows(csv);
    for (record::Simulation row; rows.next(row);) {
      auto const [at, is_new] = index.try_emplace({row.app, row.gpu, row.system}, out.size());
      if (is_new) out.push_back({row.app, row.gpu, row.system, {}});
      if (!row.time_s) continue;
      if (!(*row.time_s > 0)) throw rows.error("time_s", "a time must be above 0", "an unknown time is an empty cell");
      if (*row.time_s < min_time_s || *row.time_s > max_time_s)
        throw rows.error("time_s", "a time must lie between 1e-30 and 1e30 s", "times are in seconds");
      if (!(row.n > 0)) throw rows.error("n", "a problem size must be above 0", "for example 4096");
      if (row.n > max_size) throw rows.error("n", "a problem size must be at most 1e20", "for example 4096");
      if (row.gpus == 0 || row.gpus > 65536) throw rows.error("gpus", "must be 1 or more", "the number of GPUs");
      out[at->second].samples.push_back({row.n, static_cast<std::uint32_t>(row.gpus), *row.time_s});
    }
  }
  return out;
}

std::vector<fit::Options> fits(Options const& options, std::uint64_t seed) {
  std::vector<fit::Options> out;
  for (auto const& text : options.models.empty() ? std::vector<std::string>{"nnls"} : options.models) {
    fit::Options how;
    if (text != "nnls" && text != "wls" && text != "lassolars")
      throw Error(Status::usage, fmt::format("unknown model '{}'", text),
                  did_you_mean(text, {"nnls", "wls", "lassolars"}));
    how.model = text == "nnls" ? fit::Model::nnls : text == "wls" ? fit::Model::wls : fit::Model::lassolars;
    how.relative = options.weights == "relative";
    how.seed = seed;
    if (options.alpha != "cv") {
      how.alpha = cli::positive_number(options.alpha, "--alpha");
      if (*how.alpha > 1)
        throw Error(Status::usage, "--alpha is a fraction, at most 1", "1 leaves no term; for example 1e-4");
    }
    out.push_back(how);
  }
  return out;
}

// Writes rows_of(series, fit) of each model, for each series of times.
template <class R, class RowsOf>
void write(cli::Streams& io, std::vector<fit::Series> const& groups, std::vector<fit::Options> const& how,
           RowsOf const& rows_of, std::vector<R> const& more = {}) {
  auto out = io.writer<R>();
  for (auto const& options : how)
    for (auto const& group : groups) {
      if (group.samples.empty()) continue;
      for (auto const& row : rows_of(group, fit::fit(group.samples, options))) out.write(row);
    }
  for (auto const& row : more) out.write(row);
  out.finish();
}

// The series of `real` that stands for the same as the fitted one; null where there is no such series.
fit::Series const* find(std::vector<fit::Series> const& real, fit::Series const& group) {
  auto const found = std::find_if(real.begin(), real.end(), [&](auto const& r) {
    return r.app == group.app && r.gpu == group.gpu && r.system == group.system;
  });
  return found == real.end() ? nullptr : &*found;
}

template <class R>
auto against(std::vector<fit::Series> const& real, std::vector<R> (*rows_of)(fit::Series const&, fit::Fit const&)) {
  return [&real, rows_of](fit::Series const& group, fit::Fit const& fitted) {
    auto const* r = find(real, group);
    return r ? rows_of(*r, fitted) : std::vector<R>{};
  };
}

// Choices that need no model, beside the models'.
std::vector<record::Penalty> trivial(std::vector<fit::Series> const& real, std::vector<fit::Series> const& groups) {
  std::vector<record::Penalty> out;
  for (auto const& group : groups)
    if (auto const* r = find(real, group); r && !group.samples.empty())
      for (auto& row : fit::trivial_penalty_rows(*r)) out.push_back(std::move(row));
  return out;
}

void run(Options const& options, cli::Streams& io) {
  auto const how = fits(options, io.seed());
  auto const groups = read(io, io.inputs());
  if (!groups.empty() && std::all_of(groups.begin(), groups.end(), [](auto const& g) { return g.samples.empty(); }))
    throw Error(Status::bad_data, Where{cli::Streams::input_name(io.inputs().front()), 0, 0}, "no row has a time",
                "columns n, gpus, time_s");
  auto const real = options.assess.empty() ? groups : read(io, {options.assess});
  auto const sizes = cli::positive_numbers(options.sizes, "--n");
  if (std::any_of(sizes.begin(), sizes.end(), [](double n) { return n > max_size; }))
    throw Error(Status::usage, "--n: a problem size must be at most 1e20", "for example 4096");
  auto const candidates = cli::counts(options.gpus, "--gpus", "GPUs", 65536);
  std::string const emit = !options.emit.empty()     ? options.emit
                           : !options.assess.empty() ? "penalty"
                           : !options.sizes.empty()  ? "choice"
                                                     : "fit";
  if (emit == "choice" && sizes.empty())
    throw Error(Status::usage, "choices for which sizes?", "--n 4096, or --n 4096:61440:4096");
  if (emit == "fit")
    write<record::Fit>(io, groups, how, fit::term_rows);
  else if (emit == "choice")
    write<record::Choice>(io, groups, how, [&](auto const& group, auto const& fitted) {
      return fit::choice_rows(group, fitted, sizes, candidates.empty() ? fit::gpus_of(group.samples) : candidates);
    });
  else if (emit == "penalty")
    write<record::Penalty>(io, groups, how, against(real, fit::penalty_rows), trivial(real, groups));
  else
    write<record::Residual>(io, groups, how, against(real, fit::residual_rows));
}

void declare(cli::Tool& tool) {
  auto const options = std::make_shared<Options>();
  auto& app = tool.app();
  tool.list("--model", options->models, "nnls (default), wls, lassolars; several are fitted one after the other",
            "MODEL");
  app.add_option("--weights", options->weights,
                 "relative (default): an error of 1 % counts alike whatever the time; or equal")
      ->type_name("WEIGHTS")
      ->check(CLI::IsMember({"relative", "equal"}));
  app.add_option("--alpha", options->alpha,
                 "lassolars: the penalty as a fraction of the least that leaves no term, or cv (default): by "
                 "cross-validation")
      ->type_name("FRACTION");
  tool.list("--n", options->sizes, "choose for these sizes: 4096, or LOW:HIGH:STEP", "SIZES");
  tool.list("--gpus", options->gpus, "choose among these numbers of GPUs: 4, or 1-16 (default: those of the input)",
            "COUNTS");
  app.add_option("--assess", options->assess, "compare the choices with the times in this file: what they lose")
      ->type_name("FILE");
  app.add_option("--emit", options->emit,
                 "fit, choice (with --n), penalty or residual (against --assess, or the input itself)")
      ->type_name("WHAT")
      ->check(CLI::IsMember({"fit", "choice", "penalty", "residual"}));
  tool.run([options](cli::Streams& io) { run(*options, io); });
}

}  // namespace

int main(int argc, char** argv) {
  cli::About const about{
      .name = "partfit",
      .summary = "fit the time over size and number of GPUs, and choose",
      .description =
          "Reads simulated or measured times (columns n, gpus, time_s), fits a model of t(n, g) for each "
          "application, GPU and system, and writes the model, or the best number of GPUs for other sizes.",
      .input = {&record::Simulation::schema()},
      .output = {&record::Fit::schema(), &record::Choice::schema(), &record::Penalty::schema(),
                 &record::Residual::schema()},
      .statuses = {},
      .see_also = {"partsim(1)", "figure(1)"},
      .examples = {
          {"partsim --app matmul --n 4096:61440:4096 --gpu v100 --system victoria | partfit --n 10000",
           "how many GPUs for a size in between"},
          {"partfit --model wls --n 20000 --gpus 1-16 measured.csv", "from times of a few numbers of GPUs"},
          {"partfit --model nnls,lassolars --assess real.csv times.csv", "what the choices of two models lose"}}};
  return cli::tool_main(argc, argv, about, declare);
}
