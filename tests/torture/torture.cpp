// Programs that are killed at any moment (SIGKILL) and run again: the second run must give, byte for byte, what an
// undisturbed one gives, and nothing that the killed one left may stay.
//
//   torture --count KILLS | --seconds S [--seed N] [PROGRAM]…      with BIN, SOURCE and TABLES in the environment
//
// The programs are those with a table in TABLES (tests/conduct/tools), each with -o, and sweeps with --resume too; an
// OpenCL kernel and an attached application where this machine has what they need; and sixteen processes
// that share a cold cache, half of which are killed.
//
// Method: a process is traced, and killed when its main thread enters or leaves its n-th system call; n is drawn from
// those that an undisturbed run makes, half of the time from their last quarter, in which the output is written. So
// every state of the disk that a kill can leave is reached, on a machine of any speed, also those that last for
// microseconds only.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "../conduct/bench.hpp"

namespace {

using conduct::Directory;
using conduct::Failure;
using conduct::slurp;
using conduct::words_of;
namespace fs = std::filesystem;

using Words = std::vector<std::string>;

// One process of a program, from its first system call on.
class Process {
 public:
  // Killed at this stop; 0: never. Each system call makes two.
  Process(Words const& command, fs::path const& folder, std::string const& name, std::uint64_t kill_at)
      : kill_at_(kill_at), errors_(folder / (name + ".err")) {
    pid_ = fork();
    if (pid_ == -1) throw Failure{"no process"};
    if (pid_ == 0) become(command, folder, folder / (name + ".stdout"));
    int status = 0;
    if (waitpid(pid_, &status, 0) != pid_ || !WIFSTOPPED(status))
      throw conduct::Skip{"processes cannot be traced here (ptrace)"};
    if (ptrace(PTRACE_SETOPTIONS, pid_, 0, PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC) != 0)
      throw conduct::Skip{"processes cannot be traced here (ptrace)"};
    ptrace(PTRACE_SYSCALL, pid_, 0, 0);
  }

  pid_t pid() const { return pid_; }
  bool ended() const { return ended_; }
  bool killed() const { return killed_; }
  int exit_status() const { return exit_status_; }
  std::uint64_t stops() const { return stops_; }
  std::string errors() const { return slurp(errors_); }

  // What waitpid() has said of it.
  void take(int status) {
    if (WIFEXITED(status) || WIFSIGNALED(status)) {
      ended_ = true;
      killed_ = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && kill_sent_;
      exit_status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      return;
    }
    int signal = WSTOPSIG(status);
    if (signal == (SIGTRAP | 0x80)) {
      signal = 0;
      if (running_ && ++stops_ == kill_at_) {
        kill_sent_ = true;
        kill(pid_, SIGKILL);
        return;
      }
    } else if (signal == SIGTRAP) {
      running_ = true;  // exec
      signal = 0;
    }
    ptrace(PTRACE_SYSCALL, pid_, 0, signal);
  }

 private:
  [[noreturn]] static void become(Words const& command, fs::path const& folder, fs::path const& output) {
    auto const errors = fs::path(output).replace_extension(".err");
    int const in = open("/dev/null", O_RDONLY), out = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600),
              err = open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(in, 0);
    dup2(out, 1);
    dup2(err, 2);
    for (int const file : {in, out, err}) close(file);
    setenv("TMPDIR", (folder / "tmp").c_str(), 1);
    setenv("XDG_CACHE_HOME", (folder / "cache").c_str(), 1);
    Words words = command;
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    if (chdir((folder / "work").c_str()) != 0 || ptrace(PTRACE_TRACEME, 0, 0, 0) != 0) _exit(126);
    raise(SIGSTOP);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }

  pid_t pid_ = -1;
  std::uint64_t kill_at_, stops_ = 0;
  fs::path errors_;
  bool running_ = false, ended_ = false, killed_ = false, kill_sent_ = false;
  int exit_status_ = -1;
};

// Until all have ended, and what they started: a compiler outlives the program that was killed.
void accompany(std::vector<Process>& processes) {
  for (int status = 0;;) {
    pid_t const pid = waitpid(-1, &status, __WALL);
    if (pid == -1 && errno == EINTR) continue;
    if (pid == -1) return;
    for (auto& process : processes)
      if (process.pid() == pid) process.take(status);
  }
}

struct Subject {
  std::string name;
  Words command, resume;     // without -o; with what goes on where a file of the output is there already
  std::string input;         // in.csv
  int copies = 1;            // at the same time, with one cache
  bool by_rows = false;      // a sweep may be published row by row
  bool preliminary = false;  // rows of an application have other counts until it has ended
  int exit_status = 0;
  std::uint64_t kills = 0, runs = 0, failures = 0;
  std::string reference;  // what an undisturbed run writes
  std::uint64_t stops = 0;
};

class Torture {
 public:
  explicit Torture(std::uint64_t seed) : random_(seed) {}

  // An undisturbed run; false where it is refused because something is not installed.
  bool prepare(Subject& subject) {
    clear(subject);
    auto const run = start(subject, {0});
    if (run.front().exit_status() == 5) return false;
    if (run.front().exit_status() != subject.exit_status || !fs::exists(output(0)))
      throw Failure{subject.name + ": the undisturbed run fails: " + run.front().errors()};
    subject.reference = slurp(output(0));
    subject.stops = run.front().stops();
    check_leftovers(subject, 1);
    return true;
  }

  // Kills, runs again, compares.
  void one(Subject& subject) {
    ++subject.runs;
    clear(subject);
    bool const had_old = draw(2) == 1;
    if (had_old)
      for (int i = 0; i < subject.copies; ++i) std::ofstream(output(i)) << "old\n";
    std::vector<std::uint64_t> moments;
    for (int i = 0; i < subject.copies; ++i) moments.push_back(subject.copies > 1 && i % 2 == 1 ? 0 : moment(subject));
    try {
      auto const first = start(subject, moments, false);
      for (int i = 0; i < subject.copies; ++i) {
        auto const& process = first[static_cast<std::size_t>(i)];
        subject.kills += process.killed();
        if (!process.killed()) {
          expect_end(subject, process, i);
          continue;
        }
        if (!fs::exists(output(i)) && !had_old) continue;
        auto const left = slurp(output(i));
        bool const whole_rows = subject.preliminary && left.ends_with('\n');
        bool const part_of_sweep = subject.by_rows && subject.reference.starts_with(left) && left.ends_with('\n');
        if (!(had_old && left == "old\n") && left != subject.reference && !part_of_sweep && !whole_rows)
          throw Failure{"the killed run left another output: " + left.substr(0, 200)};
        if (left == "old\n") fs::remove(output(i));  // else --resume would read it
      }
      if (!subject.resume.empty() && fs::exists(output(0))) kill_while_it_resumes(subject);
      auto const second = start(subject, std::vector<std::uint64_t>(moments.size(), 0), true);
      for (int i = 0; i < subject.copies; ++i) expect_end(subject, second[static_cast<std::size_t>(i)], i);
      check_leftovers(subject, subject.copies);
    } catch (Failure const& failure) {
      ++subject.failures;
      std::string at;
      for (auto const moment : moments) at += ' ' + std::to_string(moment);
      std::cout << subject.name << ", killed at" << at << " of " << subject.stops << ": " << failure.text << std::endl;
    }
  }

 private:
  // Rows that are there already stay.
  void kill_while_it_resumes(Subject& subject) {
    auto const before = slurp(output(0));
    auto const run = start(subject, {moment(subject)}, true);
    subject.kills += run.front().killed();
    auto const after = slurp(output(0));
    if (!after.starts_with(before) || !subject.reference.starts_with(after))
      throw Failure{"killed again, with --resume, it has lost rows: " + after.substr(0, 200)};
  }

  std::uint64_t moment(Subject const& subject) {
    auto const first = draw(2) == 0 ? 0 : subject.stops * 3 / 4;
    return first + 1 + draw(subject.stops - first);
  }

  std::uint64_t draw(std::uint64_t below) {
    return std::uniform_int_distribution<std::uint64_t>(0, below - 1)(random_);
  }

  fs::path output(int copy) const { return folder_ / "work" / ("out" + std::to_string(copy)); }

  void clear(Subject const& subject) {
    for (auto const& entry : fs::directory_iterator(folder_)) fs::remove_all(entry.path());
    for (char const* const part : {"work", "tmp", "cache"}) fs::create_directory(folder_ / part);
    if (!subject.input.empty()) std::ofstream(folder_ / "in.csv", std::ios::binary) << subject.input;
  }

  std::vector<Process> start(Subject const& subject, std::vector<std::uint64_t> const& moments, bool again = false) {
    std::vector<Process> out;
    for (std::size_t i = 0; i < moments.size(); ++i) {
      auto const file = output(static_cast<int>(i));
      auto command = again && !subject.resume.empty() && fs::exists(file) ? subject.resume : subject.command;
      // Before the application of an attached one.
      auto const end = std::find(command.begin(), command.end(), "--");
      command.insert(end, {"-o", file.filename().string()});
      std::replace(command.begin(), command.end(), std::string("$OUTPUT"), file.filename().string());
      if (!subject.input.empty()) command.emplace_back("../in.csv");
      out.emplace_back(command, folder_, "process" + std::to_string(i), moments[i]);
    }
    accompany(out);
    return out;
  }

  void expect_end(Subject const& subject, Process const& process, int copy) const {
    if (process.exit_status() != subject.exit_status)
      throw Failure{"status " + std::to_string(process.exit_status()) + ": " + process.errors()};
    if (slurp(output(copy)) != subject.reference) throw Failure{"the output differs from that of an undisturbed run"};
  }

  void check_leftovers(Subject const&, int copies) const {
    for (auto const& entry : fs::recursive_directory_iterator(folder_ / "tmp"))
      throw Failure{"left behind: " + entry.path().string()};
    std::size_t files = 0;
    for (auto const& entry : fs::directory_iterator(folder_ / "work")) {
      ++files;
      if (!entry.path().filename().string().starts_with("out")) throw Failure{"left behind: " + entry.path().string()};
    }
    if (files != static_cast<std::size_t>(copies)) throw Failure{"the number of outputs is " + std::to_string(files)};
    for (auto const& entry : fs::recursive_directory_iterator(folder_ / "cache"))
      if (entry.path().parent_path().filename().string().starts_with("new-") ||
          entry.path().filename().string().starts_with("write-"))
        throw Failure{"left behind: " + entry.path().string()};
  }

  Directory folder_{"torture"};
  std::mt19937_64 random_;
};

bool has_program(std::string const& name) {
  return fs::exists(fs::path(std::getenv("BIN")) / name);
}

std::vector<Subject> all_subjects() {
  std::vector<Subject> out;
  std::vector<fs::path> tables;
  for (auto const& entry : fs::directory_iterator(std::getenv("TABLES")))
    if (entry.path().extension() == ".conduct") tables.push_back(entry.path());
  std::sort(tables.begin(), tables.end());
  for (auto const& path : tables) {
    auto const table = conduct::read_table(path);
    auto const command = words_of(table["command"]);
    if (!has_program(command.front())) continue;
    Subject subject;
    subject.name = command.front();
    subject.command = command;
    if (subject.name == "kernelcast-advise") subject.command.insert(subject.command.begin() + 1, "--");
    if (table.reads_csv()) subject.input = table.input;
    subject.by_rows = !table["sweep"].empty();
    out.push_back(subject);
    if (table["sweep"].empty()) continue;
    Subject sweep;
    sweep.name = command.front() + " --resume";
    sweep.by_rows = true;
    sweep.command = {command.front()};
    for (auto& word : words_of(table["sweep"])) sweep.command.push_back(std::move(word));
    sweep.resume = sweep.command;
    sweep.resume.insert(sweep.resume.end(), {"--resume", "$OUTPUT"});
    out.push_back(sweep);
  }
  auto const add = [&](std::string const& name, std::string const& command, int copies = 1) {
    Subject subject;
    subject.name = name;
    subject.command = words_of(command);
    subject.copies = copies;
    if (has_program(subject.command.front())) out.push_back(subject);
  };
  add("miniemu, OpenCL C",
      "miniemu --no-registers $SOURCE/tests/faults/global_stride.cl -D MENDED -k every_other -g 64 -l 32 "
      "-a buf:i32:64:iota -a buf:i32:64:zero");
  add("miniemu, 16 at a time",
      "miniemu --no-registers $SOURCE/tests/conduct/tools/copy.ptx -k copy -g 64 -l 32 -a buf:u32:64:iota "
      "-a buf:u32:64:zero",
      16);
  if (has_program("cuda_troubles")) {
    add("miniemu --attach", "miniemu --attach --no-registers -- cuda_troubles closes");
    out.back().preliminary = true;
  }
  return out;
}

int run(int argc, char** argv) {
  std::uint64_t count = 0, seed = 1;
  double seconds = 0;
  Words only;
  for (int i = 1; i < argc; ++i) {
    std::string const word = argv[i];
    if (word == "--count" && i + 1 < argc)
      count = std::strtoull(argv[++i], nullptr, 10);
    else if (word == "--seconds" && i + 1 < argc)
      seconds = std::strtod(argv[++i], nullptr);
    else if (word == "--seed" && i + 1 < argc)
      seed = std::strtoull(argv[++i], nullptr, 10);
    else
      only.push_back(word);
  }
  if (count == 0 && seconds <= 0) throw Failure{"torture --count KILLS | --seconds S [--seed N] [PROGRAM]…"};
  setenv("PATH", (std::string(std::getenv("BIN")) + ":" + std::getenv("PATH")).c_str(), 1);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  Torture torture(seed);
  std::vector<Subject> subjects;
  for (auto& subject : all_subjects()) {
    if (!only.empty() && std::none_of(only.begin(), only.end(), [&](auto& o) { return subject.name.starts_with(o); }))
      continue;
    if (torture.prepare(subject))
      subjects.push_back(subject);
    else
      std::cout << subject.name << ": left out, something is not installed\n";
  }
  if (subjects.empty()) throw Failure{"no program to kill"};
  auto const end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  std::uint64_t kills = 0, failures = 0;
  for (std::size_t i = 0; count > 0 ? kills < count : std::chrono::steady_clock::now() < end; ++i) {
    auto& subject = subjects[i % subjects.size()];
    auto const before = subject.kills, failed = subject.failures;
    torture.one(subject);
    kills += subject.kills - before;
    failures += subject.failures - failed;
  }
  std::printf("%-24s %8s %8s %8s\n", "program", "runs", "kills", "failures");
  for (auto const& subject : subjects)
    std::printf("%-24s %8llu %8llu %8llu\n", subject.name.c_str(), static_cast<unsigned long long>(subject.runs),
                static_cast<unsigned long long>(subject.kills), static_cast<unsigned long long>(subject.failures));
  if (failures == 0)
    std::printf("%llu kills: every output byte-identical, nothing left behind\n",
                static_cast<unsigned long long>(kills));
  else
    std::printf("%llu kills, %llu failures\n", static_cast<unsigned long long>(kills),
                static_cast<unsigned long long>(failures));
  return failures == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (!std::getenv("BIN") || !std::getenv("SOURCE") || !std::getenv("TABLES")) {
    std::cerr << "torture: run this by ctest or make torture\n";
    return 2;
  }
  for (char const* const name : {"LC_ALL", "LANG", "NO_COLOR"}) unsetenv(name);
  try {
    return run(argc, argv);
  } catch (conduct::Skip const& skip) {
    std::cout << "kernelcast-skipped: " << skip.why << '\n';
    return 0;
  } catch (Failure const& failure) {
    std::cout << failure.text << '\n';
  } catch (std::exception const& error) {
    std::cout << error.what() << '\n';
  }
  return 1;
}
