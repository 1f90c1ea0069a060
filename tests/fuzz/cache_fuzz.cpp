// An entry of the cache of compiled kernels: all of the file where it begins as one does, else what follows the hash,
// which is made to fit.
#include <filesystem>

#include "frontend/cache.hpp"
#include "fuzz.hpp"
#include "process/process.hpp"

namespace kernelcast::fuzz {

void run_input(std::string_view input) {
  static TemporaryFolder const folder;
  static MemoryFile file;
  static auto const place = [] {
    std::filesystem::create_symlink(file.path(), folder.path() / "entry.kernel");
    return folder.path().string() + '/';
  }();
  bool const whole = input.starts_with("kernelcast");
  file.write(whole ? std::string(input)
                   : "kernelcast-frontend 1\n" + frontend::content_hash(input) + std::string(input));
  frontend::read_entry(place, "entry");
}

}  // namespace kernelcast::fuzz
