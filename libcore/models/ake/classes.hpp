// The classes of instructions that have a latency and a gap of their own, and how an instruction of a trace falls into
// them. Their names are the classes of devdb/latgap.csv.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "records/instruction_class.hpp"

namespace kernelcast::model::ake {

enum class Class : std::uint8_t {
  fp32_add,  // also min, max, compare
  fp32_mul,
  fp32_fma,
  fp64,
  fp16,
  mma,
  int_add,
  int_mul,
  int_mad,
  shift,
  logic,
  sfu,
  cvt,
  move,        // register moves, selects, and what has no class
  control,     // branches, exits
  sync,        // fences, barriers of a warp, waits: what is not a barrier of the group
  param_load,  // kernel parameters: operands of an instruction in machine code
  const_load,
  smem_load,
  smem_store,
  smem_atomic,
  gmem_load_l1,  // the levels that a global access visits
  gmem_load_l2,
  gmem_load_dram,
  atomic_global,
  barrier,
  issue,
  scalar,      // AMD: one result for a whole wavefront
  scalar_load  // and loads of one
};
inline constexpr std::size_t class_count = 29;
inline constexpr std::array<std::string_view, class_count> class_names{
    "fp32_add",      "fp32_mul",   "fp32_fma",    "fp64",         "fp16",         "mma",
    "int_add",       "int_mul",    "int_mad",     "shift",        "logic",        "sfu",
    "cvt",           "move",       "control",     "sync",         "param_load",   "const_load",
    "smem_load",     "smem_store", "smem_atomic", "gmem_load_l1", "gmem_load_l2", "gmem_load_dram",
    "atomic_global", "barrier",    "issue",       "scalar",       "scalar_load"};
inline std::string_view name(Class c) {
  return class_names[static_cast<std::size_t>(c)];
}

// How an instruction runs.
enum class Kind : std::uint8_t {
  plain,    // on one unit, a fixed latency
  load,     // waits for global, local, texture or shared memory, wherever its addresses lie
  store,    // keeps units busy, no wavefront waits
  atomic,   // a load at the second-level cache; without a result, a store
  copy,     // between global and shared memory; the wavefront goes on
  product,  // of matrix units that read shared memory; the wavefront goes on
  commit,   // the operations of a queue since the last one are a group
  wait,     // for all groups of a queue but the last few
  arrive,   // at an mbarrier, when the operations of a queue are complete
  phase,    // waits until an mbarrier has had the arrivals that the trace has before it
  barrier,  // of the group
  exit
};

// What a wavefront may have under way.
enum class Queue : std::uint8_t {
  copies,      // cp.async
  bulk,        // copies by engines
  bulk_reads,  // the same, until their sources have been read
  products,    // wgmma, tcgen05
  none
};
inline constexpr std::size_t queue_count = 4;

enum class Space : std::uint8_t { none, generic, global, shared, local, constant, param, texture, barrier, product };
// Throws nothing; nullopt for an unknown name. Empty is Space::none.
std::optional<Space> space_named(std::string_view);
// The letter of a part in a trace's addresses.
Space space_of_letter(char);

struct InstructionType {
  Class instruction_class = Class::move;
  Kind kind = Kind::plain;
  Space space = Space::none;
  bool read_only = false;  // ld.global.nc
  bool fence = false;      // memory accesses keep their side of it
  bool past_l1 = false;    // .cg: the first level is bypassed
  Queue queue = Queue::none;
  bool engine = false;   // a copy engine's: whole lines of shared memory
  bool stores = false;   // a copy to global memory
  bool signals = false;  // a copy that arrives at an mbarrier when it is complete
  bool passes = false;   // bar.arrive: does not wait
};

// `counted` is the class that the trace gives, `opcode` PTX with its modifiers.
InstructionType classify(record::InstructionClass counted, std::string_view opcode, Space);

}  // namespace kernelcast::model::ake
