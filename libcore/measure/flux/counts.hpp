// How often each instruction of a PTX module was executed, and sums of that by opcode, by kind and by metric.
//
// Problem: counts of basic blocks come from the emulator or from counters in instrumented code; opcode counts, the
// metrics of a hardware profiler and features for learning are all sums over the same instructions.
// Method: Counts holds executions per instruction of the module as it was written: calls are calls, not the bodies they
// are replaced by in an emulator or compiler. All sums are made from it. [braun] section 4.2.
//
// Definitions: `lanes` are work-items that execute the instruction and whose guard predicate holds (a guarded branch:
// those that take it); `warps` are wavefronts of 32 that reach it, whatever its guard says.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/ptx/module.hpp"
#include "records/count.hpp"
#include "records/feature.hpp"

namespace kernelcast::flux {

struct Executions {
  std::uint64_t lanes = 0, warps = 0;
  bool reached = false;  // by someone, perhaps with a predicate that does not hold
  friend bool operator==(Executions const&, Executions const&) = default;
};

// By index into Module::functions, then into Function::instructions; a function that was never entered may have none.
struct Counts {
  std::vector<std::vector<Executions>> functions;
  bool warps_known = true;  // false: only lanes were counted, all `warps` are 0

  Counts() = default;
  explicit Counts(ptx::Module const& module) : functions(module.functions.size()) {}
  Executions& at(std::uint32_t function, std::uint32_t instruction, ptx::Module const& module);
  void add(Counts const&);
  // Multiplies all counts: for a launch of which a part was counted. Rounds to the nearest.
  void scale(double lanes_factor, double warps_factor);
};

struct OpcodeCount {
  std::string opcode;  // with modifiers
  std::uint64_t lanes = 0, warps = 0;
};
std::vector<OpcodeCount> by_opcode(ptx::Module const&, Counts const&);  // ascending by name; those that were reached

// The metrics of [braun] Table 4.3, in its order; `launch` fills what the rows have in common.
std::vector<record::CountGroup> groups(ptx::Module const&, Counts const&, record::CountedLaunch const& launch);

// The features of one launch; kernel, case and sizes are the caller's to fill.
record::Feature features(ptx::Module const&, Counts const&);
namespace authors {
// The same by the definitions of the authors' own program (authors.cpp).
record::Feature features(ptx::Module const&, Counts const&);
}  // namespace authors
// Several launches of one configuration in one row: the median of each feature. [braun] section 5.3
record::Feature median(std::vector<record::Feature> const&);

}  // namespace kernelcast::flux
