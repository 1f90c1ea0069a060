#include "cudart/devices.hpp"

#include <algorithm>
#include <cstdlib>

#include "cudart/errors.hpp"
#include "diag/diag.hpp"

namespace kernelcast::cudart {

Devices::Devices(std::vector<std::string> const& names, std::string const& database_folder) {
  try {
    auto const database = device::load(device::find_database(database_folder));
    for (auto const& name : names) all_.push_back(database.find(name));
  } catch (Error const& error) {
    report(error.text("devices"));
    all_.clear();
  }
}

std::uint32_t capability(device::Device const& device) {
  auto const digits = device.target.find_first_of("0123456789");
  return digits == std::string::npos ? 0u : static_cast<std::uint32_t>(std::atoi(device.target.c_str() + digits));
}

std::uint64_t default_shared_bytes(device::Device const& device) {
  return std::min<std::uint64_t>(max_shared_bytes(device), 48 * 1024);
}

std::uint64_t max_shared_bytes(device::Device const& device) {
  return device.shared_per_group_bytes.value_or(48 * 1024);
}

std::uint64_t memory_bytes(device::Device const& device) {
  return static_cast<std::uint64_t>(device.memory_bytes.value_or(double{1} * (std::uint64_t{4} << 30)));
}

}  // namespace kernelcast::cudart
