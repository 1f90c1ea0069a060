#include "flux/attach.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "diag/diag.hpp"

extern char** environ;

namespace kernelcast::flux {

namespace fs = std::filesystem;

namespace {

std::string find_library() {
  std::error_code error;
  fs::path const folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (fs::path const& at : {folder / "../lib/kernelcast-flux-attach.so",
                             folder / KERNELCAST_LIBRARIES_FROM_BIN / "kernelcast-flux-attach.so"})
    if (fs::is_regular_file(at, error)) return fs::canonical(at, error).string();
  throw Error(Status::unavailable, "the library kernelcast-flux-attach.so is not installed beside the program",
              "build with the packages libzstd-dev and liblz4-dev");
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (auto& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> environment(std::string const& emit, std::string const& rows) {
  std::string preload = find_library();
  if (char const* const others = std::getenv("LD_PRELOAD"); others && *others) preload += ':' + std::string(others);
  std::vector<std::string> out;
  for (char** entry = environ; entry && *entry; ++entry) {
    std::string_view const text = *entry;
    if (!text.starts_with("LD_PRELOAD=") && !text.starts_with("KERNELCAST_FLUX_")) out.emplace_back(text);
  }
  out.push_back("LD_PRELOAD=" + preload);
  out.push_back("KERNELCAST_FLUX_EMIT=" + emit);
  out.push_back("KERNELCAST_FLUX_OUTPUT=" + rows);
  return out;
}

}  // namespace

AttachResult attach(std::vector<std::string> const& command, std::string const& emit, std::string const& folder) {
  std::string const rows = folder + "/rows";
  auto words = command;
  auto variables = environment(emit, rows);
  pid_t process = -1;
  int const error = posix_spawnp(&process, words.front().c_str(), nullptr, nullptr, pointers(words).data(),
                                 pointers(variables).data());
  if (error != 0)
    throw Error(Status::io, Where{words.front()}, std::string("cannot start: ") + std::strerror(error),
                "is the application's name right?");
  int status = 0;
  while (waitpid(process, &status, 0) == -1 && errno == EINTR) continue;
  AttachResult result;
  result.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  for (auto const& entry : fs::directory_iterator(folder))
    if (entry.path().filename().string().starts_with("rows.")) result.row_files.push_back(entry.path().string());
  std::sort(result.row_files.begin(), result.row_files.end());
  return result;
}

}  // namespace kernelcast::flux
