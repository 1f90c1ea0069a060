// Which launches of an application are new, and how often each was made. Not thread safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "runtimes/attach/spool.hpp"

namespace kernelcast::attach {

// One configuration of a kernel: what gives it a row of its own.
struct Configuration {
  std::uint32_t dimensions = 0;
  std::array<std::size_t, 3> global{}, local{};  // OpenCL's in work-items, local {0, 0, 0}: left to the implementation;
                                                 // CUDA's in blocks and threads
  std::size_t local_bytes = 0;                   // shared memory that the launch asks for
  bool operator==(Configuration const&) const = default;
};
struct ConfigurationHash {
  std::size_t operator()(Configuration const&) const noexcept;
};

// The launches of a kernel so far.
struct History {
  std::unordered_map<Configuration, std::uint64_t*, ConfigurationHash> seen;  // counters in the spool; never null
  std::uint64_t launches = 0;
};

class LaunchPolicy {
 public:
  // Settings::every: launch, kernel, or a number N, every Nth launch of a kernel; otherwise each
  // configuration is new once.
  LaunchPolicy(Spool spool, std::string_view every);

  struct Counted {
    History* history = nullptr;
    std::uint64_t* launches = nullptr;    // in the spool; null where it is full
    std::optional<std::uint64_t> number;  // in the spool, of a launch that is new
  };
  // `allocated_bytes`: of the device, at this launch.
  Counted count(History&, Configuration const&, std::uint64_t allocated_bytes);
  // Where the history of a kernel is kept here, by its address.
  Counted count(void const* kernel, Configuration const& configuration, std::uint64_t allocated_bytes) {
    return count(histories_[kernel], configuration, allocated_bytes);
  }
  static void take_back(Counted const&);  // it was refused
  double* totals(std::uint64_t configuration) { return spool_.totals(configuration); }
  Spool const& spool() const { return spool_; }

 private:
  Counted count(History&, Configuration const&);

  Spool spool_;
  bool kernels_once_;
  std::uint64_t every_;  // 0: each configuration once
  std::unordered_map<void const*, History> histories_;
};

}  // namespace kernelcast::attach
