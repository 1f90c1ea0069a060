// What a kernel's text says of asynchronous operations: which instructions begin, group and wait for them.
//
// The asynchronous proxy: bulk copies, the matrices in shared memory of wgmma and tcgen05. tcgen05's own loads and
// stores are asynchronous, too, but access no memory that others reach.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "emulator/emu.hpp"

namespace kernelcast::emu {

enum class AsyncRole : std::uint8_t {
  none,
  staging,        // cp.async: of the generic proxy, but in flight until it was waited for
  copy,           // cp.async.bulk, cp.reduce.async.bulk and their forms for tensors; clusterlaunchcontrol.try_cancel
  group_product,  // wgmma.mma_async
  tensor,         // tcgen05.mma, .cp, .shift
  commit,         // tcgen05.commit
  tensor_load,    // tcgen05.ld
  tensor_store,   // tcgen05.st
  barrier,        // mbarrier operations, cp.async.mbarrier.arrive
  barrier_init,
  barrier_count,  // mbarrier.expect_tx, .complete_tx: no arrivals, they order nothing; tests of no consequence
  barrier_test,
  store_async,  // st.async, red.async
  allocation,   // tcgen05.alloc: its store is ordered as other accesses to the place are
};
AsyncRole async_role(ptx::Instruction const&);

// What orders or counts operations of a warp without an access to memory.
struct AsyncStep {
  enum class Kind : std::uint8_t {
    proxy_fence,
    staging_commit,
    staging_wait,  // until at most `count` groups are in flight
    copy_commit,
    copy_wait,
    product_issue,
    product_commit,
    product_wait,
    tensor_issue,
    tensor_load_issue,
    tensor_load_wait,
    tensor_store_wait,
    registers,  // reads or writes registers that some asynchronous operation writes or reads
  };
  std::uint32_t instruction = 0;
  Kind kind = Kind::proxy_fence;
  bool guarded = false;  // known when it is executed; not in the order of the block
  std::uint32_t count = 0;
};

// The registers of an instruction, numbered among those that matter.
struct AsyncRegisters {
  std::uint32_t instruction = 0;
  bool copies = false;  // mov: what is in flight stays so
  std::vector<std::uint32_t> read, written;
  std::vector<std::uint32_t> fragment;  // of wgmma: A in registers; of these also in `read`
};

class AsyncText {
 public:
  explicit AsyncText(Program const&);

  bool any() const { return any_; }
  AsyncRole role(std::uint32_t instruction) const { return roles_[instruction]; }
  std::span<AsyncStep const> steps(std::uint32_t block) const { return steps_[block]; }
  bool ends_straight_code(std::uint32_t block) const { return jumps_[block]; }  // with a branch, a barrier or the like
  AsyncStep const* guarded_step(std::uint32_t instruction) const;               // null where there is none
  AsyncRegisters const* registers(std::uint32_t instruction) const;
  std::uint32_t tracked_registers() const { return tracked_; }
  std::uint32_t register_at(std::uint32_t tracked) const { return registers_at_[tracked]; }

 private:
  void find_registers(Program const&);
  void ignore_unread_tests(Program const&);

  bool any_ = false;
  std::vector<AsyncRole> roles_;
  std::vector<std::vector<AsyncStep>> steps_;  // [block], in order
  std::vector<bool> jumps_;                    // [block]
  std::vector<AsyncStep> guarded_;             // by instruction
  std::vector<AsyncRegisters> registers_;      // by instruction
  std::uint32_t tracked_ = 0;
  std::vector<std::uint32_t> registers_at_;
};

}  // namespace kernelcast::emu
