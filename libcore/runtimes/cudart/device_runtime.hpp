// The runtime that kernels call: kernels that launch kernels (CUDA's dynamic parallelism, second version).
//
// Method: what a kernel launches, copies and sets is kept until all of its groups have run, and then done in the order
// in which it was asked for, each launch with all that it launches itself; what is for the tail stream comes last. That
// is one of the orders that CUDA allows, since a kernel cannot wait for what it has launched. Limits: a kernel that
// spins until one that it has launched writes something never ends; copies are between memory of the device.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "runtimes/cudart/launch.hpp"

namespace kernelcast::cudart {

class DeviceRuntime {
 public:
  struct Parts {
    Devices const& devices;
    emu::Memory& memory;
    Registry& registry;
    Launcher& launcher;
    StickyError const& error;
  };
  DeviceRuntime(Parts const& parts, Program& program) : parts_(parts), program_(program) {}
  DeviceRuntime(DeviceRuntime const&) = delete;
  DeviceRuntime& operator=(DeviceRuntime const&) = delete;
  ~DeviceRuntime();

  // For emu::Launch::external.
  std::optional<std::uint64_t> answer(emu::ExternalCall const&);
  void run();  // all that the kernel has enqueued

 private:
  struct Prepared {  // by cudaGetParameterBuffer
    Kernel* kernel = nullptr;
    Dim3 grid{}, block{};
    std::uint32_t shared_bytes = 0;
  };
  using Work = std::function<Code()>;

  std::uint64_t prepare_launch(emu::ExternalCall const&);
  Code launch_prepared(std::uint64_t buffer, std::uint64_t stream);
  Code copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes, std::uint64_t stream);
  Code set(std::uint64_t at, std::uint64_t value, std::uint64_t bytes, std::uint64_t stream);
  Code allocate(emu::ExternalCall const&);
  Code remember(Code);
  std::uint64_t text(char const*);
  std::vector<Work>& queue(std::uint64_t stream);

  Parts parts_;
  Program& program_;
  std::map<std::uint64_t, Prepared> prepared_;  // by the address of their arguments
  std::vector<std::uint64_t> texts_;
  std::vector<Work> work_, tail_;
  Code last_ = Code::success;
  std::uint64_t handles_ = 0;
};

}  // namespace kernelcast::cudart
