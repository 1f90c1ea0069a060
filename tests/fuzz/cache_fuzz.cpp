// An entry of the cache of compiled kernels: what its file holds, or the whole file where the input begins as one does.
#include <filesystem>

#include "base/process/process.hpp"
#include "fuzz.hpp"
#include "kernels/frontend/entry.hpp"

namespace kernelcast::fuzz {

namespace {

// The only file of a cache that has one entry.
std::string entry_in(std::string const& folder) {
  frontend::write_entry(folder, "entry", {});
  for (auto const& item : std::filesystem::recursive_directory_iterator(folder))
    if (item.is_regular_file() && item.file_size() > 0) return item.path();
  throw Error(Status::io, "the cache has no entry");
}

}  // namespace

void run_input(std::string_view input) {
  if (!input.starts_with("kernelcast")) {
    frontend::parse_entry(input);
    return;
  }
  static TemporaryFolder const folder;
  static std::string const place = folder.path().string() + '/', file = entry_in(place);
  write_file(file, input);
  frontend::read_entry(place, "entry");
}

}  // namespace kernelcast::fuzz
