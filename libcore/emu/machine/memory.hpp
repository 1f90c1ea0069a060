// The inside of Memory: one reserved range of host addresses, mirrored by device addresses at a fixed distance.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "emu/emu.hpp"
#include "emu/image.hpp"

namespace kernelcast::emu {

// Device addresses begin here, so that neither null nor a small integer is ever valid.
inline constexpr std::uint64_t first_device_address = 0x7'0000'0000;

struct Memory::Impl {
  std::uint64_t limit_bytes = 0, used_bytes = 0;
  void* reserved = nullptr;
  std::byte* range = nullptr;  // in the reservation, at a border of huge pages: host address of first_device_address
  std::uint64_t range_bytes = 0;
  std::uint64_t next = first_device_address;
  std::vector<Buffer> buffers;  // ascending addresses
  // Module-scope .global and .const variables: addresses in the order of Module::variables, 0 for other spaces.
  std::map<void const*, std::vector<std::uint64_t>> variables;  // of a Module or of a Function's body

  std::unique_ptr<Images> images;

  std::byte* host(std::uint64_t device_address) const { return range + (device_address - first_device_address); }
};

}  // namespace kernelcast::emu
