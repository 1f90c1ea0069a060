// Looking up opcodes, and the names of the instruction classes.
#include "emu/opcodes/opcodes.hpp"

#include <array>

namespace kernelcast::emu {

std::string_view name(Class kind) {
  static constexpr std::array<std::string_view, class_count> names = {
      "fp32",    "fp64",    "fp16",   "int_add", "int_mul", "shift", "logic",
      "special", "convert", "memory", "control", "sync",    "other"};
  return names[static_cast<std::size_t>(kind)];
}

bool matches(std::string_view pattern, std::string_view text) {
  while (!pattern.empty() && pattern.front() != '{') {
    if (text.empty() || text.front() != pattern.front()) return false;
    pattern.remove_prefix(1);
    text.remove_prefix(1);
  }
  if (pattern.empty()) return text.empty();
  std::size_t const close = pattern.find('}');
  std::string_view choices = pattern.substr(1, close - 1);
  std::string_view const rest = pattern.substr(close + 1);
  for (;;) {
    std::size_t const comma = choices.find(',');
    std::string_view const choice = choices.substr(0, comma);
    if (text.starts_with(choice) && matches(rest, text.substr(choice.size()))) return true;
    if (comma == std::string_view::npos) return false;
    choices.remove_prefix(comma + 1);
  }
}

Opcode const* find_opcode(Handlers const& handlers, std::string_view full_name) {
  for (std::span<Opcode const> family : handlers.families)
    for (Opcode const& opcode : family)
      if (matches(opcode.pattern, full_name)) return &opcode;
  return nullptr;
}

}  // namespace kernelcast::emu
