#include "runtimes/attach/collect/collect.hpp"

#include <algorithm>
#include <fstream>

#include "base/diag/diag.hpp"
#include "base/process/process.hpp"
#include "records/table/table.hpp"
#include "runtimes/attach/collect/power.hpp"
#include "runtimes/attach/environment.hpp"
#include "runtimes/attach/settings.hpp"

namespace kernelcast::attach::collect {

namespace {

std::vector<std::string> environment(Options const& options, std::string const& output) {
  auto given = settings();
  given.collect_output = output;
  given.collect_seconds = options.seconds;
  given.collect_power = options.power;
  given.collect_skip = options.skip;
  auto out = environment_without({});
  given.put_into(out);
  preload(out, "kernelcast-mangrove-collect.so", "install the whole suite");
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
