// Launches that would change nothing: the same kernel, sizes and arguments as before, of which nothing has been written
// since, by a kernel that does not write what it reads. Benchmarks launch so again and again to have a time; here one
// launch stands for all.
//
// Method: the kernel's PTX says through which of its arguments it reads and writes (ptx::touched_pointers). What these
// point to is an allocation or a variable; each has a number that grows when a copy, a fill or a kernel writes it.
// Limits: memory that the host can write without a call (managed, pinned, registered) makes a launch one that runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "cudart/allocations.hpp"
#include "cudart/registry.hpp"
#include "emu/emu.hpp"
#include "ptx/pointers.hpp"

namespace kernelcast::cudart {

// When each allocation and variable was last written.
class Contents {
 public:
  Contents(emu::Memory const& memory, Allocations const& allocations) : memory_(memory), allocations_(allocations) {}

  void written(void const* address);  // what holds it
  void written(std::uint64_t begin) { last_[begin] = ++now_; }
  void anything_written() { all_ = ++now_; }
  std::uint64_t last_written(std::uint64_t begin) const {
    auto const found = last_.find(begin);
    return found == last_.end() ? all_ : std::max(all_, found->second);
  }

 private:
  emu::Memory const& memory_;
  Allocations const& allocations_;
  std::uint64_t now_ = 0, all_ = 0;
  std::unordered_map<std::uint64_t, std::uint64_t> last_;  // by where it begins
};

class Repeats {
 public:
  Repeats(emu::Memory& memory, Allocations const& allocations, Registry const& registry, Contents& contents)
      : memory_(memory), allocations_(allocations), registry_(registry), contents_(contents) {}

  // Nothing would change.
  bool is_one(Kernel const&, emu::Launch const&);
  void ran(Kernel const&, emu::Launch const&);

 private:
  struct Object {
    std::uint64_t begin = 0, serial = 0;  // serial: of an allocation
    bool read = false, written = false;
    std::uint64_t last_written = 0;
    friend bool operator==(Object const&, Object const&) = default;
  };
  // What the launch touches; empty where that is not known.
  std::optional<std::vector<Object>> objects_of(Kernel const&, emu::Launch const&);

  emu::Memory& memory_;
  Allocations const& allocations_;
  Registry const& registry_;
  Contents& contents_;
  std::map<Kernel const*, std::optional<std::vector<ptx::TouchedPointer>>> pointers_;
  // What a launch had touched, as it was behind it.
  std::unordered_map<std::string, std::vector<Object>> behind_;
};

}  // namespace kernelcast::cudart
