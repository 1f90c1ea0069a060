// Memory that the application has allocated, on the device or on the host. All of it lies in the emulator's Memory, at
// the same address for both, so that pinned, managed and registered memory is simply there.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>

#include "emulator/emu.hpp"
#include "emulator/launch/history.hpp"
#include "kernels/cuda/abi.hpp"
#include "runtimes/cudart/devices.hpp"

namespace kernelcast::cudart {

struct Allocation {
  MemoryType type = MemoryType::device;
  std::uint64_t bytes = 0;
  std::uint64_t asked_bytes = 0;  // the application's size, which `bytes` is rounded up from
  int device = 0;
  unsigned flags = 0;        // of cudaHostAlloc and cudaHostRegister
  bool registered = false;   // the application's own
  bool mapped = false;       // by cuMemMap: the same bytes may lie elsewhere, too
  std::uint64_t serial = 0;  // no other has or had it
};

inline std::uint64_t address_of(void const* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

class Allocations {
 public:
  Allocations(Devices const& devices, emu::Memory& memory, launch::TouchHistory& touched)
      : devices_(devices), memory_(memory), touched_(touched) {}

  // On this thread's device; null where it does not fit.
  void* add(MemoryType, std::uint64_t bytes, unsigned flags = 0);
  bool lend(void* host, std::uint64_t bytes, unsigned flags);
  // Code::invalid_value where nothing of this type begins there.
  Code remove(void const*, MemoryType);
  Code remove_registered(void const*);
  // Memory of a device that the driver has mapped there. False where it overlaps other memory.
  bool add_mapped(void* at, std::uint64_t bytes, int device);
  void remove_mapped(void const*);
  void clear();  // but what the application lent or mapped stays

  // Whether memory that is freed, of so many bytes, has to stay until release(); nothing else finds it here.
  using Keeper = std::function<bool(std::uint64_t begin, std::uint64_t bytes)>;
  void set_keeper(Keeper keeper) { keeper_ = std::move(keeper); }
  // Told of memory of a device that is new, and holds zeros.
  using Maker = std::function<void(std::uint64_t begin, std::uint64_t asked_bytes)>;
  void set_maker(Maker maker) { maker_ = std::move(maker); }
  void release(std::uint64_t begin);
  bool is_kept(std::uint64_t begin) const { return kept_.contains(begin); }

  // The one that holds this address, and where it begins; null where there is none.
  std::pair<std::uint64_t, Allocation const*> holding(void const*) const;
  bool holds(void const*, std::uint64_t bytes) const;  // all of these, in one buffer of the device
  // Where the memory that holds this address begins, and its bytes: an allocation, or a variable of a module. 0 bytes
  // where there is none.
  std::pair<std::uint64_t, std::uint64_t> range_of(void const*) const;
  std::uint64_t used_bytes(int device) const;

 private:
  void take_out(std::map<std::uint64_t, Allocation>::const_iterator);

  Devices const& devices_;
  emu::Memory& memory_;
  launch::TouchHistory& touched_;  // forgets what is freed
  std::uint64_t made_ = 0;
  std::map<std::uint64_t, Allocation> all_;
  Keeper keeper_;
  Maker maker_;
  std::set<std::uint64_t> kept_;
};

}  // namespace kernelcast::cudart
