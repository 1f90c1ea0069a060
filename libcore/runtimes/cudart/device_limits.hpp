// What the application has set of its devices: limits (cudaDeviceSetLimit) and flags.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "emulator/emu.hpp"
#include "kernels/cuda/abi.hpp"
#include "runtimes/cudart/devices.hpp"

namespace kernelcast::cudart {

class DeviceLimits {
 public:
  DeviceLimits(Devices const&, emu::Memory&, std::uint64_t stack_bytes, std::uint64_t heap_bytes);

  // Empty where this thread's device has no such limit.
  std::optional<std::size_t> get(Limit) const;
  bool set(Limit, std::size_t value);  // false where it has none
  std::uint64_t stack_bytes() const { return stack_bytes_; }

  unsigned flags = 0;  // cudaSetDeviceFlags

 private:
  bool has(Limit) const;

  Devices const& devices_;
  emu::Memory& memory_;
  std::uint64_t min_stack_bytes_, stack_bytes_, heap_bytes_;
  // Those that change nothing here; CUDA's defaults.
  std::map<Limit, std::size_t> others_{
      {Limit::sync_depth, 2}, {Limit::pending_launches, 2048}, {Limit::l2_granularity, 64}, {Limit::l2_bytes, 0}};
};

}  // namespace kernelcast::cudart
