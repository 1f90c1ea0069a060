// What each instruction and each basic block of a kernel does: for records per source line and per block.
//
// The same definitions as KernelCounters (kernel_counters.hpp), kept apart per instruction and counted by other code:
// the sums over all instructions are its counters.
// Limits: one observer belongs to one kernel. Accesses are counted one by one, without a memory of patterns: slower
// than KernelObserver, and used only where it is requested.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/emu.hpp"

namespace kernelcast::emu {

struct InstructionCounters {
  std::uint64_t inst = 0;                                             // lanes that execute it and whose predicate holds
  std::uint64_t issues_w32 = 0;                                       // wavefronts of 32 that reach it
  std::uint64_t global_bytes = 0, shared_bytes = 0, local_bytes = 0;  // loads and stores
  std::uint64_t global_tx = 0;  // loads and stores of wavefronts of 32 in segments of 32 bytes
  // What these would be if the lanes' data lay side by side, or the same data is wanted by all: the smaller of both.
  std::uint64_t global_tx_ideal = 0;
  std::uint64_t shared_passes = 0;  // wavefronts of 32, 32 banks of 4 bytes
  std::uint64_t shared_passes_ideal = 0;
  std::uint64_t branches = 0, divergent_branches_w32 = 0;
  std::uint64_t atomics = 0;  // on global and shared memory, lanes

  void add(InstructionCounters const&);
  friend bool operator==(InstructionCounters const&, InstructionCounters const&) = default;
};

struct BlockCounters {
  std::uint64_t lanes = 0, warps = 0;  // entries, by work-items and by wavefronts of 32
  std::uint64_t groups = 0;            // groups of which a work-item entered
  friend bool operator==(BlockCounters const&, BlockCounters const&) = default;
};

class InstructionObserver final : public Observer {
 public:
  explicit InstructionObserver(Program const&);
  ~InstructionObserver() override;

  void group_end() override;
  void block(std::uint32_t block, Lanes const&) override;
  void guarded(std::uint32_t instruction, Lanes const&) override;
  void memory(MemoryAccess const&) override;
  void branch(std::uint32_t instruction, Lanes const& executing, Lanes const& taking) override;
  std::unique_ptr<Observer> fork() const override;
  void join(Observer const&) override;

  std::vector<InstructionCounters> instructions() const;  // by index into Program::kernel().instructions
  std::vector<BlockCounters> const& blocks() const;       // by index into Program::blocks()

 private:
  struct State;
  explicit InstructionObserver(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace kernelcast::emu
