#include "runtimes/attach/launch_budget.hpp"

#include <algorithm>

namespace kernelcast::attach {

LaunchBudget::LaunchBudget(std::uint64_t steps, double seconds)
    : steps_bounded_(steps > 0), left_(steps), seconds_(seconds) {}

bool LaunchBudget::affords(std::uint64_t steps, std::uint64_t left) const {
  if (steps_bounded_ && steps > left_) return false;
  if (seconds_ <= 0) return true;
  double const elapsed_s = std::chrono::duration<double>(Clock::now() - begin_).count();
  return elapsed_s + seconds_for(left) <= seconds_;
}

void LaunchBudget::spend(std::uint64_t steps, double seconds) {
  left_ -= std::min(left_, steps);
  run_steps_ += static_cast<double>(steps);
  run_s_ += seconds;
}

}  // namespace kernelcast::attach
