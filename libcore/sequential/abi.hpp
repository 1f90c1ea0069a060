// What an instrumented program and its run-time library share: the layout of the shadow memory, of the descriptors that
// the pass writes into the program, and of the state that instrumented code works on.
//
// Shadow memory: every aligned 8-byte word of the program has a cell of 8 bytes: the level of the operation that made
// its value, and the iteration clock at which it was written. Words that are written in parts are split: their cell
// says so, and the halves have cells of their own; halves written in parts have cells per byte, in a table.
// The program's address space is folded to 44 bits, which keeps apart all regions where Linux on x86-64 places
// programs, heaps, libraries and stacks.
#pragma once

#include <cstdint>

namespace kernelcast::seq {

// A cell: bits 0..29 level, 30..62 clock, 63 split.
inline constexpr unsigned level_bits = 30;
inline constexpr std::uint64_t level_mask = (std::uint64_t{1} << level_bits) - 1;
inline constexpr std::uint64_t tick = std::uint64_t{1} << level_bits;  // one iteration
inline constexpr std::uint64_t split_cell = std::uint64_t{1} << 63;
inline constexpr std::uint64_t no_hull = ~std::uint64_t{0};

inline constexpr std::uint64_t address_mask = (std::uint64_t{1} << 44) - 1;
inline constexpr std::uint64_t words_base = 0x100000000000;   // 16 TiB: a cell per 8 bytes
inline constexpr std::uint64_t halves_base = 0x200000000000;  // 32 TiB: a cell per 4 bytes
inline constexpr std::uint64_t widths_base = 0x400000000000;  // operations per level, 8 bytes each

// A source position, for messages; file and line are empty and 0 where unknown.
struct Site {
  char const* file;
  std::uint64_t line;
};

enum class LoopKind : std::uint64_t {
  plain,       // no value goes from iteration to iteration in registers but induction variables
  reduction,   // only recognised reductions do
  recurrence,  // something else does: sequential
};

struct LoopDescriptor {
  Site site;
  LoopKind kind;
  std::int64_t parent;   // index in the function, -1 for an outermost loop
  char const* variable;  // of the recurrence, where known
};

// A run of instructions without a branch or call: one row of addresses per execution.
struct RowDescriptor {
  std::uint64_t executed;  // counted by instrumented code where `accesses` is 0, else by the consumer
  std::uint32_t accesses;
  std::uint32_t loads, stores;
  std::uint32_t add, mul, div, sqrt, call, vectorizable;  // floating-point operations
  std::uint32_t reserved;
  std::uint64_t bytes;
  // Bytes of each access, as its place in the row: 0, the sizes, and so on round for eight places more.
  std::uint8_t const* sizes;
};

// The first word of a row tells itself from addresses: its descriptor's address with this bit.
inline constexpr std::uint64_t row_tag = std::uint64_t{1} << 63;
inline std::uint64_t header_of(RowDescriptor const& row) {
  return reinterpret_cast<std::uint64_t>(&row) | row_tag;
}
inline RowDescriptor& row_of(std::uint64_t header) {
  return *reinterpret_cast<RowDescriptor*>(header & ~row_tag);  // NOLINT: rows are written by instrumented code
}

struct CallDescriptor {
  char const* name;
  std::uint64_t count;
};

// How one iteration of a loop depends on an earlier one through memory.
enum class Dependence : std::uint64_t { read_after_write, write_after_read, write_after_write };

// Of one loop in one calling context.
struct LoopCounter {
  std::uint64_t iterations, entries;
  std::uint64_t carried;  // 1: an iteration depends on an earlier one
  Site const* reader;     // the first load that reads what was written, or store that overwrites
  Dependence dependence;  // what it is
  LoopDescriptor const* descriptor;
  LoopCounter* parent;  // the loop around it in this context
};

// A running loop. Clocks are in ticks.
struct LoopFrame {
  std::uint64_t start;  // clock of its first iteration
  std::uint64_t now;    // clock at the start of the current iteration
  std::uint64_t hull;   // start of the outermost running loop not known to be sequential, or no_hull
  LoopCounter* counter;
};

struct FunctionDescriptor {
  char const* name;
  Site site;
  std::uint64_t loop_count, row_count, call_count;
  LoopDescriptor const* loops;
  RowDescriptor* rows;
  CallDescriptor* calls;
  // The run-time's own.
  LoopCounter* parent;    // the context of the last call
  LoopCounter* counters;  // and its counters
  FunctionDescriptor* next;
};

inline constexpr unsigned max_level_arguments = 32;

struct State {
  std::uint64_t* row;        // where the next row goes
  std::uint64_t* row_limit;  // a row that ends above it is followed by a flush
  std::uint64_t clock;       // in ticks
  LoopFrame* frames;         // the first free one
  std::uint64_t return_level;
  std::uint64_t argument_levels[max_level_arguments];
  std::uint64_t floor;  // the highest level of earlier calls of the kernel, with `invocations`
};

// What the program was instrumented for, passed by kernelcast_seq_kernel_enter().
inline constexpr std::uint64_t all_dependences = 1;  // of writes on earlier reads and writes, too
inline constexpr std::uint64_t invocations = 2;      // each call of the kernel by itself

inline constexpr std::size_t sizes_beyond = 8;            // places after the row
inline constexpr std::uint64_t row_words_at_most = 1024;  // of one row, its header included

}  // namespace kernelcast::seq
