#include "runtimes/attach/count/application.hpp"

#include <algorithm>

#include "base/process/process.hpp"
#include "runtimes/attach/environment.hpp"
#include "runtimes/attach/settings.hpp"

namespace kernelcast::attach::count {

AttachResult run(std::vector<std::string> const& command, std::string const& emit, std::string const& folder) {
  std::string const rows = folder + "/rows";
  AttachResult result;
  auto given = settings();
  given.count_emit = emit;
  given.count_output = rows;
  auto variables = environment_without({});
  given.put_into(variables);
  preload(variables, "kernelcast-flux-attach.so", "build with the packages libzstd-dev and liblz4-dev");
  result.status = run_in_foreground(command, std::move(variables));
  for (auto const& name : names_in(folder))
    if (name.starts_with("rows.")) result.row_files.push_back(folder + '/' + name);
  std::sort(result.row_files.begin(), result.row_files.end());
  return result;
}

}  // namespace kernelcast::attach::count
