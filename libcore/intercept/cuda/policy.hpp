// Which launches of an application are new, and how often each was made.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "intercept/cuda/abi.hpp"
#include "intercept/spool.hpp"

namespace kernelcast::cudart {

struct Sizes {
  Dim3 grid, block;
  std::size_t dynamic_shared_bytes;
};

class LaunchPolicy {
 public:
  // `every` as KERNELCAST_EVERY has it: launch, kernel, a number, or nothing: each configuration once.
  LaunchPolicy(std::string const& spool, std::string const& every);

  struct Counted {
    void const* kernel = nullptr;
    std::uint64_t* launches = nullptr;    // in the spool; null where it is full
    std::optional<std::uint64_t> number;  // in the spool, of a launch that is new
  };
  // Counts this launch. Kernels are told apart by address.
  Counted count(void const* kernel, Sizes const&);
  void take_back(Counted const&);  // it was refused
  intercept::Spool const& spool() const { return spool_; }

 private:
  struct SizesHash {
    std::size_t operator()(Sizes const&) const noexcept;
  };
  struct SameSizes {
    bool operator()(Sizes const&, Sizes const&) const noexcept;
  };
  struct History {
    std::unordered_map<Sizes, std::uint64_t*, SizesHash, SameSizes> seen;  // counters in the spool
    std::uint64_t launches = 0;
  };

  intercept::Spool spool_;
  bool kernels_once_;
  std::uint64_t every_;  // 0: each configuration once
  std::map<void const*, History> histories_;
};

}  // namespace kernelcast::cudart
