#include "emulator/check/async_text.hpp"

#include <algorithm>

#include "kernels/ptx/liveness.hpp"

namespace kernelcast::emu {

namespace {

using ptx::Op;
using ptx::Operand;
using Kind = AsyncStep::Kind;

bool has_any(ptx::Instruction const& i, auto... words) {
  return (... || i.has(words));
}

bool step_of(ptx::Instruction const& i, AsyncRole role, AsyncStep& step) {
  auto const is = [&](Kind kind) {
    step.kind = kind;
    return true;
  };
  auto const waits = [&](Kind kind) {
    Operand const* const operand = i.operands.empty() ? nullptr : i.operands.data();
    step.count = operand && operand->kind == Operand::Kind::integer ? static_cast<std::uint32_t>(operand->value) : 0;
    return is(kind);
  };
  if (i.is(Op::fence)) {
    bool const async = i.has("proxy") && has_any(i, "async", "async::generic");
    return async && !i.has("global") && is(Kind::proxy_fence);
  }
  if (i.is(Op::cp) && i.has("bulk")) {
    if (i.has("commit_group")) return is(Kind::copy_commit);
    return i.has("wait_group") && waits(Kind::copy_wait);
  }
  if (i.is(Op::cp) && i.has("async") && role == AsyncRole::none) {
    if (i.has("commit_group")) return is(Kind::staging_commit);
    if (i.has("wait_group")) return waits(Kind::staging_wait);
    return i.has("wait_all") && is(Kind::staging_wait);
  }
  if (i.is(Op::wgmma)) {
    if (role == AsyncRole::group_product) return is(Kind::product_issue);
    if (i.has("commit_group")) return is(Kind::product_commit);
    return i.has("wait_group") && waits(Kind::product_wait);
  }
  if (!i.is(Op::tcgen05)) return false;
  if (role == AsyncRole::tensor) return is(Kind::tensor_issue);
  if (role == AsyncRole::tensor_load) return is(Kind::tensor_load_issue);
  if (i.has("wait::ld")) return is(Kind::tensor_load_wait);
  return i.has("wait::st") && is(Kind::tensor_store_wait);
}

void add_registers(Operand const& o, std::vector<std::uint32_t>& to) {
  if (o.kind == Operand::Kind::reg) to.push_back(o.id);
  for (Operand const& element : o.elements) add_registers(element, to);
}

// A of a wgmma in registers.
std::vector<std::uint32_t> fragment_of(ptx::Instruction const& i) {
  std::vector<std::uint32_t> found;
  if (i.operands.size() > 1 && i.operands[1].kind == Operand::Kind::vector) add_registers(i.operands[1], found);
  return found;
}

}  // namespace

AsyncRole async_role(ptx::Instruction const& i) {
  if (i.is(Op::cp)) {
    if (i.has("mbarrier") && !i.has("bulk")) return AsyncRole::barrier;
    if (!i.has("async") || has_any(i, "prefetch", "commit_group", "wait_group", "wait_all")) return AsyncRole::none;
    return i.has("bulk") ? AsyncRole::copy : AsyncRole::staging;
  }
  if (i.is(Op::clusterlaunchcontrol)) return i.has("try_cancel") ? AsyncRole::copy : AsyncRole::none;
  if (i.is(Op::wgmma)) return i.has("mma_async") ? AsyncRole::group_product : AsyncRole::none;
  if (i.is(Op::mbarrier)) {
    if (has_any(i, "init", "inval")) return AsyncRole::barrier_init;
    if (has_any(i, "test_wait", "try_wait")) return AsyncRole::barrier_test;
    if (has_any(i, "expect_tx", "complete_tx") && !has_any(i, "arrive", "arrive_drop")) return AsyncRole::barrier_count;
    return i.has("pending_count") ? AsyncRole::none : AsyncRole::barrier;
  }
  if (i.is(Op::st, Op::red) && i.has("async")) return AsyncRole::store_async;
  if (!i.is(Op::tcgen05)) return AsyncRole::none;
  if (has_any(i, "mma", "cp", "shift")) return AsyncRole::tensor;
  if (i.has("commit")) return AsyncRole::commit;
  if (i.has("alloc")) return AsyncRole::allocation;
  if (i.has("ld")) return AsyncRole::tensor_load;
  return i.has("st") ? AsyncRole::tensor_store : AsyncRole::none;
}

AsyncText::AsyncText(Program const& program) {
  auto const& instructions = program.kernel().instructions;
  for (ptx::Instruction const& i : instructions) {
    AsyncRole const role = roles_.emplace_back(async_role(i));
    using enum AsyncRole;
    any_ |= role == staging || role == copy || role == group_product || role == tensor || role == tensor_load ||
            role == tensor_store;
  }
  steps_.resize(program.blocks().size());
  if (!any_) return;
  find_registers(program);
  ignore_unread_tests(program);
  for (std::size_t block = 0; block < steps_.size(); ++block) {
    BasicBlock const& b = program.blocks()[block];
    ptx::Instruction const* const last = b.last > b.first ? &instructions[b.last - 1] : nullptr;
    jumps_.push_back(last && (last->is_branch() || last->is_call() || last->is_barrier() || last->ends_function()));
    for (std::uint32_t i = b.first; i < b.last; ++i) {
      AsyncStep step{i, Kind::registers, program.guarded(i), 0};
      if (!step_of(instructions[i], roles_[i], step) && !registers(i)) continue;
      (step.guarded ? guarded_ : steps_[block]).push_back(step);
    }
  }
  std::ranges::sort(guarded_, {}, &AsyncStep::instruction);
}

// A test whose result nothing reads waits for nothing.
void AsyncText::ignore_unread_tests(Program const& program) {
  auto const& instructions = program.kernel().instructions;
  std::vector<bool> read(program.kernel().registers.size());
  for (ptx::Instruction const& i : instructions)
    for (std::uint32_t const reg : ptx::effects(i).read)
      if (reg < read.size()) read[reg] = true;
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    if (roles_[i] != AsyncRole::barrier_test) continue;
    auto const written = ptx::effects(instructions[i]).written;
    if (std::ranges::none_of(written, [&](std::uint32_t reg) { return reg < read.size() && read[reg]; }))
      roles_[i] = AsyncRole::barrier_count;
  }
}

// Registers that products and loads write, or products read, and those that these are copied to.
void AsyncText::find_registers(Program const& program) {
  auto const& instructions = program.kernel().instructions;
  constexpr std::uint32_t none = ~std::uint32_t{0};
  std::vector<std::uint32_t> number(program.kernel().registers.size(), none);
  auto const track = [&](std::uint32_t reg) {
    if (reg >= number.size() || number[reg] != none) return;
    number[reg] = tracked_++;
    registers_at_.push_back(reg);
  };
  for (std::size_t i = 0; i < instructions.size(); ++i) {
    if (roles_[i] != AsyncRole::group_product && roles_[i] != AsyncRole::tensor_load) continue;
    for (std::uint32_t const reg : ptx::effects(instructions[i]).written) track(reg);
    if (roles_[i] == AsyncRole::group_product)
      for (std::uint32_t const reg : fragment_of(instructions[i])) track(reg);
  }
  if (tracked_ == 0) return;
  std::vector<std::vector<std::uint32_t>> copied_to(number.size());
  for (ptx::Instruction const& i : instructions) {
    if (!i.is(Op::mov)) continue;
    ptx::Effects const effects = ptx::effects(i);
    for (std::uint32_t const from : effects.read)
      if (from < number.size())
        copied_to[from].insert(copied_to[from].end(), effects.written.begin(), effects.written.end());
  }
  for (std::uint32_t known = 0; known < registers_at_.size(); ++known)
    for (std::uint32_t const reg : copied_to[registers_at_[known]]) track(reg);
  auto const is_tracked = [&](std::uint32_t reg) { return reg < number.size() && number[reg] != none; };
  auto const numbers_of = [&](std::vector<std::uint32_t> const& registers) {
    std::vector<std::uint32_t> out;
    for (std::uint32_t const reg : registers)
      if (is_tracked(reg)) out.push_back(number[reg]);
    return out;
  };
  for (std::uint32_t i = 0; i < instructions.size(); ++i) {
    ptx::Effects const effects = ptx::effects(instructions[i]);
    AsyncRegisters found{i, instructions[i].is(Op::mov), numbers_of(effects.read), numbers_of(effects.written), {}};
    if (roles_[i] == AsyncRole::group_product) found.fragment = numbers_of(fragment_of(instructions[i]));
    if (!found.read.empty() || !found.written.empty()) registers_.push_back(std::move(found));
  }
}

AsyncStep const* AsyncText::guarded_step(std::uint32_t instruction) const {
  auto const at = std::ranges::lower_bound(guarded_, instruction, {}, &AsyncStep::instruction);
  return at != guarded_.end() && at->instruction == instruction ? &*at : nullptr;
}

AsyncRegisters const* AsyncText::registers(std::uint32_t instruction) const {
  auto const at = std::ranges::lower_bound(registers_, instruction, {}, &AsyncRegisters::instruction);
  return at != registers_.end() && at->instruction == instruction ? &*at : nullptr;
}

}  // namespace kernelcast::emu
