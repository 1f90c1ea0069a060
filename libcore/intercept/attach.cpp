#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "intercept/intercept.hpp"
#include "process/process.hpp"

namespace kernelcast::intercept {

namespace fs = std::filesystem;

namespace {

constexpr int look_again_ms = 20;  // the application may have ended

std::string find_layer() {
  auto const path = find_plugin("kernelcast-opencl.so");
  if (path.empty())
    throw Error(Status::unavailable, "the OpenCL layer kernelcast-opencl.so is not installed beside the program",
                "build with the package opencl-headers");
  return path;
}

// The layer goes below those that the user has asked for: it sees what reaches the device.
std::vector<std::string> environment(std::string const& spool, std::string const& every) {
  std::string layers = find_layer();
  if (char const* const others = std::getenv("OPENCL_LAYERS"); others && *others) layers += ':' + std::string(others);
  auto out = environment_without({"OPENCL_LAYERS=", "KERNELCAST_SPOOL=", "KERNELCAST_EVERY="});
  out.push_back("OPENCL_LAYERS=" + layers);
  out.push_back("KERNELCAST_SPOOL=" + spool);
  if (!every.empty()) out.push_back("KERNELCAST_EVERY=" + every);
  return out;
}

// Keys that end a program on a terminal are for the application; what it has launched until then is still reported.
class LeaveSignalsToTheApplication {
 public:
  LeaveSignalsToTheApplication() {
    struct sigaction ignore{};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGINT, &ignore, &interrupt_);
    sigaction(SIGQUIT, &ignore, &quit_);
  }
  ~LeaveSignalsToTheApplication() {
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGQUIT, &quit_, nullptr);
  }
  LeaveSignalsToTheApplication(LeaveSignalsToTheApplication const&) = delete;

 private:
  struct sigaction interrupt_{}, quit_{};
};

pid_t start(std::vector<std::string> command, std::vector<std::string> variables) {
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  for (int signal : {SIGINT, SIGQUIT, SIGPIPE, SIGTERM}) sigaddset(&defaults, signal);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t process = -1;
  int const error = posix_spawnp(&process, command.front().c_str(), nullptr, &attributes,
                                 null_terminated(command).data(), null_terminated(variables).data());
  posix_spawnattr_destroy(&attributes);
  if (error != 0)
    throw Error(Status::io, Where{command.front()}, std::string("cannot start: ") + std::strerror(error),
                "is the application's name right?");
  return process;
}

// One launch file of the spool: "launch-PID-N.toml".
struct Name {
  std::string file, process;
  std::uint64_t number = 0;
};

std::vector<Name> names_in(std::string const& spool, std::string_view kind, std::string_view ending) {
  std::vector<Name> out;
  for (auto const& entry : fs::directory_iterator(spool)) {
    std::string const file = entry.path().filename().string();
    if (!file.starts_with(kind) || !file.ends_with(ending)) continue;
    auto const middle = file.substr(kind.size(), file.size() - kind.size() - ending.size());
    auto const dash = middle.find('-');
    if (dash == std::string::npos) continue;
    Name name{file, middle.substr(0, dash), 0};
    std::from_chars(middle.data() + dash + 1, middle.data() + middle.size(), name.number);
    out.push_back(std::move(name));
  }
  std::sort(out.begin(), out.end(),
            [](Name const& a, Name const& b) { return std::tie(a.process, a.number) < std::tie(b.process, b.number); });
  return out;
}

// How often each configuration of a process was launched.
std::vector<std::uint64_t> counts_of(std::string const& spool, std::string const& process) {
  std::ifstream file(spool + "/counts-" + process, std::ios::binary);
  std::string content((std::istreambuf_iterator<char>(file)), {});
  std::vector<std::uint64_t> out(content.size() / sizeof(std::uint64_t));
  std::memcpy(out.data(), content.data(), out.size() * sizeof(std::uint64_t));
  return out;
}

class Attachment {
 public:
  Attachment(AttachOptions const& options, std::string spool) : options_(options), spool_(std::move(spool)) {}

  Attached run() {
    int const watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    if (watch != -1) inotify_add_watch(watch, spool_.c_str(), IN_MOVED_TO);
    LeaveSignalsToTheApplication const keys;
    pid_t const process = start(options_.command, environment(spool_, options_.every));
    int status = 0;
    for (;;) {
      emulate_new();
      pid_t const ended = waitpid(process, &status, WNOHANG);
      if (ended == process || (ended == -1 && errno != EINTR)) break;
      wait_for_news(watch);
    }
    if (watch != -1) close(watch);
    emulate_new();
    finish();
    result_.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return std::move(result_);
  }

 private:
  static void wait_for_news(int watch) {
    pollfd ready{watch, POLLIN, 0};
    if (poll(&ready, watch == -1 ? 0 : 1, look_again_ms) < 1) return;
    char events[4096];
    while (read(watch, events, sizeof events) > 0) continue;
  }

  void emulate_new() {
    for (auto const& name : names_in(spool_, "launch-", ".toml"))
      if (done_.insert(name.file).second) emulate(name);
  }

  void emulate(Name const& name) {
    try {
      auto plan = launch::read_launch_file(spool_ + '/' + name.file);
      plan.case_name.clear();  // its sizes
      plan.request.cache = options_.cache;
      plan.request.registers = options_.registers;
      auto const kernel = plan.calls.front().kernel.text;
      try {
        for (auto& row : launch::run(std::move(plan), options_.run).rows) rows_[{name.process, name.number}] = row;
      } catch (Error const& error) {
        ++result_.skipped;
        options_.tell(fmt::format("kernel '{}' has no row:\n{}", kernel, error.text("emulation")));
      }
    } catch (Error const& error) {
      ++result_.skipped;
      options_.tell(error.text("emulation"));
    }
    remove_buffers(name);
  }

  // Contents are large and have been used.
  void remove_buffers(Name const& name) const {
    if (!options_.keep.empty()) return;
    std::error_code ignored;
    auto const prefix = fmt::format("buffer-{}-{}-", name.process, name.number);
    for (auto const& entry : fs::directory_iterator(spool_))
      if (entry.path().filename().string().starts_with(prefix)) fs::remove(entry.path(), ignored);
  }

  void finish() {
    std::map<std::string, std::vector<std::uint64_t>> counts;
    for (auto& [key, row] : rows_) {
      auto const& [process, number] = key;
      auto const [at, is_new] = counts.try_emplace(process);
      if (is_new) at->second = counts_of(spool_, process);
      record::repeat(row, number < at->second.size() ? std::max<std::uint64_t>(1, at->second[number]) : 1);
      result_.rows.push_back(std::move(row));
    }
    std::set<std::string> said;
    for (auto const& name : names_in(spool_, "skipped-", ".txt")) {
      std::ifstream file(spool_ + '/' + name.file);
      std::string kernel, why;
      std::getline(file, kernel);
      std::getline(file, why);
      ++result_.skipped;
      if (said.insert(kernel + why).second) options_.tell(fmt::format("kernel '{}' has no row: {}", kernel, why));
    }
  }

  AttachOptions const& options_;
  std::string spool_;
  Attached result_;
  std::set<std::string> done_;
  std::map<std::pair<std::string, std::uint64_t>, record::Kernel> rows_;  // by process and number
};

}  // namespace

Attached attach(AttachOptions const& options) {
  if (options.command.empty())
    throw Error(Status::usage, "which application?", "miniemu --attach -o kernels.csv -- ./app its arguments");
  if (options.keep.empty()) {
    TemporaryFolder const spool;
    return Attachment(options, spool.path().string()).run();
  }
  std::error_code error;
  fs::create_directories(options.keep, error);
  auto const folder = fs::canonical(options.keep, error);
  if (error) throw Error(Status::io, Where{options.keep}, "cannot make the folder: " + error.message(), "--keep DIR");
  return Attachment(options, folder.string()).run();
}

}  // namespace kernelcast::intercept
