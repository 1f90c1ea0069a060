// Barriers of OpenCL C: which memory each orders, and what only OpenCL forbids.
//
// Problem: on NVIDIA's devices, and so here, a barrier waits for no work-item that has returned, and warps may meet at
// different barriers; OpenCL leaves both undefined, and other devices wait for ever.
// Method: the instructions at which work-items have arrived since the last meeting, and how many of the group meet.
// Limits: barriers whose flags are known, those of barrier() and work_group_barrier(). Different barriers are told
// apart by their places in the source, because compilers copy instructions.
#pragma once

#include <cstdint>

#include "emulator/check/report.hpp"

namespace kernelcast::emu {

class BarrierCheck {
 public:
  // `known`: what another has reported already is not reported again.
  explicit BarrierCheck(Reporter& reporter, Reporter const* known = nullptr) : reporter_(reporter), known_(known) {}

  void begin(Facts const&, Launch const&);
  void begin_group() { arrived_ = {}; }
  void arrive(std::uint32_t instruction);

  struct Met {
    std::uint8_t orders = orders_all;
    std::uint32_t instruction = 0;
  };
  // Of so many groups side by side.
  Met meet(Meeting const&, std::uint64_t groups = 1);

 private:
  struct Arrived {
    Met met;
    std::uint32_t first = 0, last = 0;  // instructions, each the first of its line
    bool any = false, has_flags = true;
  };
  void report(std::uint32_t work_item, std::uint32_t instruction, std::uint32_t other, std::string message);

  Reporter& reporter_;
  Reporter const* known_;
  Facts const* facts_ = nullptr;
  std::uint64_t items_ = 0;  // of a group
  Arrived arrived_;
};

}  // namespace kernelcast::emu
