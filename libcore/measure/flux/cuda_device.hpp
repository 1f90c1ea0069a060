// A CUDA device that launches the calls of a plan, with or without counters in the kernels' code.
//
// Limits: no images, no shared memory as an argument (where it lies is the driver's to decide): Error(unavailable).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emulator/launch/launch.hpp"
#include "measure/flux/instrument.hpp"
#include "measure/probe/cuda/api.hpp"

namespace kernelcast::flux {

class CudaDevice {
 public:
  explicit CudaDevice(int number);  // throws Error(unavailable)
  ~CudaDevice();
  CudaDevice(CudaDevice const&) = delete;
  CudaDevice& operator=(CudaDevice const&) = delete;

  std::string const& name() const { return name_; }  // "0:NVIDIA A100"
  probe::cuda::Module load(std::string const& ptx);
  probe::cuda::Pointer allocate(std::span<std::byte const> content);
  void copy_to(probe::cuda::Pointer, std::span<std::byte const> content);
  void copy_from(probe::cuda::Pointer, std::span<std::byte> content);
  // Waits for its end. Seconds between two events around it.
  double launch(probe::cuda::Module, std::string const& kernel, emu::Launch const&, std::vector<std::byte>& parameters);

 private:
  void must(probe::cuda::Code, char const* what) const;

  probe::cuda::Driver const& api_;
  probe::cuda::Device device_ = 0;
  probe::cuda::Event begin_ = nullptr, end_ = nullptr;
  std::vector<probe::cuda::Module> modules_;
  std::vector<probe::cuda::Pointer> memory_;
  std::string name_;
};

// The plan's buffers on the host, and their copies on a device.
class CudaBuffers {
 public:
  CudaBuffers(CudaDevice&, launch::Plan const&, launch::RunOptions const&);
  void reset();  // as before the first launch
  launch::Buffers const& on_host() const { return host_; }
  probe::cuda::Pointer on_device(std::size_t buffer) const { return at_[buffer]; }

 private:
  CudaDevice& device_;
  emu::Memory memory_;
  launch::Buffers host_;
  std::vector<probe::cuda::Pointer> at_;
};

// One launch that has ended.
struct CudaLaunch {
  record::CountedLaunch const& row;
  std::uint32_t kernel;  // index into Module::functions
  std::uint64_t work_items;
  double time_s;
  std::vector<std::uint64_t> const& words;  // of the banks, added up; empty without counters
};

// A program on a device.
class CudaProgram {
 public:
  // Without options: no counters.
  CudaProgram(CudaDevice&, frontend::Compiled const&, std::optional<PlanOptions> const&);
  // Launches all calls of the plan, one after the other.
  void run(launch::Plan const&, CudaBuffers const&, std::function<void(CudaLaunch const&)> const& ended);
  Plan const& plan() const { return made_.plan; }

 private:
  CudaDevice& device_;
  frontend::Compiled const& compiled_;
  Instrumented made_;
  probe::cuda::Module module_;
  std::map<std::uint32_t, probe::cuda::Pointer> banks_;  // by kernel
  bool counts_;
};

}  // namespace kernelcast::flux
