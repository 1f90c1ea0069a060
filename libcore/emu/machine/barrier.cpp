// Barriers: fragments that arrive park until the barrier is complete.
//
// Barriers of the group open when none of its work-items can go on, or, where lanes only spin, when a barrier's count
// is reached; so a barrier opens once for all that wait there, and counts do not depend on the order of arrival.
// bar.warp.sync waits, as independent lanes do since Volta, until all lanes of its mask that have not left wait at some
// bar.warp.sync, not necessarily the same. A cluster is one group: its wait is a barrier of the group of its own.
#include <algorithm>
#include <bit>

#include "emu/machine/machine.hpp"

namespace kernelcast::emu {

namespace {
constexpr std::uint32_t nowhere = ~std::uint32_t{0};
}

// Warps that run together may name different barriers, or other numbers of threads: each part for itself.
bool Machine::at_several_barriers(Unit& unit, End const& end) {
  auto const* index = reinterpret_cast<std::uint32_t const*>(unit.registers + end.index);
  auto const* count = end.count == no_slot ? index : reinterpret_cast<std::uint32_t const*>(unit.registers + end.count);
  Bits rest = bits_;
  for (;;) {
    Bits part{};
    std::uint32_t first = nowhere;
    for (std::uint32_t w = 0; w < unit.warps; ++w)
      for (std::uint32_t bits = rest[w]; bits; bits &= bits - 1) {
        std::uint32_t const lane = w * lanes_per_warp + static_cast<std::uint32_t>(std::countr_zero(bits));
        if (first == nowhere) first = lane;
        if (index[lane] == index[first] && count[lane] == count[first]) part[w] |= 1u << lane % lanes_per_warp;
      }
    if (first == nowhere) return false;
    for (std::uint32_t w = 0; w < unit.warps; ++w) rest[w] &= ~part[w];
    bits_ = part;
    if (at_one_barrier(unit, end, false)) push(unit, block_--, bits_);
  }
}

bool Machine::at_barrier(Unit& unit, End const& end) {
  auto const differs = [&](std::uint32_t slot) {
    if (slot == no_slot) return false;
    auto const* value = reinterpret_cast<std::uint32_t const*>(unit.registers + slot);
    std::uint32_t const first = lane_value(unit, slot, bits_);
    for (std::uint32_t w = 0; w < unit.warps; ++w)
      for (std::uint32_t bits = bits_[w]; bits; bits &= bits - 1)
        if (value[w * lanes_per_warp + static_cast<std::uint32_t>(std::countr_zero(bits))] != first) return true;
    return false;
  };
  if (end.numbered && (differs(end.index) || differs(end.count))) return at_several_barriers(unit, end);
  return at_one_barrier(unit, end, true);
}

bool Machine::at_one_barrier(Unit& unit, End const& end, bool everyone) {
  if (context_.observed) {
    Lanes const lanes = lanes_of(bits_, unit);
    for (Observer* o : observers_) o->barrier(end.instruction, lanes);
  }
  std::uint32_t const barrier = end.cluster ? cluster_barrier : lane_value(unit, end.index, bits_);
  std::uint32_t const threads = end.count == no_slot ? 0 : lane_value(unit, end.count, bits_);
  if (barrier >= cluster_barrier && !end.cluster)
    throw fault(Finding::Kind::trap, end.instruction, first_thread(bits_.data()),
                "barrier " + std::to_string(barrier) + " does not exist: there are 16");
  if (end.kind == End::Kind::arrive) {
    arrivals_ = true;
    std::uint32_t warps = 0;
    for (std::uint32_t w = 0; w < unit.warps; ++w) {
      warps += bits_[w] != 0;
      arrived_lanes_[barrier][unit.first_warp + w] |= bits_[w];
    }
    arrived_[barrier] += warps * lanes_per_warp;
    ++block_;
    return true;
  }
  // The whole group is here: nothing to wait for.
  if (everyone && units_.size() == 1 && unit.fragments.empty() && threads == 0 &&
      end.reduction == End::Reduction::none) {
    if (context_.observed)
      for (Observer* o : observers_) o->meet({bits_.data(), nullptr, unit.warps, true});
    ++block_;
    return true;
  }
  park(unit, end, barrier, threads);
  return false;
}

void Machine::park(Unit& unit, End const& end, std::uint32_t barrier, std::uint32_t threads) {
  push(unit, block_ + 1, bits_);
  Fragment& waiting = unit.fragments.back();
  waiting.state = Fragment::State::parked;
  waiting.barrier = barrier;
  waiting.threads = threads;
  waiting.instruction = end.instruction;
  waiting.aligned = end.aligned;
  waiting.end = &end;
  if (end.reduction == End::Reduction::none) return;
  waiting.holds = predicate(end.reduced);
  for (std::uint32_t w = 0; w < unit.warps; ++w)
    waiting.holds[w] = (end.reduced_negated ? ~waiting.holds[w] : waiting.holds[w]) & bits_[w];
}

bool Machine::at_warp_barrier(Unit& unit, End const& end) {
  bool complete = true;
  auto const* mask = reinterpret_cast<std::uint32_t const*>(unit.registers + end.index);
  for (Fragment const& f : unit.fragments)
    for (std::uint32_t w = 0; w < unit.warps; ++w)
      for (std::uint32_t bits = f.bits[w] ? bits_[w] : 0; bits; bits &= bits - 1)
        complete &= (mask[w * lanes_per_warp + static_cast<std::uint32_t>(std::countr_zero(bits))] & f.bits[w]) == 0;
  if (complete) {
    ++block_;
    return true;
  }
  park(unit, end, warp_barrier, 0);
  return false;
}

// Lets the lanes go whose masks name only lanes that wait like them, or that have left.
bool Machine::open_warp_barriers(Unit& unit) {
  Bits waiting{}, elsewhere{};
  bool any = false;
  for (Fragment const& f : unit.fragments) {
    bool const here = f.parked() && f.barrier == warp_barrier;
    any |= here;
    for (std::uint32_t w = 0; w < unit.warps; ++w) (here ? waiting : elsewhere)[w] |= f.bits[w];
  }
  bool opened = false;
  for (std::size_t i = 0; any && i < unit.fragments.size(); ++i) {
    Fragment& f = unit.fragments[i];
    if (!f.parked() || f.barrier != warp_barrier) continue;
    auto const* mask = reinterpret_cast<std::uint32_t const*>(unit.registers + f.end->index);
    Fragment going = f;
    bool some = false, all = true;
    for (std::uint32_t w = 0; w < unit.warps; ++w)
      for (std::uint32_t bits = f.bits[w]; bits; bits &= bits - 1) {
        std::uint32_t const lane = static_cast<std::uint32_t>(std::countr_zero(bits));
        if (mask[w * lanes_per_warp + lane] & elsewhere[w]) {
          going.bits[w] &= ~(1u << lane);
          all = false;
        } else {
          some = true;
        }
      }
    if (!some) continue;
    opened = true;
    for (std::uint32_t w = 0; w < unit.warps; ++w) f.bits[w] &= ~going.bits[w];
    going.state = Fragment::State::ready;
    going.since = context_.syncs;
    if (all)
      f = going;
    else
      unit.fragments.push_back(going);
  }
  return opened;
}

// Opens the barriers that are complete; while lanes run elsewhere, only those that count. True when one has opened.
bool Machine::release(bool running) {
  std::array<std::uint32_t, barriers> lanes{}, warps{}, wanted{};
  std::uint32_t waiting = 0;
  for (Unit& unit : units_) {
    std::array<std::uint32_t, max_groups_per_unit> at{};  // by warp; groups may share one of the unit's
    at.fill(nowhere);
    std::uint32_t const width = group_lanes_ ? std::min(group_lanes_, lanes_per_warp) : lanes_per_warp;
    for (Fragment const& f : unit.fragments) {
      if (!f.parked()) continue;
      for (std::uint32_t w = 0; w < unit.warps; ++w) {
        if (!f.bits[w]) continue;
        std::uint32_t const n = static_cast<std::uint32_t>(std::popcount(f.bits[w]));
        lanes[f.barrier] += n;
        warps[f.barrier] += f.aligned ? lanes_per_warp : n;
        waiting += n;
        // Lanes of one warp must meet at the same aligned barrier.
        if (!f.aligned || f.barrier == warp_barrier) continue;
        for (std::uint32_t begin = 0; begin < lanes_per_warp; begin += width) {
          if (!(f.bits[w] >> begin & ~0u >> (lanes_per_warp - width))) continue;
          std::uint32_t& place = at[(lanes_per_warp * w + begin) / width];
          if (!running && place != nowhere && place != f.instruction) stuck();
          place = f.instruction;
        }
      }
      wanted[f.barrier] = std::max(wanted[f.barrier], f.threads);
    }
  }
  bool opened = false;
  for (std::uint32_t barrier = 0; barrier < warp_barrier; ++barrier) {
    if (lanes[barrier] == 0) continue;
    std::uint32_t const here = warps[barrier] + arrived_[barrier];
    bool const complete = wanted[barrier] == 0 ? !running && lanes[barrier] == waiting : here >= wanted[barrier];
    if (!complete) continue;
    opened = true;
    // Arrivals beyond the barrier's count belong to its next phase.
    arrived_[barrier] =
        wanted[barrier] == 0 || arrived_[barrier] == 0 ? 0 : std::min(here - wanted[barrier], arrived_[barrier]);
    finish_reduction(barrier);
    if (context_.observed) notify_meeting(barrier, lanes[barrier] == waiting && !running);
    for (Unit& unit : units_)
      for (Fragment& f : unit.fragments)
        if (f.parked() && f.barrier == barrier) {
          f.state = Fragment::State::ready;
          f.since = context_.syncs;
        }
  }
  if (!opened && !running && waiting != 0) stuck();
  return opened;
}

void Machine::notify_meeting(std::uint32_t barrier, bool everyone) {
  std::array<std::uint32_t, 32> waiting{};
  for (Unit const& unit : units_)
    for (Fragment const& f : unit.fragments)
      if (f.parked() && f.barrier == barrier)
        for (std::uint32_t w = 0; w < unit.warps; ++w) waiting[unit.first_warp + w] |= f.bits[w];
  std::uint32_t const warps = (threads_ + lanes_per_warp - 1) / lanes_per_warp;
  for (Observer* o : observers_) o->meet({waiting.data(), arrived_lanes_[barrier].data(), warps, everyone});
  arrived_lanes_[barrier].fill(0);
}

void Machine::finish_reduction(std::uint32_t barrier) {
  std::uint32_t holding = 0, total = 0;
  for (Unit const& unit : units_)
    for (Fragment const& f : unit.fragments)
      if (f.parked() && f.barrier == barrier)
        for (std::uint32_t w = 0; w < unit.warps; ++w) {
          holding += static_cast<std::uint32_t>(std::popcount(f.holds[w]));
          total += static_cast<std::uint32_t>(std::popcount(f.bits[w]));
        }
  for (Unit& unit : units_)
    for (Fragment const& f : unit.fragments) {
      if (!f.parked() || f.barrier != barrier || f.end->reduction == End::Reduction::none) continue;
      std::uint32_t const value = f.end->reduction == End::Reduction::popc          ? holding
                                  : f.end->reduction == End::Reduction::conjunction ? (holding == total ? ~0u : 0u)
                                                                                    : (holding != 0 ? ~0u : 0u);
      auto* result = reinterpret_cast<std::uint32_t*>(unit.registers + f.end->result);
      for (std::uint32_t w = 0; w < unit.warps; ++w)
        for (std::uint32_t bits = f.bits[w]; bits; bits &= bits - 1)
          result[w * lanes_per_warp + static_cast<std::uint32_t>(std::countr_zero(bits))] = value;
    }
}

// No work-item can go on: names the first place of the text where work-items wait, and another.
void Machine::stuck() {
  Fragment const *one = nullptr, *other = nullptr;
  for (Unit& unit : units_)
    for (Fragment const& f : unit.fragments) {
      if (one && f.instruction >= one->instruction) continue;
      one = &f;
      unit_ = &unit;
    }
  for (Unit& unit : units_)
    for (Fragment const& f : unit.fragments)
      if (f.instruction != one->instruction && !other) other = &f;
  auto place = [&](Fragment const& f) {
    ptx::Instruction const& i = p_.kernel->instructions[f.instruction];
    std::string const source = p_.module->describe(i.source);
    std::string const name = f.barrier == warp_barrier      ? "the barrier of a warp"
                             : f.barrier == cluster_barrier ? "the barrier of the cluster"
                                                            : "barrier " + std::to_string(f.barrier);
    return name + " at " + p_.module->path + ":" + std::to_string(i.at.line) +
           (source.empty() ? "" : " (" + source + ")");
  };
  bool const diverged = other && one->barrier != warp_barrier && other->barrier != warp_barrier;
  std::string message;
  if (other)
    message = "work-items of one group wait at different barriers: " + place(*one) + " and " + place(*other);
  else if (one->barrier == warp_barrier)
    message = "work-items wait for ever at " + place(*one) + " for others of its mask";
  else
    message =
        "work-items wait for ever at " + place(*one) + ", which asks for " + std::to_string(one->threads) + " threads";
  throw fault(diverged ? Finding::Kind::divergent_barrier : Finding::Kind::deadlock, one->instruction,
              first_thread(one->bits.data()), message);
}

}  // namespace kernelcast::emu
