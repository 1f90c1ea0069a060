// mix_of(): the static instruction mix of a kernel's basic blocks.

#include <charconv>

#include "emu/observe/kernel_counters.hpp"

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
  if (instruction.opcode != "ld" || instruction.modifiers.empty() || instruction.operands.size() < 2) return 0;
  if (!instruction.modifiers.front().starts_with("param")) return 0;
  auto const& address = instruction.operands[1];
  if (address.elements.empty() || address.elements.front().kind != ptx::Operand::Kind::parameter) return 0;
  std::uint64_t vector = 1;
  for (auto const modifier : instruction.modifiers)
    if (modifier == "v2" || modifier == "v4" || modifier == "v8")
      vector = static_cast<std::uint64_t>(modifier.back() - '0');
  return vector * type_bytes(instruction.modifiers.back());
}

}  // namespace

KernelMix mix_of(Program const& program) {
  auto const& instructions = program.kernel().instructions;
  KernelMix mix;
  mix.instructions.resize(instructions.size());
  for (std::uint32_t i = 0; i < instructions.size(); ++i)
    mix.instructions[i] = {program.instruction_class(i), param_bytes(instructions[i])};
  for (auto const& range : program.blocks()) {
    auto& block = mix.blocks.emplace_back();
    for (std::uint32_t i = range.first; i < range.last; ++i) {
      auto const kind = static_cast<std::size_t>(mix.instructions[i].kind);
      ++block.instructions[kind];
      // brx tells as a branch who executes it.
      if (instructions[i].guard.present || instructions[i].opcode == "brx") continue;
      ++block.unguarded[kind];
      block.param_bytes += mix.instructions[i].param_bytes;
    }
  }
  return mix;
}

}  // namespace kernelcast::emu
