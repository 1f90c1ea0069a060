// Loops whose number of iterations is known when they are entered.
//
// Method: a loop with one way out, taken by a comparison of an induction register (changed once per iteration by a
// constant) with something that the loop does not change. How often the loop goes round again is then a function of
// registers at its entry, exact in the wrapping arithmetic of PTX:
//   goes on while !=   (bound - first) / step modulo 2^bits; a step that does not divide it makes an endless loop
//   goes on while <    max(bound, first) - first for step 1; likewise <=, >, >= for steps of 1 and -1
// `first` is the first value compared. Other steps with < may wrap round before they reach the bound: not known.
#pragma once

#include <cstdint>
#include <optional>

#include "kernels/ptx/module.hpp"
#include "measure/flux/graph.hpp"

namespace kernelcast::flux {

enum class GoesOn : std::uint8_t { not_equal, less, less_equal, greater, greater_equal };

struct Trip {
  std::uint32_t loop = 0;                 // index into Graph::cfg.loops
  std::uint32_t back_edge = 0;            // its only one
  std::optional<std::uint64_t> constant;  // how often the back edge is taken per entry of the loop, where constant
  // Else: from registers at the loop's entry.
  GoesOn goes_on = GoesOn::not_equal;
  bool wide = false;         // 64 bits, else 32
  bool is_signed = true;     // of the comparison
  std::uint32_t reg = 0;     // induction register; `first` = its value at entry + offset
  std::uint64_t offset = 0;  // two's complement
  std::uint64_t step = 1;    // two's complement
  ptx::Operand bound;        // register or integer
};

// x = distance / step modulo 2^bits where such an x exists: (distance >> shift) * inverse & mask.
struct Division {
  unsigned shift = 0;
  std::uint64_t inverse = 1, mask = 0;
};
Division division_by(std::uint64_t step, bool wide);  // step > 0

// None where it is not known. The graph is reducible (Cfg::irreducible).
std::optional<Trip> trip_of(ptx::Function const&, Graph const&, std::uint32_t loop);

}  // namespace kernelcast::flux
