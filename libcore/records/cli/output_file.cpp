#include "records/cli/output_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/diag/diag.hpp"
#include "base/diag/text.hpp"
#include "base/process/process.hpp"

namespace kernelcast::cli {

namespace {

constexpr int max_names = 1000;   // processes that write the same file at the same time
constexpr int checked_names = 8;  // of them, for what killed ones left behind

// A file without a name, in this folder, for which linkat() can make one; -1 where the system has no such thing.
int open_unnamed(std::string const& folder) {
  int const file = open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (file == -1 || access(fmt::format("/proc/self/fd/{}", file).c_str(), F_OK) == 0) return file;
  close(file);
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
    if (!path.starts_with(folder)) continue;
    if (auto const number = to_number<int>(std::string_view(path).substr(folder.size()))) return *number;
  }
  return -1;
}

void OutputFile::fail(std::string const& what, std::string hint) const {
  throw Error(Status::io, Where{path_}, fmt::format("cannot {}: {}", what, std::generic_category().message(errno)),
              std::move(hint));
}

OutputFile::OutputFile(std::string path, Until until) : OutputFile() {
  path_ = std::move(path);
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
    open_beside(until);
    waits_ = true;
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

std::string OutputFile::name_beside(int number) const {
  auto const slash = target_.rfind('/');
  auto const name = slash == std::string::npos ? 0 : slash + 1;
  constexpr std::size_t longest = 200;  // so that what is added keeps it a name
  return fmt::format("{}.{}.new-{}", target_.substr(0, name), target_.substr(name, longest), number);
}

void OutputFile::open_beside(Until until) {
  for (int i = 0; i < checked_names; ++i) remove_abandoned_file(name_beside(i));
  if (until == Until::unnamed) descriptor_ = open_unnamed(target_.substr(0, target_.rfind('/') + 1));
  if (descriptor_ != -1) {
    flock(descriptor_, LOCK_EX | LOCK_NB);  // so that it is locked from the moment that it has a name
    return;
  }
  SignalsBlocked const blocked;
  for (int i = 0; i < max_names && descriptor_ == -1; ++i) {
    temporary_ = name_beside(i);
    descriptor_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (descriptor_ == -1 && errno != EEXIST) break;
    if (descriptor_ == -1) continue;
    flock(descriptor_, LOCK_EX);
    struct stat info{};
    if (fstat(descriptor_, &info) == 0 && info.st_nlink > 0) {
      at_signal_.note(temporary_);
      return;
    }
    close(std::exchange(descriptor_, -1));  // another process took it for abandoned before it was locked
  }
  temporary_.clear();
  fail("create", errno == ENOENT ? "does the folder exist?" : "check the folder's permissions");
}

OutputFile::~OutputFile() {
  if (descriptor_ != -1) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

void OutputFile::commit() {
  buffer_->send();
  if (waits_ && fsync(descriptor_) == -1) fail("sync", "check the disk");
  take_its_place();
  if (close(std::exchange(descriptor_, -1)) == -1) fail("close", "check the disk");
}

void OutputFile::publish() {
  buffer_->send();
  take_its_place();
}

// No name replaces another one at once but by rename(): an unnamed file needs a name first, for a moment.
bool OutputFile::name_it() {
  auto const file = fmt::format("/proc/self/fd/{}", descriptor_);
  for (int i = 0; i < max_names; ++i) {
    temporary_ = name_beside(i);
    if (linkat(AT_FDCWD, file.c_str(), AT_FDCWD, temporary_.c_str(), AT_SYMLINK_FOLLOW) == 0) return true;
    if (errno != EEXIST) break;
  }
  temporary_.clear();
  return false;
}

void OutputFile::take_its_place() {
  if (!waits_) return;
  {
    SignalsBlocked const blocked;
    if (temporary_.empty() && !name_it()) fail("give a name to what was written", "check the folder's permissions");
    if (rename(temporary_.c_str(), target_.c_str()) == -1) fail("rename into place", "check the folder's permissions");
    temporary_.clear();
    at_signal_.forget();
    waits_ = false;
  }
  flock(descriptor_, LOCK_UN);  // it is the user's now
  // The name is durable once its folder is; a file system that cannot sync a folder is not a reason to fail.
  auto const slash = target_.rfind('/');
  int const folder =
      open(slash == std::string::npos ? "." : target_.substr(0, slash + 1).c_str(), O_RDONLY | O_CLOEXEC);
  if (folder == -1) return;
  fsync(folder);
  close(folder);
}

}  // namespace kernelcast::cli
