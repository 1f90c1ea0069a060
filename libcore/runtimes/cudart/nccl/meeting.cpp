#include "runtimes/cudart/nccl/meeting.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include <fmt/format.h>

#include "runtimes/cudart/call.hpp"

namespace kernelcast::nccl {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view prefix = "kernelcast-nccl-";

fs::path place() {
  std::error_code error;
  return fs::is_directory("/dev/shm", error) ? "/dev/shm" : fs::temp_directory_path(error);
}

bool write_all(int file, std::span<std::byte const> bytes) {
  while (!bytes.empty()) {
    auto const written = write(file, bytes.data(), bytes.size());
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

std::string Meeting::new_id() {
  static std::atomic<unsigned> made{0};
  auto const id = fmt::format("{}{}-{}-{}", prefix, geteuid(), getpid(), ++made);
  return mkdir((place() / id).c_str(), S_IRWXU) == 0 ? id : std::string{};
}

bool Meeting::is_id(std::string_view text) {
  if (!text.starts_with(prefix)) return false;
  return std::ranges::all_of(text.substr(prefix.size()), [](char c) { return (c >= '0' && c <= '9') || c == '-'; });
}

void Meeting::end(std::string const& id) {
  std::error_code error;
  if (is_id(id)) fs::remove_all(place() / id, error);
}

Meeting::Meeting(std::string const& id, int size) : folder_(place() / id), size_(size) {}

bool Meeting::arrive(int rank) const {
  auto const text = std::to_string(getpid());
  return leave(fmt::format("rank-{}", rank), std::as_bytes(std::span(text)), {});
}

bool Meeting::has_ended(int rank) const {
  std::ifstream file(fmt::format("{}/rank-{}", folder_, rank));
  pid_t process = 0;
  return (file >> process) && process > 0 && kill(process, 0) != 0 && errno == ESRCH;
}

template <class Done>
bool Meeting::wait(Done done, int rank) const {
  using namespace std::chrono;
  auto const begin = steady_clock::now();
  auto looked = begin;
  for (auto pause = microseconds(20); !done(); pause = std::min(2 * pause, microseconds(2000))) {
    std::this_thread::sleep_for(pause);
    auto const now = steady_clock::now();
    if (now - looked < seconds(1)) continue;
    looked = now;
    if (rank >= 0 && has_ended(rank) && !done()) {
      cudart::report(fmt::format("NCCL: the process of rank {} has ended", rank));
      return false;
    }
    if (rank < 0 && now - begin > minutes(10)) {
      cudart::report(fmt::format("NCCL: not all of the {} ranks have come within ten minutes", size_));
      return false;
    }
  }
  return true;
}

bool Meeting::wait_for_all() const {
  return wait(
      [&] {
        for (int rank = 0; rank < size_; ++rank)
          if (access(fmt::format("{}/rank-{}", folder_, rank).c_str(), R_OK) != 0) return false;
        return true;
      },
      -1);
}

bool Meeting::leave(std::string const& name, std::span<std::byte const> head, std::span<std::byte const> body) const {
  auto const whole = folder_ + '/' + name, part = whole + ".part";
  int const file = open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, S_IRUSR | S_IWUSR);
  if (file == -1) return false;
  bool const written = write_all(file, head) && write_all(file, body);
  close(file);
  return written && rename(part.c_str(), whole.c_str()) == 0;
}

std::optional<std::vector<std::byte>> Meeting::take(std::string const& name, int rank) const {
  auto const path = folder_ + '/' + name;
  if (!wait([&] { return access(path.c_str(), R_OK) == 0; }, rank)) return std::nullopt;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::vector<std::byte> out(static_cast<std::size_t>(std::max<std::streamoff>(0, file.tellg())));
  file.seekg(0);
  if (!file.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size()))) return std::nullopt;
  return out;
}

void Meeting::remove(std::string const& name) const {
  unlink((folder_ + '/' + name).c_str());
}

}  // namespace kernelcast::nccl
