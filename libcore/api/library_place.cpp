#include "api/library_place.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <mutex>

#include "base/process/process.hpp"

namespace kernelcast::api {

void find_own_place() {
  static std::once_flag once;
  std::call_once(once, [] {
    Dl_info info{};
    if (dladdr(reinterpret_cast<void const*>(&find_own_place), &info) == 0 || !info.dli_fname) return;
    std::error_code error;
    auto const library = std::filesystem::canonical(info.dli_fname, error);
    if (error) return;
    auto const folder = library.parent_path();
    auto const bin = folder == std::filesystem::path(KERNELCAST_BUILD_LIB) ? "../bin" : KERNELCAST_BIN_FROM_LIB;
    set_program_path((folder / bin).lexically_normal() / library.filename());
  });
}

}  // namespace kernelcast::api
