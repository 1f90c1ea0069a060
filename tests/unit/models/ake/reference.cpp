#include "reference.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace kernelcast::model::ake {

namespace {

struct Warp {
  std::size_t place = 0, scheduler = 0;
  std::uint64_t age = 0, group_age = 0;
  Group const* group = nullptr;
  std::size_t row = 0, row_end = 0, at = 0;  // next instruction: kernel.blocks[rows[row].block][at]
  Ticks not_before = 0;
  bool waits = false, done = false;
  std::map<std::uint32_t, Ticks> ready;
  std::set<std::uint32_t> written;  // in this execution of the block
};

class Simulation {
 public:
  Simulation(Machine const& m, Kernel const& k, std::vector<Group const*> const& resident, Setting const& s)
      : m_(m), k_(k), resident_(resident), s_(s), free_(m.schedulers, 0), last_(m.schedulers) {
    for (std::size_t b = 0; b < k.blocks.size(); ++b)
      for (Instruction const& i : k.blocks[b]) {
        for (std::uint32_t const r : i.sources) {
          blocks_of_[r].insert(b);
          if (!written_in_[r].contains(b)) upward_.insert(r);
        }
        for (std::uint32_t const r : i.destinations) {
          blocks_of_[r].insert(b);
          written_in_[r].insert(b);
        }
      }
    std::size_t most = 0;
    for (Group const* g : resident) most = std::max(most, g->warps());
    stride_ = most;
    for (std::size_t p = 0; p < resident.size(); ++p) launch(p, 0);
  }

  ReferenceResult run() {
    for (Ticks t = 0; alive() > 0; ++t)
      for (std::size_t s = 0; s < m_.schedulers; ++s) {
        if (m_.issuing.by_kind)
          while (is_turn(s, t) && step(s, t)) {
          }
        else if (free_[s] <= t)
          step(s, t);
      }
    return {end_, instructions_};
  }

 private:
  void launch(std::size_t place, Ticks when) {
    Group const* const g = resident_[started_ % resident_.size()];
    for (std::size_t w = 0; w < g->warps(); ++w) {
      Warp warp;
      warp.place = place;
      warp.scheduler = (place * stride_ + w) % m_.schedulers;
      warp.age = age_++;
      warp.group_age = started_;
      warp.group = g;
      warp.row = g->warp_begin[w];
      warp.row_end = g->warp_begin[w + 1];
      warp.not_before = when;
      skip_empty(warp);
      warps_.push_back(warp);
    }
    ++started_;
  }
  void skip_empty(Warp& w) {
    while (w.row < w.row_end && w.at >= k_.blocks[w.group->rows[w.row].block].size()) {
      ++w.row;
      w.at = 0;
      w.written.clear();
    }
    w.done = w.row >= w.row_end;
  }
  std::size_t alive() const {
    return static_cast<std::size_t>(std::count_if(warps_.begin(), warps_.end(), [](Warp const& w) { return !w.done; }));
  }
  Instruction const& next(Warp const& w) const { return k_.blocks[w.group->rows[w.row].block][w.at]; }
  bool is_ready(Warp const& w, Ticks t) const {
    if (w.done || w.waits || w.not_before > t) return false;
    for (std::uint32_t const r : next(w).sources)
      if (auto const at = w.ready.find(r); at != w.ready.end() && at->second > t) return false;
    if (next(w).type.kind != Kind::phase) return true;
    Event const& e = event(w);
    std::size_t complete = 0;
    if (auto const there = arrived_.find({w.place, w.group_age, e.object}); there != arrived_.end())
      for (Ticks const when : there->second) complete += when <= t ? 1 : 0;
    // In the order of the arrivals, each as late as those before it.
    return complete >= e.count;
  }
  Event const& event(Warp const& w) const {
    Group const& g = *w.group;
    return g.events[g.requests[g.rows[w.row].requests + static_cast<std::uint32_t>(next(w).item)].event - 1];
  }

  // Machines that issue by kind.
  bool is_turn(std::size_t s, Ticks t) const {
    if (!m_.issuing.staggered) return true;
    Ticks const first = m_.issue_gap * static_cast<Ticks>(s) / static_cast<Ticks>(m_.schedulers);
    return t >= first && (t - first) % m_.issue_gap == 0;
  }
  static int kind_of(Instruction const& i) {
    switch (i.type.instruction_class) {
      case Class::barrier:
      case Class::sync:
        return 0;
      case Class::control:
        return 1;
      case Class::param_load:
      case Class::const_load:
        return 2;
      default:
        return i.item < 0 ? 3 : i.type.space == Space::shared ? 4 : 5;
    }
  }
  bool can_issue(Warp const& w, std::size_t s, Ticks t) const {
    if (!is_ready(w, t)) return false;
    Instruction const& i = next(w);
    int const kind = kind_of(i);
    if (auto const at = free_of_.find({s, kind}); at != free_of_.end() && at->second > t) return false;
    Cost const& cost = m_.of(i.type.instruction_class);
    if (kind != 3 || cost.gap == 0 || (!cost.per_scheduler && m_.schedulers > 1)) return true;
    auto const at = admit_.find({cost.unit, s});
    return at == admit_.end() || at->second <= t;
  }

  std::optional<std::size_t> pick(std::size_t s, Ticks t) const {
    std::vector<std::size_t> mine;
    for (std::size_t i = 0; i < warps_.size(); ++i)
      if (warps_[i].scheduler == s && !warps_[i].done) mine.push_back(i);
    std::sort(mine.begin(), mine.end(), [&](auto a, auto b) { return warps_[a].age < warps_[b].age; });
    if (m_.issuing.by_kind) {
      for (std::size_t const i : mine)
        if (can_issue(warps_[i], s, t)) return i;
      return std::nullopt;
    }
    if (s_.scheduler == Scheduler::rr) {
      for (bool after : {true, false})
        for (std::size_t const i : mine)
          if (is_ready(warps_[i], t) && (!after || !last_[s] || i > *last_[s])) return i;
      return std::nullopt;
    }
    if (last_[s] && is_ready(warps_[*last_[s]], t)) return last_[s];
    for (std::size_t const i : mine)
      if (is_ready(warps_[i], t)) return i;
    return std::nullopt;
  }

  Ticks start(Unit u, std::size_t part, Ticks t, Ticks length) {
    Ticks& admission = admit_[{u, part}];
    Ticks const s = std::max(t, admission);
    admission = s + length;
    return s;
  }

  bool step(std::size_t s, Ticks t) {
    auto const chosen = pick(s, t);
    if (!chosen) return false;
    last_[s] = chosen;
    free_[s] = t + m_.issue_gap;
    ++instructions_;
    end_ = std::max(end_, t);
    Warp& w = warps_[*chosen];
    Instruction const& i = next(w);
    Cost const& cost = m_.of(i.type.instruction_class);
    Ticks done = t;
    bool const branches =
        m_.issuing.by_kind && i.type.instruction_class == Class::control && i.type.kind == Kind::plain;
    if (m_.issuing.by_kind && kind_of(i) != 0) free_of_[{s, kind_of(i)}] = t + m_.issue_gap;
    bool const is_barrier = i.type.kind == Kind::barrier;
    if (i.type.kind == Kind::load || i.type.kind == Kind::store || i.type.kind == Kind::atomic)
      done = access(w, i, t);
    else if (cost.gap > 0)
      done = start(cost.unit, cost.per_scheduler ? s : 0, t, cost.gap) + cost.latency;
    else
      done = branches ? t : t + cost.latency;
    Ticks const arrival = is_barrier ? done - cost.latency : 0;
    if (i.type.kind == Kind::arrive) {
      auto& all = arrived_[{w.place, w.group_age, event(w).object}];
      Ticks const own = done - cost.latency + cost.gap;
      all.push_back(all.empty() ? own : std::max(all.back(), own));
    }
    end_ = std::max(end_, done);
    for (std::uint32_t const r : i.destinations) {
      bool const passes = blocks_of_[r].size() > 1 || upward_.contains(r);
      Ticks& ready = w.ready[r];
      ready = !passes && w.written.insert(r).second ? done : std::max(ready, done);
    }
    std::uint32_t const block = w.group->rows[w.row].block;
    ++w.at;
    w.not_before = t + m_.issuing.wavefront_turn;
    std::size_t const place = w.place;
    if (is_barrier) {
      w.waits = true;
      arrival_[place] = std::max(arrival_[place], arrival);
    } else {
      skip_empty(w);
      if (branches && !w.done && w.group->rows[w.row].block != block + 1)
        w.not_before = std::max(w.not_before, t + cost.latency);
    }
    settle(place, t, w.done);
    return true;
  }

  // Barriers whose last wavefront has come, and places whose group has ended.
  void settle(std::size_t place, Ticks t, bool ended) {
    std::size_t running = 0, waiting = 0;
    for (Warp const& w : warps_) {
      running += w.place == place && !w.done;
      waiting += w.place == place && !w.done && w.waits;
    }
    if (waiting > 0 && waiting == running) {
      Ticks const when = std::max(arrival_[place], ended ? t : 0) + m_.of(Class::barrier).latency;
      end_ = std::max(end_, when);
      arrival_[place] = 0;
      for (Warp& w : warps_)
        if (w.place == place && !w.done && w.waits) {
          w.waits = false;
          w.not_before = std::max(w.not_before, when);
          skip_empty(w);
        }
    }
    if (running == 0 && s_.groups > started_) launch(place, t + s_.launch_ticks);
  }

  Ticks access(Warp const& w, Instruction const& i, Ticks t) {
    Requests const& r = w.group->requests[w.group->rows[w.row].requests + static_cast<std::uint32_t>(i.item)];
    bool const atomic = i.type.kind == Kind::atomic;
    bool const waits = i.type.kind == Kind::load || (atomic && !i.destinations.empty());
    Ticks done = t, from = t;
    auto const visit = [&](Unit u, Ticks n, Ticks gap, Ticks latency) {
      if (n == 0) return;
      from = start(u, 0, from, n * gap);
      done = std::max(done, waits ? from + latency + (n - 1) * gap : from + n * gap);
    };
    Cost const& shared = m_.of(atomic                       ? Class::smem_atomic
                               : i.type.kind == Kind::store ? Class::smem_store
                                                            : Class::smem_load);
    visit(Unit::shared, r.shared, shared.gap, shared.latency);
    from = t;
    Cost const &l1 = m_.of(Class::gmem_load_l1), &l2 = m_.of(Class::gmem_load_l2), &at = m_.of(Class::atomic_global);
    visit(Unit::l1, r.l1, l1.gap, l1.latency);
    visit(Unit::l2, r.l2, atomic ? at.gap : l2.gap, atomic ? at.latency : l2.latency);
    visit(Unit::dram, r.dram, m_.of(Class::gmem_load_dram).gap, m_.of(Class::gmem_load_dram).latency);
    return done;
  }

  Machine const& m_;
  Kernel const& k_;
  std::vector<Group const*> const& resident_;
  Setting const& s_;
  std::vector<Ticks> free_;
  std::map<std::pair<std::size_t, int>, Ticks> free_of_;  // by scheduler and kind
  std::vector<std::optional<std::size_t>> last_;
  std::map<std::uint32_t, std::set<std::size_t>> blocks_of_, written_in_;
  std::set<std::uint32_t> upward_;
  std::vector<Warp> warps_;
  std::map<std::pair<Unit, std::size_t>, Ticks> admit_;
  std::map<std::size_t, Ticks> arrival_;
  std::map<std::tuple<std::size_t, std::uint64_t, std::uint32_t>, std::vector<Ticks>> arrived_;  // at mbarriers
  std::size_t stride_ = 1;
  std::uint64_t started_ = 0, age_ = 0, instructions_ = 0;
  Ticks end_ = 0;
};

}  // namespace

ReferenceResult reference(Machine const& m, Kernel const& k, std::vector<Group const*> const& resident,
                          Setting const& s) {
  return Simulation(m, k, resident, s).run();
}

}  // namespace kernelcast::model::ake
