#include "emulator/machine/barriers.hpp"

#include <algorithm>
#include <bit>

namespace kernelcast::emu {

namespace {
constexpr std::uint32_t no_instruction = ~std::uint32_t{0};
}

void Barriers::begin() {
  arrived_.fill(0);
  if (std::exchange(arrivals_, false)) arrived_lanes_ = {};
}

void Barriers::arrive(std::uint32_t barrier, Unit const& unit, Bits const& bits) {
  arrivals_ = true;
  std::uint32_t warps = 0;
  for (std::uint32_t w = 0; w < unit.warps; ++w) {
    warps += bits[w] != 0;
    arrived_lanes_[barrier][unit.first_warp + w] |= bits[w];
  }
  arrived_[barrier] += warps * lanes_per_warp;
}

bool Barriers::open_warp_barriers(Unit& unit, std::uint64_t syncs) {
  Bits waiting{}, elsewhere{};
  bool any = false;
  for (Fragment const& f : unit.fragments) {
    bool const here = f.parked() && f.barrier == warp;
    any |= here;
    for (std::uint32_t w = 0; w < unit.warps; ++w) (here ? waiting : elsewhere)[w] |= f.bits[w];
  }
  bool opened = false;
  for (std::size_t i = 0; any && i < unit.fragments.size(); ++i) {
    Fragment& f = unit.fragments[i];
    if (!f.parked() || f.barrier != warp) continue;
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
    going.since = syncs;
    if (all)
      f = going;
    else
      unit.fragments.push_back(going);
  }
  return opened;
}

bool Barriers::counted_complete(std::span<Unit const> units) const {
  auto here = arrived_;
  std::array<std::uint32_t, count> wanted{};
  for (Unit const& unit : units)
    for (Fragment const& f : unit.fragments) {
      if (!f.parked() || f.threads == 0) continue;
      wanted[f.barrier] = std::max(wanted[f.barrier], f.threads);
      for (std::uint32_t w = 0; w < unit.warps; ++w)
        if (f.bits[w])
          here[f.barrier] += f.aligned ? lanes_per_warp : static_cast<std::uint32_t>(std::popcount(f.bits[w]));
    }
  for (std::uint32_t barrier = 0; barrier < warp; ++barrier)
    if (wanted[barrier] != 0 && here[barrier] >= wanted[barrier]) return true;
  return false;
}

Barriers::Released Barriers::release(Group const& group, bool running) {
  std::array<std::uint32_t, count> lanes{}, warps{}, wanted{};
  std::uint32_t waiting = 0;
  for (Unit& unit : group.units) {
    std::array<std::uint32_t, max_groups_per_unit> at{};  // by warp; groups may share one of the unit's
    at.fill(no_instruction);
    std::uint32_t const width = group.group_lanes ? std::min(group.group_lanes, lanes_per_warp) : lanes_per_warp;
    for (Fragment const& f : unit.fragments) {
      if (!f.parked()) continue;
      for (std::uint32_t w = 0; w < unit.warps; ++w) {
        if (!f.bits[w]) continue;
        std::uint32_t const n = static_cast<std::uint32_t>(std::popcount(f.bits[w]));
        lanes[f.barrier] += n;
        warps[f.barrier] += f.aligned ? lanes_per_warp : n;
        waiting += n;
        // Lanes of one warp must meet at the same aligned barrier.
        if (!f.aligned || f.barrier == warp) continue;
        for (std::uint32_t begin = 0; begin < lanes_per_warp; begin += width) {
          if (!(f.bits[w] >> begin & ~0u >> (lanes_per_warp - width))) continue;
          std::uint32_t& place = at[(lanes_per_warp * w + begin) / width];
          if (!running && place != no_instruction && place != f.instruction) return Released::stuck;
          place = f.instruction;
        }
      }
      wanted[f.barrier] = std::max(wanted[f.barrier], f.threads);
    }
  }
  bool opened = false, held = false;
  for (std::uint32_t barrier = 0; barrier < warp; ++barrier) {
    if (lanes[barrier] == 0) continue;
    std::uint32_t const here = warps[barrier] + arrived_[barrier];
    bool const complete = wanted[barrier] == 0 ? !running && lanes[barrier] == waiting : here >= wanted[barrier];
    if (!complete) continue;
    if (barrier == cluster && group.holds_cluster) {
      held = true;
      continue;
    }
    opened = true;
    // Arrivals beyond the barrier's count belong to its next phase.
    arrived_[barrier] =
        wanted[barrier] == 0 || arrived_[barrier] == 0 ? 0 : std::min(here - wanted[barrier], arrived_[barrier]);
    finish_reduction(group, barrier);
    if (!group.observers.empty()) notify_meeting(group, barrier, lanes[barrier] == waiting && !running);
    for (Unit& unit : group.units)
      for (Fragment& f : unit.fragments)
        if (f.parked() && f.barrier == barrier) {
          f.state = Fragment::State::ready;
          f.since = group.syncs;
        }
  }
  if (!opened && held) return Released::held;
  if (!opened && !running && waiting != 0) return Released::stuck;
  return opened ? Released::some : Released::none;
}

void Barriers::notify_meeting(Group const& group, std::uint32_t barrier, bool everyone) {
  std::array<std::uint32_t, 32> waiting{};
  for (Unit const& unit : group.units)
    for (Fragment const& f : unit.fragments)
      if (f.parked() && f.barrier == barrier)
        for (std::uint32_t w = 0; w < unit.warps; ++w) waiting[unit.first_warp + w] |= f.bits[w];
  std::uint32_t const warps = (group.threads + lanes_per_warp - 1) / lanes_per_warp;
  for (Observer* o : group.observers) o->meet({waiting.data(), arrived_lanes_[barrier].data(), warps, everyone});
  arrived_lanes_[barrier].fill(0);
}

void Barriers::finish_reduction(Group const& group, std::uint32_t barrier) {
  std::uint32_t holding = 0, total = 0;
  for (Unit const& unit : group.units)
    for (Fragment const& f : unit.fragments)
      if (f.parked() && f.barrier == barrier)
        for (std::uint32_t w = 0; w < unit.warps; ++w) {
          holding += static_cast<std::uint32_t>(std::popcount(f.holds[w]));
          total += static_cast<std::uint32_t>(std::popcount(f.bits[w]));
        }
  for (Unit& unit : group.units)
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

}  // namespace kernelcast::emu
