// What NVIDIA's assembler makes of PTX, without the assembler: for each instruction the slots it takes of each pipe.
//
// Problem: PTX is not what runs. ptxas drops moves and widening conversions, folds address arithmetic into loads,
// expands divisions into dozens of instructions, and turns short branches into predicates; models that count PTX
// charge the wrong pipe.
// Method: a table of what each instruction alone becomes (lowering_rules.cpp), and rules for what stands around it: a
// product that only sums read is part of them, an offset is part of an address, logic and sums take three operands,
// aligned loads of shared memory are joined, short branches are predicates. What either integer pipe can do goes to the
// one that has less.
// Measured against ptxas 13.0 on 500 public kernels (sm_75, sm_80, sm_86), with ten runs of each loop assumed: the pipe
// that binds is 2 % off in the median, 23 to 29 % at the 90th percentile; on 86 kernels that were run, 3 to 5 %
// and 19 to 21 %. Limits: no unrolling, no scheduling, no register allocation; alu and imad apart are 20 % off. Where
// ptxas is at hand, machine code is better (machine_code.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "emulator/emu.hpp"
#include "records/pipe.hpp"

namespace kernelcast::emu {

// What a result waits for, as far as its latency differs between devices.
enum class Wait : std::uint8_t { none, arithmetic, fp64, special, constant, shared, global, barrier };

struct Lowered {
  record::PerPipe<float> slots;  // of a wavefront of 32
  Wait wait = Wait::none;        // of its result; `none`: free, the result is there when the operands are
  float waits = 0;               // how many such results one after the other
  // Of a load of shared memory: how many bytes of each lane the assembler loads at once, 0 where another load has them.
  std::optional<std::uint8_t> joined_bytes;
  bool overwritten = false;  // a store to private memory that becomes part of the one after it
  bool predicates = false;   // a branch that becomes the predicate of what it jumps over
};

// What moves memory without the load/store unit: copy engines, st.bulk (an assumption), and matrix units that read
// operands in shared memory. Of that their layouts make whole lines, in whatever order the emulator's lanes carry it.
inline bool uses_engine(ptx::Instruction const& i) {
  return i.is_bulk_copy() || (i.is(ptx::Op::st) && i.has("bulk")) || i.is(ptx::Op::wgmma, ptx::Op::tcgen05);
}

// By instruction of the kernel.
std::vector<Lowered> lower(Program const&);

}  // namespace kernelcast::emu
