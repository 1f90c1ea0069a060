// What one PTX instruction alone becomes in machine code: the table behind lower(), one row a rule.
//
// The figures are means over the machine code that ptxas 13.0 makes for sm_75, sm_80 and sm_86 of several hundred
// public kernels, by the line of the PTX from which each machine instruction comes. Fractions are multiples of 1/8, so
// that sums of counts times slots are exact. A slow path that ptxas calls (denormal operands of a division) is not
// counted.
#pragma once

#include <cstdint>
#include <string_view>

#include "emulator/observe/lowering.hpp"
#include "kernels/ptx/module.hpp"

namespace kernelcast::emu {

// What the instruction works on: the last type that it names.
enum class Kind : std::uint8_t { none, pred, f16, f32, f64, i16, i32, i64 };

// Slots by pipe; `either`: integer work that ptxas gives to imad or alu, whichever has less of the kernel.
struct Slots {
  float fp32 = 0, imad = 0, alu = 0, either = 0, fp16 = 0, fp64 = 0, convert64 = 0, int_to_fp32 = 0, fp32_to_fp16 = 0,
        special = 0, memory = 0, tensor = 0, issue = 0;
};

struct Rule {
  ptx::Op op;
  std::uint16_t kinds;        // a bit for each Kind
  std::string_view modifier;  // that the instruction has; empty: any
  Slots slots;
  Wait wait = Wait::none;
  float waits = 0;
};

// The first rule that fits the instruction; without one it takes one slot of alu.
Rule const& rule_for(ptx::Instruction const&, Kind);

}  // namespace kernelcast::emu
