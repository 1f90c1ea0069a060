// mix_of(): the static instruction mix of a kernel's basic blocks.

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "emulator/observe/kernel_counters.hpp"
#include "emulator/observe/lowering.hpp"
#include "kernels/ptx/liveness.hpp"

namespace kernelcast::emu {

namespace {

// "u32" -> 4, "b8" -> 1, "f64" -> 8.
std::uint64_t type_bytes(std::string_view type) {
  std::uint64_t bits = 0;
  auto const digit = type.find_first_of("0123456789");
  if (digit != std::string_view::npos) std::from_chars(type.data() + digit, type.data() + type.size(), bits);
  return bits / 8;
}

// Bytes that a lane reads of the kernel's own parameters; parameters of calls within the kernel do not count.
std::uint64_t param_bytes(ptx::Instruction const& instruction) {
  if (!instruction.is(ptx::Op::ld) || !instruction.accesses_parameter() || instruction.operands.size() < 2) return 0;
  auto const& address = instruction.operands[1];
  if (address.elements.empty() || address.elements.front().kind != ptx::Operand::Kind::parameter) return 0;
  return instruction.elements() * type_bytes(instruction.modifiers.back());
}

bool loads_global(ptx::Instruction const& instruction) {
  return instruction.is(ptx::Op::tex, ptx::Op::suld) ||
         (instruction.is_load() && instruction.space() == ptx::StateSpace::global);
}

// The longest chain of global loads in [first, last) of which each needs a result of the one before.
std::uint32_t load_rounds(std::vector<ptx::Instruction> const& instructions, std::uint32_t first, std::uint32_t last) {
  std::unordered_map<std::uint32_t, std::uint32_t> rounds_before;  // a register's value
  std::uint32_t most = 0;
  ptx::Effects effects;
  for (std::uint32_t i = first; i < last; ++i) {
    ptx::effects(instructions[i], effects);
    std::uint32_t rounds = loads_global(instructions[i]) ? 1 : 0;
    std::uint32_t before = 0;
    for (auto const reg : effects.read)
      if (auto const found = rounds_before.find(reg); found != rounds_before.end())
        before = std::max(before, found->second);
    rounds += before;
    for (auto const reg : effects.written) rounds_before[reg] = rounds;
    most = std::max(most, rounds);
  }
  return most;
}

}  // namespace

KernelMix mix_of(Program const& program) {
  auto const& instructions = program.kernel().instructions;
  KernelMix mix;
  mix.instructions.resize(instructions.size());
  auto const lowered = lower(program);
  for (std::uint32_t i = 0; i < instructions.size(); ++i)
    mix.instructions[i] = {program.instruction_class(i), param_bytes(instructions[i]), uses_engine(instructions[i])};
  for (auto const& range : program.blocks()) {
    auto& block = mix.blocks.emplace_back();
    block.load_rounds = load_rounds(instructions, range.first, range.last);
    for (std::uint32_t i = range.first; i < range.last; ++i) {
      Class const kind = mix.instructions[i].kind;
      ++block.instructions[kind];
      for (auto const pipe : record::values_of<record::Pipe>) block.slots[pipe] += lowered[i].slots[pipe];
      if (auto product = ptx::matrix_product(instructions[i])) block.matrix.push_back(std::move(*product));
      // The lanes that execute brx come with its branch event.
      if (instructions[i].guard.present || instructions[i].is(ptx::Op::brx)) continue;
      ++block.unguarded[kind];
      block.param_bytes += mix.instructions[i].param_bytes;
    }
  }
  return mix;
}

}  // namespace kernelcast::emu
