// What is counted in each function of a module, and how all executions follow from that: the map of an instrumented
// module. A pure function of the module, so that counters can be read wherever the module's text is.
//
// Counted are chords of each control-flow graph (placement.hpp); groups of guarded instructions whose predicate no
// branch has; entries of functions that are called by address or recursively. A counter in a loop is a register that
// is written out where the function ends, one outside loops is memory. Every counter is kept in banks, and one whose
// value differs between lanes once for each lane, so that work-items do not wait for each other.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "measure/flux/counts.hpp"
#include "measure/flux/graph.hpp"
#include "measure/flux/placement.hpp"
#include "measure/flux/trips.hpp"

namespace kernelcast::flux {

enum class Scheme : std::uint8_t {
  minimal,
  every_block,  // [braun] listings 4.1 and 4.2: one counter in each block, updated by the first active lane of a warp
};

struct PlanOptions {
  Scheme scheme = Scheme::minimal;
  bool warps = false;        // every_block: count warps beside lanes
  bool guards = true;        // every_block: count guarded instructions by their predicate, not by their block
  std::uint32_t banks = 64;  // a power of two
};

// One counter of 64 bits. Offsets are in bytes from the start of a bank.
struct Counter {
  bool per_lane = false;  // 32 words, one for each lane, are added up
  std::uint32_t offset = 0;
};

// What an edge's, group's or block's counter is added to, and how.
struct Measured {
  enum class What : std::uint8_t { edge, group, entry, block, block_warps };
  What what = What::edge;
  std::uint32_t index = 0;   // edge, group or block
  bool in_register = false;  // added up in a register of the work-item
  std::optional<Trip> trip;  // of an edge: added where its loop is entered
  Counter counter;
};

// Guarded instructions of one block with one predicate that does not change between them.
struct GuardGroup {
  std::uint32_t block = 0, reg = 0;
  struct Member {
    std::uint32_t instruction = 0;
    bool negated = false;
  };
  std::vector<Member> members;
  bool counted_by_branch = false;  // the block's last instruction has this predicate too: then no counter
  std::uint32_t edge = 0;          // that is taken where the predicate, or if `edge_negated` its opposite, holds
  bool edge_negated = false;
};

struct FunctionPlan {
  std::uint32_t function = 0;
  Graph graph;
  std::vector<Measured> measured;
  std::vector<Relation> relations;
  std::vector<GuardGroup> groups;
  bool entries_from_calls = true;           // entries follow from the calls' counts, or a kernel's launch
  bool takes_bank = false;                  // has counters or calls what has: gets the address of its bank
  std::uint32_t first_byte = 0, bytes = 0;  // its counters within a bank
};

struct Plan {
  PlanOptions options;
  std::vector<FunctionPlan> functions;  // those with a body
  std::vector<std::uint32_t> plan_of;   // by index into Module::functions; ~0 for those without
  std::uint32_t callee_bytes = 0;       // of a bank: counters of functions that are not kernels, at its start
  std::optional<std::string> refusal;   // why the module cannot be instrumented
  ptx::TextPosition refused_at;
};

Plan make_plan(ptx::Module const&, PlanOptions = {});

// A launch of a kernel needs `banks` regions of so many bytes, zero before it; 0: none, and no further parameter.
std::uint32_t bank_bytes(Plan const&, std::uint32_t kernel);

// Executions from what a launch left in its banks, added up over the banks: words by offset / 8. Throws
// std::logic_error where the plan does not belong to the module.
Counts recover(ptx::Module const&, Plan const&, std::uint32_t kernel, std::uint64_t work_items,
               std::span<std::uint64_t const> words);

}  // namespace kernelcast::flux
