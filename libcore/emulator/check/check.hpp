// Checks of a running kernel that go beyond bounds: memory read before it is written, data races, divisions by zero.
//
// Checks is one observer of the emulator: it keeps shadow memory of its own and ends the run with a finding. A run
// without it pays nothing. Rules, which kernelcast-checks(7) explains:
//  - uninitialized: a load or atomic reads a byte that was never written: of shared memory, of local memory, of
//    malloc's memory, of a buffer whose Memory::Buffer::undefined is set; the machine itself finds a load of a column
//    of tensor memory of which none of the warp's lanes was written, and a product that reads any such cell. A loaded
//    element whose register no instruction reads is let pass (the fourth element of a vector of three). Stores define
//    memory whatever they store, and so do the arguments of a call and its results; the rest of its frame is as if
//    never written.
//  - races: two accesses of different work-items to one byte, at least one of them a write, not both atomic, that
//    nothing orders. Within a group barriers order; so do bar.warp.sync, and a fence followed by an atomic that another
//    work-item's atomic sees. A barrier of OpenCL C orders the memory that its flags name
//    (frontend::Request::fence_flags keeps them); those of CUDA order all. Lanes of a warp are not ordered by running
//    in step, unless lockstep_warps says so. Groups of one launch are ordered by a fence and an atomic only.
//  - the asynchronous proxy (bulk copies, matrices of wgmma and tcgen05 in shared memory, tensor memory): a generic
//  store
//    comes before an operation only with a proxy fence on the way, and what an operation accesses is in flight until it
//    was waited for, its registers too; see async.hpp. Accesses to shared memory only: in global memory a copy's
//    accesses are those of the work-item that issues it.
//  - equal stores: several work-items store the same value to one place. Whatever the order, it is there in the end: a
//    class of its own, which never ends a run.
//  - portability: a barrier of OpenCL C that not all work-items of a group reach, which only other devices than
//    NVIDIA's wait at for ever: a class that never ends a run, too.
//  - division: an integer division or remainder by zero.
// Limits: ordering is kept per warp and, between groups, per group: what orders one lane orders its warp, so that some
// races behind locks pass unseen, none is reported without cause. Only groups that are emulated are seen. Of a cluster
// each group has a check of its own, which hears only of its own accesses to its own shared memory.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "emulator/emu.hpp"

namespace kernelcast::emu {

struct CheckOptions {
  bool uninit = false, races = false, division = false;
  bool lockstep_warps = false;  // races: lanes of a warp that run an instruction together do the next one after it
  unsigned findings = 1;        // how many distinct ones end the run
  bool stops = true;            // no: none ends it, and the first `findings` are kept
  bool any() const { return uninit || races || division; }
};

class Checks final : public Observer {
 public:
  Checks(CheckOptions const&, Memory const&);
  ~Checks() override;

  // Before each run() that this observes. What was written stays known from launch to launch; races are between
  // work-items of one launch.
  void begin(Program const&, Launch const&);
  // Found so far, with the one that ended the run. One for each pair of instructions.
  std::vector<Finding> const& findings() const;
  std::vector<Finding> const& notes() const;  // no faults: equal stores, portability; the first of them, likewise

  void group_begin(std::uint64_t) override;
  void group_end() override;
  void block(std::uint32_t, Lanes const&) override;
  void guarded(std::uint32_t, Lanes const&) override;
  void barrier(std::uint32_t, Lanes const&, std::uint32_t number, std::uint32_t threads) override;
  void memory(MemoryAccess const&) override;
  void tensor_memory(TensorMemoryAccess const&) override;
  void frame(FrameChange const&) override;
  void meet(Meeting const&) override;
  void zero_divisor(std::uint32_t, Lanes const&) override;
  bool needs_divisors() const override;
  bool needs_written() const override;
  bool needs_order() const override { return true; }
  std::unique_ptr<Observer> packed_substitute(Program const&, Launch const&, Memory const&) const override;
  // Of memory that other groups of a cluster write, no check for unwritten memory hears.
  bool follows_clusters() const override;
  // Then each has a check of its own, which takes groups as ordered with each other.
  bool follows_waiting_groups() const override { return true; }
  std::unique_ptr<Observer> fork() const override;  // for groups that take turns with others; all run on one thread
  void join(Observer const&) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace kernelcast::emu
