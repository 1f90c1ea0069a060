// A device as the latency/gap emulator sees it.
//
// Problem: [ake] describes each resource by two parameters, latency and gap. devdb/latgap.csv has them for some classes
// of instructions on some architectures; a device needs all.
// Method: a device's own row, else that of its target, else the steps of devdb/latgap_fallbacks.csv in their order;
// each step taken is reported. Gaps are exact ratios: time is counted in ticks of which a cycle has a whole number that
// all of the device's gaps divide.
// The gap of device memory follows from the bandwidth that the database has for the device. From compute capability 7.0
// on, all units together get no more of the second level than rates.hpp says, and one unit no more than its port gives.
// How AMD's schedulers choose is in devdb/issue.csv; their vector units are one, whatever the class, but for those that
// it names.
// Limits: the gaps of the memory are rounded to a tick (1/960 of a cycle or less). AMD devices whose latencies the
// table lacks cannot be emulated.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "models/ake/classes.hpp"
#include "records/device/device.hpp"
#include "records/latency_gap.hpp"

namespace kernelcast::model::ake {

using Ticks = std::int64_t;

// What admits one request per gap. Per compute unit, or per scheduler where Cost::per_scheduler says so.
enum class Unit : std::uint8_t { none, core, integer, fp64, special, shared, l1, l2, dram, barrier, scalar, tensor };
inline constexpr std::size_t unit_count = 12;
inline constexpr std::array<record::Limiter, unit_count> unit_limiters{
    record::Limiter::issue,   record::Limiter::core,    record::Limiter::integer, record::Limiter::fp64,
    record::Limiter::special, record::Limiter::shared,  record::Limiter::l1,      record::Limiter::l2,
    record::Limiter::dram,    record::Limiter::barrier, record::Limiter::issue,   record::Limiter::tensor};

// What a scheduler issues one of in a turn, where it issues several (devdb/issue.csv). An instruction of no kind
// (waits) takes a turn of its wavefront alone.
enum class IssueKind : std::uint8_t { none, vector, scalar, vector_memory, shared, branch };
inline constexpr std::size_t issue_kind_count = 6;
inline constexpr std::array<std::string_view, issue_kind_count> issue_kind_names{"none",          "vector", "scalar",
                                                                                 "vector_memory", "shared", "branch"};

// How schedulers choose. As it stands: one instruction a turn, of whatever kind.
struct Issuing {
  bool by_kind = false;  // one of each kind a turn, each of another wavefront; a vector instruction waits for its unit
  std::array<bool, issue_kind_count> kinds{};  // an instruction of a kind that is not here is a vector instruction
  bool staggered = false;                      // schedulers take turns, one begins in a clock
  bool waits = false;                          // an instruction waits for loads; loads of a wavefront complete in order
  Ticks wavefront_turn = 0;                    // from an instruction of a wavefront to its next
};

struct Cost {
  Ticks latency = 0, gap = 0;
  Unit unit = Unit::none;
  bool per_scheduler = false;
};

using record::AccessRule;

inline constexpr unsigned sector_bytes = 32;
inline constexpr unsigned line_bytes = 128;

// Sizes in bytes; 0: no such cache. Associativities and the hashing of sets are assumed: no source states them.
struct Caches {
  std::uint64_t l1_bytes = 0, l2_bytes = 0;
  unsigned l1_ways = 4, l2_ways = 16;
  bool l1_has_shared = false;   // shared memory is a part of l1_bytes
  bool l1_takes_loads = false;  // global loads; others only where they are read-only and l1_takes_read_only
  bool l1_takes_read_only = false;
  unsigned l1_request_bytes = line_bytes;  // that one gap of the first level is for: a line, or half of one
  bool l1_gap_is_of_access = false;        // the table's gap is for a wavefront's load, however many lines it touches
  bool l1_fills_lines = false;             // a miss fetches the whole line (compute capability 2.x)
  bool stores_evict = false;               // a store drops the line from the first level (2.x)
};

struct Machine {
  std::string device;
  Ticks cycle = 960;  // ticks of one
  unsigned width = 32, units = 1;
  double clock_hz = 0;
  unsigned schedulers = 1;
  Ticks issue_gap = 960;  // of one scheduler
  Issuing issuing;
  Ticks l2_port_gap = 0;              // of a sector, at least; 0: not known, the second level is not shared
  bool fp64_takes_all_slots = false;  // an fp64 instruction holds every scheduler (2.x)
  std::array<Cost, class_count> cost{};
  AccessRule rule = AccessRule::sectors32;
  unsigned banks = 32, bank_bytes = 4;
  Caches caches;

  std::vector<record::MatrixRule> matrix;  // kinds of products; others cost as Class::mma

  Cost const& of(Class c) const { return cost[static_cast<std::size_t>(c)]; }
  Cost& of(Class c) { return cost[static_cast<std::size_t>(c)]; }
  // The gaps of gmem_load_l2 and gmem_load_dram are for a sector while all units are active; these are for one while
  // `active` of them share the second level and the memory.
  Ticks l2_gap(double active) const;
  Ticks dram_gap(double active) const;
  // nullptr: it has no such product, or nothing is known.
  record::MatrixRule const* matrix_rule(std::string_view kind) const;
};

// One figure that was not in the table for this device.
struct Assumption {
  Class instruction_class;
  std::string quantity;  // latency, gap
  std::string words;     // "gap of gmem_load_l2 1/3 of gmem_load_dram's"
  std::string reason;    // of the fallback
};

struct Resolved {
  Machine machine;
  std::vector<Assumption> assumptions;
  std::string missing;  // not empty: why there is no machine
};

// latgap.csv with its fallbacks, and issue.csv.
struct LatencyTable {
  std::vector<record::LatencyGap> rows;
  std::vector<record::LatencyFallback> fallbacks;
  std::vector<record::IssueRule> issuing = {};
};

Resolved resolve(device::Device const&, LatencyTable const&);

// The class that a name of the table means; nullopt for an unknown one.
std::optional<Class> class_named(std::string_view);

}  // namespace kernelcast::model::ake
