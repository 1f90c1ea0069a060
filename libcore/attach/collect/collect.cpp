#include "attach/collect/collect.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "attach/collect/power.hpp"
#include "attach/collect/variables.hpp"
#include "diag/diag.hpp"
#include "process/process.hpp"
#include "record/table.hpp"

namespace kernelcast::attach::collect {

namespace {

std::vector<std::string> environment(Options const& options, std::string const& output) {
  auto preload = find_plugin("kernelcast-mangrove-collect.so");
  if (preload.empty())
    throw Error(Status::unavailable, "the library kernelcast-mangrove-collect.so is not installed beside the program",
                "install the whole suite");
  if (char const* const others = std::getenv("LD_PRELOAD"); others && *others) preload += ':' + std::string(others);
  auto out = environment_without({"LD_PRELOAD=", "KERNELCAST_COLLECT_"});
  auto const set = [&](std::string_view name, std::string const& value) {
    out.push_back(fmt::format("{}={}", name, value));
  };
  set("LD_PRELOAD", preload);
  set(output_variable, output);
  set(seconds_variable, fmt::format("{}", options.seconds));
  set(power_variable, options.power ? "1" : "0");
  set(skip_variable, fmt::format("{}", fmt::join(options.skip, ",")));
  return out;
}

std::vector<record::Target> rows_of(std::string const& path) {
  std::vector<record::Target> out;
  auto file = open_file(path);
  if (file.peek() == std::ifstream::traits_type::eof()) return out;
  csv::Reader csv(file, path);
  record::Reader<record::Target> reader(csv);
  for (record::Target row; reader.next(row);) out.push_back(row);
  return out;
}

}  // namespace

Collected collect(Options const& options) {
  if (auto const missing = nvml_missing(); options.power && !missing.empty())
    throw Error(Status::unavailable, missing, "it comes with NVIDIA's driver; --no-power measures times alone");
  TemporaryFolder const folder;
  Collected out;
  out.status = run_in_foreground(options.command, environment(options, folder.file("rows")));
  std::vector<std::string> files;  // of the application's processes
  for (auto const& name : names_in(folder.path().string())) files.push_back(folder.file(name));
  std::sort(files.begin(), files.end());
  for (auto const& file : files)
    for (auto& row : rows_of(file)) out.rows.push_back(std::move(row));
  return out;
}

}  // namespace kernelcast::attach::collect
