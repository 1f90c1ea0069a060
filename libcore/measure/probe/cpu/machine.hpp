// The processor as the operating system shows it, threads that stay where they are put, and memory for them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "measure/probe/probe.hpp"

namespace kernelcast::probe::cpu {

// What hwloc and the system say; only processors that this program may use count. `threads_per_cu` is the number of
// logical processors of a core. Throws Error(io) where hwloc cannot read the machine.
Facts read_facts();

// One logical processor number for each core, then the second ones of each core, and so on; what the program may use.
std::vector<unsigned> processors();

// Memory with random contents, aligned to a huge page. `huge` asks the system for pages of 2 MiB, which it may refuse.
class Memory {
 public:
  Memory(std::size_t bytes, bool huge, std::uint64_t seed);  // throws Error(limit)
  ~Memory();
  Memory(Memory const&) = delete;
  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  template <class T>
  std::span<T> as() const {
    return {reinterpret_cast<T*>(data_), bytes_ / sizeof(T)};
  }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Threads pinned to processors, which wait for work without sleeping while a sample is taken.
class Team {
 public:
  explicit Team(std::vector<unsigned> processors);  // throws Error(limit)
  ~Team();
  Team(Team const&) = delete;
  std::size_t size() const;
  // Why threads are not where they should be, by errno; 0 when they are.
  int pinning_error() const;
  // Runs work(thread) on every thread, all begin together; seconds from the begin to the end of the last. Threads
  // sleep before and after.
  double run(std::function<void(std::size_t)> const& work);

 private:
  void dismiss();
  struct State;
  std::unique_ptr<State> state_;
};

// All threads meet here; a turn of waiting is a spin, so only for as many threads as processors.
class SpinBarrier {
 public:
  explicit SpinBarrier(std::size_t threads) : threads_(threads) {}
  void wait();

 private:
  std::size_t threads_;
  alignas(64) std::atomic<std::size_t> arrived_{0};
  alignas(64) std::atomic<std::uint64_t> turn_{0};
};

}  // namespace kernelcast::probe::cpu
