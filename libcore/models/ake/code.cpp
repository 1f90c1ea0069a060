#include "models/ake/code.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include <fmt/format.h>

#include "base/diag/diag.hpp"
#include "models/ake/schedule.hpp"

namespace kernelcast::model::ake {

namespace {

constexpr std::uint32_t several_blocks = ~std::uint32_t{0};

// In which block a register lives and dies; several_blocks where its value passes from one block to another.
using BlockOfRegister = std::unordered_map<std::uint32_t, std::uint32_t>;

BlockOfRegister block_of_registers(Kernel const& kernel) {
  BlockOfRegister out;
  for (std::uint32_t b = 0; b < kernel.blocks.size(); ++b) {
    auto const touch = [&](std::uint32_t r, bool reads) {
      auto const [at, fresh] = out.emplace(r, b);
      // Read before it is written: the value comes from another block, or from this one's last round.
      if ((fresh && reads) || (!fresh && at->second != b)) at->second = several_blocks;
    };
    for (Instruction const& i : kernel.blocks[b]) {
      for (std::uint32_t const r : i.sources) touch(r, true);
      for (std::uint32_t const r : i.destinations) touch(r, false);
    }
  }
  return out;
}

class Compiler {
 public:
  Compiler(Kernel const& kernel, Machine const& machine, Order order, std::uint64_t registers)
      : kernel_(kernel),
        machine_(machine),
        order_(order),
        registers_(registers),
        block_of_(block_of_registers(kernel)) {
    for (auto const& [r, block] : block_of_)
      if (block == several_blocks) passing_.push_back(r);
    std::sort(passing_.begin(), passing_.end());
    for (std::uint32_t const r : passing_) slot_of_.emplace(r, static_cast<std::uint32_t>(slot_of_.size()));
    code_.slots = passing_.size();
  }

  Code compile() {
    for (auto const& block : kernel_.blocks) {
      code_.block_begin.push_back(static_cast<std::uint32_t>(code_.ops.size()));
      add(block);
    }
    code_.block_begin.push_back(static_cast<std::uint32_t>(code_.ops.size()));
    if (code_.slots >= fresh_slot)
      throw Error(Status::limit, fmt::format("kernel '{}': {} registers at a time, at most {}", kernel_.name,
                                             code_.slots, fresh_slot - 1));
    return std::move(code_);
  }

 private:
  std::vector<std::uint32_t> order_of(std::vector<Instruction> const& block) const {
    if (order_ == Order::list) {
      std::vector<bool> outlives(block.size(), false);
      for (std::size_t i = 0; i < block.size(); ++i)
        for (std::uint32_t const r : block[i].destinations)
          if (block_of_.at(r) == several_blocks) outlives[i] = true;
      return list_order(block, machine_, outlives, registers_);
    }
    std::vector<std::uint32_t> order(block.size());
    std::iota(order.begin(), order.end(), 0u);
    return order;
  }

  void add(std::vector<Instruction> const& block) {
    auto const order = order_of(block);
    std::unordered_map<std::uint32_t, std::uint32_t> last_use;  // of the block's own registers
    for (std::uint32_t n = 0; n < order.size(); ++n) {
      for (std::uint32_t const r : block[order[n]].sources) last_use[r] = n;
      for (std::uint32_t const r : block[order[n]].destinations) last_use[r] = n;
    }
    std::vector<std::uint32_t> free;
    std::unordered_map<std::uint32_t, std::uint32_t> own;
    auto const next_slot = [&](std::uint32_t r) {
      if (free.empty()) free.push_back(static_cast<std::uint32_t>(code_.slots++));
      own.emplace(r, free.back());
      free.pop_back();
      return own[r];
    };
    // Slots of the block's own registers are free again at its end, for other blocks.
    free = block_slots_;
    std::unordered_map<std::uint32_t, std::uint32_t>
        loading;  // registers that loads write, until waited for: which load
    for (std::uint32_t n = 0; n < order.size(); ++n) {
      Instruction const& instruction = block[order[n]];
      Op op = op_of(instruction);
      op.pc = static_cast<std::uint16_t>(std::min<std::uint32_t>(order[n], 0xffff));
      if (machine_.issuing.waits)
        wait_for(instruction, loading, op.pc, [&](std::uint32_t r) { return slot(r, own, next_slot); });
      op.operands = static_cast<std::uint32_t>(code_.operands.size());
      // What an asynchronous product adds to is there when it has been waited for.
      bool const later = op.kind == OpKind::product;
      for (std::uint32_t const r : instruction.sources)
        if (!later || !contains(instruction.destinations, r)) operand(slot(r, own, next_slot), false);
      op.sources = static_cast<std::uint8_t>(std::min<std::size_t>(code_.operands.size() - op.operands, 255));
      for (std::uint32_t const r : instruction.sources)
        if (!contains(instruction.destinations, r)) release(r, n, last_use, own, free);
      for (std::uint32_t const r : instruction.destinations) {
        bool const fresh = block_of_.at(r) != several_blocks && !own.contains(r);
        std::uint32_t const to = slot(r, own, next_slot);
        if (!later) operand(to, fresh);
      }
      for (std::uint32_t const r : instruction.destinations) release(r, n, last_use, own, free);
      if (op.waits)
        for (std::uint32_t const r : instruction.destinations) loading[r] = n;
      op.destinations =
          static_cast<std::uint8_t>(later ? 0 : std::min<std::size_t>(instruction.destinations.size(), 255));
      code_.ops.push_back(op);
    }
    for (auto const& [r, s] : own)
      if (s != gone) free.push_back(s);
    std::sort(free.begin(), free.end());
    block_slots_ = free;
  }

  // An instruction that waits for the loads whose results this one reads, and so for those before them.
  template <class SlotOf>
  void wait_for(Instruction const& instruction, std::unordered_map<std::uint32_t, std::uint32_t>& loading,
                std::uint16_t pc, SlotOf slot_of) {
    std::vector<std::uint32_t> needed;
    std::uint32_t last = 0;
    for (std::uint32_t const r : instruction.sources)
      if (auto const at = loading.find(r); at != loading.end()) {
        needed.push_back(r);
        last = std::max(last, at->second);
      }
    if (needed.empty()) return;
    Op op;
    op.pc = pc;
    op.operands = static_cast<std::uint32_t>(code_.operands.size());
    op.sources = static_cast<std::uint8_t>(std::min<std::size_t>(needed.size(), 255));
    for (std::uint32_t const r : needed) operand(slot_of(r), false);
    code_.ops.push_back(op);
    std::erase_if(loading, [&](auto const& entry) { return entry.second <= last; });
  }

  static constexpr std::uint32_t gone = ~std::uint32_t{0};

  void release(std::uint32_t r, std::uint32_t n, std::unordered_map<std::uint32_t, std::uint32_t> const& last_use,
               std::unordered_map<std::uint32_t, std::uint32_t>& own, std::vector<std::uint32_t>& free) {
    auto const at = own.find(r);
    if (at == own.end() || at->second == gone || last_use.at(r) != n) return;
    free.push_back(at->second);
    at->second = gone;
  }

  template <class Next>
  std::uint32_t slot(std::uint32_t r, std::unordered_map<std::uint32_t, std::uint32_t>& own, Next next_slot) {
    if (auto const at = slot_of_.find(r); at != slot_of_.end()) return at->second;
    auto const at = own.find(r);
    return at == own.end() ? next_slot(r) : at->second;
  }

  void operand(std::uint32_t slot, bool fresh) {
    code_.operands.push_back(static_cast<std::uint16_t>((slot & 0x7fff) | (fresh ? fresh_slot : 0)));
  }

  static bool contains(std::vector<std::uint32_t> const& list, std::uint32_t r) {
    return std::find(list.begin(), list.end(), r) != list.end();
  }

  // Each scheduler has a matrix unit; a product that one work-item issues for its group (tcgen05) runs on all. No
  // result is there before all of the product has begun.
  void set_product(ptx::MatrixProduct const& product, Op& op) const {
    auto const* const rule = machine_.matrix_rule(product.kind);
    if (!rule || rule->flop_per_cycle.value_or(0) <= 0) return;
    op.ticks_per_flop = static_cast<double>(machine_.cycle) / *rule->flop_per_cycle;
    op.per_scheduler = product.flop > 0 && machine_.schedulers > 1;
    op.gap = std::max<Ticks>(
        1, std::llround(product.flop * op.ticks_per_flop * (op.per_scheduler ? machine_.schedulers : 1)));
    op.latency = std::max(op.latency, op.gap);
    op.unit = Unit::tensor;
  }

  IssueKind issue_kind(Instruction const& i) const {
    auto const kind = kind_of(i);
    return machine_.issuing.kinds[static_cast<std::size_t>(kind)] || kind == IssueKind::none ? kind : IssueKind::vector;
  }

  static IssueKind kind_of(Instruction const& i) {
    switch (i.type.instruction_class) {
      case Class::control:
        return IssueKind::branch;
      case Class::sync:
      case Class::barrier:
        return IssueKind::none;  // the instruction buffer does without a unit
      case Class::param_load:
      case Class::const_load:
      case Class::scalar:
      case Class::scalar_load:
        return IssueKind::scalar;
      default:
        if (i.item < 0) return IssueKind::vector;
        return i.type.space == Space::shared ? IssueKind::shared : IssueKind::vector_memory;
    }
  }

  Op op_of(Instruction const& i) const {
    Op op;
    op.folded = i.folded;
    Cost const& cost = machine_.of(i.type.instruction_class);
    op.latency = cost.latency;
    op.gap = cost.gap;
    op.unit = cost.gap > 0 ? cost.unit : Unit::none;
    op.per_scheduler = cost.per_scheduler;
    if (machine_.issuing.by_kind) {
      op.issue = issue_kind(i);
      op.branch = i.type.instruction_class == Class::control && i.type.kind == Kind::plain;
    }
    if (i.item >= 0) op.item = static_cast<std::uint32_t>(i.item);
    op.queue = i.type.queue;
    set_product(i.product, op);
    op.takes_all_slots = machine_.fp64_takes_all_slots && i.type.instruction_class == Class::fp64;
    switch (i.type.kind) {
      case Kind::plain:
      case Kind::exit:
        break;
      case Kind::barrier:
        op.kind = OpKind::barrier;
        op.unit = Unit::barrier;
        op.per_scheduler = false;
        op.passes = i.type.passes;
        break;
      case Kind::product:
        op.kind = OpKind::product;
        break;
      case Kind::arrive:
        op.kind = OpKind::arrive;
        break;
      case Kind::phase:
        op.kind = OpKind::phase;
        break;
      case Kind::commit:
        op.kind = OpKind::commit;
        break;
      case Kind::wait:
        op.kind = OpKind::wait;
        op.pending = static_cast<std::uint8_t>(std::min(i.pending, 255u));
        break;
      case Kind::load:
      case Kind::store:
      case Kind::copy:
      case Kind::atomic: {
        bool const copy = i.type.kind == Kind::copy;
        op.kind = OpKind::access;
        op.atomic = i.type.kind == Kind::atomic;
        op.signals = i.type.signals;
        op.waits = i.type.kind == Kind::load || copy || (op.atomic && !i.destinations.empty());
        Class const shared = op.atomic                            ? Class::smem_atomic
                             : i.type.kind == Kind::store || copy ? Class::smem_store
                                                                  : Class::smem_load;
        op.latency = machine_.of(shared).latency;
        op.gap = machine_.of(shared).gap;
        op.per_scheduler = false;
        break;
      }
    }
    return op;
  }

  Kernel const& kernel_;
  Machine const& machine_;
  Order const order_;
  std::uint64_t const registers_;
  BlockOfRegister const block_of_;
  std::vector<std::uint32_t> passing_;
  std::unordered_map<std::uint32_t, std::uint32_t> slot_of_;  // of registers that pass between blocks
  std::vector<std::uint32_t> block_slots_;                    // free for a block's own
  Code code_;
};

}  // namespace

Code compile(Kernel const& kernel, Machine const& machine, Order order, std::uint64_t registers) {
  return Compiler(kernel, machine, order, registers).compile();
}

}  // namespace kernelcast::model::ake
