// A PTX module with counters in it.
//
// Kernels that count get one more parameter, the address of their banks, device functions one that holds the address of
// the bank that the calling work-item uses (by the multiprocessor it runs on). Nothing else that the program can see
// changes: all registers are new, predicates are only read, no barrier is added. A counter outside loops is one
// `red.global.add.u64` to an address that a whole warp shares, which ptxas turns into one access by one lane
// (VOTE, POPC, RED); a counter in a loop is a 64-bit register.
#pragma once

#include <string>
#include <string_view>

#include "kernels/ptx/module.hpp"
#include "measure/flux/plan.hpp"

namespace kernelcast::flux {

inline constexpr std::string_view bank_parameter = "kernelcast_flux_banks";

struct Instrumented {
  std::string ptx;
  Plan plan;  // tells counts from counters: recover()
};

// Throws Error(bad_data) with the place and the construct where the module cannot be instrumented.
Instrumented instrument(ptx::Module const&, PlanOptions = {});

}  // namespace kernelcast::flux
