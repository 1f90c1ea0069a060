#include "base/process/input.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <istream>
#include <new>
#include <vector>

#include "base/diag/diag.hpp"
#include "base/process/child.hpp"

namespace kernelcast {

namespace {

constexpr std::size_t max_depth = 64;

}  // namespace

Error input_too_large(std::string const& file, std::size_t limit_bytes) {
  return Error(Status::bad_data, Where{file}, "more than " + mebibytes(limit_bytes), "is this the right file?");
}

std::string read_all(std::istream& in, std::string const& file, std::size_t limit_bytes) {
  std::string text;
  std::array<char, 65536> buffer;
  while (in.read(buffer.data(), buffer.size()), in.gcount() > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(in.gcount()));
    if (text.size() > limit_bytes) throw input_too_large(file, limit_bytes);
  }
  // Where the stream does not throw: a failed read is not the end of the file.
  if (in.bad()) throw Error(Status::io, Where{file}, "cannot read it to its end", "check the file and the disk");
  return text;
}

void refuse_named_pipe(std::string const& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0 || !S_ISFIFO(info.st_mode) || path.starts_with("/dev/") ||
      path.starts_with("/proc/"))
    return;
  throw Error(Status::io, Where{path}, "a named pipe, which may never be written to", "write it to a file first");
}

namespace {

// Counts levels without a grammar: a dot, a bracket and a brace each go one level down, until what they belong to ends.
// Text in quotes and comments does not count.
class Nesting {
 public:
  Nesting(std::string_view text, std::string const& file) : text_(text), file_(file) {}

  void check() {
    for (at_ = 0; at_ < text_.size(); ++at_) {
      char const c = text_[at_];
      if (c == '\n') {
        ++line_;
        line_begin_ = at_ + 1;
        if (open_.empty() || header_) end_line();
      } else if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size()) - 1;
      } else if (c == '"' || c == '\'') {
        skip_string(c);
      } else if (c == '[' || c == '{') {
        header_ |= c == '[' && open_.empty() && blank_;
        if (!header_) open_.push_back(base_);
        down();
        if (!header_) base_ = level_;
      } else if ((c == ']' || c == '}') && !header_) {
        if (!open_.empty()) base_ = open_.back(), open_.pop_back();
      } else if (c == '.') {
        down();
      } else if (c == ',') {
        level_ = base_;
      }
      blank_ = c == '\n' || (blank_ && (c == ' ' || c == '\t' || c == '\r'));
    }
  }

 private:
  void down() {
    if (++level_ <= max_depth) return;
    auto const end = std::min(text_.find('\n', at_), line_begin_ + 1024);
    throw Error(Status::bad_data, Where{file_, line_, at_ - line_begin_ + 1},
                "nested more than " + std::to_string(max_depth) + " levels deep", "a few levels suffice here",
                std::string(text_.substr(line_begin_, std::max(end, at_) - line_begin_)));
  }
  // What follows a header is as deep as the header, and its own keys beyond that.
  void end_line() {
    if (header_)
      base_ = level_;
    else
      level_ = base_;
    header_ = false;
    open_.clear();
    if (after_line_is_header()) base_ = level_ = 0;
  }
  bool after_line_is_header() const {
    auto const next = text_.find_first_not_of(" \t\r", at_ + 1);
    return next != std::string_view::npos && text_[next] == '[';
  }
  // To its closing quote; one that is missing ends with the line, or with the text where there are three.
  void skip_string(char quote) {
    std::string const three(3, quote);
    bool const is_long = text_.substr(at_, 3) == three;
    for (at_ += is_long ? 3 : 1; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\' && quote == '"' && at_ + 1 < text_.size()) {
        ++at_;
      } else if (is_long ? text_.substr(at_, 3) == three : text_[at_] == quote) {
        at_ += is_long ? 2 : 0;
        return;
      }
      if (text_[at_] != '\n') continue;
      if (!is_long) {
        --at_;  // the caller sees the line's end
        return;
      }
      ++line_;
      line_begin_ = at_ + 1;
    }
  }

  std::string_view text_;
  std::string const& file_;
  std::size_t at_ = 0, line_ = 1, line_begin_ = 0;
  std::size_t base_ = 0, level_ = 0;  // of what is open, and of the key or value in it
  std::vector<std::size_t> open_;     // what `base_` was outside of each bracket
  bool header_ = false, blank_ = true;
};

}  // namespace

void refuse_deep_nesting(std::string_view toml, std::string const& file) {
  Nesting(toml, file).check();
}

namespace {

// What a child sends: 'v' and the value, 'm' where memory is short, or 'e' and the parts of an Error, each ended by
// NUL; then the mark that all of it has arrived.
constexpr char end_mark = '.';

// Why there is no whole answer: the parser of others, or what it was given, is at fault.
Error no_answer(std::string_view parser, std::string const& file, bool in_time) {
  auto const text = std::string(parser) + (in_time ? " crashes on this " : " comes to no end with this ");
  if (file.empty()) return {Status::io, text + "machine", "is there enough memory, and are /proc and /sys mounted?"};
  return {Status::bad_data, Where{file, 1, 1}, text + "file", "is it whole and as the program wrote it?"};
}

std::string packed(Error const& error) {
  std::string out = "e";
  for (auto const& part :
       {std::to_string(static_cast<int>(error.status())), error.where().file, std::to_string(error.where().line),
        std::to_string(error.where().column), std::string(error.what()), error.hint()})
    out += part + '\0';
  return out;
}

Error unpacked(std::string_view text) {
  std::vector<std::string> parts;
  for (std::size_t end; (end = text.find('\0')) != std::string_view::npos; text.remove_prefix(end + 1))
    parts.emplace_back(text.substr(0, end));
  parts.resize(6, "0");
  return {static_cast<Status>(std::stoi(parts[0])), Where{parts[1], std::stoull(parts[2]), std::stoull(parts[3])},
          parts[4], parts[5]};
}

std::uint64_t address_space_bytes() {
  unsigned long long pages = 0;
  if (std::FILE* const file = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(file, "%llu", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

[[noreturn]] void run_child(int to, std::function<std::string()> const& work, ChildLimits const& limits, pid_t parent) {
  // The parent's handlers would remove the parent's files.
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
  if (int const nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC); nowhere >= 0) dup2(nowhere, 2);
  lower_limit(RLIMIT_CORE, 0);
  lower_limit(RLIMIT_CPU, static_cast<rlim_t>(std::ceil(limits.time_s)));
  if (auto const now = address_space_bytes()) lower_limit(RLIMIT_AS, now + limits.memory_bytes);
  std::string out;
  try {
    out = "v" + work();
  } catch (Error const& error) {
    out = packed(error);
  } catch (std::bad_alloc const&) {
    out = "m";
  } catch (...) {
    _exit(1);
  }
  out += end_mark;
  for (std::string_view rest = out; !rest.empty();) {
    ssize_t const n = write(to, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) _exit(1);
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  _exit(0);
}

}  // namespace

std::string in_child(std::string_view parser, std::string const& file, std::function<std::string()> const& work,
                     ChildLimits limits) {
  using Clock = std::chrono::steady_clock;
  Pipe pipe;
  auto const deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limits.time_s));
  pid_t const parent = getpid(), child = fork();
  if (child < 0) throw Error(Status::io, std::string("cannot start a process: ") + std::strerror(errno));
  if (child == 0) {
    Pipe::close_end(pipe.read_end);
    run_child(pipe.write_end, work, limits, parent);
  }
  Pipe::close_end(pipe.write_end);
  std::string out;
  std::array<char, 65536> buffer;
  bool in_time = true;
  for (;;) {
    auto const left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    in_time = left > 0 && out.size() <= max_input_bytes;
    if (!in_time) break;
    pollfd ready{pipe.read_end, POLLIN, 0};
    if (poll(&ready, 1, static_cast<int>(std::min<long long>(left + 1, 60000))) <= 0) continue;
    ssize_t const n = read(pipe.read_end, buffer.data(), buffer.size());
    if (n > 0) out.append(buffer.data(), static_cast<std::size_t>(n));
    if (n == 0 || (n < 0 && errno != EINTR)) break;
  }
  if (!in_time) kill(child, SIGKILL);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) continue;
  if (!in_time || out.empty() || out.back() != end_mark) throw no_answer(parser, file, in_time);
  out.pop_back();
  if (out.front() == 'e') throw unpacked(std::string_view(out).substr(1));
  if (out.front() == 'm') throw std::bad_alloc();
  return out.substr(1);
}

}  // namespace kernelcast
