// Rows on their way from the program to the consumer: on a thread of its own, a few buffers that go round; or one
// buffer that is consumed where it is filled, which costs less when there is little to do with it.
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "sequential/abi.hpp"

namespace kernelcast::seq {

class Buffers {
 public:
  using Consume = std::function<void(std::uint64_t const* begin, std::uint64_t const* end)>;

  enum class Place { own_thread, here };
  Buffers(Consume consume, Place place);  // starts the thread
  ~Buffers();

  std::uint64_t* begin() const { return current_->data(); }
  // A row that starts below still fits.
  std::uint64_t* limit() const { return current_->data() + words; }
  // Hands over the rows up to `end`; begin() is then another buffer. Waits while all are in use.
  void hand_over(std::uint64_t const* end);
  // In a process that was forked, where the consumer does not run: from now on rows are dropped.
  void abandon() { abandoned_ = true; }
  // Waits until all is consumed. The message of what the consumer threw; empty when it did not.
  std::string finish();

 private:
  static constexpr std::size_t words = std::size_t{512} * 1024 / 8;
  using Buffer = std::array<std::uint64_t, words + 2 * row_words_at_most>;
  struct Full {
    Buffer* buffer;
    std::uint64_t const* end;
  };
  void work();
  void consume(Full const&);

  Consume consume_;
  std::array<std::unique_ptr<Buffer>, 4> all_;
  Buffer* current_;
  std::deque<Buffer*> free_;
  std::deque<Full> full_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ending_ = false, abandoned_ = false;
  std::string failure_;
  std::thread thread_;
};

}  // namespace kernelcast::seq
