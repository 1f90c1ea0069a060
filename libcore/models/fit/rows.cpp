#include "models/fit/rows.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "models/fit/report.hpp"
#include "records/cli/values.hpp"
#include "records/simulation.hpp"

namespace kernelcast::model::fit {

namespace {

// Beyond these, powers and squares of the fit overflow.
constexpr double min_time_s = 1e-30, max_time_s = 1e30, max_size = 1e20;

std::vector<Series> read(cli::Streams& io, std::vector<std::string> const& paths) {
  std::vector<Series> out;
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

std::vector<Options> fits(FitRows const& options, std::uint64_t seed) {
  std::vector<Options> out;
  for (auto const& text : options.models.empty() ? std::vector<std::string>{"nnls"} : options.models) {
    Options how;
    if (text != "nnls" && text != "wls" && text != "lassolars")
      throw Error(Status::usage, fmt::format("unknown model '{}'", text),
                  did_you_mean(text, {"nnls", "wls", "lassolars"}));
    how.model = text == "nnls" ? Model::nnls : text == "wls" ? Model::wls : Model::lassolars;
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
void write(cli::Streams& io, std::vector<Series> const& groups, std::vector<Options> const& how, RowsOf const& rows_of,
           std::vector<R> const& more = {}) {
  auto out = io.writer<R>();
  for (auto const& options : how)
    for (auto const& group : groups) {
      if (group.samples.empty()) continue;
      for (auto const& row : rows_of(group, fit(group.samples, options))) out.write(row);
    }
  for (auto const& row : more) out.write(row);
  out.finish();
}

// The series of `real` that stands for the same as the fitted one; null where there is no such series.
Series const* find(std::vector<Series> const& real, Series const& group) {
  auto const found = std::find_if(real.begin(), real.end(), [&](auto const& r) {
    return r.app == group.app && r.gpu == group.gpu && r.system == group.system;
  });
  return found == real.end() ? nullptr : &*found;
}

template <class R>
auto against(std::vector<Series> const& real, std::vector<R> (*rows_of)(Series const&, Fit const&)) {
  return [&real, rows_of](Series const& group, Fit const& fitted) {
    auto const* r = find(real, group);
    return r ? rows_of(*r, fitted) : std::vector<R>{};
  };
}

// Choices that need no model, beside the models'.
std::vector<record::Penalty> trivial(std::vector<Series> const& real, std::vector<Series> const& groups) {
  std::vector<record::Penalty> out;
  for (auto const& group : groups)
    if (auto const* r = find(real, group); r && !group.samples.empty())
      for (auto& row : trivial_penalty_rows(*r)) out.push_back(std::move(row));
  return out;
}

}  // namespace

void fit_rows(FitRows const& options, cli::Streams& io) {
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
    write<record::Fit>(io, groups, how, term_rows);
  else if (emit == "choice")
    write<record::Choice>(io, groups, how, [&](auto const& group, auto const& fitted) {
      return choice_rows(group, fitted, sizes, candidates.empty() ? gpus_of(group.samples) : candidates);
    });
  else if (emit == "penalty")
    write<record::Penalty>(io, groups, how, against(real, penalty_rows), trivial(real, groups));
  else
    write<record::Residual>(io, groups, how, against(real, residual_rows));
}

}  // namespace kernelcast::model::fit
