#include "models/ake/memory.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <numeric>
#include <random>
#include <unordered_map>

#include "models/ake/cache.hpp"

namespace kernelcast::model::ake {

namespace {

constexpr std::uint64_t local_space = std::uint64_t{1} << 62;
constexpr std::uint64_t local_bytes_per_wavefront = std::uint64_t{1} << 24;
constexpr std::size_t none = ~std::size_t{0};

unsigned count(std::uint8_t sectors) {
  return static_cast<unsigned>(std::popcount(sectors));
}

std::uint16_t narrow(unsigned n) {
  return static_cast<std::uint16_t>(std::min(n, 0xffffu));
}

// The second level. Lines of one group alone live in this unit's part of it.
class SecondLevel {
 public:
  SecondLevel(std::uint64_t bytes, double part, unsigned ways)
      : whole_(bytes, ways),
        own_(static_cast<std::uint64_t>(static_cast<double>(bytes) * std::clamp(part, 0.0, 1.0)), ways),
        divided_(part < 1) {}

  // Sectors that are there.
  std::uint8_t read(std::uint64_t line, std::uint8_t sectors, std::size_t group) {
    std::uint8_t const any = whole_.read(line, sectors, 0, static_cast<std::uint32_t>(group));
    return pick(any, divided_ ? own_.read(line, sectors) : any);
  }
  // Sectors that were dirty already.
  std::uint8_t write(std::uint64_t line, std::uint8_t sectors, std::size_t group) {
    std::uint8_t const any = whole_.write(line, sectors, static_cast<std::uint32_t>(group));
    return pick(any, divided_ ? own_.write(line, sectors) : any);
  }

 private:
  std::uint8_t pick(std::uint8_t any, std::uint8_t own) const {
    return whole_.last_is_shared() ? static_cast<std::uint8_t>(any | own) : own;
  }

  Cache whole_, own_;
  bool divided_;
};

class Preparer {
 public:
  Preparer(Launch const& launch, Machine const& machine, MemoryMode const& mode, std::size_t resident,
           double active_units)
      : launch_(launch),
        machine_(machine),
        mode_(mode),
        active_units_(active_units),
        rules_(machine),
        resident_(std::max<std::size_t>(1, resident)) {
    for (auto const& block : launch.kernel->blocks) {
      auto& list = accesses_.emplace_back();
      for (Instruction const& i : block)
        if (i.item >= 0) list.push_back(&i);
    }
    if (mode.kind == MemoryMode::Kind::simulated) make_caches(active_units);
  }

  Prepared run() {
    std::size_t const kept = std::min(launch_.groups.size(), resident_);
    bool const simulated = mode_.kind == MemoryMode::Kind::simulated;
    std::size_t const all = simulated ? launch_.groups.size() : kept;
    std::vector<Group> groups(all);
    for (std::size_t g = 0; g < all; ++g) lay_out(launch_.groups[g], groups[g]);
    if (simulated) {
      if (mode_.warm) warm_up(groups);
      in_turns(groups);
    } else {
      for (std::size_t g = 0; g < all; ++g)
        for (std::size_t w = 0; w < groups[g].warps(); ++w)
          for (std::size_t r = 0; r < launch_.groups[g].warps[w].rows.size(); ++r) add_row(g, w, r, groups[g]);
    }
    count_atomics(all);
    groups.resize(kept);
    out_.groups = std::move(groups);
    return std::move(out_);
  }

 private:
  void make_caches(double active_units) {
    Caches const& c = machine_.caches;
    std::size_t const traced = launch_.groups.size();
    double const full = std::min(1.0, static_cast<double>(traced) / static_cast<double>(resident_));
    std::uint64_t const shared = c.l1_has_shared ? resident_ * launch_.head.shared_bytes.value_or(0) : 0;
    std::uint64_t const l1 = c.l1_bytes - std::min(c.l1_bytes, shared);
    std::size_t const units = (traced + resident_ - 1) / resident_;
    for (std::size_t u = 0; u < units; ++u)
      l1_.emplace_back(static_cast<std::uint64_t>(static_cast<double>(l1) * full), c.l1_ways);
    double const traced_units = static_cast<double>(traced) / static_cast<double>(resident_);
    l2_.emplace_back(c.l2_bytes, traced_units / std::max(1.0, active_units), c.l2_ways);
  }

  void lay_out(TracedGroup const& traced, Group& group) const {
    group.number = traced.number;
    group.objects = traced.objects.size();
    std::size_t requests = 0;
    for (TracedWarp const& warp : traced.warps) {
      group.warp_begin.push_back(group.rows.size());
      for (TracedRow const& row : warp.rows) {
        group.rows.push_back({row.block, static_cast<std::uint32_t>(requests)});
        requests += accesses_[row.block].size();
      }
    }
    group.warp_begin.push_back(group.rows.size());
    group.requests.resize(requests);
    for (std::size_t w = 0; w < traced.warps.size(); ++w)
      for (TracedEvent const& e : traced.warps[w].events) {
        group.events.push_back(e.event);
        group.requests[group.rows[group.warp_begin[w] + e.row].requests + e.item].event =
            static_cast<std::uint32_t>(group.events.size());
      }
  }

  // A run of which only the second level's content stays.
  void warm_up(std::vector<Group>& groups) {
    survey_ = std::make_unique<Survey>();
    in_turns(groups);
    for (Group& g : groups)
      for (Requests& r : g.requests) r = {.event = r.event};
    double const copies = static_cast<double>(launch_.groups_total()) / static_cast<double>(groups.size());
    double const lines =
        static_cast<double>(survey_->own) * std::max(1.0, copies) + static_cast<double>(survey_->shared);
    survey_.reset();
    auto before = std::move(l2_);
    l1_.clear();
    l2_.clear();
    make_caches(active_units_);
    out_ = Prepared{};
    out_.footprint_bytes = lines * line_bytes;
    out_.stays_warm = out_.footprint_bytes <= static_cast<double>(machine_.caches.l2_bytes);
    if (out_.stays_warm) l2_ = std::move(before);
  }

  // Block by block, wavefront by wavefront, group by group. Units come in another order each time, so that none
  // of those that read the same is always the first.
  void in_turns(std::vector<Group>& groups) {
    std::size_t longest = 0;
    for (TracedGroup const& g : launch_.groups)
      for (TracedWarp const& w : g.warps) longest = std::max(longest, w.rows.size());
    std::vector<std::size_t> units((groups.size() + resident_ - 1) / resident_);
    std::iota(units.begin(), units.end(), std::size_t{0});
    std::minstd_rand random;  // the same everywhere
    for (std::size_t r = 0; r < longest; ++r) {
      for (std::size_t u = units.size(); u > 1; --u) std::swap(units[u - 1], units[random() % u]);
      for (std::size_t const u : units)
        for (std::size_t g = u * resident_; g < std::min(groups.size(), (u + 1) * resident_); ++g)
          for (std::size_t w = 0; w < groups[g].warps(); ++w)
            if (r < launch_.groups[g].warps[w].rows.size()) add_row(g, w, r, groups[g]);
    }
  }

  // Calls visit(instruction, part, list) for the accesses of a row.
  template <class Visit>
  void each_part(TracedWarp const& warp, std::size_t r, Visit visit) const {
    TracedRow const& row = warp.rows[r];
    std::size_t const end = r + 1 < warp.rows.size() ? warp.rows[r + 1].parts : warp.parts.size();
    for (std::size_t p = row.parts; p < end; ++p) {
      Part part = warp.parts[p];
      Instruction const& instruction = *accesses_[row.block][part.item];
      if (part.space == Space::none) part.space = instruction.type.space;
      visit(instruction, part, part.listed ? warp.lists.data() + part.list() : nullptr);
    }
  }

  void add_row(std::size_t g, std::size_t w, std::size_t r, Group& group) {
    Requests* const requests = group.requests.data() + group.rows[group.warp_begin[w] + r].requests;
    std::uint64_t const home = local_space + (launch_.groups[g].number * 64 + w) * local_bytes_per_wavefront;
    each_part(launch_.groups[g].warps[w], r, [&](Instruction const& i, Part const& part, std::uint64_t const* list) {
      add(i, part, list, home, g, requests[part.item]);
    });
  }

  void count_atomics(std::size_t groups) {
    bool any = false;
    for (auto const& block : accesses_)
      any |= std::any_of(block.begin(), block.end(), [](auto const* i) { return i->type.kind == Kind::atomic; });
    if (!any || groups == 0) return;
    struct Address {
      double updates = 0;
      std::size_t groups = 0, last = none;
    };
    std::unordered_map<std::uint64_t, Address> addresses;
    double sectors = 0;
    for (std::size_t g = 0; g < groups; ++g) {
      auto const update = [&](std::uint64_t address, unsigned lanes) {
        Address& a = addresses[address];
        a.updates += lanes;
        if (a.last != g) ++a.groups, a.last = g;
      };
      for (TracedWarp const& warp : launch_.groups[g].warps)
        for (std::size_t r = 0; r < warp.rows.size(); ++r)
          each_part(warp, r, [&](Instruction const& i, Part const& part, std::uint64_t const* list) {
            if (i.type.kind != Kind::atomic || (part.space != Space::global && part.space != Space::generic)) return;
            for (Touch const& t : rules_.touches(part, list, i.bytes_per_lane, 0)) sectors += count(t.sectors);
            auto const lanes = static_cast<unsigned>(std::popcount(part.mask));
            if (!list && part.stride == 0) return update(part.first, lanes);
            unsigned const lowest = static_cast<unsigned>(std::countr_zero(part.mask));
            std::size_t n = 0;
            for (std::uint64_t rest = part.mask; rest; rest &= rest - 1)
              update(list ? list[n++]
                          : part.first + static_cast<std::uint64_t>(std::int64_t{part.stride}) *
                                             (static_cast<unsigned>(std::countr_zero(rest)) - lowest),
                     1);
          });
    }
    double const copies = static_cast<double>(launch_.groups_total()) / static_cast<double>(groups);
    for (auto const& [address, a] : addresses)
      out_.atomic_same_address = std::max(out_.atomic_same_address, a.updates * (2 * a.groups > groups ? copies : 1));
    out_.atomic_sectors = sectors * copies;
  }

  void add(Instruction const& i, Part const& part, std::uint64_t const* list, std::uint64_t home, std::size_t g,
           Requests& r) {
    Kind const kind = i.type.kind;
    if (kind != Kind::load && kind != Kind::store && kind != Kind::atomic && kind != Kind::copy) return;
    if (part.space == Space::shared && i.type.engine) {
      r.shared = narrow(r.shared + engine_passes(part, i.bytes_per_lane));
      return;
    }
    if (part.space == Space::shared) {
      r.shared = narrow(r.shared + rules_.passes(part, list, i.bytes_per_lane, i.type.kind == Kind::atomic));
      return;
    }
    if (part.space == Space::constant || part.space == Space::param) return;
    bool const load = kind == Kind::load || (kind == Kind::copy && !i.type.stores);
    auto const touches = rules_.touches(part, list, i.bytes_per_lane, home);
    if (survey_) survey_->add(touches, g);
    if (mode_.kind == MemoryMode::Kind::simulated && machine_.caches.l2_bytes > 0) {
      i.type.kind == Kind::atomic ? atomic(touches, part, list, g, r)
      : load                      ? simulate_load(i, part, touches, g, r)
                                  : simulate_store(touches, g, r);
      count_hits(load && g < resident_);
      return;
    }
    unsigned const sectors = rules_.sectors(part, list, i.bytes_per_lane, load, touches);
    if (mode_.kind != MemoryMode::Kind::given) {
      if (i.type.kind == Kind::atomic)
        r.l2 = narrow(r.l2 + std::max(sectors, AccessRules::max_on_one_address(part, list)));
      r.dram = narrow(r.dram + sectors);
      return;
    }
    by_rates(load, sectors, static_cast<unsigned>(touches.size()), r);
    if (i.type.kind == Kind::atomic) r.l2 = std::max(r.l2, narrow(AccessRules::max_on_one_address(part, list)));
    count_hits(load);
  }

  // A copy engine takes whole lines.
  unsigned engine_passes(Part const& part, unsigned bytes) const {
    unsigned const line = machine_.banks * machine_.bank_bytes;
    return (static_cast<unsigned>(std::popcount(part.mask)) * bytes + line - 1) / std::max(1u, line);
  }

  bool first_level_takes(Instruction const& i, Space space) const {
    Caches const& c = machine_.caches;
    if (c.l1_bytes == 0 || i.type.past_l1) return false;
    return c.l1_takes_loads || space == Space::local || space == Space::texture ||
           (i.type.read_only && c.l1_takes_read_only);
  }

  void simulate_load(Instruction const& i, Part const& part, std::span<Touch const> touches, std::size_t g,
                     Requests& r) {
    bool const first = first_level_takes(i, part.space);
    for (Touch const& t : touches) {
      std::uint8_t missing = fetched(t.sectors);
      if (first) {
        bool const lines = machine_.caches.l1_fills_lines;
        std::uint8_t const hit = l1_[g / resident_].read(t.line, t.sectors, lines ? 0xf : missing);
        missing = fetched(static_cast<std::uint8_t>(t.sectors & ~hit));
        if (missing && lines) missing = 0xf;
        l1_lookups_ += count(t.sectors);
        l1_found_ += count(hit);
        if (r.l1 == 0 || !machine_.caches.l1_gap_is_of_access) r.l1 = narrow(r.l1 + requests(t.sectors));
      }
      if (!missing) continue;
      std::uint8_t const hit = l2_[0].read(t.line, missing, g);
      l2_lookups_ += count(missing);
      l2_found_ += count(hit);
      r.l2 = narrow(r.l2 + count(missing));
      r.dram = narrow(r.dram + count(static_cast<std::uint8_t>(missing & ~hit)));
    }
  }

  // AMD's memory gives 64 bytes for 32.
  std::uint8_t fetched(std::uint8_t sectors) const {
    if (machine_.rule != AccessRule::amd64) return sectors;
    return static_cast<std::uint8_t>(((sectors & 3) ? 3u : 0u) | ((sectors & 12) ? 12u : 0u));
  }

  // Of a line, to the first level.
  unsigned requests(std::uint8_t sectors) const {
    if (machine_.caches.l1_request_bytes == line_bytes) return 1;
    return ((sectors & 3) ? 1u : 0u) + ((sectors & 12) ? 1u : 0u);
  }

  void simulate_store(std::span<Touch const> touches, std::size_t g, Requests& r) {
    for (Touch const& t : touches) {
      if (machine_.caches.stores_evict) l1_[g / resident_].evict(t.line);
      std::uint8_t const dirty = l2_[0].write(t.line, t.sectors, g);
      r.l2 = narrow(r.l2 + count(t.sectors));
      r.dram = narrow(r.dram + count(static_cast<std::uint8_t>(t.sectors & ~dirty)));
    }
  }

  void atomic(std::span<Touch const> touches, Part const& part, std::uint64_t const* list, std::size_t g, Requests& r) {
    unsigned sectors = 0;
    for (Touch const& t : touches) {
      std::uint8_t const hit = l2_[0].read(t.line, t.sectors, g);
      l2_[0].write(t.line, t.sectors, g);
      sectors += count(t.sectors);
      r.dram = narrow(r.dram + count(static_cast<std::uint8_t>(t.sectors & ~hit)));
    }
    r.l2 = narrow(r.l2 + std::max(sectors, AccessRules::max_on_one_address(part, list)));
  }

  // The hits among `n` requests, the fraction carried over to the next.
  static unsigned take(double& carried, double rate, unsigned n) {
    carried += rate * n;
    double const hits = std::min<double>(std::floor(carried + 1e-9), n);
    carried -= hits;
    return static_cast<unsigned>(hits);
  }

  void by_rates(bool load, unsigned sectors, unsigned lines, Requests& r) {
    unsigned rest = sectors;
    if (load && machine_.caches.l1_bytes > 0 && mode_.l1_hit > 0) {
      unsigned const hits = take(carried_l1_, mode_.l1_hit, sectors);
      r.l1 = narrow(r.l1 + (machine_.caches.l1_gap_is_of_access ? 1u : lines));
      l1_lookups_ += sectors;
      l1_found_ += hits;
      rest -= hits;
    }
    unsigned missing = rest;
    if (machine_.caches.l2_bytes > 0) {
      unsigned const hits = take(load ? carried_l2_ : carried_store_, mode_.l2_hit, rest);
      missing -= hits;
      r.l2 = narrow(r.l2 + rest);
      if (load) {
        l2_lookups_ += rest;
        l2_found_ += hits;
      }
    }
    r.dram = narrow(r.dram + missing);
  }

  void count_hits(bool load) {
    if (load) {
      out_.l1_sectors += l1_lookups_;
      out_.l1_hits += l1_found_;
      out_.l2_sectors += l2_lookups_;
      out_.l2_hits += l2_found_;
    }
    l1_lookups_ = l1_found_ = l2_lookups_ = l2_found_ = 0;
  }

  // Lines that one group alone touches, and those of several.
  struct Survey {
    std::unordered_map<std::uint64_t, std::size_t> first;  // group by line
    std::size_t own = 0, shared = 0;

    void add(std::span<Touch const> touches, std::size_t group) {
      for (Touch const& t : touches) {
        auto const [at, fresh] = first.try_emplace(t.line, group);
        own += fresh ? 1 : 0;
        if (fresh || at->second == group || at->second == several) continue;
        at->second = several;
        --own;
        ++shared;
      }
    }
    static constexpr std::size_t several = ~std::size_t{0};
  };

  Launch const& launch_;
  Machine const& machine_;
  MemoryMode const mode_;
  double const active_units_;
  std::unique_ptr<Survey> survey_;
  AccessRules rules_;
  std::size_t const resident_;
  std::vector<std::vector<Instruction const*>> accesses_;  // [block][item]
  std::vector<Cache> l1_;
  std::vector<SecondLevel> l2_;
  double carried_l1_ = 0, carried_l2_ = 0, carried_store_ = 0;
  std::uint64_t l1_lookups_ = 0, l1_found_ = 0, l2_lookups_ = 0, l2_found_ = 0;
  Prepared out_;
};

}  // namespace

Prepared prepare(Launch const& launch, Machine const& machine, MemoryMode const& mode, std::size_t resident,
                 double active_units) {
  return Preparer(launch, machine, mode, resident, active_units).run();
}

}  // namespace kernelcast::model::ake
