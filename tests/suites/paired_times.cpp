// paired_times REPEAT A... -- B...
//
// Compares the processor time of two commands on a noisy machine: runs them alternately, A B A B ..., and prints as CSV
// the median of each and the median of the pairwise ratios B / A. A program that is slow once costs one pair, and a
// slow phase of the machine hits both. Times are user + system time of the process and all it waited for (getrusage),
// so what else runs matters little. The commands' output goes to /dev/null; one that fails ends the comparison with
// status 1.
#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "base/statistics/median.hpp"

extern char** environ;

namespace {

double seconds(timeval const& t) {
  return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
}

// Processor time of one run, or -1 if the command did not exit with status 0. `command` ends with a null pointer.
double run_s(std::span<char*> command) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  int const failed = posix_spawnp(&child, command[0], &actions, nullptr, command.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    std::fprintf(stderr, "paired_times: %s: %s\n", command[0], std::strerror(failed));
    return -1;
  }
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    std::fprintf(stderr, "paired_times: %s failed\n", command[0]);
    return -1;
  }
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

int main(int argc, char** argv) {
  int repeat = 0;
  std::vector<char*> a, b;
  bool second = false;
  for (int i = 2; i < argc; ++i)
    if (!second && std::string_view(argv[i]) == "--")
      second = true;
    else
      (second ? b : a).push_back(argv[i]);
  if (argc > 1) std::from_chars(argv[1], argv[1] + std::strlen(argv[1]), repeat);
  if (repeat < 1 || a.empty() || b.empty()) {
    std::fprintf(stderr, "usage: paired_times REPEAT COMMAND_A ... -- COMMAND_B ...\n");
    return 2;
  }
  a.push_back(nullptr);
  b.push_back(nullptr);

  std::vector<double> times_a, times_b, ratios;
  for (int i = 0; i < repeat; ++i) {
    double const a_s = run_s(a);
    double const b_s = a_s < 0 ? -1 : run_s(b);
    if (b_s < 0) return 1;
    times_a.push_back(a_s);
    times_b.push_back(b_s);
    ratios.push_back(b_s / std::max(a_s, 1e-6));
  }
  std::printf("a_cpu_s,b_cpu_s,ratio\n%.6f,%.6f,%.4f\n", kernelcast::median(times_a), kernelcast::median(times_b),
              kernelcast::median(ratios));
}
