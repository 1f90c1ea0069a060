// What launches that run whole may still cost: --budget.
#pragma once

#include <chrono>
#include <cstdint>

namespace kernelcast::attach {

// In warp instructions, or in seconds from now on.
class LaunchBudget {
 public:
  LaunchBudget(std::uint64_t steps, double seconds);  // 0: not bounded by it
  bool bounded() const { return steps_bounded_ || seconds_ > 0; }
  // A launch of so many, of which `left` have not been executed yet.
  bool affords(std::uint64_t steps, std::uint64_t left) const;
  bool affords(std::uint64_t steps) const { return affords(steps, steps); }
  void spend(std::uint64_t steps, double seconds);
  double seconds_for(std::uint64_t steps) const { return static_cast<double>(steps) * run_s_ / run_steps_; }

 private:
  using Clock = std::chrono::steady_clock;
  bool steps_bounded_;
  std::uint64_t left_;
  double seconds_;
  Clock::time_point const begin_ = Clock::now();
  double run_steps_ = 2e7, run_s_ = 0.1;  // what the emulator has done so far in which time, and a guess to begin with
};

}  // namespace kernelcast::attach
