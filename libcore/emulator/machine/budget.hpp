// What a launch may cost: steps, time and text. Internal to emu.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace kernelcast::emu {

class PassedOver;

// What all threads of a launch share.
struct Budget {
  PassedOver* passed_over = nullptr;  // Limits::passed_over
  std::uint64_t max_memory_bytes = 0;
  std::uint64_t max_steps = 0;
  std::uint64_t max_text_bytes = 0;
  std::atomic<std::uint64_t> text_bytes{0};  // printed and not yet passed on
  std::atomic<std::uint64_t> steps{0};
  std::atomic<int> const* stop = nullptr;  // Limits::stop
  bool timed = false;
  std::chrono::steady_clock::time_point deadline;
};

// What one machine has spent of it, in warp instructions.
class Spending {
 public:
  explicit Spending(Budget& budget) : budget_(budget) {
    check_at_ = budget.max_steps ? std::min<std::uint64_t>(budget.max_steps + 1, 1 << 20) : 1 << 20;
  }
  std::uint64_t steps() const { return steps_; }

  // True where it is time to check().
  bool count(std::uint64_t steps) {
    steps_ += steps;
    return steps_ >= check_at_;
  }
  enum class Limit : std::uint8_t { none, steps, time };
  // A limit stops before the block that would pass it, whose steps have been `counted`: then they are not.
  Limit check(std::uint64_t counted);
  // Counts work that one warp instruction does beyond the default cost, in about 10 ns each, so that the time limit
  // holds where single instructions are long. True where the time is over.
  bool work(std::uint64_t units) {
    work_ += units;
    return work_ >= clock_check_interval && out_of_time();
  }

 private:
  static constexpr std::uint64_t clock_check_interval = 1 << 16;
  bool out_of_time();

  Budget& budget_;
  std::uint64_t steps_ = 0, reported_steps_ = 0, check_at_ = 0;
  std::uint64_t work_ = 0;  // since the clock was read
};

// What groups print. It waits for that of earlier groups; what nothing precedes is passed on by and by.
class PrintedText {
 public:
  using Print = std::function<void(std::string_view)>;
  PrintedText(Budget& budget, Print const& print) : budget_(budget), print_(print) {}
  void pass_on_at_once() { at_once_ = true; }
  bool add(std::string const& text);  // false where more waits than may
  std::string take() { return std::exchange(text_, {}); }

 private:
  Budget& budget_;
  Print const& print_;
  std::string text_;
  bool at_once_ = false;
};

}  // namespace kernelcast::emu
