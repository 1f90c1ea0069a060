// The `kernel` record: what one kernel launch does, counted by emulation, independent of any device.
//
// Counters are totals over all launches and all groups. They are doubles because counts of a few emulated groups are
// extrapolated to the whole grid; they are exact integers where every group was emulated (below 2^53).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "records/instruction_class.hpp"
#include "records/pipe.hpp"
#include "records/table/schema.hpp"

namespace kernelcast::record {

inline constexpr std::array<unsigned, 3> width_lanes{16, 32, 64};               // wavefront widths
inline constexpr std::array<unsigned, 3> segment_bytes{32, 64, 128};            // memory transaction sizes
inline constexpr std::array<char const*, 3> bank_names{"b16", "b32", "b32x8"};  // 16 and 32 banks of 4 bytes, 32 of 8

// Registers per work-item, by whom they were assigned; empty where unknown.
struct RegisterCounts {
  std::optional<std::uint64_t> registers_ptx;   // by live ranges of the PTX, 32-bit
  std::optional<std::uint64_t> registers_sm75;  // ptxas
  std::optional<std::uint64_t> vgprs_gfx6, vgprs_gfx90a, vgprs_gfx1030;
  std::optional<std::uint64_t> gprs_cypress;      // 128-bit
  std::string target;                             // whose machine code was counted: sm_86; empty: PTX
  std::optional<std::uint64_t> registers_target;  // its assembler's
  std::string registers;                          // ptxas's, target:count joined by ';' (histogram.hpp)
};

// What the longest chain of results of a group that runs alone consists of.
#define KERNELCAST_STEPS(X) X(arithmetic) X(fp64) X(special) X(constant) X(shared) X(hit) X(miss) X(barrier)
#define KERNELCAST_ENUMERATOR(name) name,
enum class Step : std::uint8_t { KERNELCAST_STEPS(KERNELCAST_ENUMERATOR) };
#undef KERNELCAST_ENUMERATOR
#define KERNELCAST_NAME(name) std::string_view(#name),
template <>
inline constexpr std::array names_of<Step>{KERNELCAST_STEPS(KERNELCAST_NAME)};
#undef KERNELCAST_NAME
#undef KERNELCAST_STEPS

// Of one work-group, which launch::typical_group() chooses; empty where no group was profiled. Histograms are key:count
// joined by ';', the parts of a key joined by '/'.
struct GroupColumns {
  std::optional<double> slots;
  std::string load_requests, store_requests;  // lines/sectors/degree
  // By the axes of the grid that they depend on.
  std::string load_sectors, store_sectors, load_lines, store_lines;
  // By the logarithm of the number of groups, one after the other in the grid.
  std::string load_unions, store_unions, atomic_unions;
  std::string reuse;  // by the logarithm of the distance
  std::optional<double> shared_requests, shared_engine_bytes, constant_requests, texture_requests;
  std::string local_requests;  // lines/sectors/degree
  std::optional<double> local_lines;
  std::optional<double> atomic_requests, atomic_serial, atomic_sectors, atomic_lines, atomic_wide_lanes;
  std::optional<double> shared_atomic_requests, shared_atomic_serial, shared_atomic_passes;
  PerValue<Step, std::optional<double>> path;
  std::string shared_loads, shared_stores;  // by the clocks that the banks are busy
  std::string local_stores;                 // of local_requests
  std::string phases;                       // phases.hpp; empty: without barriers, or not known
};

struct Kernel : RegisterCounts {
  std::string kernel;
  std::string case_name;  // column `case`
  std::uint64_t launches = 1;
  std::uint64_t grid_x = 1, grid_y = 1, grid_z = 1;     // work-groups
  std::uint64_t block_x = 1, block_y = 1, block_z = 1;  // work-items
  std::uint64_t groups_total = 1;
  std::uint64_t groups_emulated = 1;
  std::uint64_t shared_bytes = 0;  // per work-group

  std::optional<double> vliw_ops_per_bundle;

  std::optional<double> spread_pct;  // empty when one group was emulated
  double inst_total = 0;
  PerClass<double> inst;                   // lanes whose predicate holds
  PerClass<std::array<double, 3>> issues;  // [class][width], wavefront instructions
  double branches = 0, divergent_branches_w32 = 0, divergent_branches_w64 = 0;
  double global_load_bytes = 0, global_store_bytes = 0, shared_load_bytes = 0, shared_store_bytes = 0;
  double local_load_bytes = 0, local_store_bytes = 0, param_bytes = 0, const_bytes = 0, texture_bytes = 0;
  std::array<std::array<double, 3>, 3> global_load_tx{}, global_store_tx{};  // [width][segment]
  std::array<double, 3> global_load_cc13{}, global_store_cc13{};             // [segment], after shrinking
  double global_footprint_bytes = 0;
  std::array<std::array<double, 3>, 3> shared_load_passes{}, shared_store_passes{};  // [width][banks]
  double atomics_global = 0, atomics_shared = 0, atomic_max_same_address = 0, barriers = 0;
  std::optional<double> global_load_rounds;  // this and what follows is empty where it was not counted
  PerPipe<std::optional<double>> slots;      // issue slots of wavefronts of 32
  std::optional<double> code_slots;
  GroupColumns group;
  std::optional<double> sampling_error_pct;  // of the totals; empty where it is not known
  std::optional<std::uint64_t> allocated_bytes;
  std::optional<std::uint64_t> warp_lanes;  // of CUDA's warp, where work-items exchange values within it
  // Of AMD's machine code, per work-item: registers of matrix products, and memory for what registers do not hold.
  std::optional<std::uint64_t> registers_matrix, scratch_bytes;
  // Of a call of a library whose kernels are machine code: operation:type:sizes, and its floating-point operations.
  std::string library;
  std::optional<double> library_flop;
  std::string matrix_flop;     // by the kind of product (kernels/ptx/matrix.hpp): records/table/histogram.hpp
  std::string runs_on;         // the target or vendor that alone runs this code, such as sm_90a, AMD; empty: any
  std::string touched_before;  // by the logarithm of the distance, summed over the launches; empty: not known
  std::optional<std::uint64_t> code_fetched;  // launches for which the code had to be fetched; empty: the first
  std::string source, source_text;            // of an attached application: file:line, and what that line says

  static Schema<Kernel> const& schema();
};

// Totals over so many times the launches that the row has, all alike. What all of them share (the footprint, the most
// hits of one address) stays.
void repeat(Kernel&, std::uint64_t times);

}  // namespace kernelcast::record
