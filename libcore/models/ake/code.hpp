// What the engine runs: a kernel's blocks as operations of one machine, and the traced work-groups.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/ptx/matrix.hpp"
#include "models/ake/classes.hpp"
#include "models/ake/machine.hpp"

namespace kernelcast::model::ake {

// One instruction of the kernel, independent of a device.
struct Instruction {
  InstructionType type;
  unsigned bytes_per_lane = 0;
  std::vector<std::uint32_t> sources, destinations;  // registers
  unsigned pending = 0;                              // Kind::wait: groups that may be under way still
  ptx::MatrixProduct product;                        // of matrices: its kind; flop 0: the trace says how many
  bool folded = false;                               // not in the machine's code: its operands are its results
  std::int32_t item = -1;                            // which of the block's that have one, in the order of the trace
};

struct Kernel {
  std::string name;
  std::vector<std::vector<Instruction>> blocks;
};

inline constexpr unsigned barriers_of_group = 16;

// What an item says besides addresses.
struct Event {
  std::uint32_t object = 0;  // arrivals and phases: which mbarrier of the group; barriers: its number
  std::uint64_t count = 0;   // phases: arrivals to wait for; barriers: wavefronts that open it, 0: all; products: flop
};

// The requests of one wavefront's instruction to each part of the memory, by the machine's rules.
struct Requests {
  std::uint16_t shared = 0;  // passes over the banks
  std::uint16_t l1 = 0;      // lines looked up in the first level
  std::uint16_t l2 = 0;      // sectors that go to the second level
  std::uint16_t dram = 0;    // sectors that go on to device memory
  std::uint32_t event = 0;   // 1 + the index of its event in Group::events; 0: none
};

// A wavefront executes a block: `requests` is the index of its first memory instruction's in Group::requests.
struct Row {
  std::uint32_t block = 0, requests = 0;
};

// One work-group, ready to run: the rows of all its wavefronts, wavefront by wavefront.
struct Group {
  std::uint64_t number = 0;
  std::vector<Row> rows;
  std::vector<std::size_t> warp_begin;  // [warp] first row; one more at the end
  std::vector<Requests> requests;
  std::vector<Event> events;
  std::size_t objects = 0;  // mbarriers

  Event const* event(Requests const& r) const { return r.event ? &events[r.event - 1] : nullptr; }
  std::size_t warps() const { return warp_begin.empty() ? 0 : warp_begin.size() - 1; }
};

enum class OpKind : std::uint8_t { plain, access, product, barrier, arrive, phase, commit, wait };

inline constexpr std::uint32_t no_item = ~std::uint32_t{0};

// One operation. Operands are slots of Code::operands: sources first, then destinations.
struct Op {
  Ticks latency = 0, gap = 0;
  std::uint32_t operands = 0;
  std::uint8_t sources = 0, destinations = 0;
  OpKind kind = OpKind::plain;
  Unit unit = Unit::none;
  IssueKind issue = IssueKind::none;  // where the machine issues by kind
  bool folded = false;                // takes no time, no turn and no unit
  bool branch = false;                // and the wavefront waits for where it goes
  bool per_scheduler = false;
  bool waits = false;            // access: another instruction may wait for its data
  bool takes_all_slots = false;  // an fp64 operation of compute capability 2.x
  bool atomic = false;
  bool signals = false;       // access: arrives at an mbarrier when it is complete
  bool passes = false;        // barrier: the wavefront does not wait
  Queue queue = Queue::none;  // what a later wait is for, or what this one waits for
  std::uint8_t pending = 0;
  std::uint32_t item = no_item;  // which of the row's requests
  double ticks_per_flop = 0;     // product: of those that the trace counts
  std::uint16_t pc = 0;          // place in its block, for the timeline
};

// A destination whose bit is set starts a new life of its slot; else the later of two writes counts.
inline constexpr std::uint16_t fresh_slot = 0x8000;

struct Code {
  std::vector<Op> ops;
  std::vector<std::uint32_t> block_begin;  // [block] first op; one more at the end
  std::vector<std::uint16_t> operands;
  std::size_t slots = 0;  // registers that a wavefront needs
};

enum class Order : std::uint8_t { program, list };

// [ake] The operations of a kernel on a machine. Where the machine waits for loads by instructions, one stands before
// the first use of a load's result in its block. Order::list: each block is reordered by a list scheduler that keeps no
// more values alive than `registers` (0: no limit), see schedule.hpp.
// Throws Error(limit) for a kernel of more registers at a time than 32767.
Code compile(Kernel const&, Machine const&, Order, std::uint64_t registers);

}  // namespace kernelcast::model::ake
