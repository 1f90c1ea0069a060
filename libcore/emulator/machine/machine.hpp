// Runs the groups of one launch on one thread. Internal to emu.
#pragma once

#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "emulator/decode/program.hpp"
#include "emulator/machine/barriers.hpp"
#include "emulator/machine/budget.hpp"
#include "emulator/machine/memory.hpp"
#include "emulator/machine/stacks.hpp"
#include "emulator/machine/turns.hpp"
#include "emulator/machine/unit.hpp"
#include "emulator/tensor_memory.hpp"

namespace kernelcast::emu {

struct TensorHome;  // opcodes/tensor_memory.hpp

// Thrown through the handlers; caught in run().
struct Fault {
  Finding finding;
  Ending ending = Ending::finding;
  bool spinning = false;
};

class Machine {
 public:
  // `several`: more than one group is to be run.
  Machine(Program const&, Launch const&, Memory&, std::span<Observer* const>, Budget&, bool several);
  // Other machines may work on the same memory at the same time.
  void share_memory() { context_.shares_memory = true; }
  // Once per launch, before any machine: the variables of the module.
  static void prepare(Program const&, Memory&);
  // All that kernels can reach is in Memory::buffers(): nothing is lent, or on the heap.
  static bool reaches_buffers_only(Memory const& memory) {
    return memory.impl_->lent.empty() && memory.impl_->heap.empty();
  }
  // The next groups to run: one, or several small ones side by side.
  std::size_t groups_at_once() const { return pack_; }
  // How groups run side by side: in units of so many lanes, of which each group has some; 0: one by one.
  struct Packing {
    std::uint32_t unit_lanes = default_lanes_per_unit, group_lanes = 0;
    std::uint32_t groups() const { return group_lanes ? unit_lanes / group_lanes : 1; }
  };
  static Packing packing(Program const&, Launch const&, std::span<Observer* const>, bool several);
  // begin(), turn() until it is true, end().
  void begin(std::span<std::uint64_t const> linear_groups, TurnLength);
  bool turn();  // false: the groups are not through, and others may have their turn
  void end();
  std::uint64_t bytes() const { return bytes_; }          // that this machine holds
  std::uint64_t max_bytes() const { return max_bytes_; }  // the limit
  std::uint64_t warp_instructions() const { return spent_.steps(); }

  // The groups of a cluster, by rank; see clusters.hpp.
  struct Cluster {
    Dim3 size;
    std::vector<Machine*> members;
  };
  void join(Cluster const& cluster, std::uint32_t rank) {
    cluster_ = &cluster;
    cluster_rank_ = rank;
    address_own_shared();
  }
  bool waits_for_cluster() const { return waits_for_cluster_; }  // after a turn: all work-items wait at its barrier
  void open_cluster() { cluster_open_ = true; }
  bool idle() const { return idle_; }  // after a turn: nothing has run, all wait for others
  // In the next turn also mbarriers whose phase is not complete. `last`: no group of the cluster can go on, a test that
  // fails is a finding.
  void test_again(bool last) {
    tests_again_ = true;
    gives_up_ = last;
  }
  // In its last turn lanes did no more than test mbarriers whose phases were not complete.
  bool only_waited() const {
    return context_.failed_tests > 0 && context_.syncs - context_.failing_since <= context_.failed_tests;
  }

  // For the slow paths of handlers.
  void access_elsewhere(Context&, MicroOp const&);
  void notify_access(Context const&, MicroOp const&, Placement const&, std::uint64_t delta);
  void notify_guarded(Context const&, MicroOp const&);
  void divide_watched(Context&, MicroOp const&, Handler MicroOp::* mode);
  [[noreturn]] void refuse(Context const&, MicroOp const&);
  void texture(Context&, MicroOp const&);  // image_access.cpp
  void let_others_run();
  [[noreturn]] void stop_at_lane(Context const&, MicroOp const&, Finding::Kind, std::uint32_t lane,
                                 char const* message) const;  // asynchronous.cpp
  void pass_over_lane(Context const&, MicroOp const&, Finding::Kind, std::uint32_t lane, char const* message) const;
  void notify_phase(Context const&, std::uint32_t const* bits) const;
  void wait_for_phases(Context const&, PhaseWait const&);
  // tensor_memory.cpp
  std::uint32_t tensor_homes(bool pair, TensorHome* homes, std::uint32_t& own);
  std::uint32_t allocate_columns(Context const&, MicroOp const&, std::uint32_t lane, bool pair, std::uint32_t columns);
  void release_columns(Context const&, MicroOp const&, std::uint32_t lane, std::uint32_t address,
                       std::uint32_t columns);
  void notify_product(MicroOp const&, std::uint32_t lane, bool pair, char const* kind, double flop) const;
  void notify_columns(TensorMemory const&, TensorMemoryAccess, std::uint32_t run) const;
  void allocate_stack(Context&, MicroOp const&);
  void save_stack(Context&, MicroOp const&);
  void restore_stack(Context&, MicroOp const&);
  void work(std::uint32_t instruction, std::uint64_t units);  // Spending::work
  std::string take_printed() { return printed_.take(); }
  void print_at_once() { printed_.pass_on_at_once(); }  // text need not wait for that of other groups

 private:
  class TextureUnit;
  enum class Mode { full, partial, masked };

  void bind();
  std::uint64_t make_units(std::uint32_t warps);
  void make_memory(std::uint32_t warps, std::uint64_t register_bytes);
  void place_operands();
  void make_placements();
  void bind_accesses();
  void address_own_shared();
  void bind_index(Access&, std::uint64_t base);
  void fill_pins();
  void fill_special(Unit&, Pin const&);
  void fill_group_specials();
  void set_group(std::uint64_t linear_group);
  void next_group();
  void begin_groups(std::span<std::uint64_t const> linear_groups);
  void begin_tensor_memory();
  void end_tensor_memory() const;
  Window shared_window_of_group() const;
  Window local_window_of_lanes(ptx::StateSpace) const;
  std::uint64_t pin_value(Pin const&) const;
  std::uint64_t cluster_value(ptx::Special) const;
  void splat(Unit&, Pin const&, std::uint64_t value, std::uint32_t first, std::uint32_t lanes);

  bool run_unit(Unit&);  // true when lanes of it could go on
  bool pick(Unit&, bool& test_again);
  void push(Unit&, std::uint32_t block, Bits const&);
  void choose_mode(Unit const&);
  bool stops_soon() const {
    return turns_.yielding() || waits_.count > 0;
  }  // the running fragment, at the end of its block
  void run_block(BlockCode const&);
  bool go_on(Unit&, BlockCode const&);  // past the block's end; false when another fragment must be picked
  bool branch(Unit&, End const&);
  bool try_again();
  bool branch_table(Unit&, End const&);
  bool split_guarded(Unit&, End const&, bool& none);
  // Fragments of deeper calls come first, then those at blocks of lower rank. Past the last block lanes leave.
  static std::uint64_t key_of(std::uint32_t depth, std::uint32_t rank) { return std::uint64_t{~depth} << 32 | rank; }
  std::uint32_t rank_of(std::uint32_t block) const { return block < code_.size() ? code_[block].rank : block; }
  std::uint32_t block_at(std::uint32_t rank) const { return rank < code_.size() ? p_.ranked_blocks[rank] : rank; }

  // calls.cpp
  void begin_stacks();
  void clear(std::vector<CallSite::Saved> const&, Unit&, Bits const&);
  bool call(Unit&, End const&);
  bool call_indirect(Unit&, End const&, CallSite const&);
  std::uint32_t enter(Unit&, End const&, CallSite const&, std::uint32_t callable, Bits const&);
  bool give_back(Unit&);
  void notify_frame(std::uint32_t thread, FrameChange::Range fresh, std::uint32_t base, std::span<Slice const> copied);
  void set_frame(Unit&, std::uint32_t lane, std::uint32_t base);
  [[noreturn]] void stack_overflow(std::uint32_t instruction, std::uint32_t thread, std::uint64_t bytes) const;
  bool all_running(Context const&) const;
  std::uint64_t frame_end(std::uint32_t thread);
  void save_registers(Unit&, CallSite const&, Bits const&);
  // builtins.cpp
  struct Place {
    std::byte* host = nullptr;
    std::uint64_t bytes = 0;  // accessible from there on
  };
  Place place_of(std::uint32_t thread, std::uint64_t generic_address) const;
  std::optional<std::string> text_at(std::uint32_t thread, std::uint64_t generic_address,
                                     std::uint32_t instruction) const;
  std::uint64_t argument(std::uint32_t thread, Slice const&) const;
  void give_result(std::uint32_t thread, CallSite const&, std::uint64_t value);
  void run_builtin(Unit&, End const&, CallSite const&);
  bool call_external(std::uint32_t thread, CallSite const&, std::string_view function);
  std::int32_t print(std::uint32_t thread, End const&, std::uint64_t format, std::uint64_t arguments);
  void keep_text(std::uint32_t thread, End const&, std::string const& text);
  void release_memory(std::uint32_t thread, End const&, std::uint64_t address);
  [[noreturn]] void fail_assertion(std::uint32_t thread, End const&, CallSite const&);

  // access_slow.cpp
  struct LaneAddress {
    std::uint32_t lane = 0;
    ptx::StateSpace space{};
    std::uint64_t address = 0;  // within its space
  };
  struct Elsewhere;
  std::uint64_t bytes_in_use(Context const&, LaneAddress const&) const;
  std::optional<Finding::Kind> wrong_with(Context const&, LaneAddress const&, std::uint32_t bytes,
                                          Memory::Buffer const*&) const;
  std::string message_about(Context const&, MicroOp const&, LaneAddress const&, Finding::Kind) const;
  std::uint64_t without_own_rank(std::uint64_t shared_address) const;
  Machine const* peer_at(ptx::StateSpace, std::uint64_t address, std::uint32_t& rank) const;
  void find_lanes(Context const&, MicroOp const&, Elsewhere&) const;
  void run_peers(Context&, MicroOp const& again, Elsewhere const&) const;
  void run_dropped(Context&, MicroOp const& again, Elsewhere const&);
  template <class Belongs>
  void run_part(Context&, MicroOp const&, Belongs const&) const;

  // barrier.cpp
  bool at_barrier(Unit&, End const&);
  bool at_several_barriers(Unit&, End const&);
  bool at_one_barrier(Unit&, End const&, bool everyone);  // everyone: all that reached the instruction together
  bool at_warp_barrier(Unit&, End const&);
  void park(Unit&, End const&, std::uint32_t barrier, std::uint32_t threads);
  bool release(bool running);
  [[noreturn]] void stuck();

  void watch_divisors();
  [[gnu::noinline]] void check_budget();  // not within count(), which each block calls
  [[noreturn]] void stop(Spending::Limit, std::uint32_t instruction) const;
  void count(BlockCode const&);

  Lanes lanes_of(Bits const&, Unit const&) const;
  Bits predicate(std::uint32_t slot) const;
  std::uint32_t lane_value(Unit const&, std::uint32_t slot, Bits const&) const;
  Fault fault(Finding::Kind, std::uint32_t instruction, std::uint32_t thread, std::string message) const;
  std::uint64_t group_of(std::uint32_t thread) const;
  // Throws the finding, unless the launch goes on after it: the caller then leaves out what is wrong.
  void pass_over(Finding::Kind, std::uint32_t instruction, std::uint32_t thread,
                 std::function<std::string()> const& message) const;
  std::uint32_t first_thread(std::uint32_t const* bits) const;

  Program const& program_;
  Program::Impl const& p_;
  Launch const& launch_;
  Memory::Impl& memory_;
  Memory& device_;
  std::span<Observer* const> observers_;
  Budget& budget_;

  std::uint32_t stride_ = 0;   // lanes per register
  std::uint32_t threads_ = 0;  // of a group
  std::vector<MicroOp> ops_;
  std::vector<Access> accesses_;
  std::vector<std::vector<std::uint32_t>> bound_operands_;  // of opcodes with many operands
  std::vector<BlockCode> code_;
  struct Free {
    void operator()(std::byte* p) const;
  };
  std::unique_ptr<std::byte[], Free> register_file_;
  std::vector<Unit> units_;
  std::vector<std::byte> shared_, parameters_;
  std::unique_ptr<TensorMemory> tensor_memory_;  // of kernels that use it
  std::vector<std::byte> nowhere_;  // what accesses that are passed over read and write, for each work-item its own
  CallStacks stacks_;
  std::uint32_t frame_slot_ = no_slot;  // where lanes find their base
  std::vector<std::uint64_t> const* module_variables_ = nullptr;
  std::vector<std::uint64_t> const* body_variables_ = nullptr;
  std::vector<Placement> placements_;  // [0] is the spare one
  std::unique_ptr<std::byte[], Free> placement_lanes_;
  alignas(64) std::array<std::uint32_t, max_lanes_per_unit> lane_masks_{};

  // The running fragment.
  Context context_;
  Unit* unit_ = nullptr;
  Bits bits_{};
  std::uint32_t block_ = 0;
  std::uint32_t next_rank_ = 0;  // the lowest of those that are ready at the same depth
  std::uint32_t depth_ = 0;      // of calls
  std::uint32_t live_warps_ = 0;
  Mode mode_ = Mode::full;
  bool alone_ = false;  // no other fragment in the unit
  static constexpr std::uint32_t max_tries = 16;
  std::uint32_t tries_ = 0;  // of all lanes together, one after the other
  PhaseWait waits_;          // of all its lanes, from the end of its block on

  Cluster const* cluster_ = nullptr;  // of several groups
  std::uint32_t cluster_rank_ = 0;
  bool waits_for_cluster_ = false, cluster_open_ = false, gives_up_ = false;
  bool moves_ = false, idle_ = false, tests_again_ = false;

  std::uint64_t group_ = 0;
  Dim3 group_id_;
  std::uint64_t shared_bytes_ = 0;  // of one group
  std::uint64_t bytes_ = 0, max_bytes_ = 0;
  // Several groups in one unit, each in group_lanes_ of its lanes (a power of two) and with shared memory of its own.
  std::uint32_t pack_ = 1, group_lanes_ = 0;  // 0: one group
  std::uint32_t unit_warps_ = 0;              // at most
  std::array<std::uint64_t, max_groups_per_unit> packed_groups_{};
  alignas(64) std::array<std::uint32_t, max_lanes_per_unit> shared_bases_{};
  Barriers barriers_;
  Turns turns_;
  Spending spent_;
  PrintedText printed_;
};

}  // namespace kernelcast::emu
