#include "attach/count/application.hpp"

#include <algorithm>
#include <cstdlib>

#include "diag/diag.hpp"
#include "process/process.hpp"

namespace kernelcast::attach::count {

namespace {

std::string find_library() {
  auto const path = find_plugin("kernelcast-flux-attach.so");
  if (path.empty())
    throw Error(Status::unavailable, "the library kernelcast-flux-attach.so is not installed beside the program",
                "build with the packages libzstd-dev and liblz4-dev");
  return path;
}

std::vector<std::string> environment(std::string const& emit, std::string const& rows) {
  std::string preload = find_library();
  if (char const* const others = std::getenv("LD_PRELOAD"); others && *others) preload += ':' + std::string(others);
  auto out = environment_without({"LD_PRELOAD=", "KERNELCAST_FLUX_"});
  out.push_back("LD_PRELOAD=" + preload);
  out.push_back("KERNELCAST_FLUX_EMIT=" + emit);
  out.push_back("KERNELCAST_FLUX_OUTPUT=" + rows);
  return out;
}

}  // namespace

AttachResult run(std::vector<std::string> const& command, std::string const& emit, std::string const& folder) {
  std::string const rows = folder + "/rows";
  AttachResult result;
  result.status = run_in_foreground(command, environment(emit, rows));
  for (auto const& name : names_in(folder))
    if (name.starts_with("rows.")) result.row_files.push_back(folder + '/' + name);
  std::sort(result.row_files.begin(), result.row_files.end());
  return result;
}

}  // namespace kernelcast::attach::count
