// Accesses of the asynchronous proxy, against those of the work-items and against each other; see check.hpp for the
// rules, async_order.hpp for the order.
//
// The shadow of shared memory has a cell for each 16 bytes, the unit in which the asynchronous proxy accesses it: the
// last generic accesses of two warps, the last asynchronous write, the last asynchronous reads of two kinds, and the
// last cp.async, which is a generic store that is in flight, with its bytes. The shadow of tensor memory has one for 16
// lanes of a column. Limits: where more warps or operations than that have accessed a cell, the oldest are forgotten.
// Global memory is left to the race check, for which a copy's accesses are those of the work-item that issues it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "emulator/check/async_order.hpp"
#include "emulator/check/async_registers.hpp"
#include "emulator/check/async_text.hpp"
#include "emulator/check/facts.hpp"
#include "emulator/check/report.hpp"

namespace kernelcast::emu {

class AsyncCheck {
 public:
  AsyncCheck(Memory const& memory, Reporter& reporter) : memory_(memory), reporter_(reporter), registers_(reporter) {}

  void begin(Program const&, Facts const&, AsyncText const&);
  // A group of a cluster, of which others arrive at its mbarriers unheard and signal its copies.
  void follow_cluster();
  bool active() const { return text_ && text_->any(); }
  // Only where active.
  void begin_group();
  void end_group();
  void enter_block(std::uint32_t block, Lanes const&);
  void reach(std::uint32_t instruction, Lanes const&);  // what comes before it in the block is done
  void guarded(std::uint32_t instruction, Lanes const&);
  void access(MemoryAccess const&);
  void access(TensorMemoryAccess const&);
  void meet(Meeting const&);

 private:
  using Time = AsyncOrder::Time;
  // By a work-item; time 0: none.
  struct Generic {
    Time time = 0;
    std::uint32_t instruction = 0;
    std::uint16_t item = 0;
    std::uint32_t warp() const { return item / lanes_per_warp; }
  };
  // An asynchronous operation: complete once the entry of a row exceeds the number.
  struct Operation {
    std::uint32_t instruction = 0;
    Time number = 0;
    std::uint16_t entry = AsyncOrder::done;
    std::uint16_t item = 0;
  };
  using Index = std::uint32_t;  // of an operation; 0: none
  struct Cell {
    Generic wrote[2], read[2];
    std::uint16_t staging_bytes = 0;  // of the cell, by bit
    Index staging_wrote = 0, operation_wrote = 0, operation_read[2] = {};
  };
  struct TensorCell {
    Generic wrote, read[2];
    Index operation_wrote = 0, operation_read = 0;
  };
  // One access that is judged: by a work-item, or by an operation.
  struct By {
    MemoryAccess const* access = nullptr;  // null: of tensor memory
    std::uint64_t at = 0;                  // address
    std::uint32_t instruction = 0, item = 0;
    Index operation = 0;
    bool reads = false, writes = false;
    std::uint16_t bytes = 0;  // of the cell, by bit
    std::uint32_t warp() const { return item / lanes_per_warp; }
  };

  void step(AsyncStep const&, std::uint32_t warp);
  void end_block(std::uint32_t warp);
  void end_instruction();
  Index operation_of(std::uint32_t instruction, std::uint32_t item, AsyncRole);
  void access_barrier(MemoryAccess const&, AsyncRole);
  void access_bytes(MemoryAccess const&, AsyncRole);
  void judge_generic(By const&, Cell&);
  void judge_staging(By const&, Cell const&);
  void judge_operation(By const&, Cell&);
  void judge_tensor(By const&, TensorCell&, AsyncRole);
  bool is_complete(Index, std::uint32_t warp) const;
  static void keep(Generic (&)[2], Generic const&);
  void keep(Index (&)[2], Index) const;

  std::string subject(By const&) const;
  void report_in_flight(By const&, Index, bool writes);
  void report_generic(By const&, Generic const&, bool wrote, bool ordered);
  void report_tensor(By const&, Generic const&, bool wrote);

  Memory const& memory_;
  Reporter& reporter_;
  Program const* program_ = nullptr;
  Facts const* facts_ = nullptr;
  AsyncText const* text_ = nullptr;
  AsyncOrder order_;
  AsyncRegisterCheck registers_;
  struct Position {
    static constexpr std::uint32_t nowhere = ~std::uint32_t{0};
    std::uint32_t block = nowhere, next = 0;  // step
  };
  struct Counts {
    std::uint32_t staging_groups = 0, copy_groups = 0, product_groups = 0;  // committed
    std::uint32_t tensor = 0;                                               // issued
  };
  Position at_[AsyncOrder::max_warps];
  Counts counts_[AsyncOrder::max_warps];
  std::vector<Cell> shared_;
  std::vector<TensorCell> tensor_;
  std::vector<Operation> operations_;
  // Operations of the instruction that is executed.
  struct Running {
    std::uint32_t item;
    Index operation;
  };
  bool in_cluster_ = false;
  std::vector<Running> running_;
  std::uint32_t running_instruction_ = 0;
};

}  // namespace kernelcast::emu
