// The devices that the application sees: rows of the device database.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "kernels/cuda/abi.hpp"
#include "records/device/device.hpp"

namespace kernelcast::cudart {

// The driver's, as CUDA writes it: of 13.5, which runs the runtimes of 12.0 and later.
constexpr int driver_version = 13050;

class Devices {
 public:
  // Reads the database. Without one, or where it lacks a name, there are no devices, and the reason is reported.
  // Devices that are not NVIDIA's are there for programs of HIP alone.
  // None has more memory than `max_memory_bytes`.
  Devices(std::vector<std::string> const& names, std::string const& database, std::uint64_t max_memory_bytes);
  int count() const { return static_cast<int>(all_.size()); }
  bool known(int device) const { return device >= 0 && device < count(); }
  device::Device const& operator[](int device) const { return all_[static_cast<std::size_t>(device)]; }

  std::uint64_t memory_bytes(int device) const;
  // For those who ask how much there is: said once where the emulator has less than the device.
  std::uint64_t memory_bytes_asked_for(int device) const;
  device::Device const& current() const;  // this thread's
  std::uint64_t current_memory_bytes() const;

 private:
  std::uint64_t max_memory_bytes_;
  std::vector<device::Device> all_;
};

int& current_device();  // of this thread

bool is_hip();  // what hip/hip_runtime_api.h of kernelcast-hipcc says before main()
// As for this architecture kernelcast-hipcc compiles for wavefronts of 64.
constexpr std::uint32_t sm_of_wavefronts = 87;

// 80 of sm_80; of other vendors' devices, which programs of HIP see, sm_of_wavefronts.
std::uint32_t capability(device::Device const&);
std::pair<int, int> version_of(device::Device const&);  // as programs are told: {8, 0} of sm_80, {9, 4} of gfx942
// Shared memory of a group without asking for more, and at most.
std::uint64_t default_shared_bytes(device::Device const&);
std::uint64_t max_shared_bytes(device::Device const&);

}  // namespace kernelcast::cudart
