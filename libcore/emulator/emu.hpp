// Functional emulation of a GPU kernel, one group of work-items at a time.
//
// The interpreter executes PTX on vectors of lanes: a group of up to 1024 work-items is cut into units of up to 256
// lanes (several groups side by side: up to 1024) that run in lock step while they agree; diverged lanes wait, the
// deepest call and there the earliest block in the order of the control flow (bodies before what follows them) runs
// first, and lanes reconverge where they meet. A warp therefore executes exactly what it would execute alone.
//
// Progress: lanes that spin (on a lock within a warp, a flag of another warp) yield to the lanes they wait for. Lanes
// that could run but have waited while their group executed 1024 blocks with a synchronising operation (atomics,
// volatile, relaxed or acquire loads, fences, nanosleep) run next, until they end, wait at a barrier, or have kept
// others waiting as long; the 1024 is halved each time, down to 32. Without synchronising operations lanes never yield.
// Groups run one after the other, until one has executed very many such blocks: then later ones begin beside it, and
// all unfinished ones take turns, on one thread; see machine/residents.hpp. Limits::in_order and observers without
// follows_waiting_groups() prevent that, and waiting for a later group then never ends.
//
// Memory is checked: an access outside a buffer is a Finding and never touches the host's memory. It ends the launch,
// or (Limits::passed_over) does nothing: a load or an atomic gives 0. The emulator has no statistics of its own: it
// notifies observers of events (see Observer); each statistic is one observer. Events come per unit, so that a virtual
// call costs little.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/ptx/module.hpp"
#include "records/instruction_class.hpp"

namespace kernelcast::emu {

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  friend bool operator==(Dim3 const&, Dim3 const&) = default;
};

inline constexpr std::uint32_t lanes_per_warp = 32;
inline constexpr std::uint32_t max_lanes_per_unit = 1024;
inline constexpr std::uint32_t default_lanes_per_unit = 256;  // more only where several groups run side by side
inline constexpr std::uint32_t max_warps_per_unit = max_lanes_per_unit / lanes_per_warp;
inline constexpr std::uint32_t min_group_lanes = 4;  // that a group takes where groups run side by side
inline constexpr std::uint32_t max_groups_per_unit = 64;

// ---------------------------------------------------------------- memory

class Images;  // textures, surfaces, samplers: image.hpp
class Program;

// Global memory of the emulated device: named buffers at 256-byte aligned device addresses with unmapped gaps between.
class Memory {
 public:
  // `of_host`: a device address is the host's address of the same byte, so that memory can be shared with the host.
  enum class Addresses : std::uint8_t { own, of_host };
  explicit Memory(std::uint64_t limit_bytes = std::uint64_t{16} << 30, Addresses = Addresses::own);
  ~Memory();
  Memory(Memory const&) = delete;
  Memory& operator=(Memory const&) = delete;

  // A zero-filled buffer; returns its device address. Throws Error(limit) beyond the limit.
  std::uint64_t add(std::string name, std::uint64_t bytes);
  std::span<std::byte> bytes(std::uint64_t device_address);  // the buffer that begins there
  void set_undefined(std::uint64_t device_address);          // Buffer::undefined of the buffer that begins there
  // Little of the buffer that holds this address is used, here and there: it gets no large pages.
  void use_sparsely(std::uint64_t device_address);
  // Zeros from there on, all in one buffer; whole pages of large areas go back to the system.
  void zero(std::uint64_t device_address, std::uint64_t bytes);
  // The buffer that begins there is no more; false where none does.
  bool remove(std::uint64_t device_address);
  // With Addresses::of_host: the host's own memory becomes a buffer, until it is removed. False where it overlaps one.
  bool lend(std::string name, void* host, std::uint64_t bytes);
  // Where a .global or .const variable of the module lies, which is placed and initialised now if it was not yet; 0
  // where there is none of the name. The module must outlive this Memory.
  std::uint64_t address_of(ptx::Module const&, std::string_view variable);
  // The variables of this kernel and of its module are no more. To be called before either is destroyed while this
  // Memory lives on; a launch after that finds them as at first.
  void forget(Program const&);

  struct Buffer {
    std::string name;
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    std::byte* data = nullptr;
    bool freed = false;      // by free(): every access is an error
    bool undefined = false;  // no host has written it: reading what the kernel has not written is an error of its own
    std::function<std::string()> origin = {};  // for messages: who allocated it, such as "at saxpy.cu:41", if known
  };
  void set_origin(std::uint64_t device_address, std::function<std::string()>);  // of the buffer that begins there
  Buffer const* find(std::uint64_t device_address) const;     // the buffer that holds this address, or null
  Buffer const* nearest(std::uint64_t device_address) const;  // for messages: the buffer it most likely missed
  std::vector<Buffer> const& buffers() const;
  std::uint64_t limit_bytes() const;
  Images& images();

  // The heap of malloc() in kernels; it lasts from launch to launch.
  void limit_heap(std::uint64_t bytes);  // in use at a time; 8 MiB unless set, as CUDA's
  // Zero-filled; 0 beyond the heap's limit, and where all that is held for it, freed blocks included, would pass the
  // limit of this Memory.
  std::uint64_t allocate(std::uint64_t bytes, std::string name);
  enum class Freed : std::uint8_t { done, twice, unknown };
  Freed release(std::uint64_t device_address);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  friend class Machine;
};

// ---------------------------------------------------------------- program

// The one table that maps opcodes to classes is in opcodes/.
using Class = record::InstructionClass;

struct BasicBlock {
  std::uint32_t first = 0, last = 0;  // PTX instructions [first, last) of the function
};

// Which lane's register holds which element of wmma's fragments, and hence what wmma.load and wmma.store request of
// memory: PTX leaves it open. Volta (7.0, 7.2) has its own way; later devices have that of mma's fragments.
enum class WmmaFragments : std::uint8_t { volta, later };
WmmaFragments wmma_fragments(unsigned capability);        // 70 of sm_70
WmmaFragments wmma_fragments(ptx::Module const& module);  // of the device that its .target names

// A kernel made ready to run: decoded, address arithmetic fused, registers in slots. Independent of launch and, but for
// wmma's fragments, of the device.
class Program {
 public:
  // Throws Error(bad_data) for a construct that cannot be executed at all; an unknown opcode is refused when reached.
  Program(ptx::Module const& module, ptx::Function const& kernel) : Program(module, kernel, wmma_fragments(module)) {}
  Program(ptx::Module const& module, ptx::Function const& kernel, WmmaFragments);
  ~Program();
  Program(Program&&) noexcept;

  ptx::Module const& module() const;
  ptx::Function const& kernel() const;
  std::span<BasicBlock const> blocks() const;
  Class instruction_class(std::uint32_t instruction) const;
  bool guarded(std::uint32_t instruction) const;  // counted by Observer::guarded, not by its block
  std::uint32_t static_shared_bytes() const;
  WmmaFragments fragments() const;
  // Of wmma.load and wmma.store: requests of a warp, each an event for Observer::memory, of so many bytes per lane. Of
  // others none.
  struct FragmentRequests {
    unsigned count = 0, bytes = 0;
  };
  FragmentRequests fragment_requests(std::uint32_t instruction) const;
  bool prints() const;  // calls printf
  // Instructions that cannot be executed, which ends a run that reaches them; an empty reason: the opcode itself.
  struct Refused {
    std::uint32_t instruction = 0;
    std::string reason;
  };
  std::vector<Refused> const& refused() const;
  // Groups must run in order on one thread: global atomics (other than updates that commute), fences, volatile loads.
  bool order_dependent() const;

  struct Impl;

 private:
  std::unique_ptr<Impl> impl_;
  friend class Machine;
};

// ---------------------------------------------------------------- observers

// Lanes of one unit. masks[w] bit l = lane 32 w + l takes part; warps = lanes / 32 rounded up.
struct Lanes {
  std::uint32_t const* masks = nullptr;
  std::uint32_t warps = 0;
  std::uint32_t first_warp = 0;  // index of warp 0 of the unit within its group
  bool full = false;             // every work-item that exists in the unit takes part
  // Of a unit that runs several groups at once (Observer::accepts_packs): lanes from one group to the next, a power of
  // two. Below 32 a word of `masks` holds several groups, each with one warp of so few lanes.
  std::uint32_t group_lanes = 0;
};

enum class Direction : std::uint8_t { load, store, atomic };

struct MemoryAccess {
  std::uint32_t instruction = 0;                    // index into kernel().instructions
  ptx::StateSpace space = ptx::StateSpace::global;  // never generic
  Direction direction = Direction::load;
  std::uint8_t bytes_per_lane = 0;         // all elements of a vector access
  std::uint64_t base = 0;                  // device address (global) or offset (shared, local) of offsets == 0
  std::uint32_t const* offsets = nullptr;  // [32 * lanes.warps], bytes; unspecified where a lane takes no part
  Lanes lanes;
  // Two accesses with the same pattern number have the same offsets and lanes (their bases may differ).
  std::uint64_t pattern = 0;
  // [2 * lanes.warps]: of the 16 lanes from 16 h on, if they all take part, offsets[16 h + i] = offsets[16 h] + i *
  // steps[h]; no_step where that does not hold.
  std::uint32_t const* steps = nullptr;
  static constexpr std::uint32_t no_step = 0x80000000u;
  // The memory that all lanes lie in: a whole buffer (or a range that holds several), or the group's shared memory.
  std::uint64_t region = 0, region_bytes = 0;
  std::byte const* host =
      nullptr;                    // where offsets == 0 lies, before the access; of lane_stride != 0 that of work-item 0
  std::uint64_t lane_stride = 0;  // bytes between work-items' copies (local memory)
  // What a store writes: element i of lane l at registers + slots[i] + l * (8 where element_bytes is 8, else 4). Null
  // for others, and where the values are not in registers.
  std::byte const* registers = nullptr;
  std::uint32_t const* slots = nullptr;
  std::uint8_t element_bytes = 0, elements = 0;
  // An asynchronous copy of one lane (counted as those of `lanes`), whose pieces other lanes of its warp carry.
  static constexpr std::uint32_t no_issuer = ~std::uint32_t{0};
  std::uint32_t issuer = no_issuer;
};

// Thrown by a packed substitute: see Observer::packed_substitute.
struct Inconclusive {};

// Work-items of one group that have met at a barrier and go on. masks[w] bit l = lane 32 w + l, over all warps.
struct Meeting {
  std::uint32_t const* waiting = nullptr;  // earlier accesses of all happen before the next ones of these
  std::uint32_t const* arrived = nullptr;  // bar.arrive: they have not waited themselves
  std::uint32_t warps = 0;
  bool everyone = false;  // all work-items that have not left
  bool phase = false;     // no barrier: those of the last access, to an mbarrier, that found its phase complete
};

// Cells of the group's tensor memory that a tcgen05 instruction accesses: whole lanes of whole columns.
struct TensorMemoryAccess {
  std::uint32_t instruction = 0;  // index into kernel().instructions
  std::uint32_t work_item = 0;    // that executes it, or the first of its warp
  Direction direction = Direction::load;
  std::uint32_t first_lane = 0, lanes = 0;
  std::uint32_t first_column = 0, columns = 0;
};

struct Launch;

// What a call, or a return, does to a work-item's local memory without an access.
struct FrameChange {
  struct Range {
    std::uint64_t offset = 0, bytes = 0;
  };
  std::uint32_t work_item = 0;         // counted as the lanes of Lanes are, from the unit's first warp
  std::uint64_t lane_stride = 0;       // as in MemoryAccess
  Range fresh;                         // a call: the frame that begins
  std::span<Range const> copied = {};  // into it: the arguments; a return: the results, in the caller's frame
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void group_begin(std::uint64_t /*linear group*/) {}
  virtual void group_end() {}
  // Small groups may run several at a time, side by side in one unit, if every observer accepts it: then pack_begin and
  // pack_end come in place of group_begin and group_end, and Lanes::group_lanes tells the groups apart. A group's
  // shared memory begins at a multiple of 256 bytes of its own.
  virtual bool accepts_packs() const { return false; }
  virtual void pack_begin(std::span<std::uint64_t const> /*linear groups*/) {}
  virtual void pack_end() {}
  // An observer that does not accept packs may supply a substitute that does, and that throws Inconclusive as soon as
  // this observer might report anything. The launch first runs with the substitutes: if none throws and there is no
  // finding, its result counts and this observer is not called; else memory is restored and the groups run one by one.
  virtual std::unique_ptr<Observer> packed_substitute(Program const&, Launch const&, Memory const&) const {
    return nullptr;
  }
  // A basic block is entered: every unguarded instruction of it is executed by these lanes.
  virtual void block(std::uint32_t /*block*/, Lanes const&) {}
  // A guarded instruction (@p) other than a branch, executed by the lanes whose predicate holds (perhaps none).
  virtual void guarded(std::uint32_t /*instruction*/, Lanes const&) {}
  virtual void memory(MemoryAccess const&) {}
  virtual void tensor_memory(TensorMemoryAccess const&) {}
  virtual void frame(FrameChange const&) {}  // executed calls only; inlined functions have none
  // A conditional branch: lanes that execute it and, of those, lanes that take it.
  virtual void branch(std::uint32_t /*instruction*/, Lanes const& /*executing*/, Lanes const& /*taking*/) {}
  // Lanes arrive at barrier `number` of the group, which `threads` work-items open; 0: all that have not left.
  virtual void barrier(std::uint32_t /*instruction*/, Lanes const&, std::uint32_t /*number*/,
                       std::uint32_t /*threads*/) {}
  virtual void meet(Meeting const&) {}  // a barrier opens
  // A product of matrices whose shape is data (tcgen05): its kind, as kernels/ptx/matrix.hpp names them, and its
  // operations. The text lasts for ever. `lane` of the unit has issued it.
  virtual void product(std::uint32_t /*instruction*/, std::uint32_t /*lane*/, char const* /*kind*/, double /*flop*/) {}
  // Lanes of an integer division or remainder whose divisor is 0; called only if some observer has needs_divisors().
  virtual void zero_divisor(std::uint32_t /*instruction*/, Lanes const&) {}
  virtual bool needs_divisors() const { return false; }
  virtual bool needs_order() const { return false; }  // all groups on one thread
  // Despite needs_order(): groups of a cluster may take turns, each with a fork of its own.
  virtual bool follows_clusters() const { return false; }
  // Likewise groups of a launch that turn out to wait for later ones.
  virtual bool follows_waiting_groups() const { return !needs_order(); }
  // Reading tensor memory that nothing has written is a finding: it is not memory that observers hear of.
  virtual bool needs_written() const { return false; }

  // For several threads: an empty observer of the same kind, and adding its result to this one. Addition must be
  // commutative, so that counts do not depend on the number of threads.
  virtual std::unique_ptr<Observer> fork() const = 0;
  virtual void join(Observer const&) = 0;
};

// ---------------------------------------------------------------- instruction sets of the host

// Programs are built for the best level that the host offers: "v2", "v3" (AVX2), "v4" (AVX-512); "base" elsewhere than
// on x86. KERNELCAST_ISA in the environment, or use_isa_level, asks for another. All levels give the same bits.
std::vector<std::string> isa_levels();         // offered here, lowest first
void use_isa_level(std::string const& level);  // for Programs built from now on; throws Error(unavailable)
std::string_view isa_level();

// ---------------------------------------------------------------- running

// A call of a function that has no body and is none of those that the emulator knows (vprintf, malloc, free,
// __assertfail). Lanes call one after the other.
struct ExternalCall {
  std::string_view function;
  std::span<std::span<std::byte const> const> arguments;
  // What lies at a generic address of the calling lane, as far as it is one piece; empty where nothing does.
  std::function<std::span<std::byte>(std::uint64_t)> memory_at;
};

struct Launch {
  Dim3 grid;     // groups
  Dim3 block;    // work-items of a group
  Dim3 cluster;  // groups of a cluster; of one group: what the kernel requires counts
  std::uint32_t dynamic_shared_bytes = 0;
  std::vector<std::byte> parameters;       // the kernel's parameter block, ptx::Function::parameter_bytes long
  std::array<std::uint32_t, 32> envreg{};  // %envreg; 3..5 hold OpenCL's global offset, 6 the number of dimensions
  // Of each work-item, for recursive and indirect calls and alloca; kernels without them have no stack.
  std::uint32_t stack_bytes = 64 * 1024;
  // All groups are resident together, as a cooperative launch has them: those that wait take short turns from the
  // start.
  bool cooperative = false;
  // Takes what printf prints, group by group in the order of `groups`, and within a group as it was executed. Empty:
  // nothing is printed.
  std::function<void(std::string_view)> print;
  // Answers external calls with the bits of the result, or with nothing where it does not know the function; then, and
  // where this is empty, the call is a Finding.
  std::function<std::optional<std::uint64_t>(ExternalCall const&)> external;
};

// The function of the module whose address a kernel has taken; nothing where none begins there.
std::optional<std::uint32_t> function_at(ptx::Module const&, std::uint64_t code_address);

class PassedOver;  // passed_over.hpp

struct Limits {
  // Warp instructions per launch; 0 = none. With a limit groups run on one thread, so that it stops at the same place.
  std::uint64_t max_steps = 0;
  // Of shared and local memory and registers, per thread, and of printed text that must wait for that of earlier
  // groups; 0 = the Memory's limit.
  std::uint64_t max_memory_bytes = 0;
  double timeout_s = 0;
  std::atomic<int> const* stop = nullptr;  // once it is not 0 a launch ends as at its time limit
  // Groups strictly one after the other, on one thread: what groups that race with each other leave is defined, too.
  bool in_order = false;
  // Takes the findings that a launch can go on after, those about accesses and free(); null: the first one ends it.
  PassedOver* passed_over = nullptr;
};

// Something wrong with the emulated program.
struct Finding {
  enum class Kind : std::uint8_t {
    out_of_bounds,
    misaligned,
    race,
    equal_stores,  // a race of stores of one value: what they leave is defined all the same
    portability,   // what works here, and need not on other devices
    uninitialized,
    use_after_free,
    invalid_free,
    division_by_zero,
    assertion,
    unknown_opcode,
    divergent_barrier,
    deadlock,
    trap,
    stack_overflow,
    bad_image,    // a handle that is not a texture or sampler, or one of another geometry
    proxy_fence,  // generic stores that an asynchronous operation accesses, without fence.proxy.async between them
    in_flight,    // what an asynchronous operation is still working on
    limit         // nothing wrong yet: where the kernel was when a limit stopped it
  };
  Kind kind;
  std::string kernel;
  ptx::TextPosition at;
  std::string source;               // "matmul.cl:12", empty when unknown
  std::uint64_t group = 0;          // linear
  std::uint32_t source_column = 0;  // 0 when unknown
  Dim3 group_id{0, 0, 0}, local_id{0, 0, 0}, global_id{0, 0, 0};
  std::string message;  // "global load of 4 bytes at offset 4096 of buffer 'a' (4096 bytes)"
  std::string hint;     // empty: that of the kind
};

// Thrown by an observer: the run ends with this finding.
struct Stop {
  Finding finding;
};

// A finding about a work-item (its linear index in the group) at an instruction of kernel().
Finding found_at(Program const&, Launch const&, Finding::Kind, std::uint64_t group, std::uint32_t work_item,
                 std::uint32_t instruction, std::string message);

enum class Ending : std::uint8_t { done, finding, step_limit, time_limit, text_limit };

struct Outcome {
  Ending ending = Ending::done;
  std::optional<Finding> finding;  // also set at a limit: where the kernel was
  bool spinning = false;           // at a limit: work-items were waiting for each other, or for another group
  std::uint64_t warp_instructions = 0;
};

// Runs the given groups (linear indices, x fastest) in order. Observers receive every event; with threads > 1 each
// thread works with forks of them, joined at the end. Counts and memory do not depend on the number of threads.
Outcome run(Program const&, Launch const&, Memory&, std::span<std::uint64_t const> groups,
            std::span<Observer* const> observers, Limits const& = {}, unsigned threads = 1);

}  // namespace kernelcast::emu
