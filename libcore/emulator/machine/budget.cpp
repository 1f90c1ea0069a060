#include "emulator/machine/budget.hpp"

namespace kernelcast::emu {

Spending::Limit Spending::check(std::uint64_t counted) {
  std::uint64_t const total = budget_.steps.fetch_add(steps_ - reported_steps_) + steps_ - reported_steps_;
  reported_steps_ = steps_;
  bool const over = budget_.max_steps != 0 && total > budget_.max_steps;
  if (over || out_of_time()) {
    steps_ -= counted;
    return over ? Limit::steps : Limit::time;
  }
  std::uint64_t const rest = budget_.max_steps ? budget_.max_steps - total + 1 : ~std::uint64_t{0};
  check_at_ = steps_ + std::min<std::uint64_t>(rest, 1 << 20);
  return Limit::none;
}

bool Spending::out_of_time() {
  work_ = 0;
  if (budget_.stop && budget_.stop->load(std::memory_order_relaxed) != 0) return true;
  return budget_.timed && std::chrono::steady_clock::now() >= budget_.deadline;
}

bool PrintedText::add(std::string const& text) {
  constexpr std::size_t passed_on_bytes = std::size_t{1} << 20;
  text_ += text;
  if (at_once_ && text_.size() >= passed_on_bytes) {
    print_(text_);
    text_.clear();
    return true;
  }
  return at_once_ || budget_.text_bytes.fetch_add(text.size()) + text.size() <= budget_.max_text_bytes;
}

}  // namespace kernelcast::emu
