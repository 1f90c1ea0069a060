// The counters of the `kernel` record, filled from the emulator's events.
//
// Problem: every statistic of the record, exact, at a cost far below that of executing the instructions.
// Method: instructions are counted per basic block and multiplied by the block's static mix at the end. Memory
// transactions are counted per (instruction, 64 lanes) and remembered by pattern and phase (see access_site.hpp).
// Limits: one observer belongs to one kernel with one group size. A wavefront of 64 is two neighbouring warps that the
// emulator ran together; work-items of different warps that diverged are counted as separate issues, as in hardware.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulator/emu.hpp"
#include "emulator/observe/footprint.hpp"
#include "kernels/ptx/matrix.hpp"
#include "records/pipe.hpp"

namespace kernelcast::emu {

// Issue slots of wavefronts of 32; code_slots: of the blocks that ran, each once.
struct SlotCounts {
  record::PerPipe<double> slots;
  double code_slots = 0;
  std::map<std::string, double> matrix_flop;  // by kind: kernels/ptx/matrix.hpp
  friend bool operator==(SlotCounts const&, SlotCounts const&) = default;
};
// Of blocks with so many slots that were entered so often, in the order of the blocks.
SlotCounts slots_of(std::span<record::PerPipe<double> const> blocks, std::span<std::uint64_t const> entries);

// Totals over the emulated groups. Widths are 16, 32, 64 lanes; segments 32, 64, 128 bytes; banks 16 and 32 of 4 bytes,
// 32 of 8 bytes. Definitions:
//  - inst: lanes that execute an instruction and whose guard predicate holds (a conditional branch: lanes that take
//  it);
//  - issues: wavefronts of which at least one lane reaches the instruction, whatever its guard says;
//  - branches: conditional branches executed by wavefronts of 32; divergent where its lanes disagree;
//  - transactions and passes: loads and stores; atomics are counted apart, in lanes; passes of copy engines and matrix
//  units are whole;
//  - atomic_max_*: most atomic operations on one address, over all emulated groups (global) or in one group (shared);
//  - barriers: of a group, the most barriers that one of its work-items passed, summed over the groups;
//  - global_footprint_bytes: distinct 32-byte sectors read, written or updated, times 32;
//  - global_load_rounds: of every block that a lane enters, the longest chain of global loads of which each needs the
//  result of the one before: how often a lane must wait for memory when a block's other loads are under way together;
//  - slots, code_slots: what lowering.hpp makes of the instructions.
struct KernelCounters : SlotCounts {
  record::PerClass<std::uint64_t> inst;
  record::PerClass<std::array<std::uint64_t, 3>> issues;  // [class][width]
  std::uint64_t branches = 0, divergent_branches_w32 = 0, divergent_branches_w64 = 0;
  std::uint64_t global_load_bytes = 0, global_store_bytes = 0, shared_load_bytes = 0, shared_store_bytes = 0;
  std::uint64_t local_load_bytes = 0, local_store_bytes = 0, param_bytes = 0, const_bytes = 0, texture_bytes = 0;
  std::array<std::array<std::uint64_t, 3>, 3> global_load_tx{}, global_store_tx{};  // [width][segment]
  std::array<std::uint64_t, 3> global_load_cc13{}, global_store_cc13{};             // [segment]
  std::uint64_t global_footprint_bytes = 0;
  std::uint64_t global_load_rounds = 0;
  std::array<std::array<std::uint64_t, 3>, 3> shared_load_passes{}, shared_store_passes{};  // [width][banks]
  std::uint64_t atomics_global = 0, atomics_shared = 0;
  std::uint64_t atomic_max_global = 0, atomic_max_shared = 0;
  std::uint64_t barriers = 0;
  std::uint64_t groups = 0;  // emulated

  std::uint64_t inst_total() const;
  friend bool operator==(KernelCounters const&, KernelCounters const&) = default;
};

// What the counters need to know of a kernel's text: the mix of each basic block.
struct KernelMix {
  struct Block {
    record::PerClass<std::uint32_t> instructions;  // all, guarded ones included: for issues
    record::PerClass<std::uint32_t> unguarded;     // for lanes
    std::uint64_t param_bytes = 0;                 // of unguarded ld.param of the kernel's parameters
    std::uint32_t load_rounds = 0;                 // global loads that need each other, in a row
    record::PerPipe<double> slots;
    std::vector<ptx::MatrixProduct> matrix;
  };
  struct Guarded {
    Class kind = Class::other;
    std::uint64_t param_bytes = 0;
    bool engine = false;  // uses_engine(); of all
  };
  std::vector<Block> blocks;
  std::vector<Guarded> instructions;  // by index; read for guarded ones
};
KernelMix mix_of(Program const&);

class KernelObserver final : public Observer {
 public:
  explicit KernelObserver(Program const& program) : KernelObserver(mix_of(program)) {}
  explicit KernelObserver(KernelMix mix);
  ~KernelObserver() override;

  void group_begin(std::uint64_t) override;
  void group_end() override;
  bool accepts_packs() const override { return true; }
  void pack_begin(std::span<std::uint64_t const>) override;
  void pack_end() override;
  void block(std::uint32_t block, Lanes const&) override;
  void guarded(std::uint32_t instruction, Lanes const&) override;
  void memory(MemoryAccess const&) override;
  void branch(std::uint32_t instruction, Lanes const& executing, Lanes const& taking) override;
  void barrier(std::uint32_t instruction, Lanes const&, std::uint32_t number, std::uint32_t threads) override;
  void product(std::uint32_t instruction, std::uint32_t lane, char const* kind, double flop) override;
  std::unique_ptr<Observer> fork() const override;
  void join(Observer const&) override;

  KernelCounters counters() const;
  Footprint const& footprint() const;  // of the emulated groups
  // How often wavefronts of 32 or 64 entered each block of the program.
  std::vector<std::uint64_t> entries(unsigned width = 32) const;

  // (largest − smallest) / mean × 100 over the emulated groups, the largest of four counters: instructions (lanes),
  // issues of 32-lane wavefronts, global transactions (w32, s32), shared passes (w32, b32). A group's counters are
  // summed over the launches. Empty below two groups.
  std::optional<double> spread_pct() const;
  // These four counters of one group; 0 where it was not emulated.
  std::array<std::uint64_t, 4> counts_of(std::uint64_t group) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kernelcast::emu
