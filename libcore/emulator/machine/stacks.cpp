#include "emulator/machine/stacks.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace kernelcast::emu {

void CallStacks::fit(std::uint32_t warps, std::uint64_t frame_bytes, std::optional<std::uint64_t> stack_bytes) {
  lanes_ = std::uint64_t{lanes_per_warp} * warps;
  stride_ = item_bytes_ = frame_bytes_ = frame_bytes;
  if (!stack_bytes) return;
  item_bytes_ += *stack_bytes / 64 * 64;
  limit_ = static_cast<std::uint32_t>(frame_bytes);
  // An odd number of cache lines, so that the lanes' stacks do not fight for the same few of the cache.
  stride_ = ((item_bytes_ + 63) / 64 | 1) * 64;
  frames_.resize(lanes_);
}

// Filled with zeros as far as a group or a call has it.
void CallStacks::allocate() {
  memory_.reset(static_cast<std::byte*>(std::malloc(std::max<std::size_t>(bytes(), 1))));
  if (!memory_) throw std::bad_alloc();
}

void CallStacks::begin() {
  if (frames_.empty()) {
    if (item_bytes_ != 0) std::memset(memory_.get(), 0, bytes());
    return;
  }
  for (std::uint32_t t = 0; t < lanes_; ++t) {
    std::memset(memory(t), 0, frame_bytes_);
    frames_[t] = {0, static_cast<std::uint32_t>(frame_bytes_), 0, 0};
  }
  set_limit(static_cast<std::uint32_t>(frame_bytes_));
}

std::optional<std::uint64_t> CallStacks::grow(std::uint32_t thread, std::uint64_t bytes, std::uint64_t alignment) {
  Frame& frame = frames_[thread];
  std::uint64_t const begin = multiple_above(frame.top, alignment),
                      end = item_bytes_ - std::uint64_t{4} * frame.records_top;
  if (begin > end || bytes > end - begin) return std::nullopt;
  std::memset(memory(thread) + frame.top, 0, begin + bytes - frame.top);
  frame.top = static_cast<std::uint32_t>(begin + bytes);
  return begin;
}

}  // namespace kernelcast::emu
