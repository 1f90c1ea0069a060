// Processor time of a process and of all that it has started, held below a share of the time that has passed.
//
// Problem: advice beside a running application must not take more of the machine than was granted, and what it does
// (a compiler, an emulation) cannot be bounded in advance.
// Method: the process and its descendants are stopped (SIGSTOP) when they have used what was granted by then, and go on
// when enough time has passed. Their clocks are read where they stand; those of ended descendants from /proc.
// A few milliseconds are kept back for ending.
// Limits: Linux. What ended descendants used is known to a clock tick of the system, mostly 10 ms; between two polls
// the process may use more than is granted by the time between them.
#pragma once

#include <sys/types.h>

#include <vector>

namespace kernelcast::advise {

class Budget {
 public:
  // `share` of the time: 0.05 is 5 %. `process` is a child of this one; `before_s` was used up before it.
  Budget(pid_t process, double share, double before_s) : process_(process), share_(share), before_s_(before_s) {}

  // Processor time of this process, of the other and of its descendants, and what was used before: seconds.
  double spent_s() const;

  // Stops or continues, `elapsed_s` after the start. Returns the seconds until the next poll.
  double hold(double elapsed_s);
  bool held() const { return held_; }

 private:
  pid_t process_;
  double share_, before_s_;
  bool held_ = false;
};

// The process and all its descendants, ancestors first.
std::vector<pid_t> family_of(pid_t process);
void kill_process_tree(pid_t process);  // where memory is short the process alone

// Seconds of processor time that a process, its threads included, has used; 0 where it is gone. With `ended_children`
// also what children that it has waited for have used.
double processor_time_s(pid_t process, bool ended_children);

}  // namespace kernelcast::advise
