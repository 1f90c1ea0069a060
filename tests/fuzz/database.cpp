// small_database(): what a program reads of a device database, without the time that reading all of it takes.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/process/process.hpp"
#include "fuzz.hpp"

namespace kernelcast::fuzz {

namespace {

constexpr std::array<std::string_view, 4> kept{"k20", "k40", "hd7970", "i7-2600k"};

bool is_kept(std::string_view device) {
  return std::find(kept.begin(), kept.end(), device) != kept.end();
}

}  // namespace

std::string const& small_database() {
  static TemporaryFolder const folder;
  static std::string const path = [] {
    namespace fs = std::filesystem;
    fs::path const whole = KERNELCAST_FUZZ_DEVDB;
    for (auto const* name : {"occupancy.csv", "latgap.csv", "latgap_fallbacks.csv", "issue.csv"})
      fs::copy_file(whole / name, folder.path() / name);
    std::ifstream in(whole / "devices.csv");
    std::ofstream out(folder.path() / "devices.csv");
    bool header = true;
    for (std::string line; std::getline(in, line);) {
      if (!header && !is_kept(std::string_view(line).substr(0, line.find(',')))) continue;
      out << line << '\n';
      header = header && line.starts_with('#');
    }
    fs::create_directory(folder.path() / "curves");
    for (auto const device : kept) {
      auto const file = fs::path("curves") / (std::string(device) + ".csv");
      if (fs::exists(whole / file)) fs::copy_file(whole / file, folder.path() / file);
    }
    return folder.path().string();
  }();
  return path;
}

}  // namespace kernelcast::fuzz
