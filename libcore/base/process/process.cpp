// A process group of its own for each program, so that a time limit also ends what a compiler driver has started.
#include "base/process/process.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>

#include "base/diag/diag.hpp"
#include "base/diag/text.hpp"
#include "base/process/child.hpp"

extern char** environ;

namespace kernelcast {
namespace {

// All that the child needs, made before there is a child: it shares this process's memory until it is another program.
struct Start {
  char* const* argv;
  char* const* environment;
  int nowhere, output, errors;
  rlim_t memory_bytes;
  int volatile failure = 0;  // errno of the child
};

void hand_over(int from, int to) {
  if (from == to)
    fcntl(to, F_SETFD, 0);  // dup2 would leave it to be closed
  else
    dup2(from, to);
}

// posix_spawn sets no limits, and fork would copy the page tables of an emulated device's memory. All signals are
// blocked.
[[gnu::noinline]] pid_t vfork_and_exec(Start& start) {
  pid_t const pid = vfork();  // NOLINT(bugprone-unsafe-functions)
  if (pid != 0) return pid;
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // nothing is left of it where this process is killed
  struct sigaction action{};
  for (int number = 1; number < NSIG; ++number) {
    bool const always = number == SIGPIPE || number == SIGINT || number == SIGTERM || number == SIGCHLD;
    if (sigaction(number, nullptr, &action) != 0 || (action.sa_handler == SIG_IGN && !always)) continue;
    action = {};
    sigaction(number, &action, nullptr);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  hand_over(start.nowhere, 0);
  hand_over(start.output, 1);
  hand_over(start.errors, 2);
  lower_limit(RLIMIT_AS, start.memory_bytes);
  lower_limit(RLIMIT_FSIZE, process_file_bytes);
  lower_limit(RLIMIT_CORE, 0);
  execve(start.argv[0], start.argv, start.environment);
  start.failure = errno;
  _exit(127);
}

pid_t spawn(std::vector<std::string> argv, int output, int errors, std::uint64_t memory_bytes) {
  auto environment = environment_without({"LC_", "LANG"});
  environment.emplace_back("LC_ALL=C");
  auto const words = null_terminated(argv), variables = null_terminated(environment);
  Start start{words.data(), variables.data(), open("/dev/null", O_RDONLY | O_CLOEXEC), output, errors, memory_bytes};
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pid_t const pid = vfork_and_exec(start);
  int const error = pid < 0 ? errno : start.failure;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (start.nowhere >= 0) close(start.nowhere);
  if (error == 0) return pid;
  if (pid > 0) waitpid(pid, nullptr, 0);
  throw Error(Status::io, Where{argv[0]}, std::string("cannot start it: ") + std::strerror(error),
              "check that the file is an executable program");
}

// Reads what has arrived; closes the pipe at its end.
void drain(int& fd, std::string& text) {
  std::array<char, 65536> buffer;
  ssize_t const n = read(fd, buffer.data(), buffer.size());
  if (n > 0) {
    std::size_t const room = output_limit_bytes - std::min(output_limit_bytes, text.size());
    text.append(buffer.data(), std::min(room, static_cast<std::size_t>(n)));
  } else if (n == 0) {
    Pipe::close_end(fd);
  } else if (errno != EINTR) {  // what was read so far would pass for all
    throw Error(Status::io, std::string("cannot read a program's output: ") + std::strerror(errno));
  }
}

}  // namespace

std::uint64_t process_memory_bytes() {
  constexpr std::uint64_t gib = std::uint64_t{1} << 30;
  long const pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return 16 * gib;
  return std::clamp(static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes) / 2, 4 * gib, 16 * gib);
}

ProcessResult run_process(std::vector<std::string> const& argv, double time_limit_s, std::uint64_t memory_bytes) {
  using Clock = std::chrono::steady_clock;
  Pipe output, errors;
  auto const deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(std::min(time_limit_s, 1e6)));
  pid_t pid = -1;
  std::optional<KilledAtSignal> at_signal;
  {
    SignalsBlocked const blocked;
    pid = spawn(argv, output.write_end, errors.write_end, memory_bytes);
    at_signal.emplace(pid);
  }
  Pipe::close_end(output.write_end);
  Pipe::close_end(errors.write_end);
  ProcessResult result;
  struct Reaper {  // also when there is no memory for its output
    pid_t pid;
    int status = 0;
    int wait() {
      while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
      }
      pid = -1;
      return status;
    }
    ~Reaper() {
      if (pid == -1) return;
      kill(-pid, SIGKILL);
      wait();
    }
  } child{pid};
  while (output.read_end >= 0 || errors.read_end >= 0) {
    auto const left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) {
      result.timed_out = true;
      kill(-pid, SIGKILL);
      break;
    }
    pollfd fds[2] = {{output.read_end, POLLIN, 0}, {errors.read_end, POLLIN, 0}};
    int const ready = poll(fds, 2, static_cast<int>(std::min<long long>(left + 1, 60000)));
    if (ready < 0 && errno != EINTR) break;
    if (ready <= 0) continue;
    if (fds[0].revents) drain(output.read_end, result.output);
    if (fds[1].revents) drain(errors.read_end, result.errors);
  }
  int const status = child.wait();
  at_signal.reset();
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

std::string find_program(std::string_view name, std::vector<std::string> const& more_folders) {
  std::vector<std::string> folders;
  if (char const* path = std::getenv("PATH")) {
    for (auto const folder : split(path, ':'))
      if (!folder.empty()) folders.emplace_back(folder);
  }
  folders.insert(folders.end(), more_folders.begin(), more_folders.end());
  for (auto const& folder : folders) {
    std::string candidate = folder + "/" + std::string(name);
    struct stat info;
    if (stat(candidate.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(candidate.c_str(), X_OK) == 0)
      return candidate;
  }
  return {};
}

static std::filesystem::path& program_path_override() {
  static std::filesystem::path path;
  return path;
}

void set_program_path(std::filesystem::path path) {
  program_path_override() = std::move(path);
}

std::filesystem::path program_path() {
  if (!program_path_override().empty()) return program_path_override();
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error);
}

std::string find_plugin(std::string_view name) {
  auto const folder = program_path().parent_path();
  std::error_code error;
  for (char const* const place : {"../lib", KERNELCAST_PLUGINS_FROM_BIN})
    if (auto const path = folder / place / name; std::filesystem::is_regular_file(path, error)) {
      auto found = std::filesystem::canonical(path, error);
      if (error == std::errc::not_enough_memory) throw std::bad_alloc();  // it is installed
      return found.string();
    }
  return {};
}

std::vector<std::string> environment_without(std::initializer_list<std::string_view> prefixes) {
  std::vector<std::string> result;
  for (char** entry = environ; entry && *entry; ++entry) {
    std::string_view const text = *entry;
    if (std::none_of(prefixes.begin(), prefixes.end(), [&](auto prefix) { return text.starts_with(prefix); }))
      result.emplace_back(text);
  }
  return result;
}

int run_in_foreground(std::vector<std::string> command, std::vector<std::string> variables, int output) {
  posix_spawn_file_actions_t streams;
  if (posix_spawn_file_actions_init(&streams) != 0) throw std::bad_alloc();
  int error = output == 1 ? 0 : posix_spawn_file_actions_adddup2(&streams, output, 1);
  pid_t process = -1;
  if (error == 0)
    error = posix_spawnp(&process, command.front().c_str(), &streams, nullptr, null_terminated(command).data(),
                         null_terminated(variables).data());
  posix_spawn_file_actions_destroy(&streams);
  if (error != 0)
    throw Error(Status::io, Where{command.front()}, std::string("cannot start: ") + std::strerror(error),
                "is the application's name right?");
  int status = 0;
  while (waitpid(process, &status, 0) == -1 && errno == EINTR) continue;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::vector<char*> null_terminated(std::vector<std::string>& words) {
  std::vector<char*> result;
  for (auto& word : words) result.push_back(word.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> names_in(std::string const& folder, std::error_code& error) {
  struct Close {
    void operator()(DIR* list) const { closedir(list); }
  };
  std::unique_ptr<DIR, Close> const list(opendir(folder.c_str()));
  std::vector<std::string> out;
  errno = list ? 0 : errno;
  while (auto const* const entry = list ? readdir(list.get()) : nullptr) {
    std::string_view const name = entry->d_name;
    if (name != "." && name != "..") out.emplace_back(name);
    errno = 0;
  }
  error = {errno, std::generic_category()};
  if (error == std::errc::not_enough_memory) throw std::bad_alloc();
  return out;
}

std::vector<std::string> names_in(std::string const& folder) {
  std::error_code error;
  auto out = names_in(folder, error);
  if (!error) return out;
  throw Error(Status::io, Where{folder}, "cannot list the folder: " + error.message(),
              "check its name and permissions");
}

std::string read_file(std::string const& path, std::size_t limit_bytes) {
  int const fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info{};
  if (fd < 0 || fstat(fd, &info) != 0 || S_ISDIR(info.st_mode)) {
    int const error = fd < 0 ? errno : EISDIR;
    if (fd >= 0) close(fd);
    throw Error(Status::io, Where{path}, std::string("cannot read: ") + std::strerror(error),
                "check the file's name and permissions");
  }
  std::string text;
  auto size = static_cast<std::size_t>(info.st_size);
  if (size <= limit_bytes) text.reserve(size + 1);
  std::array<char, 65536> buffer;
  ssize_t n = 0;
  while (size <= limit_bytes && ((n = read(fd, buffer.data(), buffer.size())) > 0 || (n < 0 && errno == EINTR))) {
    if (n > 0) text.append(buffer.data(), static_cast<std::size_t>(n));
    size = text.size();
  }
  int const error = errno;
  close(fd);
  if (size > limit_bytes) throw input_too_large(path, limit_bytes);
  if (n < 0)
    throw Error(Status::io, Where{path}, std::string("cannot read: ") + std::strerror(error),
                "check the file system that holds it");
  return text;
}

std::ifstream open_file(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw Error(Status::io, Where{path}, std::string("cannot read: ") + std::strerror(errno),
                "check the file's name and permissions");
  file.exceptions(std::ios::badbit);
  return file;
}

// Writes all and closes; -1: it could not be opened, errno says why.
static void write_to(int fd, std::string const& path, std::string_view text) {
  bool good = fd >= 0;
  while (good && !text.empty()) {
    ssize_t const n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    good = n > 0;
    if (good) text.remove_prefix(static_cast<std::size_t>(n));
  }
  int error = errno;
  if (fd >= 0 && close(fd) != 0 && good) {
    error = errno;
    good = false;
  }
  if (!good)
    throw Error(Status::io, Where{path}, std::string("cannot write: ") + std::strerror(error),
                "check the folder's permissions and the space left");
}

void write_file(std::string const& path, std::string_view text) {
  write_to(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), path, text);
}

void replace_file(std::string const& path, std::string_view text, unsigned mode) {
  struct stat info{};
  bool const exists = stat(path.c_str(), &info) == 0;
  if (exists && (!S_ISREG(info.st_mode) || access(path.c_str(), W_OK) != 0)) return write_file(path, text);
  std::error_code unknown;
  auto const target = exists ? std::filesystem::canonical(path, unknown).string() : path;
  struct Beside {
    std::string name;
    int fd = -1;
    ~Beside() {
      if (fd >= 0) unlink(name.c_str());
    }
  } beside{target + ".XXXXXX"};
  beside.fd = mkostemp(beside.name.data(), O_CLOEXEC);
  if (beside.fd >= 0) {
    mode_t const mask = umask(0);
    umask(mask);
    fchmod(beside.fd, exists ? info.st_mode & 07777 : mode & ~mask);
  }
  write_to(beside.fd, path, text);
  if (rename(beside.name.c_str(), target.c_str()) != 0)
    throw Error(Status::io, Where{path}, std::string("cannot write: ") + std::strerror(errno),
                "check the folder's permissions");
  beside.fd = -1;
}

}  // namespace kernelcast
