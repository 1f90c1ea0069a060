// The application's launches, copies and fills in order, for its graph: ../command_log.hpp.
//
// Method: a copy or fill is noted when it is made, with the memory that its addresses lie in; of a launch all groups
// run under an observer, so that the footprints are those of this launch, whichever way its pointers came. Memory that
// host and device share (managed, pinned) is the host's until a kernel touches it. From then on what the host writes
// there is found by comparing pages before the next launch, and what kernels write is taken as read by the host when it
// waits for the device, as on devices that move managed memory as a whole.
// Limits: one device; memory from malloc() in kernels is left out. Order is that of the calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "emulator/emu.hpp"
#include "kernels/cuda/abi.hpp"
#include "runtimes/attach/command_log.hpp"
#include "runtimes/attach/group_ranges.hpp"
#include "runtimes/cudart/allocations.hpp"
#include "runtimes/cudart/library_calls.hpp"
#include "runtimes/cudart/registry.hpp"

namespace kernelcast::cudart {

class Commands {
 public:
  // Without a spool to write to it does nothing but note what copies and fills touch.
  Commands(std::string const& spool, emu::Memory const&, Allocations const&, Registry const&, launch::TouchHistory&);
  // Memory of ours that programs do not know of.
  void leave_out(std::uint64_t address) { ours_ = address; }
  bool wanted() const { return log_.has_value(); }

  void copied(Area const& to, Area const& from);
  void filled(Area const& to);
  void host_waits();

  // Around a launch: what is to observe it, and its end.
  attach::GroupRanges ranges_of(emu::Launch const&);
  void launched(std::uint64_t number, emu::Launch const&, attach::GroupRanges const&);
  // A library's call that the host has done: its operands; without a number it only touches them.
  void called(std::optional<std::uint64_t> number, LibraryCall const&);

  // Copies or fills of slices that are one call of the application: the next ones are noted as one, until it ends.
  class Together {
   public:
    explicit Together(Commands& commands) : commands_(commands) { ++commands_.together_; }
    ~Together();
    Together(Together const&) = delete;

   private:
    Commands& commands_;
  };

 private:
  struct Shared {  // by host and device, and a kernel has touched it
    std::uint64_t buffer = 0, bytes = 0;
    std::vector<std::size_t> pages;                                    // hashes of what is known to be there
    std::uint64_t written_begin = ~std::uint64_t{0}, written_end = 0;  // by kernels, since the host waited
  };
  struct MemoryObject {
    std::uint64_t address = 0, bytes = 0;
    std::uint64_t key = 0;  // a serial number, of a variable its address
    bool shared = false;    // by host and device
  };
  struct Range {
    std::uint64_t buffer = 0, begin = 0, end = 0;
  };
  struct Note {  // of one command
    char kind = 0;
    Range range;
    std::uint64_t bytes = 0;
    Range target;  // of a copy between buffers
  };

  bool is_of_device(Area const&) const;
  void touch(Area const&);
  std::optional<Range> find(Area const&);
  // A variable of a program, or null: other memory that no call gave is malloc()'s in kernels, or our own.
  emu::Memory::Buffer const* variable_at(std::uint64_t address) const;
  std::optional<MemoryObject> object_at(std::uint64_t address) const;
  std::uint64_t number_of(MemoryObject const&);
  void note(Note const&);
  void write(Note const&);
  void begin_file();
  void share(std::uint64_t address, std::uint64_t buffer, std::uint64_t bytes);
  void find_writes_of_host();
  void shared_written(MemoryObject const&, std::uint64_t begin, std::uint64_t end);
  void hash_again(void const* begin, std::uint64_t bytes);

  emu::Memory const& memory_;
  Allocations const& allocations_;
  Registry const& registry_;
  launch::TouchHistory& touched_;
  std::uint64_t ours_ = 0;
  std::optional<attach::CommandLog> log_;
  std::map<std::uint64_t, std::uint64_t> numbers_;  // of buffers, by MemoryObject::key
  std::uint64_t next_number_ = 0;
  std::map<std::uint64_t, Shared> shared_;  // by address
  unsigned together_ = 0;
  std::optional<Note> pending_;
};

}  // namespace kernelcast::cudart
