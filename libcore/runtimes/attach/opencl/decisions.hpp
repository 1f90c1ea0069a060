// How the layer and the process that decides (runtimes/advise/steering.hpp) exchange where launches are to go: files of
// the spool, of a process that is steered.
//
//   context-PID-N.txt     the devices of one context, a line each: number, place, compute units, those of the device
//                         that it is a part of, name. `number` is this process's for the device, or "-" beyond
//                         max_steered_devices; `place` counts the devices of all platforms ("1"), and the parts of a
//                         device in the order in which contexts show them ("1.0")
//   steering-PID          a Decision for each configuration, by its number (counts-PID), shared memory
//   unsteered-PID-N.txt   kernel, and why its launches cannot go to a device that is projected to be faster; the first
//                         reason of configuration N
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace kernelcast::attach {

inline constexpr unsigned max_steered_devices = 16;  // of one process

// Of one configuration. All zeros: nothing is decided, launches go where the application says.
struct Decision {
  // Four bits for each device, by its number: its place in the order of projected times, from 1; equal times share one.
  // 0: no time is known. Written from outside.
  std::atomic<std::uint64_t> ranks;
  // Written by the layer: launches that went elsewhere, and bits by numbers of devices: where the application launched,
  // where its launches went instead.
  std::atomic<std::uint64_t> steered;
  std::atomic<std::uint32_t> from, to;
  std::atomic<bool> refused, given_up;  // a reason is in unsteered-PID-N.txt; no device is tried any more
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(Decision) == 32);

inline constexpr unsigned last_rank = 15;
inline unsigned rank_of(std::uint64_t ranks, unsigned device) {
  return device < max_steered_devices ? ranks >> 4 * device & last_rank : 0;
}

}  // namespace kernelcast::attach
