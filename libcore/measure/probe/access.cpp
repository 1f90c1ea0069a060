#include "measure/probe/access.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kernelcast::probe {

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_of(fs::path const& folder) {
  std::vector<fs::path> out;
  std::error_code unreadable;
  for (fs::directory_iterator i(folder, unreadable), end; !unreadable && i != end; i.increment(unreadable))
    out.push_back(i->path());
  std::sort(out.begin(), out.end());
  return out;
}

std::string loader_message() {
  char const* const words = dlerror();
  return words ? words : "unknown reason";
}

std::string first_word_of(std::ifstream& file) {
  std::string word;
  file >> word;
  return word;
}

}  // namespace

Library open_library(std::vector<std::string> const& names) {
  Library out;
  for (auto const& name : names) {
    out.handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (out.handle) return {out.handle, {}};
    auto const words = loader_message();
    if (out.trouble.empty() && !words.ends_with("No such file or directory")) out.trouble = words;
  }
  return out;
}

std::vector<std::string> refused_device_files(std::string const& folder) {
  std::vector<fs::path> candidates;
  for (auto const& path : files_of(folder))
    if (auto const name = path.filename().string();
        name == "kfd" || (name.starts_with("nvidia") && !fs::is_directory(path)))
      candidates.push_back(path);
  for (auto const& path : files_of(fs::path(folder) / "dri"))
    if (path.filename().string().starts_with("renderD")) candidates.push_back(path);
  std::vector<std::string> out;
  for (auto const& path : candidates)
    if (access(path.c_str(), R_OK | W_OK) != 0 && errno == EACCES) out.push_back(path.string());
  return out;
}

std::string refusal_of_device_files() {
  auto const refused = refused_device_files();
  return refused.empty() ? "" : fmt::format("; no permission to use {}", fmt::join(refused, ", "));
}

std::vector<std::string> drivers_not_loaded(std::string const& folder) {
  std::vector<std::string> out;
  for (auto const& path : files_of(folder)) {
    if (path.extension() != ".icd") continue;
    if (access(path.c_str(), R_OK) != 0) {
      out.push_back(fmt::format("no permission to read {}", path.string()));
      continue;
    }
    std::ifstream file(path);
    auto const library = first_word_of(file);
    if (library.empty()) {
      out.push_back(fmt::format("{} names no library", path.string()));
      continue;
    }
    if (void* const handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL))
      dlclose(handle);
    else
      out.push_back(fmt::format("the driver of {} does not load: {}", path.string(), loader_message()));
  }
  return out;
}

std::string driver_folder() {
  char const* const chosen = std::getenv("OCL_ICD_VENDORS");
  return chosen && fs::is_directory(chosen) ? chosen : "/etc/OpenCL/vendors";
}

}  // namespace kernelcast::probe
