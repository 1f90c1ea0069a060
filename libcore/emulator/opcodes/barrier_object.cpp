// mbarrier and cp.async.mbarrier.arrive. Class sync.
//
// Lanes take their turn in ascending order. A test never waits: a program that waits tests in a loop, and such a loop
// lets others run (machine/turns.hpp): lanes that all wait for phases of a few mbarriers until one is complete. How
// they are counted: one access to shared memory of 8 bytes per lane, a store for init and inval, else an atomic
// operation. When lanes find a phase complete, observers hear of a meeting: these go on, and whatever any lane of the
// group did before happens before what they do next.
//
// Deadlock: lanes that test without end let all others run, until these end, wait at a barrier or execute a block with
// a synchronising operation (machine/turns.hpp). When very many tests in a row have failed, no mbarrier has changed and
// no other such block was executed (but such that only sleep or fence), nothing can complete the phase any more.
#include "emulator/opcodes/barrier_object.hpp"

#include <algorithm>
#include <string>

#include "emulator/opcodes/copy.hpp"
#include "emulator/opcodes/families.hpp"
#include "emulator/opcodes/fragment.hpp"
#include "emulator/opcodes/transfer.hpp"

namespace kernelcast::emu::KERNELCAST_EMU_ISA {
namespace {

using Kind = BarrierOperation::Kind;

u64 new_object(Context& c, MicroOp const& op, u32 lane, u32 count) {
  if (count == 0 || s64{count} > max_arrivals)
    stop_at_lane(c, op, Finding::Kind::trap, lane, "an mbarrier's count must be 1 to 1048575");
  BarrierObject b;
  b.pending = b.expected = count;
  b.valid = true;
  return pack_barrier(b);
}

void change(BarrierOperation const& f, BarrierObject& b, s64 value) {
  s64 const arrivals = f.expects ? 1 : value;
  switch (f.kind) {
    case Kind::arrive_drop:
      b.expected -= arrivals;
      [[fallthrough]];
    case Kind::arrive:
      if (f.expects) b.transactions += value;
      b.pending -= arrivals;
      break;
    case Kind::expect:
      b.transactions += value;
      break;
    case Kind::complete:
      b.transactions -= value;
      break;
    case Kind::async_arrive:
      if (!f.increments) b.pending -= 1;
      break;
    default:
      break;
  }
}

struct Waiting {
  BarrierObject object;
  u32 lane = 0;
  bool any = false;
  Phase phases[max_phases];  // of all that wait
  u32 count = 0;             // above max_phases: too many

  void add(BarrierObject const& b, u32 of, std::byte const* at) {
    if (!any) object = b, lane = of;
    any = true;
    for (u32 k = 0; k < std::min(count, max_phases); ++k)
      if (phases[k].object == at) return;
    if (count < max_phases) phases[count] = {at, b.parity};
    ++count;
  }
};

[[noreturn]] void stop_waiting(Context& c, MicroOp const& op, Waiting const& w, u64 address) {
  std::string const text =
      "deadlock: waits for ever for phase " + std::to_string(w.object.parity) + " of the mbarrier at offset " +
      std::to_string(address & ((u64{1} << cluster_rank_shift) - 1)) + " of shared memory, which lacks " +
      std::to_string(w.object.pending) + " arrivals and " + std::to_string(w.object.transactions) + " bytes of copies";
  stop_at_lane(c, op, Finding::Kind::deadlock, w.lane, text.c_str());
}

// No lane found its phase complete.
bool waits_for_ever(Context& c) {
  if (c.failed_tests++ == 0) c.failing_since = c.syncs;
  return c.failed_tests > max_failed_tests && c.syncs - c.failing_since <= c.failed_tests;
}

void operate(Context& c, MicroOp const& op) {
  auto const& f = *static_cast<BarrierOperation const*>(op.data);
  LaneAddresses at;
  LaneBits complete{};
  read_addresses(c, source_at(op, f.object.source), f.object.wide, f.object.displacement, at);
  u64 states[max_lanes_per_unit];  // of test: what the state says; of arrive: the state before
  u32 values[max_lanes_per_unit];
  bool const test = f.kind == Kind::test || f.kind == Kind::test_parity;
  for (u32 index = 0; index < lanes_per_warp * c.warps; ++index) {
    values[index] = 1;
    if (f.value == BarrierOperation::nothing) continue;
    if (f.kind == Kind::test)
      states[index] = slot<u64>(c, source_at(op, f.value), 0)[index] >> 32;
    else
      values[index] = slot<u32>(c, source_at(op, f.value), 0)[index];
    if (f.kind == Kind::test_parity) states[index] = values[index] & 1;
  }
  Waiting waiting;
  bool went_on = false;
  transfer(c, op, *op.access, sizeof(u64), at, c.bits, [&](std::byte* host, u32 lane) {
    if (f.kind == Kind::init || f.kind == Kind::invalidate) {
      u64 const word = f.kind == Kind::init ? new_object(c, op, lane, values[lane]) : 0;
      std::memcpy(host, &word, sizeof word);
      return;
    }
    change_barrier(c, op, host, lane, [&](BarrierObject& b) {
      if (!test) {
        states[lane] = state_of(b);
        change(f, b, values[lane]);
      } else if (b.parity != states[lane]) {
        complete[lane / lanes_per_warp] |= 1u << lane % lanes_per_warp;
        went_on = true;
      } else {
        waiting.add(b, lane, host);
      }
    });
  });
  if (went_on) c.failed_tests = 0;
  if (waiting.any && !went_on && waits_for_ever(c)) stop_waiting(c, op, waiting, at[waiting.lane]);
  if (waiting.any && waiting.count <= max_phases && !went_on) wait_for_phases(c, waiting.phases, waiting.count);
  if (test && c.observed) notify_phase(c, complete);
  u32 const to = op.d[0];
  if (to == no_slot) return;
  for (u32 warp = 0; warp < c.warps; ++warp)
    per_lane(c.bits[warp], [&](u32 lane) {
      if (test)
        slot<u32>(c, to, warp)[lane] = complete[warp] >> lane & 1 ? ~0u : 0u;
      else
        slot<u64>(c, to, warp)[lane] = states[lanes_per_warp * warp + lane];
    });
}

void count_pending(Context& c, MicroOp const& op) {
  for (u32 warp = 0; warp < c.warps; ++warp)
    per_lane(c.bits[warp], [&](u32 lane) {
      slot<u32>(c, op.d[0], warp)[lane] = static_cast<u32>(slot<u64>(c, op.s[0], warp)[lane]) & 0xfffffu;
    });
}

// A group asks for the work of one that has not begun. Here none is ever given: each does its own, which is what
// happens where all have begun. The answer is a store of 16 bytes of zeros.
constexpr u32 answer_bytes = 16;
void query_launch(Context& c, MicroOp const& op) {
  auto const& f = *static_cast<LaunchQuery const*>(op.data);
  for (u32 warp = 0; warp < c.warps; ++warp)
    per_lane(c.bits[warp], [&](u32 of_warp) {
      u32 const lane = lanes_per_warp * warp + of_warp;
      bool const all = f.ranks != LaunchQuery::nothing;
      u32 const ranks = all ? slot<u32>(c, source_at(op, f.ranks), 0)[lane] : 1;
      u32 const own = all ? slot<u32>(c, source_at(op, f.ranks + 1u), 0)[lane] : 0;
      LaneBits bits{};
      LaneAddresses at{};
      bits[warp] = 1u << of_warp;
      for (u32 rank = 0; rank < ranks; ++rank) {
        auto const address = [&](CopyAddress const& a) {
          u64 const given = lane_address(c, source_at(op, a.source), a.wide, a.displacement, lane);
          return all ? in_group(given, rank, own) : given;
        };
        at[lane] = address(f.answer);
        transfer(c, op, op.access[0], answer_bytes, at, bits,
                 [](std::byte* host, u32) { std::memset(host, 0, answer_bytes); });
        at[lane] = address(f.barrier);
        transfer(c, op, op.access[1], sizeof(u64), at, bits, [&](std::byte* host, u32 index) {
          change_barrier(c, op, host, index, [](BarrierObject& b) { b.transactions -= answer_bytes; });
        });
      }
    });
}

constexpr Opcode table[] = {
    {"#launch_query", Class::sync, {}, {}, query_launch, query_launch},
    {"#mbarrier", Class::sync, {}, {}, operate, operate},
    {"#mbarrier.pending_count", Class::sync, {}, {}, count_pending, count_pending},
};

}  // namespace

std::span<Opcode const> barrier_object_opcodes() {
  return table;
}

}  // namespace kernelcast::emu::KERNELCAST_EMU_ISA
