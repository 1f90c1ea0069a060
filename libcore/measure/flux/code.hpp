// PTX instructions made by the instrumenter. Internal to flux.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/ptx/module.hpp"

namespace kernelcast::flux {

ptx::Operand reg(std::uint32_t id);
ptx::Operand integer(std::uint64_t value);
ptx::Operand special(ptx::Special);
ptx::Operand parameter(std::uint32_t id);
ptx::Operand variable(std::uint32_t id);  // of the function
ptx::Operand address(ptx::Operand base, std::uint64_t offset = 0);

// make("add.u64", {reg(a), reg(a), integer(1)}). The words must outlive the instruction: literals.
ptx::Instruction make(std::string_view full_opcode, std::vector<ptx::Operand> operands);
ptx::Instruction guarded(ptx::Instruction, ptx::Guard const&);

// What is inserted into a function, by place. At one instruction: first `gap` (only reached by falling through from the
// instruction before), then the labels, then `head`, `middle` and `tail`.
class Insertions {
 public:
  explicit Insertions(std::size_t instructions) : places_(instructions + 1) {}
  using Code = std::vector<ptx::Instruction>;
  Code& gap(std::size_t i) { return places_[i].gap; }
  Code& head(std::size_t i) { return places_[i].head; }
  Code& middle(std::size_t i) { return places_[i].middle; }
  Code& tail(std::size_t i) { return places_[i].tail; }
  void apply(ptx::Function&);

 private:
  struct Place {
    Code gap, head, middle, tail;
  };
  std::vector<Place> places_;
};

}  // namespace kernelcast::flux
