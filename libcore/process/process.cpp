// posix_spawn with a process group of its own, so that a time limit also ends what a compiler driver has started.
#include "process/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "diag/diag.hpp"

extern char** environ;

namespace kernelcast {
namespace {

struct Pipe {
  int read_end = -1, write_end = -1;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      throw Error(Status::io, std::string("cannot open a pipe: ") + std::strerror(errno));
    read_end = ends[0];
    write_end = ends[1];
  }
  ~Pipe() {
    close_end(read_end);
    close_end(write_end);
  }
  static void close_end(int& end) {
    if (end >= 0) close(end);
    end = -1;
  }
};

pid_t spawn(std::vector<std::string> argv, int output, int errors) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_adddup2(&actions, errors, 2);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, defaults;
  sigemptyset(&none);
  sigemptyset(&defaults);
  for (int signal : {SIGPIPE, SIGINT, SIGTERM, SIGCHLD}) sigaddset(&defaults, signal);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  auto environment = environment_without({"LC_", "LANG"});
  environment.emplace_back("LC_ALL=C");
  pid_t pid = -1;
  int const error = posix_spawn(&pid, argv[0].c_str(), &actions, &attributes, null_terminated(argv).data(),
                                null_terminated(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0)
    throw Error(Status::io, Where{argv[0]}, std::string("cannot start it: ") + std::strerror(error),
                "check that the file is an executable program");
  return pid;
}

// Reads what has arrived; closes the pipe at its end.
void drain(int& fd, std::string& text) {
  std::array<char, 65536> buffer;
  ssize_t const n = read(fd, buffer.data(), buffer.size());
  if (n > 0) {
    std::size_t const room = output_limit_bytes - std::min(output_limit_bytes, text.size());
    text.append(buffer.data(), std::min(room, static_cast<std::size_t>(n)));
  } else if (n == 0 || errno != EINTR) {
    Pipe::close_end(fd);
  }
}

}  // namespace

ProcessResult run_process(std::vector<std::string> const& argv, double time_limit_s) {
  using Clock = std::chrono::steady_clock;
  Pipe output, errors;
  auto const deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(std::min(time_limit_s, 1e6)));
  pid_t const pid = spawn(argv, output.write_end, errors.write_end);
  Pipe::close_end(output.write_end);
  Pipe::close_end(errors.write_end);
  ProcessResult result;
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
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

std::string find_program(std::string_view name, std::vector<std::string> const& more_folders) {
  std::vector<std::string> folders;
  if (char const* path = std::getenv("PATH")) {
    std::string_view rest = path;
    for (;;) {
      auto const end = rest.find(':');
      if (auto folder = rest.substr(0, end); !folder.empty()) folders.emplace_back(folder);
      if (end == rest.npos) break;
      rest.remove_prefix(end + 1);
    }
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

static std::filesystem::path& path_in_place_of_ours() {
  static std::filesystem::path path;
  return path;
}

void take_for_program_path(std::filesystem::path path) {
  path_in_place_of_ours() = std::move(path);
}

std::filesystem::path program_path() {
  if (!path_in_place_of_ours().empty()) return path_in_place_of_ours();
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error);
}

std::string find_plugin(std::string_view name) {
  auto const folder = program_path().parent_path();
  std::error_code error;
  for (char const* const place : {"../lib", KERNELCAST_PLUGINS_FROM_BIN})
    if (auto const path = folder / place / name; std::filesystem::is_regular_file(path, error))
      return std::filesystem::canonical(path, error).string();
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

int run_in_foreground(std::vector<std::string> command, std::vector<std::string> variables) {
  pid_t process = -1;
  int const error = posix_spawnp(&process, command.front().c_str(), nullptr, nullptr, null_terminated(command).data(),
                                 null_terminated(variables).data());
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

TemporaryFolder::TemporaryFolder() {
  char const* root = std::getenv("TMPDIR");
  std::string name = std::string(root && *root ? root : "/tmp") + "/kernelcast-XXXXXX";
  if (!mkdtemp(name.data()))
    throw Error(Status::io, Where{name}, std::string("cannot make a temporary folder: ") + std::strerror(errno),
                "set TMPDIR to a folder that can be written");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;  // nothing sensible can be done in a destructor
  std::filesystem::remove_all(path_, ignored);
}

std::string read_file(std::string const& path) {
  int const fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info{};
  if (fd < 0 || fstat(fd, &info) != 0 || S_ISDIR(info.st_mode)) {
    int const error = fd < 0 ? errno : EISDIR;
    if (fd >= 0) close(fd);
    throw Error(Status::io, Where{path}, std::string("cannot read: ") + std::strerror(error),
                "check the file's name and permissions");
  }
  std::string text;
  text.reserve(static_cast<std::size_t>(info.st_size) + 1);
  std::array<char, 65536> buffer;
  ssize_t n = 0;
  while ((n = read(fd, buffer.data(), buffer.size())) > 0 || (n < 0 && errno == EINTR))
    if (n > 0) text.append(buffer.data(), static_cast<std::size_t>(n));
  int const error = errno;
  close(fd);
  if (n < 0)
    throw Error(Status::io, Where{path}, std::string("cannot read: ") + std::strerror(error),
                "check the file system that holds it");
  return text;
}

void write_file(std::string const& path, std::string_view text) {
  int const fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  bool good = fd >= 0;
  while (good && !text.empty()) {
    ssize_t const n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    good = n > 0;
    if (good) text.remove_prefix(static_cast<std::size_t>(n));
  }
  int const error = errno;
  if (fd >= 0 && close(fd) != 0) good = false;
  if (!good)
    throw Error(Status::io, Where{path}, std::string("cannot write: ") + std::strerror(error),
                "check the folder's permissions and the space left");
}

}  // namespace kernelcast
