// Opcodes by their text: a table of hashes, made by the compiler.
#include "kernels/ptx/opcode.hpp"

#include <array>

namespace kernelcast::ptx {

namespace {

#define KERNELCAST_NAME(name) std::string_view(#name),
#define KERNELCAST_KEYWORD(enumerator, name) std::string_view(name),
constexpr std::array opcode_names{std::string_view(""), KERNELCAST_PTX_OPCODES(KERNELCAST_NAME, KERNELCAST_KEYWORD)};
#undef KERNELCAST_NAME
#undef KERNELCAST_KEYWORD
static_assert(opcode_names.size() == op_count);

constexpr std::size_t slot_count = 512;  // more than twice the opcodes
constexpr std::size_t slot_after(std::size_t slot) {
  return (slot + 1) % slot_count;
}
constexpr std::size_t first_slot(std::string_view text) {  // FNV-1a
  std::uint32_t hash = 2166136261U;
  for (char const c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return (hash ^ hash >> 16) % slot_count;
}
constexpr auto opcode_slots = [] {
  std::array<Op, slot_count> table{};
  for (std::size_t i = 1; i < opcode_names.size(); ++i) {
    std::size_t slot = first_slot(opcode_names[i]);
    while (table[slot] != Op::other) slot = slot_after(slot);
    table[slot] = static_cast<Op>(i);
  }
  return table;
}();

}  // namespace

Op op_named(std::string_view text) {
  std::size_t slot = first_slot(text);
  while (opcode_slots[slot] != Op::other && opcode_names[static_cast<std::size_t>(opcode_slots[slot])] != text)
    slot = slot_after(slot);
  return opcode_slots[slot];
}

std::string_view name(Op op) {
  return opcode_names[static_cast<std::size_t>(op)];
}

}  // namespace kernelcast::ptx
