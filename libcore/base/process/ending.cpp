#include "base/process/ending.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace kernelcast {
namespace {

// Plain memory: a handler may call nothing that allocates or locks. What finds no slot is not noted.
struct Path {
  std::atomic<int> state{0};  // 0 free, 1 being written, 2 noted
  std::array<char, PATH_MAX> path{}, lock{}, place{};
};
std::array<Path, 64> paths;
std::array<std::atomic<pid_t>, 64> groups{};
std::atomic<pid_t> owner{0};  // the process that noted them
std::atomic<bool> ending{false};

// What a parent process noted is the parent's.
void clear_in_child() {
  pid_t const self = getpid();
  pid_t noted_by = owner.load();
  if (noted_by == self || !owner.compare_exchange_strong(noted_by, self)) return;
  if (noted_by == 0) return;
  for (auto& path : paths) path.state = 0;
  for (auto& group : groups) group = 0;
}

// As the kernel's getdents64 returns it; readdir() allocates.
struct Entry {
  std::uint64_t inode;
  std::int64_t offset;
  std::uint16_t bytes;
  std::uint8_t type;
  char name[1];
};

bool remove_below(int at, char const* name, int depth) {
  if (!*name) return true;
  if (unlinkat(at, name, 0) == 0 || errno == ENOENT) return true;
  if (depth == 0) return false;
  int const folder = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder == -1) return false;
  for (int pass = 0; pass < 3; ++pass) {  // others may still write
    alignas(Entry) std::array<char, 2048> entries;
    long got = 0;
    bool found = false;
    lseek(folder, 0, SEEK_SET);
    while ((got = syscall(SYS_getdents64, folder, entries.data(), entries.size())) > 0)
      for (long i = 0; i < got;) {
        auto const* const record = entries.data() + i;
        std::uint16_t bytes = 0;
        std::memcpy(&bytes, record + offsetof(Entry, bytes), sizeof bytes);
        char const* const entry = record + offsetof(Entry, name);
        i += bytes;
        if (std::strcmp(entry, ".") == 0 || std::strcmp(entry, "..") == 0) continue;
        found = true;
        remove_below(folder, entry, depth - 1);
      }
    if (!found) break;
  }
  close(folder);
  return unlinkat(at, name, AT_REMOVEDIR) == 0 || errno == ENOENT;
}

}  // namespace

bool remove_tree(char const* path) {
  constexpr int levels = 64;
  // It takes descriptors, of which others may just have had the last.
  return remove_below(AT_FDCWD, path, levels) || remove_below(AT_FDCWD, path, levels);
}

void remove_what_is_noted() {
  if (owner.load() != getpid() || ending.exchange(true)) return;
  for (auto& group : groups)
    if (pid_t const process = group.load(); process > 0 && kill(-process, SIGKILL) == 0)
      while (waitpid(process, nullptr, 0) == -1 && errno == EINTR) continue;
  for (auto& path : paths)
    if (path.state.load() == 2) {
      remove_tree(path.path.data());
      if (path.lock[0]) unlink(path.lock.data());
      if (path.place[0]) rmdir(path.place.data());
    }
}

void end_by_signal(int number) {
  int const error = errno;
  remove_what_is_noted();
  signal(number, SIG_DFL);
  raise(number);
  errno = error;  // where the signal is blocked: it comes later
}

namespace {

std::atomic<int> asked_to_stop{0};

void note_stop(int number) {
  asked_to_stop.store(number);
  for (int const other : {SIGINT, SIGTERM}) signal(other, end_by_signal);
}

}  // namespace

void stop_at_signals() {
  for (int const number : {SIGINT, SIGTERM}) {
    struct sigaction old{};
    sigaction(number, nullptr, &old);
    if (old.sa_handler == SIG_IGN) continue;
    struct sigaction handler{};
    handler.sa_handler = note_stop;
    handler.sa_flags = SA_RESTART;
    sigaction(number, &handler, nullptr);
  }
}

std::atomic<int> const& stop_signal() {
  return asked_to_stop;
}

void clean_up_at_signals() {
  for (int const number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXCPU, SIGXFSZ, SIGQUIT}) {
    struct sigaction old{};
    sigaction(number, nullptr, &old);
    if (old.sa_handler == SIG_IGN) continue;  // nohup and the like
    struct sigaction handler{};
    handler.sa_handler = end_by_signal;
    handler.sa_flags = SA_NODEFER;
    sigaction(number, &handler, nullptr);
  }
}

namespace {

// A relative name means another file once the working folder has changed. Empty where it is too long. Takes no memory:
// what is to be noted is there already.
void copy_absolute(std::string const& path, std::array<char, PATH_MAX>& to) {
  bool const relative = !path.empty() && !path.starts_with('/') && getcwd(to.data(), to.size() - 1);
  std::size_t const before = relative ? std::strlen(to.data()) + 1 : 0;
  if (relative) to[before - 1] = '/';
  bool const fits = before + path.size() < to.size();
  if (fits) std::memcpy(to.data() + before, path.c_str(), path.size() + 1);
  if (!fits) to[0] = '\0';
}

}  // namespace

void RemovedAtSignal::note(std::string const& path, std::string const& lock, std::string const& place) {
  forget();
  clear_in_child();
  for (std::size_t i = 0; i < paths.size(); ++i) {
    int expected = 0;
    if (!paths[i].state.compare_exchange_strong(expected, 1)) continue;
    copy_absolute(path, paths[i].path);
    copy_absolute(lock, paths[i].lock);
    copy_absolute(place, paths[i].place);
    paths[i].state = 2;
    slot_ = static_cast<int>(i);
    return;
  }
}

void RemovedAtSignal::forget() {
  if (slot_ >= 0 && owner.load() == getpid()) paths[static_cast<std::size_t>(slot_)].state = 0;
  slot_ = -1;
}

KilledAtSignal::KilledAtSignal(pid_t group) {
  clear_in_child();
  for (std::size_t i = 0; i < groups.size(); ++i) {
    pid_t expected = 0;
    if (!groups[i].compare_exchange_strong(expected, group)) continue;
    slot_ = static_cast<int>(i);
    return;
  }
}

KilledAtSignal::~KilledAtSignal() {
  if (slot_ >= 0 && owner.load() == getpid()) groups[static_cast<std::size_t>(slot_)] = 0;
}

SignalsBlocked::SignalsBlocked() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before_);
}

SignalsBlocked::~SignalsBlocked() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace kernelcast
