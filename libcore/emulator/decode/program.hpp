// A decoded kernel, as the machine runs it. Internal to emu.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "emulator/opcodes/opcodes.hpp"
#include "kernels/ptx/inline.hpp"

namespace kernelcast::emu {

// Generic addresses: the global space is itself; the others are windows of 2^40 bytes.
inline constexpr unsigned window_bits = 40;
inline constexpr std::uint64_t shared_window = std::uint64_t{1} << window_bits;
inline constexpr std::uint64_t local_window = std::uint64_t{2} << window_bits;
inline constexpr std::uint64_t parameter_window = std::uint64_t{3} << window_bits;
// Addresses of functions: nothing can be read there.
inline constexpr std::uint64_t code_window = std::uint64_t{4} << window_bits, code_step = 16;
inline std::uint64_t code_address(std::uint32_t function) {  // index into Module::functions
  return code_window + code_step * (std::uint64_t{function} + 1);
}

// A slot whose value the machine supplies: nothing writes it while the kernel runs.
struct Pin {
  enum class Kind : std::uint8_t { immediate, parameter, special, variable, frame };  // frame: of the running call
  Kind kind = Kind::immediate;
  bool wide = false;
  std::uint64_t value = 0;  // immediate: bits; parameter: offset; special: index; variable: offset
  std::uint32_t id = 0;     // special: ptx::Special; variable: index into Module::variables
  std::uint8_t bytes = 0;   // parameter: how many
  bool sign_extended = false;
  std::uint32_t slot = no_slot;
};

// What ends a basic block.
struct End {
  enum class Kind : std::uint8_t { fall, jump, exit, barrier, arrive, warp_barrier, table, trap, call, give_back };
  Kind kind = Kind::fall;
  std::uint32_t instruction = 0;
  std::uint32_t guard = no_slot;  // predicate slot
  bool negated = false;
  bool tries_again = false;            // jump: to its own block, for what an atom.cas or .exch of it has found
  std::uint32_t target = 0;            // block; call: index into Impl::calls
  std::vector<std::uint32_t> targets;  // blocks, by index (brx)
  std::uint32_t index = no_slot;       // brx; barrier: its number; warp_barrier: the mask; call: the function's address
  std::uint32_t count = no_slot;       // barrier: the number of threads, where given
  bool aligned = true;                 // barrier: all lanes of a warp at the same instruction
  bool cluster = false;                // barrier: of the cluster
  bool numbered = false;               // barrier: its number or its threads are in a register
  enum class Reduction : std::uint8_t { none, popc, conjunction, disjunction };
  Reduction reduction = Reduction::none;  // bar.red
  std::uint32_t reduced = no_slot, result = no_slot;
  bool reduced_negated = false;
};

// Bytes of a frame: an argument, a result.
struct Slice {
  std::uint32_t offset = 0, bytes = 0;
};

// A call that is executed. Arguments and results lie in the caller's frame.
struct CallSite {
  enum class Callee : std::uint8_t { function, indirect, print, allocate, release, assertion, external, unknown };
  Callee callee = Callee::unknown;
  std::uint32_t callable = 0;  // function: index into Impl::callables
  std::uint32_t return_block = 0;
  std::vector<Slice> arguments, results;
  struct Saved {
    std::uint32_t slot;
    bool wide;
  };
  std::vector<Saved> saved;  // registers that the caller needs afterwards
  std::uint32_t saved_bytes = 0;
};

// A function that calls execute.
struct CallableCode {
  std::uint32_t function = 0;  // index into Module::functions
  std::uint32_t entry = 0;     // block
  std::uint32_t frame_bytes = 0;
  std::vector<Slice> parameters, results;  // in its frame
  std::vector<CallSite::Saved> cleared;    // registers that may be read before they are written
};

struct BlockCode {
  std::uint32_t first = 0, last = 0;  // micro-operations
  std::uint32_t length = 0;           // instructions
  std::uint32_t rank = 0;             // diverged lanes run in this order: order.cpp
  End end;
};

struct Program::Impl {
  ptx::Module const* module = nullptr;
  ptx::Function const* kernel = nullptr;
  std::unique_ptr<ptx::Whole> whole;  // the kernel with its calls replaced, where it had any
  std::vector<CallSite> calls;
  std::vector<CallableCode> callables;
  std::vector<CallSite::Saved> cleared;  // registers that the kernel may read before it writes them
  bool stacked = false;                  // frames, or alloca
  Handlers const* handlers = nullptr;
  std::vector<BasicBlock> blocks;
  std::vector<BlockCode> code;
  std::vector<std::uint32_t> ranked_blocks;  // by rank
  std::vector<MicroOp> ops;
  std::vector<Access> accesses;                           // MicroOp::access points here until bound
  std::vector<std::vector<std::uint32_t>> long_operands;  // MicroOp::operands points here until bound
  std::vector<Program::Refused> refused;
  std::vector<std::shared_ptr<void const>> facts;  // what MicroOp::data points to
  std::vector<std::uint32_t> base_pins;            // per access: the pin of an indexed access's base
  std::vector<Pin> pins;
  std::uint32_t placements = 0;          // that accesses share
  std::uint32_t slots = 0, scratch = 0;  // in slots of 4 bytes per lane
  WmmaFragments wmma_fragments = WmmaFragments::later;
  std::map<std::uint32_t, Program::FragmentRequests> fragment_requests;  // by instruction
  std::vector<Class> classes;
  std::vector<bool> guarded;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t local_bytes = 0;  // per lane
  bool order_dependent = false;
  bool uses_generic = false;
  bool packs = false;               // small groups may run side by side
  bool packs_within_warps = false;  // and share a warp
  bool synchronises = false;        // some block calls note_sync
  bool tensor_memory = false;       // of sm_100
  // Addresses of shared variables have the group's own rank in them (Machine::address_own_shared), since kernels whose
  // groups work in pairs reach the first group of a pair by changing a bit of the rank.
  bool of_pairs = false;
  std::uint32_t tensor_allocation = 0;  // the first instruction that allocates it
};

}  // namespace kernelcast::emu
