#include "runtimes/attach/spool_reader.hpp"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <tuple>

#include <fmt/format.h>

#include "base/process/process.hpp"
#include "records/table/histogram.hpp"
#include "runtimes/attach/spool.hpp"

namespace kernelcast::attach {

std::vector<Spooled> SpoolReader::files(std::string_view kind, std::string_view ending) const {
  std::vector<Spooled> out;
  for (auto const& file : names_in(folder_)) {
    if (!file.starts_with(kind) || !file.ends_with(ending)) continue;
    auto const middle = file.substr(kind.size(), file.size() - kind.size() - ending.size());
    auto const dash = middle.find('-');
    if (dash == std::string::npos) continue;
    Spooled spooled{file, middle.substr(0, dash), 0};
    std::from_chars(middle.data() + dash + 1, middle.data() + middle.size(), spooled.number);
    out.push_back(std::move(spooled));
  }
  std::sort(out.begin(), out.end(), [](Spooled const& a, Spooled const& b) {
    return std::tie(a.process, a.number) < std::tie(b.process, b.number);
  });
  return out;
}

std::vector<SpoolReader::Skipped> SpoolReader::reasons(std::string_view kind) const {
  std::vector<Skipped> out;
  for (auto& spooled : files(kind, ".txt")) {
    std::ifstream file(path(spooled));
    Skipped one{{}, {}, spooled};
    std::getline(file, one.kernel);
    std::getline(file, one.why, '\0');
    if (one.why.ends_with('\n')) one.why.pop_back();
    out.push_back(std::move(one));
  }
  return out;
}

std::vector<SpoolReader::Told> SpoolReader::findings() const {
  std::vector<Told> out;
  for (auto const& spooled : files("findings-", ".txt")) {
    std::ifstream file(path(spooled));
    for (Told told; file >> told.kind >> told.times && std::getline(file >> std::ws, told.text);) out.push_back(told);
  }
  return out;
}

std::vector<std::uint64_t> SpoolReader::words(std::string const& kind, std::string const& process) const {
  std::ifstream file(folder_ + '/' + kind + process, std::ios::binary);
  std::string content((std::istreambuf_iterator<char>(file)), {});
  std::vector<std::uint64_t> out(content.size() / sizeof(std::uint64_t));
  if (!out.empty()) std::memcpy(out.data(), content.data(), out.size() * sizeof(std::uint64_t));
  return out;
}

std::string SpoolReader::touched_before(std::string const& process, std::uint64_t number) const {
  constexpr std::size_t together = 256;
  std::array<double, max_totals> totals{};
  auto const bytes = static_cast<std::streamsize>(max_totals * sizeof(double));
  std::ifstream file(fmt::format("{}/totals-{}-{}", folder_, process, number / together), std::ios::binary);
  file.seekg(static_cast<std::streamoff>(number % together) * bytes);
  if (!file.read(reinterpret_cast<char*>(totals.data()), bytes) || totals.back() <= 0) return {};
  // The application can write there, too.
  if (!std::ranges::all_of(totals, [](double n) { return std::isfinite(n); })) return {};
  record::Powers touched{};
  std::copy_n(totals.begin(), touched.size(), touched.begin());
  return record::text_of(touched);
}

std::optional<Usage> SpoolReader::usage() const {
  std::optional<Usage> out;
  for (auto const& name : names_in(folder_)) {
    Usage one;
    std::ifstream file(folder_ + '/' + name, std::ios::binary);
    if (!name.starts_with("usage-") || !file.read(reinterpret_cast<char*>(&one), sizeof one)) continue;
    if (!out) out.emplace();
    add(*out, one);
  }
  return out;
}

std::vector<std::string> SpoolReader::timelines() const {
  std::vector<std::string> out;
  for (auto const& name : names_in(folder_))
    if (name.starts_with("timeline-")) out.push_back(folder_ + '/' + name);
  std::ranges::sort(out);
  return out;
}

void SpoolReader::remove_buffers(Spooled const& spooled) const {
  auto const prefix = fmt::format("buffer-{}-{}-", spooled.process, spooled.number);
  for (auto const& file : names_in(folder_))
    if (file.starts_with(prefix)) unlink((folder_ + '/' + file).c_str());
}

FolderWatch::FolderWatch(std::string const& folder) : watch_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
  if (watch_ != -1) inotify_add_watch(watch_, folder.c_str(), IN_MOVED_TO);
}

FolderWatch::~FolderWatch() {
  if (watch_ != -1) close(watch_);
}

bool FolderWatch::wait(int at_most_ms) const {
  pollfd ready{watch_, POLLIN, 0};
  if (poll(&ready, watch_ == -1 ? 0 : 1, at_most_ms) < 1) return watch_ == -1;
  char events[4096];
  while (read(watch_, events, sizeof events) > 0) continue;
  return true;
}

}  // namespace kernelcast::attach
