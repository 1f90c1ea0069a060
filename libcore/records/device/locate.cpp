// Where the device database lies. An installed program finds the installed one beside itself; a program of a build tree
// finds the source tree's. A path that was compiled in is trusted only while the program still lies in that build.
#include <cstdlib>
#include <filesystem>

#include "base/process/process.hpp"
#include "base/process/variables.hpp"
#include "records/device/device.hpp"

namespace kernelcast::device {

namespace fs = std::filesystem;

namespace {

bool is_database(fs::path const& folder) {
  std::error_code error;
  return fs::is_regular_file(folder / "devices.csv", error);
}

std::string named(std::string const& folder, std::string const& how) {
  if (is_database(folder)) return folder;
  throw Error(Status::io, Where{folder}, how + " names no device database: there is no devices.csv in it",
              "a device database is a folder like the suite's devdb/; leave it out to use that one");
}

}  // namespace

std::string find_database(std::string const& option) {
  if (!option.empty()) return named(option, "--devdb");
  if (char const* const variable = std::getenv(variables::devdb); variable && *variable)
    return named(variable, variables::devdb);
  if (fs::path const program = program_path(); !program.empty()) {
    fs::path const installed = (program.parent_path() / KERNELCAST_DEVDB_FROM_BIN).lexically_normal();
    if (is_database(installed)) return installed.string();
    std::string const beside = program.lexically_relative(KERNELCAST_BUILD_DIR).string();
    if (!beside.empty() && !beside.starts_with("..") && is_database(KERNELCAST_TREE_DEVDB))
      return KERNELCAST_TREE_DEVDB;
  }
  throw Error(Status::io, "there is no device database beside the program",
              "name one with --devdb DIR or KERNELCAST_DEVDB");
}

}  // namespace kernelcast::device
