// What an application has asked of CUDA on the emulator by now: the file usage-PID of a spool, in shared memory, so
// that it is right even when the application is killed.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "records/kernel.hpp"

namespace kernelcast::attach {

inline constexpr std::size_t max_used_devices = 16;

struct Usage {
  std::uint64_t launches = 0, executed = 0, cut = 0;  // cut: by --budget
  std::uint64_t library_calls = 0;
  std::array<std::uint64_t, 4> copies{}, copied_bytes{};  // to the device, to the host, on the device, fills
  std::uint64_t host_ns = 0, device_ns = 0;               // between the calls, and in them
  std::array<std::uint64_t, max_used_devices> peak_bytes{};
  // Of the launch that runs: its configuration plus 1, when it began (CLOCK_MONOTONIC), and the time that it will take
  // as far as that is known.
  std::uint64_t running = 0, begin_ns = 0, expected_ns = 0;
};

// Together with another process's; what runs is either's.
void add(Usage&, Usage const&);

// Some lines for people; `rows` are of all configurations that have one, `skipped` others.
std::string summary(Usage const&, std::vector<record::Kernel> const& rows, std::uint64_t skipped);

// One line, while it runs; `kernel` is the one that does, or empty. now_ns: CLOCK_MONOTONIC.
std::string progress(Usage const&, std::string const& kernel, std::uint64_t now_ns);

}  // namespace kernelcast::attach
