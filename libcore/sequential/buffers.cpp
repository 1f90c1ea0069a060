#include "sequential/buffers.hpp"

#include <exception>

namespace kernelcast::seq {

Buffers::Buffers(Consume consume, Place place) : consume_(std::move(consume)) {
  for (auto& buffer : all_) {
    buffer = std::make_unique<Buffer>();
    free_.push_back(buffer.get());
  }
  current_ = free_.front();
  free_.pop_front();
  if (place == Place::own_thread) thread_ = std::thread([this] { work(); });
}

Buffers::~Buffers() {
  if (thread_.joinable()) finish();
}

void Buffers::hand_over(std::uint64_t const* end) {
  if (abandoned_) return;
  if (!thread_.joinable()) return consume({current_, end});
  std::unique_lock lock(mutex_);
  full_.push_back({current_, end});
  changed_.notify_all();
  changed_.wait(lock, [this] { return !free_.empty(); });
  current_ = free_.front();
  free_.pop_front();
}

std::string Buffers::finish() {
  {
    std::lock_guard const lock(mutex_);
    ending_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  return failure_;
}

void Buffers::consume(Full const& full) {
  try {
    if (failure_.empty()) consume_(full.buffer->data(), full.end);
  } catch (std::exception const& error) {
    failure_ = error.what();
  }
}

void Buffers::work() {
  for (;;) {
    Full full{};
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return ending_ || !full_.empty(); });
      if (full_.empty()) return;
      full = full_.front();
      full_.pop_front();
    }
    consume(full);
    std::lock_guard const lock(mutex_);
    free_.push_back(full.buffer);
    changed_.notify_all();
  }
}

}  // namespace kernelcast::seq
