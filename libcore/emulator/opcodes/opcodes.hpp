// The opcode table: one entry per opcode, one file per family.
//
// An entry names the opcode as PTX writes it, its instruction class, the types of its operands, and what one lane does:
//
//   entry<u32(u32, u32)>("min.u32", Class::int_add, [](u32 a, u32 b) { return a < b ? a : b; })
//
// To add an opcode, add its entry to the family it belongs to; rare_entry where it is rare, which makes less code. In a
// pattern {a,b} is a choice and may be empty: "add{,.rn}.f32". Patterns that begin with '#' are operations the decoder
// inserts (extensions, packing). The families are compiled once per instruction-set level (isa.cpp) with that level's
// vector width.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "emulator/opcodes/lane.hpp"

namespace kernelcast::emu {

// Types of operands as a lane sees them; sized by storage(): 32-bit slots but for 64-bit types.
enum class LaneType : std::uint8_t { none, u8, s8, u16, s16, u32, s32, u64, s64, f16, f32, f64, pred };

struct Opcode {
  std::string_view pattern;
  Class kind = Class::other;
  LaneType destinations[2] = {LaneType::none, LaneType::none};
  LaneType sources[4] = {LaneType::none, LaneType::none, LaneType::none, LaneType::none};
  Handler full = nullptr, masked = nullptr;
};

// Opcodes by the word that their names begin with, so that a name is compared with few patterns.
class OpcodeIndex {
 public:
  void add(Opcode const&);
  // The first that was added of those whose pattern matches; null where none does.
  Opcode const* find(std::string_view full_name) const;

 private:
  struct Entry {
    std::uint32_t number;
    Opcode const* opcode;
  };
  std::unordered_map<std::string_view, std::vector<Entry>> by_word_;
  std::vector<Entry> others_;  // whose first word holds a choice
  std::uint32_t count_ = 0;
};

// Everything one instruction-set level provides.
struct Handlers {
  std::string_view level;
  OpcodeIndex opcodes;
  // Loads by how an element becomes a register: see Extension. Stores by log2 of the element's bytes.
  struct Pair {
    Handler full, masked;
  };
  Pair loads[7];
  Pair stores[4];
  Handler guard;
  Handler clock32, clock64;
  // out[w] = lanes of warp w whose predicate is not 0.
  void (*predicate_bits)(std::byte const* predicate, std::uint32_t warps, std::uint32_t* out);
  // 0 where no lane of the warps holds, 1 where all hold, 2 otherwise.
  int (*predicate_agrees)(std::byte const* predicate, std::uint32_t warps);
  void (*expand)(std::uint32_t const* bits, std::uint32_t warps, std::uint32_t* lanes);
};

// How a loaded element fills its register: zero- or sign-extended to 32 bits, to 16 bits in a 32-bit slot, or as is.
enum class Extension : std::uint8_t { u8, s8, s8_to_16, u16, s16, b32, b64 };

Handlers const& best_handlers();  // of the level that isa_level() names

Opcode const* find_opcode(Handlers const&, std::string_view full_name);
bool matches(std::string_view pattern, std::string_view text);

}  // namespace kernelcast::emu
