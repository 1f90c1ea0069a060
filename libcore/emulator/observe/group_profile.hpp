// What one work-group asks of a compute unit in more detail than sums: the shapes of its memory requests, how far apart
// it uses the same memory again, and what it waits for when it runs alone.
//
// Problem: two kernels with the same counts differ by an order of magnitude in time, by how requests spread over banks
// and lines, by what caches can hold, and by how long the chain of results is that need each other.
// Method: the observer sees a group or a few. Requests are counted by shape. Reuse is measured as the stack distance of
// sectors (Mattson 1970), for groups that touch many on a sample of them by a hash of their address (SHARDS,
// Waldspurger 2015). The path is a pass over the group's dataflow: a result is there when its operands are and its
// latency is over; wavefronts issue in order from one round of a loop to the next; barriers hold all; a sector is there
// for all wavefronts when the first request for it is; what waits for an mbarrier goes on behind all that has arrived
// there, bulk copies a miss after they were issued. Phases end where barriers hold all. What the longest chain consists
// of is counted by kind, so that a model can give each kind the latency of a device. Limits: latencies that decide
// which chain is longest are those of one device (reference_cycles); wavefronts of 32; private memory is taken as
// always in the first-level cache.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "emulator/emu.hpp"
#include "emulator/observe/footprint.hpp"
#include "emulator/observe/lowering.hpp"
#include "records/phases.hpp"

namespace kernelcast::emu {

// Of one request of a wavefront of 32: the distinct lines of 128 bytes, sectors of 32 bytes, and the distinct lines of
// the most loaded of the 32 banks of a line; 0 where a copy engine makes the request, not the load/store unit.
struct RequestShape {
  std::uint16_t lines = 0, sectors = 0, degree = 0;
  friend auto operator<=>(RequestShape const&, RequestShape const&) = default;
};
using Requests = std::map<RequestShape, std::uint64_t>;

// What lies on the longest chain.
using record::Step;
inline constexpr record::PerValue<Step, float> reference_cycles{{4.5f, 16, 20, 30, 25, 33, 500, 20}};
struct Path {
  double cycles = 0;  // by reference_cycles
  record::PerValue<Step, std::uint32_t> steps;
};

inline constexpr std::size_t reuse_buckets = 32;

struct GroupProfile {
  Requests loads, stores;  // global
  // Loads of a sector that was loaded before, with [2^(k-1), 2^k) distinct others since then; 0: none; the last:
  // loads that pass the first-level cache by.
  std::array<double, reuse_buckets> reuse{};
  // To private memory, as it lies: the same word of a wavefront's work-items in one line. Without stores that the one
  // after them overwrites.
  Requests locals, local_stores;
  std::uint64_t local_lines = 0;
  std::uint64_t shared_requests = 0, constant_requests = 0;
  // By the clocks that the banks are busy, loads as the assembler joins them.
  std::map<std::uint16_t, std::uint64_t> shared_loads, shared_stores;
  // Of shared memory, moved by what is not the load/store unit: copy engines (cp.async.bulk), and matrix units that
  // read their operands there (wgmma).
  std::uint64_t shared_engine_bytes = 0;
  // Atomics: requests; of each the most lanes on one address, summed, of 32-bit integers at an address that does not
  // vary 1, as ptxas joins them; of each the distinct sectors (shared: the most distinct words of one bank), summed; of
  // each the distinct lines, summed; lanes of 8 bytes.
  struct Atomics {
    std::uint64_t requests = 0, serial = 0, parts = 0, lines = 0, wide_lanes = 0;
  };
  Atomics global_atomics, shared_atomics;
  std::uint64_t texture_requests = 0;
  std::uint64_t barriers = 0;  // that opened
  double slots = 0;            // of all pipes
  Path path;
  std::vector<record::Phase> phases;  // none: without barriers that hold all
};

// Longer groups, by their issue slots, are not profiled.
inline constexpr double max_profiled_slots = 1 << 27;

// Profiles one group; of some others it notes the sectors they touch; the rest pass by.
class ProfileObserver final : public Observer {
 public:
  ProfileObserver(Program const&, std::uint64_t profiled_group);
  void watch(std::vector<std::uint64_t> groups);  // ascending; none until then
  ~ProfileObserver() override;

  void group_begin(std::uint64_t) override;
  void group_end() override;
  void block(std::uint32_t, Lanes const&) override;
  void memory(MemoryAccess const&) override;
  void meet(Meeting const&) override;
  std::unique_ptr<Observer> fork() const override;
  void join(Observer const&) override;

  GroupProfile const* profile() const;  // null where the group has not run to its end, or was too long
  bool gave_up() const;                 // too long: nothing is known of any group
  struct Touched {
    Footprint loaded, stored, updated;  // `stored` has what is updated by atomics, too
  };
  Touched const& of(std::uint64_t group) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kernelcast::emu
