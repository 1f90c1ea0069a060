#include "runtimes/advise/budget.hpp"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <new>
#include <sstream>
#include <string>

#include "base/process/process.hpp"

namespace kernelcast::advise {

namespace {

constexpr double min_poll_interval_s = 0.002, max_poll_interval_s = 0.05;
constexpr double ending_s = 0.005;  // kept back for the end: the processes are taken down, results summed up

double seconds(timespec const& t) {
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Fields 16 and 17 of /proc/PID/stat, user and system time of children that were waited for, in ticks. The second
// field, the program's name in parentheses, may hold blanks.
double ended_children_s(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  auto const name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(text.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 16; ++field) fields >> skipped;
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

}  // namespace

std::vector<pid_t> family_of(pid_t process) {
  std::vector<pid_t> out{process};
  for (std::size_t i = 0; i < out.size(); ++i) {
    auto const threads = "/proc/" + std::to_string(out[i]) + "/task";
    std::error_code error;
    for (auto const& thread : names_in(threads, error)) {
      std::ifstream children(threads + '/' + thread + "/children");
      for (pid_t child = 0; children >> child;) out.push_back(child);
    }
  }
  return out;
}

double processor_time_s(pid_t process, bool ended_children) {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return seconds(time) + (ended_children ? ended_children_s(process) : 0);
}

void kill_process_tree(pid_t process) {
  try {
    for (auto const member : family_of(process)) kill(member, SIGKILL);  // ancestors first: they would start the next
  } catch (std::bad_alloc const&) {
    kill(process, SIGKILL);
  }
}

double Budget::spent_s() const {
  timespec own{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own);
  double sum = before_s_ + seconds(own);
  for (auto const process : family_of(process_)) sum += processor_time_s(process, true);
  return sum;
}

double Budget::hold(double elapsed_s) {
  double const ahead_s = spent_s() + ending_s - share_ * elapsed_s;
  if (ahead_s >= 0) {
    // Ancestors first: a stopped process starts no children. A child that was started meanwhile is stopped at the next
    // look.
    for (auto const process : family_of(process_)) kill(process, SIGSTOP);
    held_ = true;
    return std::clamp(ahead_s / share_, min_poll_interval_s, max_poll_interval_s);
  }
  if (held_) {
    auto const family = family_of(process_);
    std::for_each(family.rbegin(), family.rend(), [](pid_t process) { kill(process, SIGCONT); });
  }
  held_ = false;
  return std::clamp(-ahead_s, min_poll_interval_s, max_poll_interval_s);
}

}  // namespace kernelcast::advise
