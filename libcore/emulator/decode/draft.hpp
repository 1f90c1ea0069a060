// A kernel between PTX and micro-operations: operations on virtual registers. Internal to emu.
//
// Steps: decode (PTX to drafts), fuse (copies folded, address arithmetic merged into accesses), allocate (dead code
// dropped, registers put into slots), emit.
#pragma once

#include <map>
#include <tuple>
#include <vector>

#include "emulator/decode/program.hpp"

namespace kernelcast::emu {

inline constexpr std::uint32_t no_register = ~std::uint32_t{0};

struct VirtualRegister {
  bool wide = false;
  std::uint32_t pin = no_register;  // index into Impl::pins: a value that the machine supplies
};

struct Draft {
  enum class Kind : std::uint8_t { arithmetic, load, store, atomic, clock, refuse, machine };
  Kind kind = Kind::arithmetic;
  Opcode const* opcode = nullptr;
  Extension extension = Extension::b32;
  Handler handler = nullptr;                         // machine: what the machine itself does
  std::uint32_t access = no_register;                // index into Impl::accesses
  std::vector<std::uint32_t> destinations, sources;  // an access's sources begin with its address
  // For the handler, as MicroOp::extra and data; data belongs to the Program (Impl::facts).
  std::uint32_t extra = 0;
  void const* data = nullptr;
  bool effect = false;  // needed even if its result is not read
  std::uint32_t instruction = 0;
  std::uint32_t guard = no_register;
  bool guard_negated = false;
  bool copy = false;  // moves its source unchanged
  bool dead = false;
};

struct DraftBlock {
  std::uint32_t first = 0, last = 0;  // drafts
  End end;                            // guard, index, count, reduced, result hold virtual registers
};

struct Drafts {
  Program::Impl& program;
  std::vector<VirtualRegister> registers;  // Function::registers first
  std::vector<Draft> drafts;
  std::vector<DraftBlock> blocks;
  std::map<std::tuple<int, bool, std::uint64_t, std::uint32_t, int, bool>, std::uint32_t> pinned;

  std::uint32_t add_register(bool wide) {
    registers.push_back({wide, no_register});
    return static_cast<std::uint32_t>(registers.size() - 1);
  }
  std::uint32_t pin(Pin const& wanted);
  std::uint32_t immediate(std::uint64_t bits, bool wide) {
    return pin({Pin::Kind::immediate, wide, wide ? bits : bits & 0xffffffffu, 0, 0, false, no_slot});
  }
  std::vector<std::uint32_t> successors(std::uint32_t block) const;
  // Virtual registers that an end reads.
  static std::vector<std::uint32_t> reads(End const&);
};

void decode(Drafts&);    // decode.cpp
void fuse(Drafts&);      // fuse.cpp
void allocate(Drafts&);  // allocate.cpp: fills Impl::ops, code, slots

bool wide(LaneType);

}  // namespace kernelcast::emu
