#include "runtimes/advise/count.hpp"

#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/cache/cache.hpp"
#include "base/csv/csv.hpp"
#include "records/table/table.hpp"

namespace kernelcast::advise {

namespace {

// Raised whenever the same launch may give another row.
constexpr std::string_view own_version = "kernel row 2";

std::string folder() {
  auto const cache = cache_folder();
  return cache.empty() ? cache : cache + "counts/";
}

std::string name_of(launch::Plan const& plan, CountOptions const& options, std::string const& ptx) {
  auto const text =
      fmt::format("{}\n{}\n{} {}\n{}\n{}\n", own_version, content_hash(ptx), plan.calls.front().kernel.text,
                  fmt::join(plan.request.registers, ","), launch::text_of(options.run.groups), options.identity);
  return content_hash(text) + ".csv";
}

std::optional<record::Kernel> read_row(std::string const& name) {
  std::string const text = read_cached(folder(), name);
  if (text.empty()) return std::nullopt;
  std::istringstream in(text);
  try {
    if (auto rows = record::read_rows<record::Kernel>(in, name); !rows.empty()) return std::move(rows.front());
  } catch (Error const&) {
    // Of a version with other columns.
  }
  return std::nullopt;
}

void keep_row(std::string const& name, record::Kernel const& row) {
  write_cached(folder(), name,
               record::rows_text<record::Kernel>({row}));  // a cache that cannot be written to is no error here
}

}  // namespace

std::optional<Counted> recall(launch::Plan const& plan, CountOptions const& options) {
  if (!options.cache || folder().empty()) return std::nullopt;
  auto const compiled = frontend::find_cached(plan.request);
  if (!compiled) return std::nullopt;
  auto row = read_row(name_of(plan, options, compiled->ptx));
  return row ? std::optional(Counted{std::move(*row), true}) : std::nullopt;
}

Counted count(launch::Plan const& plan, CountOptions const& options) {
  if (auto known = recall(plan, options)) return std::move(*known);
  auto report = launch::run(plan, options.run);
  Counted out{std::move(report.rows.at(0)), false};
  if (options.cache && !folder().empty())
    if (auto const compiled = frontend::find_cached(plan.request))
      keep_row(name_of(plan, options, compiled->ptx), out.row);
  return out;
}

}  // namespace kernelcast::advise
