// A kernel of PTX with as many instructions of each kind as AMD's machine code has.
//
// Problem: a trace has PTX; AMD's compiler computes addresses, masks and conditions of whole wavefronts in the scalar
// unit and folds others away, so that the vector unit has fewer integer instructions and the scalar unit some.
// Method: a row of `miniemu --machine-code` says how many issue slots each pipe of the target has, and how many
// instructions of each class the PTX. Their ratios, one for each kind, thin out or repeat the instructions of each
// block; scalar instructions are added in proportion to the integer ones. Blocks that run most often come first, and
// what rounding leaves is carried to the next, by how often it runs. An instruction that is left out passes its
// operands on.
// Limits: the ratio of a kernel is that of each of its blocks. Accesses, branches and barriers stay as the trace has
// them. Scalar instructions depend on nothing.
#pragma once

#include <vector>

#include "models/ake/code.hpp"
#include "records/kernel.hpp"

namespace kernelcast::model::ake {

// Instructions of the machine code over those of the PTX.
struct SlotRatios {
  double floating = 1;  // single and half precision
  double fp64 = 1;
  double product = 1;  // of integers
  double other = 1;    // other integer operations, conversions, moves
  double scalar = 0;   // scalar instructions for each of product and other
};
// `width`: work-items of a wavefront. Ratios of what the PTX has none of are 1, those of what cannot be are at most 8.
SlotRatios slot_ratios(record::Kernel const& row, unsigned width);

// `groups` say how often each block runs.
Kernel lower(Kernel const&, std::vector<Group> const& groups, SlotRatios const&);

// Rows of machine code, by kernel, case and target.
class SlotRows {
 public:
  void add(record::Kernel row) { rows_.push_back(std::move(row)); }
  // nullptr where there is none.
  record::Kernel const* find(std::string const& kernel, std::string const& case_name, std::string const& target) const;

 private:
  std::vector<record::Kernel> rows_;
};

}  // namespace kernelcast::model::ake
