#include "runtimes/cudart/devices.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>

#include "base/diag/diag.hpp"
#include "runtimes/cudart/errors.hpp"

namespace kernelcast::cudart {

int& current_device() {
  static thread_local int device = 0;
  return device;
}

bool is_hip() {
  static bool const is = std::getenv("KERNELCAST_HIP") != nullptr;
  return is;
}

Devices::Devices(std::vector<std::string> const& names, std::string const& database_folder,
                 std::uint64_t max_memory_bytes)
    : max_memory_bytes_(max_memory_bytes) {
  try {
    auto const database = device::load(device::find_database(database_folder));
    for (auto const& name : names)
      if (auto const& device = database.find(name); is_hip() || device.vendor == "NVIDIA") all_.push_back(device);
  } catch (Error const& error) {
    report(error.text("devices"));
    all_.clear();
  }
}

std::uint64_t Devices::memory_bytes(int device) const {
  constexpr double unless_known = std::uint64_t{4} << 30;
  return std::min(max_memory_bytes_, static_cast<std::uint64_t>((*this)[device].memory_bytes.value_or(unless_known)));
}

std::uint64_t Devices::memory_bytes_asked_for(int device) const {
  auto const& d = (*this)[device];
  constexpr double gib = std::uint64_t{1} << 30;
  if (d.memory_bytes && *d.memory_bytes > static_cast<double>(max_memory_bytes_))
    report(
        fmt::format("{0} has {1:.0f} GiB, and the application is told of {2:.3g}, which may change what it does: "
                    "--max-memory {1:.0f}GB tells of all",
                    d.name, std::ceil(*d.memory_bytes / gib), static_cast<double>(max_memory_bytes_) / gib));
  return memory_bytes(device);
}

device::Device const& Devices::current() const {
  return (*this)[current_device()];
}

std::uint64_t Devices::current_memory_bytes() const {
  return memory_bytes(current_device());
}

std::uint32_t capability(device::Device const& device) {
  if (device.vendor != "NVIDIA") return sm_of_wavefronts;
  auto const digits = device.target.find_first_of("0123456789");
  return digits == std::string::npos ? 0u : static_cast<std::uint32_t>(std::atoi(device.target.c_str() + digits));
}

std::pair<int, int> version_of(device::Device const& device) {
  auto const& target = device.target;
  if (!target.starts_with("gfx") || target.size() < 6) return {capability(device) / 10, capability(device) % 10};
  return {std::atoi(target.substr(3, target.size() - 5).c_str()), target[target.size() - 2] - '0'};
}

std::uint64_t default_shared_bytes(device::Device const& device) {
  return std::min<std::uint64_t>(max_shared_bytes(device), 48 * 1024);
}

std::uint64_t max_shared_bytes(device::Device const& device) {
  return device.rule.shared_per_group_bytes.value_or(48 * 1024);
}

}  // namespace kernelcast::cudart
