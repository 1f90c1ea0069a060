// The `kernel` record: what one kernel launch does, counted by emulation, independent of any device.
//
// Counters are totals over all launches and all groups. They are doubles because counts of a few emulated groups are
// extrapolated to the whole grid; they are exact integers where every group was emulated (below 2^53).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "record/instruction_class.hpp"
#include "record/schema.hpp"

namespace kernelcast::record {

inline constexpr std::array<unsigned, 3> width_lanes{16, 32, 64};               // wavefront widths
inline constexpr std::array<unsigned, 3> segment_bytes{32, 64, 128};            // memory transaction sizes
inline constexpr std::array<char const*, 3> bank_names{"b16", "b32", "b32x8"};  // 16 and 32 banks of 4 bytes, 32 of 8

// Registers per work-item, by whom they were assigned; empty where unknown.
struct RegisterCounts {
  std::optional<std::uint64_t> registers_ptx;   // by live ranges of the PTX, 32-bit
  std::optional<std::uint64_t> registers_sm75;  // ptxas
  std::optional<std::uint64_t> vgprs_gfx6, vgprs_gfx90a, vgprs_gfx1030;
  std::optional<std::uint64_t> gprs_cypress;  // 128-bit
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
  std::optional<double> global_load_rounds;  // empty: made by something that does not count them

  static Schema<Kernel> const& schema();
};

// Totals over so many times the launches that the row has, all alike. What all of them share (the footprint, the most
// hits of one address) stays.
void repeat(Kernel&, std::uint64_t times);

}  // namespace kernelcast::record
