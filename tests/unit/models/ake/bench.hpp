// Small machines and kernels for the tests of the latency/gap emulator.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/ake/engine.hpp"

namespace kernelcast::model::ake {

// A machine of `schedulers` with these latencies and gaps in cycles for every class; 60 ticks a cycle.
inline Machine plain_machine(unsigned schedulers, Ticks latency, Ticks gap) {
  Machine m;
  m.device = "test";
  m.cycle = 60;
  m.schedulers = schedulers;
  m.issue_gap = m.cycle;
  m.units = 1;
  m.clock_hz = 1e9;
  for (Cost& c : m.cost) c = {latency * m.cycle, gap * m.cycle, Unit::core, false};
  for (Class const c : {Class::move, Class::control, Class::sync, Class::param_load, Class::const_load})
    m.of(c) = {0, 0, Unit::none, false};
  for (Class const c : {Class::smem_load, Class::smem_store, Class::smem_atomic}) m.of(c).unit = Unit::shared;
  m.of(Class::gmem_load_l1).unit = Unit::l1;
  m.of(Class::gmem_load_l2).unit = Unit::l2;
  m.of(Class::atomic_global).unit = Unit::l2;
  m.of(Class::gmem_load_dram).unit = Unit::dram;
  m.of(Class::barrier).unit = Unit::barrier;
  m.of(Class::fp64).unit = Unit::fp64;
  m.of(Class::sfu).unit = Unit::special;
  return m;
}

inline Instruction plain(Class c, std::vector<std::uint32_t> destinations, std::vector<std::uint32_t> sources) {
  Instruction i;
  i.type = {c, Kind::plain, Space::none};
  i.sources = std::move(sources);
  i.destinations = std::move(destinations);
  return i;
}

inline Instruction access(Kind kind, std::int32_t item, std::vector<std::uint32_t> destinations,
                          std::vector<std::uint32_t> sources) {
  Instruction i = plain(Class::gmem_load_l1, std::move(destinations), std::move(sources));
  i.type.kind = kind;
  i.type.space = Space::global;
  i.item = item;
  return i;
}

inline Instruction barrier() {
  Instruction i = plain(Class::barrier, {}, {});
  i.type.kind = Kind::barrier;
  return i;
}

// At an mbarrier; what it waits for, and which one it is, is an event of the group.
inline Instruction at_mbarrier(Kind kind, std::int32_t item) {
  Instruction i = plain(kind == Kind::phase ? Class::smem_load : Class::smem_store, {}, {});
  i.type.kind = kind;
  i.type.space = Space::shared;
  i.item = item;
  return i;
}

// The item of row r of wavefront w says this.
inline void add_event(Group& g, std::size_t w, std::size_t r, std::uint32_t item, Event e) {
  g.events.push_back(e);
  g.objects = std::max<std::size_t>(g.objects, e.object + 1);
  g.requests[g.rows[g.warp_begin[w] + r].requests + item].event = static_cast<std::uint32_t>(g.events.size());
}

inline Instruction leave() {
  Instruction i = plain(Class::control, {}, {});
  i.type.kind = Kind::exit;
  return i;
}

// A group whose wavefronts each execute these blocks; every access is `requests`.
inline Group group_of(Kernel const& kernel, std::vector<std::vector<std::uint32_t>> const& warps, Requests requests) {
  Group g;
  for (auto const& blocks : warps) {
    g.warp_begin.push_back(g.rows.size());
    for (std::uint32_t const b : blocks) {
      g.rows.push_back({b, static_cast<std::uint32_t>(g.requests.size())});
      for (Instruction const& i : kernel.blocks[b])
        if (i.item >= 0) g.requests.push_back(requests);
    }
  }
  g.warp_begin.push_back(g.rows.size());
  return g;
}

inline Outcome run(Machine const& m, Kernel const& kernel, std::vector<Group> const& groups, Setting const& s = {},
                   Order order = Order::program) {
  std::vector<Group const*> resident;
  for (Group const& g : groups) resident.push_back(&g);
  return emulate(m, compile(kernel, m, order, 0), resident, s);
}

inline double cycles(Machine const& m, Outcome const& o) {
  return static_cast<double>(o.end) / static_cast<double>(m.cycle);
}

}  // namespace kernelcast::model::ake
