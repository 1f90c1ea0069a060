// Live ranges of registers, and from them the number of registers a function needs.
//
// Classic backward dataflow over the control-flow graph. A guarded instruction, and one that writes a component of a
// vector register, does not end the life of what it writes. Registers of a called function are not added.
//
// Limits of `registers_needed` as a forecast of what ptxas allocates: PTX is not yet scheduled (hoisted loads lengthen
// ranges, rematerialised constants and addresses shorten them), uniform registers and predicates live elsewhere on
// newer devices, and 64-bit values need aligned pairs. Beside ptxas 13.0 on 716 kernels of OpenCL C (FluidX3D, CLBlast,
// SHOC, PolyBench-ACC and others), as many groups of 128, 256 and 512 work-items fit a unit in 95.6 % of them on 7.5,
// 87 % on 8.0, 9.0 and 10.0, whose units hold most wavefronts, and 92 % on 8.6 and 12.0.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/ptx/cfg.hpp"
#include "kernels/ptx/module.hpp"

namespace kernelcast::ptx {

// Registers that one instruction reads and writes, in operand order, possibly repeated. `written_whole` lists those of
// `written` whose old value is dead for certain.
struct Effects {
  std::vector<std::uint32_t> read, written, written_whole;
};
void effects(Instruction const&, Effects& out);  // clears `out` first
inline Effects effects(Instruction const& instruction) {
  Effects out;
  effects(instruction, out);
  return out;
}

// A set of registers of one function.
class RegisterSet {
 public:
  explicit RegisterSet(std::size_t registers = 0) : words_((registers + 63) / 64) {}
  bool contains(std::uint32_t reg) const { return words_[reg / 64] >> (reg % 64) & 1; }
  void insert(std::uint32_t reg) { words_[reg / 64] |= std::uint64_t{1} << (reg % 64); }
  void erase(std::uint32_t reg) { words_[reg / 64] &= ~(std::uint64_t{1} << (reg % 64)); }
  bool unite(RegisterSet const& other);  // true when it grew
  std::vector<std::uint32_t> members() const;
  friend bool operator==(RegisterSet const&, RegisterSet const&) = default;

 private:
  std::vector<std::uint64_t> words_;
};

struct Liveness {
  std::vector<RegisterSet> live_in, live_out;  // by block of the Cfg
};
Liveness live_registers(Function const&, Cfg const&);

// Values that need no register, written once: parameters and constants are operands, and so are copies of them.
RegisterSet operands_of(Function const&);

// 32-bit registers of one value: 2 for 64 bits, 4 for 128, 1 for less; a vector counts its elements; 0 for .pred.
std::uint32_t width_registers(Register const&);

struct RegistersNeeded {
  std::uint32_t registers = 0;    // most 32-bit registers live at once: the kernel record's registers_ptx
  std::uint32_t predicates = 0;   // most predicates live at once, not necessarily at the same place
  std::uint32_t instruction = 0;  // where `registers` is reached first
};
RegistersNeeded registers_needed(Function const&, Cfg const&, Liveness const&);
RegistersNeeded registers_needed(Function const&);

}  // namespace kernelcast::ptx
