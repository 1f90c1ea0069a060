// What OpenCL and CUDA have in common: buffers, kernels from source, launches with their time, copies.
//
// The benchmarks of accelerator_probe.cpp use no other interface of either.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "measure/probe/probe.hpp"

namespace kernelcast::probe {

class DeviceBuffer {
 public:
  virtual ~DeviceBuffer() = default;
  std::uint64_t bytes = 0;
};

class Texture {
 public:
  virtual ~Texture() = default;
};

struct SharedBytes {
  std::uint64_t bytes = 0;  // the kernel's one array of dynamic shared memory
};
using KernelArgument =
    std::variant<std::shared_ptr<DeviceBuffer>, std::shared_ptr<Texture>, std::uint32_t, float, SharedBytes>;

class DeviceKernel {
 public:
  virtual ~DeviceKernel() = default;
  // Work-groups of `group` items each. The device's own time, seconds; waits until it is done.
  virtual double run(std::uint64_t groups, std::uint64_t group, std::vector<KernelArgument> const&) = 0;
  // `times` launches one after the other; host time from the first call until all are done, seconds.
  virtual double run_queued(std::uint64_t groups, std::uint64_t group, std::vector<KernelArgument> const&,
                            std::uint64_t times) = 0;
  // The same launches as one graph, launched as a whole; where Accelerator::has_graphs().
  virtual double run_in_graph(std::uint64_t /*groups*/, std::uint64_t /*group*/, std::vector<KernelArgument> const&,
                              std::uint64_t /*times*/) {
    return 0;
  }
  // From the submission of a launch to its start, by the driver's own clock, seconds; nullopt: it does not say.
  virtual std::optional<double> delay_s(std::uint64_t /*groups*/, std::uint64_t /*group*/,
                                        std::vector<KernelArgument> const&) {
    return std::nullopt;
  }
  // Work-groups that one compute unit holds, as the driver computes it; 0: it does not say.
  virtual std::uint64_t resident_groups(std::uint64_t /*group*/, std::uint64_t /*shared_bytes*/) { return 0; }
};

enum class Way : std::uint8_t { to_device, to_host, on_device };

class Accelerator {
 public:
  virtual ~Accelerator() = default;
  virtual Facts const& facts() const = 0;
  virtual std::shared_ptr<DeviceBuffer> allocate(std::uint64_t bytes) = 0;  // contents undefined
  virtual void upload(DeviceBuffer&, void const* data, std::uint64_t bytes) = 0;
  virtual std::shared_ptr<DeviceKernel> kernel(std::string const& file, std::string const& function,
                                               std::vector<std::string> const& macros) = 0;
  // Whether DeviceKernel::delay_s says anything.
  virtual bool reports_delays() const { return false; }
  virtual bool has_graphs() const { return false; }
  // Host time of compiling this small kernel anew; nothing cached is used. Seconds.
  virtual double compile_s() = 0;
  // One copy of `bytes`; host time, seconds.
  virtual double copy_s(Way, std::uint64_t bytes, bool pinned) = 0;
  // Both ways at a time; host time until both are done.
  virtual double copy_both_s(std::uint64_t bytes) = 0;
  // `rows` rows of `row_bytes`, `pitch` apart on the device, packed on the host, pinned.
  virtual double copy_rows_s(std::uint64_t rows, std::uint64_t row_bytes, std::uint64_t pitch) = 0;
  // Device to another device; nullopt where there is no other.
  virtual std::optional<double> copy_peer_s(std::uint64_t /*bytes*/) { return std::nullopt; }
  // 32-bit channels, four of them; width and height in texels. nullptr: no images. Contents random.
  virtual std::shared_ptr<Texture> texture(std::uint32_t /*width*/, std::uint32_t /*height*/) { return nullptr; }
  // Clock of the compute units under load; nullopt where it cannot be told.
  virtual std::optional<double> clock_hz() { return std::nullopt; }
  // Launches of CUDA have no such argument in their list: constant memory is filled here.
  virtual bool constant_is_argument() const { return true; }
  // fma_fp16 for this device: macros, and halves of a value. Empty: none.
  virtual std::vector<std::string> half_macros() const { return {}; }
  virtual unsigned half_lanes() const { return 1; }
};

// Takes the accelerator; its facts become the probe's.
std::unique_ptr<Probe> accelerator_probe(std::unique_ptr<Accelerator>);

// For both back ends: host time of body(), seconds.
template <class Body>
double host_seconds(Body const& body) {
  auto const start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Memory of the host that the driver knows nothing of, with random contents.
class PageableMemory {
 public:
  void* at_least(std::uint64_t bytes);

 private:
  std::vector<std::byte> bytes_;
};

// The text of a kernel file: `prelude` before it.
std::string kernel_source(std::string const& prelude, std::string const& file);

}  // namespace kernelcast::probe
