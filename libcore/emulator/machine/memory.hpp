// The inside of Memory: one reserved range of host addresses, mirrored by device addresses at a fixed distance.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "emulator/emu.hpp"
#include "emulator/image.hpp"

namespace kernelcast::emu {

// Device addresses usually begin here, so that neither null nor a small integer is ever valid.
inline constexpr std::uint64_t default_first_address = 0x7'0000'0000;

struct Memory::Impl {
  std::uint64_t limit_bytes = 0, used_bytes = 0;
  void* reserved = nullptr;
  std::uint64_t first = default_first_address;  // device address of `range`
  std::byte* range = nullptr;                   // in the reservation, at a border of huge pages
  std::uint64_t range_bytes = 0;
  std::uint64_t next = default_first_address;
  std::vector<Buffer> buffers;               // ascending addresses
  std::uint64_t place(std::uint64_t bytes);  // where that much room begins; 0 where there is none
  std::map<std::uint64_t, Buffer> lent;      // of the host, by address
  // The heap of malloc(), behind the buffers. Blocks are not reused before twice the limit has been given, so that a
  // use after free is found; then the oldest of those that fit best.
  std::uint64_t heap_limit_bytes = std::uint64_t{8} << 20, heap_used_bytes = 0;
  std::uint64_t heap_begin = 0, heap_next = 0, heap_open = 0;  // open: accessible up to there
  std::map<std::uint64_t, Buffer> heap;                        // by address
  std::multimap<std::uint64_t, std::uint64_t> heap_freed;      // addresses by the room there, oldest first
  std::uint64_t place_in_heap(std::uint64_t bytes);
  std::uint64_t heap_capacity_of(std::map<std::uint64_t, Buffer>::const_iterator block) const;
  std::uint64_t held_for_heap() const;

  // Module-scope .global and .const variables: addresses in the order of Module::variables, 0 for other spaces.
  std::map<void const*, std::vector<std::uint64_t>> variables;  // by owner: a Module or a Function with its body
  void place_variables(Memory&, ptx::Module const&, void const* owner, std::vector<ptx::Variable> const& of_owner);

  std::unique_ptr<Images> images;

  std::byte* host(std::uint64_t device_address) const { return range + (device_address - first); }
};

}  // namespace kernelcast::emu
