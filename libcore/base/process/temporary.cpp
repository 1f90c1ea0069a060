// A temporary folder NAME has a file NAME.lock beside it, on which its process holds flock() as long as it lives: made
// before the folder and removed after it, so that there is no folder without. Whoever gets the lock of another process
// knows that this one is gone, also from another machine or another namespace of process numbers.
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "base/diag/diag.hpp"
#include "base/process/process.hpp"

namespace kernelcast {
namespace {

constexpr std::string_view lock_ending = ".lock";

std::string temporary_root() {
  char const* const root = std::getenv("TMPDIR");
  return root && *root ? root : "/tmp";
}

// One for each user, so that looking for what was left behind does not list all of /tmp.
std::string own_place() {
  return temporary_root() + "/kernelcast-" + std::to_string(geteuid());
}

// In /tmp any user can make a folder of that name.
bool is_private(struct stat const& info) {
  return S_ISDIR(info.st_mode) && info.st_uid == geteuid() && (info.st_mode & 022) == 0;
}

// That the name still stands for the open file.
bool is_named(int file, std::string const& path) {
  struct stat open_one{}, named{};
  return fstat(file, &open_one) == 0 && lstat(path.c_str(), &named) == 0 && open_one.st_ino == named.st_ino &&
         open_one.st_dev == named.st_dev;
}

// An own file that was not locked, now locked; -1: there is none.
int lock_abandoned(std::string const& path) {
  int const file = open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file == -1) return -1;
  struct stat info{};
  if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
      flock(file, LOCK_EX | LOCK_NB) == 0 && is_named(file, path))
    return file;
  close(file);
  return -1;
}

[[noreturn]] void fail(std::string const& path, std::string const& hint) {
  throw Error(Status::io, Where{path}, std::string("cannot make a temporary folder: ") + std::strerror(errno), hint);
}

}  // namespace

void require_space(ProcessResult const& failed) {
  auto const root = temporary_root();
  struct statvfs info{};
  constexpr std::uint64_t too_few = 4096;  // bytes: a compiler writes more
  bool full = statvfs(root.c_str(), &info) == 0 && std::uint64_t{info.f_bavail} * info.f_frsize < too_few;
  for (int const code : {ENOSPC, EDQUOT}) full = full || failed.errors.find(std::strerror(code)) != std::string::npos;
  if (full)
    throw Error(Status::io, Where{root}, "no space is left for temporary files",
                "free some there, or name another folder: TMPDIR=FOLDER");
}

bool remove_abandoned_file(std::string const& path) {
  int const file = lock_abandoned(path);
  if (file == -1) return false;
  bool const gone = unlink(path.c_str()) == 0;
  close(file);
  return gone;
}

void remove_abandoned(std::string const& place) {
  auto const folder = place.empty() ? own_place() : place;
  struct stat info{};
  if (lstat(folder.c_str(), &info) != 0 || !is_private(info)) return;
  std::error_code unreadable;
  auto const names = names_in(folder, unreadable);
  bool had_folders = false;
  for (auto const& name : names) {
    if (name.starts_with('.')) continue;
    auto const path = folder + '/' + name;
    if (!path.ends_with(lock_ending)) {
      remove_abandoned_file(path);
      continue;
    }
    had_folders = true;
    int const lock = lock_abandoned(path);
    if (lock == -1) continue;
    auto const left = path.substr(0, path.size() - lock_ending.size());
    if (remove_tree(left.c_str())) unlink(path.c_str());  // else another program still writes there; later
    close(lock);
  }
  if (had_folders) rmdir(folder.c_str());  // succeeds when it was the last
}

// False, with errno, where it fails; EPERM where the place belongs to others.
bool TemporaryFolder::make() {
  SignalsBlocked const blocked;
  try {
    if (try_to_make()) return true;
  } catch (std::bad_alloc const&) {
    if (lock_ != -1) remove();
    throw;
  }
  int const error = errno;
  if (error != EPERM) rmdir(place_.c_str());  // succeeds when it is unused
  errno = error;
  return false;
}

// What is there is a member before there is need of more memory.
bool TemporaryFolder::try_to_make() {
  for (int attempt = 0; attempt < 1000; ++attempt) {
    auto name = place_ + "/XXXXXX" + std::string(lock_ending);
    if (mkdir(place_.c_str(), 0700) != 0 && errno != EEXIST) return false;
    struct stat info{};
    bool const there = lstat(place_.c_str(), &info) == 0;
    if (there && !is_private(info)) {
      errno = EPERM;
      return false;
    }
    if (there) lock_ = mkostemps(name.data(), static_cast<int>(lock_ending.size()), O_CLOEXEC);
    if (lock_ == -1 && errno == ENOENT) continue;  // another process has removed the place, as its last user
    if (lock_ == -1) return false;
    lock_file_ = std::move(name);
    flock(lock_, LOCK_EX);  // where there are no locks, nothing is held for abandoned
    // Between its creation and our lock, another process may have taken it for abandoned.
    bool const ours = is_named(lock_, lock_file_);
    std::filesystem::path folder = lock_file_.substr(0, lock_file_.size() - lock_ending.size());
    if (ours && mkdir(folder.c_str(), 0700) == 0) {
      path_ = std::move(folder);
      at_signal_.note(path_.native(), lock_file_, place_);
      return true;
    }
    int const error = errno;
    if (ours) unlink(lock_file_.c_str());
    lock_file_.clear();
    close(std::exchange(lock_, -1));
    errno = error;
    if (ours && error != EEXIST) return false;
  }
  return false;
}

// Without memory: this may be because there is none. It stays noted to the end, for a signal that comes meanwhile.
void TemporaryFolder::remove() {
  bool const gone = remove_tree(path_.c_str());
  if (gone && !lock_file_.empty()) unlink(lock_file_.c_str());
  if (!place_.empty()) rmdir(place_.c_str());  // succeeds when it was the last
  at_signal_.forget();
  if (lock_ != -1) close(std::exchange(lock_, -1));
}

TemporaryFolder::TemporaryFolder() : place_(own_place()), owner_(getpid()) {
  remove_abandoned(place_);
  if (make()) return;
  if (errno != EPERM) fail(place_, "set TMPDIR to a folder that can be written");
  // A folder with an unpredictable name.
  SignalsBlocked const blocked;
  auto name = temporary_root() + "/kernelcast-XXXXXX";
  if (!mkdtemp(name.data())) fail(name, "set TMPDIR to a folder that can be written");
  at_signal_.note(name);
  place_.clear();
  try {
    path_ = name;
  } catch (std::bad_alloc const&) {
    rmdir(name.c_str());
    throw;
  }
}

TemporaryFolder::TemporaryFolder(std::string place) : place_(std::move(place)), owner_(getpid()) {
  remove_abandoned(place_);
  if (!make()) fail(place_, "check the folder's permissions");
}

TemporaryFolder::~TemporaryFolder() {
  if (owner_ == getpid())
    remove();
  else if (lock_ != -1)
    close(lock_);
}

TemporaryFile::TemporaryFile(std::string const& place) {
  SignalsBlocked const blocked;
  remove_abandoned(place);
  for (int attempt = 0; attempt < 1000; ++attempt) {
    path_ = place + "/XXXXXX";
    lock_ = mkostemp(path_.data(), O_CLOEXEC);
    if (lock_ == -1 && errno == ENOENT && (mkdir(place.c_str(), 0700) == 0 || errno == EEXIST)) continue;
    if (lock_ == -1) break;
    flock(lock_, LOCK_EX);
    if (is_named(lock_, path_)) {
      at_signal_.note(path_);
      return;
    }
    close(std::exchange(lock_, -1));  // another process has taken it for abandoned
  }
  throw Error(Status::io, Where{place}, std::string("cannot make a temporary file: ") + std::strerror(errno),
              "check the folder's permissions and the space left");
}

TemporaryFile::~TemporaryFile() {
  if (!path_.empty()) unlink(path_.c_str());
  close(lock_);
}

void TemporaryFile::move_to(std::string const& target) {
  if (rename(path_.c_str(), target.c_str()) != 0)
    throw Error(Status::io, Where{target}, std::string("cannot write: ") + std::strerror(errno),
                "check the folder's permissions");
  at_signal_.forget();
  path_.clear();
}

}  // namespace kernelcast
