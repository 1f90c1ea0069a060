// partfit: fit the time over problem size and number of GPUs, and choose the number of GPUs.
#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "cli/cli.hpp"
#include "model/fit/fit.hpp"
#include "record/fit.hpp"
#include "record/simulation.hpp"

using namespace kernelcast;
namespace fit = model::fit;

namespace {

struct Options {
  std::vector<std::string> models, sizes, gpus;
  std::string weights = "relative", alpha = "cv", assess, emit;
};

// Times of one application on one kind of GPU in one system.
struct Group {
  std::string app, gpu, system;
  std::vector<fit::Sample> samples;
};

std::vector<Group> read(cli::Streams& io, std::vector<std::string> const& paths) {
  std::vector<Group> out;
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> index;
  for (auto const& path : paths) {
    auto csv = io.csv(path);
    record::Reader<record::Simulation> rows(csv);
    for (record::Simulation row; rows.next(row);) {
      auto const [at, is_new] = index.try_emplace({row.app, row.gpu, row.system}, out.size());
      if (is_new) out.push_back({row.app, row.gpu, row.system, {}});
      if (!row.time_s) continue;
      if (!(*row.time_s > 0)) throw rows.error("time_s", "a time must be above 0", "an unknown time is an empty cell");
      if (!(row.n > 0)) throw rows.error("n", "a problem size must be above 0", "for example 4096");
      if (row.gpus == 0 || row.gpus > 65536) throw rows.error("gpus", "must be 1 or more", "the number of GPUs");
      out[at->second].samples.push_back({row.n, static_cast<std::uint32_t>(row.gpus), *row.time_s});
    }
  }
  return out;
}

double number(std::string const& text, std::string const& option) {
  double value = 0;
  auto const result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size() || !(value > 0) || value > 1e18)
    throw Error(Status::usage, fmt::format("{}: '{}' is no number above 0", option, text), "for example 4096");
  return value;
}

// "4096" or "4096:61440:4096"; several.
std::vector<double> numbers(std::vector<std::string> const& texts, std::string const& option) {
  std::vector<double> out;
  for (auto const& text : texts) {
    auto const first = text.find(':'), second = text.rfind(':');
    if (first == std::string::npos) {
      out.push_back(number(text, option));
      continue;
    }
    if (first == second)
      throw Error(Status::usage, fmt::format("{}: '{}' is not LOW:HIGH:STEP", option, text),
                  "for example 4096:61440:4096");
    double const low = number(text.substr(0, first), option), step = number(text.substr(second + 1), option);
    double const high = number(text.substr(first + 1, second - first - 1), option);
    if ((high - low) / step > 1e6)
      throw Error(Status::usage, fmt::format("{}: '{}' has too many points", option, text), "a larger step");
    for (double n = low; n <= high; n += step) out.push_back(n);
  }
  return out;
}

// "4" or "1-16"; several.
std::vector<std::uint32_t> counts(std::vector<std::string> const& texts) {
  std::vector<std::uint32_t> out;
  for (auto const& text : texts) {
    auto const dash = text.find('-');
    double const low = number(text.substr(0, dash), "--gpus");
    double const high = dash == std::string::npos ? low : number(text.substr(dash + 1), "--gpus");
    if (low != static_cast<std::uint32_t>(low) || high != static_cast<std::uint32_t>(high) || high < low ||
        high > 65536)
      throw Error(Status::usage, fmt::format("--gpus: '{}' is no number of GPUs and no range", text), "4, or 1-16");
    for (auto g = static_cast<std::uint32_t>(low); g <= high; ++g) out.push_back(g);
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
      how.alpha = number(options.alpha, "--alpha");
      if (*how.alpha > 1)
        throw Error(Status::usage, "--alpha is a fraction, at most 1", "1 leaves no term; for example 1e-4");
    }
    out.push_back(how);
  }
  return out;
}

template <class R>
R labelled(Group const& group, fit::Fit const& fitted) {
  R row;
  row.app = group.app;
  row.gpu = group.gpu;
  row.system = group.system;
  row.model = name(fitted.model);
  return row;
}

void write_terms(record::Writer<record::Fit>& out, Group const& group, fit::Fit const& fitted) {
  for (auto const& part : fitted.parts)
    for (auto const& term : part.terms) {
      auto row = labelled<record::Fit>(group, fitted);
      row.term = term.name;
      row.coefficient = term.coefficient;
      row.mape_pct = fitted.mape_pct;
      if (part.gpus > 0) row.gpus = part.gpus;
      row.alpha = fitted.alpha;
      row.kkt_violation = fitted.kkt_violation;
      out.write(row);
    }
}

std::vector<std::uint32_t> gpus_of(std::vector<fit::Sample> const& samples) {
  std::set<std::uint32_t> seen;
  for (auto const& s : samples) seen.insert(s.gpus);
  return {seen.begin(), seen.end()};
}

void write_choices(record::Writer<record::Choice>& out, Group const& group, fit::Fit const& fitted,
                   std::vector<double> const& sizes, std::vector<std::uint32_t> const& candidates) {
  for (double const n : sizes) {
    auto const best = fit::best(fitted, n, candidates);
    if (!best)
      throw Error(Status::bad_data,
                  fmt::format("the model knows no time of size {} on any of these numbers of GPUs", n),
                  "nnls knows the numbers that it was fitted on; wls knows all");
    auto row = labelled<record::Choice>(group, fitted);
    row.n = n;
    row.gpus = best->gpus;
    row.time_s = best->time_s;
    if (best->runner_up) {
      row.runner_up_gpus = *best->runner_up;
      row.margin_pct = 100 * (best->runner_up_s / best->time_s - 1);
    }
    out.write(row);
  }
}

// Choices for the sizes of `real`, among the numbers of GPUs that have a real time there.
void write_penalties(record::Writer<record::Penalty>& out, Group const& real, fit::Fit const& fitted) {
  std::map<double, std::vector<fit::Sample>> by_size;
  for (auto const& s : real.samples) by_size[s.n].push_back(s);
  for (auto const& [n, samples] : by_size) {
    auto const chosen = fit::best(fitted, n, gpus_of(samples));
    if (!chosen) continue;
    auto const faster = [](auto const& a, auto const& b) { return a.time_s < b.time_s; };
    auto const least = *std::min_element(samples.begin(), samples.end(), faster);
    auto const its =
        *std::find_if(samples.begin(), samples.end(), [&](auto const& s) { return s.gpus == chosen->gpus; });
    auto row = labelled<record::Penalty>(real, fitted);
    row.n = n;
    row.gpus = chosen->gpus;
    row.best_gpus = least.gpus;
    row.time_s = its.time_s;
    row.best_time_s = least.time_s;
    row.loss_s = its.time_s - least.time_s;
    row.penalty_pct = 100 * row.loss_s / least.time_s;
    out.write(row);
  }
}

void write_residuals(record::Writer<record::Residual>& out, Group const& real, fit::Fit const& fitted) {
  for (auto const& s : real.samples) {
    auto const time_s = fitted.time_s(s.n, s.gpus);
    if (!time_s) continue;
    auto row = labelled<record::Residual>(real, fitted);
    row.n = s.n;
    row.gpus = s.gpus;
    row.time_s = s.time_s;
    row.fitted_s = *time_s;
    row.error_s = *time_s - s.time_s;
    row.error_pct = 100 * row.error_s / s.time_s;
    out.write(row);
  }
}

// Calls visit(group, fit) for each group of times and model.
template <class Visit>
void each_fit(std::vector<Group> const& groups, std::vector<fit::Options> const& how, Visit visit) {
  for (auto const& options : how)
    for (auto const& group : groups)
      if (!group.samples.empty()) visit(group, fit::fit(group.samples, options));
}

// What --assess names, or the samples themselves.
Group const* real_times(std::vector<Group> const& real, Group const& group) {
  for (auto const& r : real)
    if (r.app == group.app && r.gpu == group.gpu && r.system == group.system) return &r;
  return nullptr;
}

void run(Options const& options, cli::Streams& io) {
  auto const how = fits(options, io.seed());
  auto const groups = read(io, io.inputs());
  if (!groups.empty() && std::all_of(groups.begin(), groups.end(), [](auto const& g) { return g.samples.empty(); }))
    throw Error(Status::bad_data, Where{cli::Streams::input_name(io.inputs().front()), 0, 0}, "no row has a time",
                "columns n, gpus, time_s");
  auto const real = options.assess.empty() ? groups : read(io, {options.assess});
  auto const sizes = numbers(options.sizes, "--n");
  auto const candidates = counts(options.gpus);
  std::string const emit = !options.emit.empty()     ? options.emit
                           : !options.assess.empty() ? "penalty"
                           : !options.sizes.empty()  ? "choice"
                                                     : "fit";
  if (emit == "choice" && sizes.empty())
    throw Error(Status::usage, "choices for which sizes?", "--n 4096, or --n 4096:61440:4096");
  if (emit == "fit") {
    auto out = io.writer<record::Fit>();
    each_fit(groups, how, [&](auto const& group, auto const& fitted) { write_terms(out, group, fitted); });
    out.finish();
  } else if (emit == "choice") {
    auto out = io.writer<record::Choice>();
    each_fit(groups, how, [&](auto const& group, auto const& fitted) {
      write_choices(out, group, fitted, sizes, candidates.empty() ? gpus_of(group.samples) : candidates);
    });
    out.finish();
  } else if (emit == "penalty") {
    auto out = io.writer<record::Penalty>();
    each_fit(groups, how, [&](auto const& group, auto const& fitted) {
      if (auto const* const r = real_times(real, group)) write_penalties(out, *r, fitted);
    });
    out.finish();
  } else {
    auto out = io.writer<record::Residual>();
    each_fit(groups, how, [&](auto const& group, auto const& fitted) {
      if (auto const* const r = real_times(real, group)) write_residuals(out, *r, fitted);
    });
    out.finish();
  }
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
