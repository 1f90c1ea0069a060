#include "process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <utility>

namespace conduct {

namespace {

using Clock = std::chrono::steady_clock;

struct Pair {
  int read = -1, write = -1;
};

Pair make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  return {ends[0], ends[1]};
}

// A terminal: what the program writes to `write` is read from `read`.
Pair make_terminal() {
  int const master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
    throw Skip{"no pseudo-terminal can be had here (/dev/pts)"};
  int const slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (slave < 0) throw Skip{"no pseudo-terminal can be had here (/dev/pts)"};
  return {master, slave};
}

struct Ends {
  int in = -1, out = -1, err = -1;  // the child's; -1: closed
};

[[noreturn]] void become(Run const& run, Ends ends) {
  // Out of the way first: an end may itself be one of the numbers 0, 1, 2.
  for (int* end : {&ends.in, &ends.out, &ends.err})
    if (*end >= 0) *end = fcntl(*end, F_DUPFD, 10);
  if (ends.in >= 0)
    dup2(ends.in, 0);
  else
    close(0);
  if (ends.out >= 0)
    dup2(ends.out, 1);
  else
    close(1);
  dup2(ends.err, 2);
  for (int end : {ends.in, ends.out, ends.err})
    if (end >= 0) close(end);
  signal(SIGPIPE, SIG_DFL);
  if (run.memory_bytes > 0) {
    rlimit const limit{run.memory_bytes, run.memory_bytes};
    setrlimit(RLIMIT_AS, &limit);
  }
  rlimit const no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  for (auto const& [name, value] : run.environment) setenv(name.c_str(), value.c_str(), 1);
  if (chdir(run.directory.c_str()) != 0) _exit(126);
  std::vector<char*> arguments;
  for (auto const& argument : run.arguments) arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

// Feeds the input, collects the outputs, keeps the time.
class ChildStreams {
 public:
  ChildStreams(Run const& run, pid_t child, int in, int out, int err)
      : run_(run), child_(child), in_(in), out_(out), err_(err), block_(1 << 16, 'x'), left_(run.endless_bytes) {
    for (int fd : {in_, out_, err_})
      if (fd >= 0) fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  }

  void hold(Outcome& outcome) {
    auto const start = Clock::now();
    auto const elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
    if (in_ >= 0 && run_.input.empty() && left_ == 0) finish_input();
    while (out_ >= 0 || err_ >= 0) {
      std::array<pollfd, 3> fds{pollfd{in_, POLLOUT, 0}, pollfd{out_, POLLIN, 0}, pollfd{err_, POLLIN, 0}};
      poll(fds.data(), fds.size(), 50);
      if (fds[0].revents != 0) feed();
      if (fds[1].revents != 0) take(out_, outcome.out);
      if (fds[2].revents != 0) take(err_, outcome.err);
      if (run_.terminate_when && !terminated_ && run_.terminate_when(child_)) {
        kill(child_, SIGTERM);
        terminated_ = true;
      }
      if (elapsed() > run_.give_up_after_s) {
        kill(child_, SIGKILL);
        outcome.too_slow = true;
        break;
      }
      if (int status = 0; !reaped_ && waitpid(child_, &status, WNOHANG) == child_) {
        reaped_ = true;
        status_ = status;
      } else if (reaped_ && fds[1].revents == 0 && fds[2].revents == 0) {
        break;  // a terminal does not always tell that its other end is gone
      }
    }
    if (!reaped_) waitpid(child_, &status_, 0);
    outcome.seconds = elapsed();
    outcome.status = WIFEXITED(status_) ? WEXITSTATUS(status_) : -1;
    outcome.signal = WIFSIGNALED(status_) ? WTERMSIG(status_) : 0;
    for (int fd : {in_, out_, err_})
      if (fd >= 0) close(fd);
  }

 private:
  void finish_input() {
    if (run_.in == Run::Stdin::terminal) {
      if (write(in_, "\x04", 1) == 1) in_at_end_ = true;
    } else if (!run_.terminate_when) {  // a program that is to be ended by a signal keeps waiting
      close(in_);
    }
    in_ = -1;
  }

  void feed() {
    bool const prefix = fed_ < run_.input.size();
    char const* const data = prefix ? run_.input.data() + fed_ : block_.data();
    std::size_t const size = prefix ? run_.input.size() - fed_ : std::min<std::uint64_t>(left_, block_.size());
    auto const put = size > 0 ? write(in_, data, size) : 0;
    if (put < 0 && errno == EAGAIN) return;
    if (put < 0) {  // the program reads no further
      close(in_);
      in_ = -1;
      return;
    }
    (prefix ? fed_ : given_) += static_cast<std::size_t>(put);
    if (!prefix) left_ -= static_cast<std::uint64_t>(put);
    if (fed_ == run_.input.size() && left_ == 0) finish_input();
  }

  static void take(int& fd, std::string& text) {
    std::array<char, 1 << 16> block;
    auto const got = read(fd, block.data(), block.size());
    if (got > 0) text.append(block.data(), static_cast<std::size_t>(got));
    if (got > 0 || (got < 0 && errno == EAGAIN)) return;
    close(fd);
    fd = -1;
  }

  Run const& run_;
  pid_t child_;
  int in_, out_, err_;
  std::string block_;
  std::uint64_t left_;
  std::size_t fed_ = 0, given_ = 0;
  bool in_at_end_ = false, terminated_ = false, reaped_ = false;
  int status_ = 0;
};

}  // namespace

Outcome run(Run const& run) {
  signal(SIGPIPE, SIG_IGN);
  Pair in, out, err;
  if (run.in == Run::Stdin::pipe) in = make_pipe();
  if (run.in == Run::Stdin::terminal) {
    in = make_terminal();
    std::swap(in.read, in.write);
  }
  if (run.out == Run::Stdout::captured || run.out == Run::Stdout::broken_pipe) out = make_pipe();
  if (run.out == Run::Stdout::full) out.write = open("/dev/full", O_WRONLY | O_CLOEXEC);
  if (run.out == Run::Stdout::broken_pipe) {
    close(out.read);
    out.read = -1;
  }
  err = run.terminal_on_stderr ? make_terminal() : make_pipe();
  pid_t const child = fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child == 0) become(run, {in.read, out.write, err.write});
  for (int fd : {in.read, out.write, err.write})
    if (fd >= 0 && !(run.in == Run::Stdin::terminal && fd == in.read)) close(fd);
  Outcome outcome;
  ChildStreams(run, child, in.write, out.read, err.read).hold(outcome);
  if (run.in == Run::Stdin::terminal) close(in.read);
  return outcome;
}

}  // namespace conduct
