// What the interpreter and the opcode handlers share: micro-operations, bound memory accesses, and the state that a
// handler works on.
//
// A register is an array over the lanes of a unit: 4 bytes per lane (8 for 64-bit types), lane after lane. Types of 8
// and 16 bits are kept zero-extended, a predicate is 0 or ~0. Handlers are compiled once per instruction-set level;
// this header must therefore hold plain data only: an inline function here could be merged across levels by the linker.
#pragma once

#include <cstddef>
#include <cstdint>

#include "emulator/emu.hpp"

namespace kernelcast::emu {

struct Access;
struct Context;
struct MicroOp;
using Handler = void (*)(Context&, MicroOp const&);

inline constexpr std::uint32_t no_slot = ~std::uint32_t{0};
inline constexpr std::uint32_t no_issuer = MemoryAccess::no_issuer;
// An address in shared memory of another group of the cluster: its rank, plus two, in 8 bits from this one on. So a
// pair of groups differs in the lowest of them, which kernels clear to reach the group of even rank.
inline constexpr unsigned cluster_rank_shift = 24, cluster_rank_bias = 2;

// After so many tests of mbarriers in a row that found no phase complete, nothing can complete one any more.
inline constexpr std::uint64_t max_failed_tests = 1 << 17;

struct MicroOp {
  Handler full = nullptr;     // every lane of every warp of the unit
  Handler partial = nullptr;  // undiverged, but some lanes do not exist or have left: arithmetic runs on all lanes
  Handler masked = nullptr;   // the lanes of Context::bits
  std::uint32_t d[2] = {no_slot, no_slot};  // destinations; slots in a Program, byte offsets once bound
  std::uint32_t s[4] = {no_slot, no_slot, no_slot, no_slot};
  std::uint32_t instruction = 0;
  std::uint32_t length = 1;  // a guard spans itself and the operations that it covers
  std::uint32_t extra = 0;   // guard: 1 = negated; otherwise the opcode's own
  // Opcodes with more operands than d and s hold: all destinations, then all sources, as in d and s; else null.
  std::uint32_t const* operands = nullptr;
  std::uint16_t destinations = 0, sources = 0;  // how many are in `operands`
  Access* access = nullptr;
  void const* data = nullptr;  // what the decoder left for the opcode (Draft::data)
};

// A range of addresses that one access may touch, and where it lies on the host.
struct Window {
  std::uint64_t address = 1, size = 0;  // as seen by the address register; nothing fits the initial value
  std::byte* host = nullptr;
  std::uint64_t base = 0;         // MemoryAccess::base
  std::uint64_t lane_stride = 0;  // bytes between the lanes' copies (local memory), otherwise 0
  ptx::StateSpace space = ptx::StateSpace::global;
  std::uint32_t const* lane_base = nullptr;  // per lane, added to its offset: shared memory of groups side by side
};

inline constexpr std::uint32_t lanes_per_chunk = 16;  // lanes that are moved together
inline constexpr std::uint32_t no_step = 0x80000000u;

// Where the lanes of an access are, relative to its window. Accesses of one basic block that go by the same register
// and differ in constants only share a placement: the first computes it, the others shift it (see place() in
// access.cpp).
struct Placement {
  std::uint32_t* offsets = nullptr;  // by lane of the unit
  // Per chunk: the distance between neighbouring lanes, no_step where it varies. For warps that execute as a whole.
  std::uint32_t* steps = nullptr;
  std::uint64_t lowest = 0, farthest = 0;  // over the lanes that execute
  std::uint64_t begin = 0;                 // offset of register value (or scaled index) 0
  std::uint32_t low_bits = 0;              // of all offsets, or-ed
  std::uint64_t number = 0;                // a new one whenever the offsets change
  bool valid = false;
};

// One ld, st, atom or red. Lanes address memory by a 64-bit register (wide), a 32-bit one (narrow), or a kernel-uniform
// base plus a scaled 32-bit index (indexed: fused address arithmetic).
struct Access {
  enum class Address : std::uint8_t { wide, narrow, indexed };
  Address address = Address::wide;
  bool index_signed = false;
  bool argument = false;                            // of a call: local memory, reported as parameter space
  ptx::StateSpace space = ptx::StateSpace::global;  // generic included
  Direction direction = Direction::load;
  std::uint8_t element_bytes = 4, elements = 1, bytes = 4;
  // Data, element by element; as MicroOp::s.
  std::uint32_t slots[8] = {no_slot, no_slot, no_slot, no_slot, no_slot, no_slot, no_slot, no_slot};
  bool sparse = false;  // a store that leaves out elements, those without a slot
  std::uint64_t displacement = 0;
  std::uint32_t scale = 1;
  std::uint64_t uniform_base = 0;  // indexed: known once bound
  // Indexed accesses within the window: index - low <= range, unsigned; first_offset belongs to index == low.
  std::uint32_t low = 0, range = 0, first_offset = 0;
  bool reachable = false;   // some index is within the window
  std::uint64_t begin = 0;  // indexed: offset of index 0
  Window window;
  std::uint32_t placement_index = 0;  // in the pool; 0 is unused
  bool follows = false;               // an earlier access of the block has computed the placement
  Placement* placement = nullptr;     // once bound
};

struct Context {
  std::byte* registers = nullptr;
  std::uint32_t warps = 0;
  std::uint32_t const* bits = nullptr;    // [warps] lanes that execute
  std::uint32_t const* lanes = nullptr;   // [32 * warps] the same, 0 or ~0 each
  Placement* spare = nullptr;             // for accesses that share none
  std::uint64_t placements = 0;           // numbers given so far
  std::uint32_t scratch = 0;              // an unused 64-bit register, as a byte offset
  std::uint32_t const* exists = nullptr;  // [warps] work-items that exist
  std::uint32_t first_warp = 0;
  std::uint32_t group_lanes = 0;  // as Lanes::group_lanes
  bool observed = false;
  bool needs_written = false;        // some Observer::needs_written()
  std::uint32_t issuer = no_issuer;  // MemoryAccess::issuer of what is accessed now
  bool shares_memory = false;        // other threads update the same global memory
  std::uint64_t clock = 0;           // warp instructions so far; a stand-in for %clock
  // Blocks with a synchronising operation executed so far, and at how many others get their turn
  // (machine/turns.hpp).
  std::uint64_t syncs = 0, deadline = ~std::uint64_t{0};
  // Tests of mbarriers that found no phase complete, since an mbarrier has changed; syncs at the first of them.
  std::uint64_t failed_tests = 0, failing_since = 0;
  // Lanes whose access was passed over, since any_dropped was last set to false.
  bool any_dropped = false;
  std::uint32_t dropped[max_warps_per_unit] = {};
  void* machine = nullptr;  // Machine, for the slow paths below
};

// Called by handlers on their rare paths; in machine/, compiled once.
void note_work(Context&, MicroOp const&, std::uint64_t units);  // Machine::work
void access_elsewhere(Context&, MicroOp const&);                // not in the window: find where, or throw a Fault
void notify_access(Context&, MicroOp const&, Placement const&, std::uint64_t delta);
void notify_guarded(Context&, MicroOp const&);
void note_sync(Context&, MicroOp const&);            // a block with a synchronising operation begins
void note_idling(Context&, MicroOp const&);          // one whose operations complete nothing: sleep, fences
[[noreturn]] void refuse(Context&, MicroOp const&);  // an opcode that cannot be executed

}  // namespace kernelcast::emu
