#include "cli/output_file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "diag/diag.hpp"

namespace kernelcast::cli {

namespace {

// Files that a signal must remove: plain memory, because a handler may call nothing that allocates.
struct Slot {
  std::atomic<bool> used{false};
  std::array<char, PATH_MAX> path{};
};
std::array<Slot, 8> slots;

}  // namespace

void remove_unfinished_files() {
  for (auto& slot : slots)
    if (slot.used.load()) unlink(slot.path.data());
}

namespace {

void remove_and_die(int signal_number) {
  remove_unfinished_files();
  signal(signal_number, SIG_DFL);
  raise(signal_number);
}

void watch_signals() {
  static bool const once = [] {
    for (int const number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXCPU, SIGXFSZ, SIGQUIT}) {
      struct sigaction old{};
      sigaction(number, nullptr, &old);
      if (old.sa_handler == SIG_IGN) continue;  // nohup and the like
      struct sigaction handler{};
      handler.sa_handler = remove_and_die;
      handler.sa_flags = SA_NODEFER;
      sigaction(number, &handler, nullptr);
    }
    return true;
  }();
  (void)once;
}

int remember(std::string const& path) {
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].used.load() || path.size() >= slots[i].path.size()) continue;
    std::memcpy(slots[i].path.data(), path.c_str(), path.size() + 1);
    slots[i].used.store(true);
    return static_cast<int>(i);
  }
  return -1;
}

// Where a link leads, also when nothing is there yet.
std::string resolved(std::string path) {
  namespace fs = std::filesystem;
  std::error_code error;
  for (int links = 0; links < 40 && fs::is_symlink(path, error); ++links) {
    auto const next = fs::read_symlink(path, error);
    if (error) break;
    path = (fs::path(path).parent_path() / next).string();  // an absolute link replaces the folder
  }
  return path;
}

}  // namespace

int named_descriptor(std::string const& path) {
  static constexpr std::pair<char const*, int> names[] = {{"/dev/stdout", 1}, {"/dev/stderr", 2}};
  for (auto const& [name, number] : names)
    if (path == name) return number;
  for (std::string_view const folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder) || path.size() == folder.size()) continue;
    int number = -1;
    auto const [end, error] = std::from_chars(path.data() + folder.size(), path.data() + path.size(), number);
    if (error == std::errc{} && end == path.data() + path.size()) return number;
  }
  return -1;
}

void OutputFile::fail(std::string const& what, std::string hint) const {
  throw Error(Status::io, Where{path_}, fmt::format("cannot {}: {}", what, std::generic_category().message(errno)),
              std::move(hint));
}

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
  if (int const number = named_descriptor(path_); number >= 0) {
    descriptor_ = fcntl(number, F_DUPFD_CLOEXEC, 3);
    if (descriptor_ == -1) fail("write", "is it open?");
    open_stream();
    return;
  }
  struct stat info{};
  bool const exists = stat(path_.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) {
    errno = EISDIR;
    fail("write", "name a file inside it");
  }
  if (exists && !S_ISREG(info.st_mode)) {
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ == -1) fail("write", "check its permissions");
  } else {
    if (exists && access(path_.c_str(), W_OK) != 0) fail("write", "the file is write-protected");
    target_ = resolved(path_);
    open_beside();
    mode_t const mask = umask(0);
    umask(mask);
    fchmod(descriptor_, exists ? info.st_mode & 07777 : 0666 & ~mask);
  }
  open_stream();
}

void OutputFile::open_stream() {
  buffer_ = std::make_unique<OutputBuffer>(descriptor_, path_);
  stream_ = std::make_unique<std::ostream>(buffer_.get());
  stream_->exceptions(std::ios::badbit);
}

void OutputFile::open_beside() {
  watch_signals();
  auto const slash = target_.rfind('/');
  std::string const folder = slash == std::string::npos ? "" : target_.substr(0, slash + 1);
  temporary_ = folder + "." + target_.substr(folder.size()) + ".XXXXXX";
  sigset_t all, before;  // a signal between the two would leave the file behind
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  descriptor_ = mkostemp(temporary_.data(), O_CLOEXEC);
  if (descriptor_ != -1) slot_ = remember(temporary_);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (descriptor_ != -1) return;
  temporary_.clear();
  fail("create", errno == ENOENT ? "does the folder exist?" : "check the folder's permissions");
}

OutputFile::~OutputFile() {
  if (descriptor_ != -1) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
  if (slot_ >= 0) slots[static_cast<std::size_t>(slot_)].used.store(false);
}

void OutputFile::commit() {
  buffer_->send();
  if (!temporary_.empty() && fsync(descriptor_) == -1) fail("sync", "check the disk");
  int const descriptor = std::exchange(descriptor_, -1);
  if (close(descriptor) == -1) fail("close", "check the disk");
  rename_into_place();
}

void OutputFile::publish() {
  buffer_->send();
  rename_into_place();
}

void OutputFile::rename_into_place() {
  if (temporary_.empty()) return;
  if (rename(temporary_.c_str(), target_.c_str()) == -1) fail("rename into place", "check the folder's permissions");
  temporary_.clear();
  if (slot_ >= 0) slots[static_cast<std::size_t>(std::exchange(slot_, -1))].used.store(false);
  // The name is durable once its folder is; a file system that cannot sync a folder is no reason to fail.
  auto const slash = target_.rfind('/');
  int const folder =
      open(slash == std::string::npos ? "." : target_.substr(0, slash + 1).c_str(), O_RDONLY | O_CLOEXEC);
  if (folder == -1) return;
  fsync(folder);
  close(folder);
}

}  // namespace kernelcast::cli
