// The execution-cost model [automatch]: how long the best parallel version of a sequential kernel takes on a device.
//
// Problem: from the profile of a sequential run, which device is worth porting to?
// Method: T = T_comp + T_mem + T_syn, equations (1) to (5) of the paper:
//    T_comp = D / pi_0 + sum over levels i of w_i / (min(w_i, n_p) pi_0 f_v f_im)
//    T_mem  = (alpha_f + alpha_s) D + bytes_f / beta_f + bytes_s / beta_s
//    T_syn  = S s_0
//  with f_im = (W_add + W_mul) / (2 max(W_add, W_mul)).
// Decided where the paper is silent or wrong:
//  - Q L, messages times their size, is the bytes accessed: references times the granularity of the stack distances,
//    8 bytes. A choice: the paper's statements hold as well with a whole message per reference (granularity_bytes 0).
//  - A reference hits the fast memory iff its stack distance is below Z / granularity (0-based distances).
//  - f_v = max(W_vec / W, 1 / VL) on CPUs, VL the doubles of a vector; 1 on GPUs, whose n_p counts lanes.
//  - f_im = 0.5 where there is neither an addition nor a multiplication, and the reason says so. W = 0: T_comp = 0.
//  - The bin of the histogram that holds the capacity is split linearly; the interval of the time spans it all.
// Limits: no occupancy, no coalescing, no start-up cost; transfers only with Options::link_bytes_per_s.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "records/device/device.hpp"
#include "records/execution_cost.hpp"
#include "records/profile.hpp"

namespace kernelcast::model::execcost {

inline constexpr char const* model_name = "automatch";
inline constexpr std::uint64_t word_bytes = 8;  // the granularity of the paper's stack distances

// References with a stack distance in [low, high) blocks.
struct Bin {
  std::uint64_t low = 0, high = 0, count = 0;
};

struct Locality {
  std::vector<Bin> bins;
  std::uint64_t cold = 0;  // first touches
};

// One kernel and case, all invocations together.
struct Work {
  std::string kernel, case_name;
  std::uint64_t flop = 0, add = 0, mul = 0, vec = 0;  // W, W_add, W_mul, W_vec
  std::uint64_t depth = 0;                            // D
  std::map<std::uint64_t, std::uint64_t> widths;      // w_i -> number of such levels
  std::map<std::uint64_t, Locality> locality;         // by granularity in bytes
  std::map<std::uint64_t, std::uint64_t> footprint_bytes;
  std::uint64_t sync = 0;  // S

  // Takes one row of a profile; rows that the model does not need are ignored. Throws Error(bad_data) without a place
  // for a histogram row without its bin or granularity.
  void add_row(record::Profile const&);
};

// References that hit a fast memory of so many blocks, and those that do not. The bin that straddles the capacity is
// split linearly; `uncertain` of its references may belong to the other side.
struct Hits {
  double hits = 0, misses = 0, uncertain_hits = 0, uncertain_misses = 0;
};
Hits split(Locality const&, double capacity_blocks);

struct Options {
  std::uint64_t granularity_bytes = word_bytes;  // 0: each device's own line size, one message per reference
  std::optional<double> link_bytes_per_s;        // adds the transfer of the touched bytes to GPUs
};

// The columns that the model needs and this device lacks.
std::vector<std::string> missing_columns(device::Device const&);

// Equation (1). 0.5 where both are 0.
double instruction_mix(std::uint64_t add, std::uint64_t mul);
// Equation (2) with its floor; `lanes` = doubles of a vector.
double vectorization(std::uint64_t vec, std::uint64_t flop, double lanes);

// Pure; seconds. A device or profile that lacks something gives status unknown and the reason.
record::ExecutionCost project(Work const&, device::Device const&, Options const& = {});

}  // namespace kernelcast::model::execcost
