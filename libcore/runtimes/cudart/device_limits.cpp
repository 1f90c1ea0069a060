#include "runtimes/cudart/device_limits.hpp"

#include <algorithm>

namespace kernelcast::cudart {

DeviceLimits::DeviceLimits(Devices const& devices, emu::Memory& memory, std::uint64_t stack_bytes,
                           std::uint64_t heap_bytes)
    : devices_(devices),
      memory_(memory),
      min_stack_bytes_(stack_bytes),
      stack_bytes_(stack_bytes),
      heap_bytes_(heap_bytes) {
  memory_.limit_heap(heap_bytes);
}

// [cuda] cudaDeviceSetLimit: kernels cannot wait for those that they launched from 9.0 on.
bool DeviceLimits::has(Limit limit) const {
  return others_.contains(limit) && !(limit == Limit::sync_depth && capability(devices_.current()) >= 90);
}

std::optional<std::size_t> DeviceLimits::get(Limit limit) const {
  switch (limit) {
    case Limit::stack_bytes:
      return stack_bytes_;
    case Limit::heap_bytes:
      return heap_bytes_;
    case Limit::printf_bytes:
      return std::size_t{1} << 20;  // ours has none
    default:
      return has(limit) ? std::optional(others_.at(limit)) : std::nullopt;
  }
}

bool DeviceLimits::set(Limit limit, std::size_t value) {
  switch (limit) {
    case Limit::stack_bytes:
      stack_bytes_ = std::max<std::uint64_t>(value, min_stack_bytes_);
      return true;
    case Limit::heap_bytes:
      heap_bytes_ = value;
      memory_.limit_heap(value);
      return true;
    case Limit::printf_bytes:
      return true;
    default:
      if (!has(limit)) return false;
      others_[limit] = value;
      return true;
  }
}

}  // namespace kernelcast::cudart
