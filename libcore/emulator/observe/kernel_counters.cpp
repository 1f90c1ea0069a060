#include "emulator/observe/kernel_counters.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <unordered_map>

#include "emulator/group_lanes.hpp"
#include "emulator/observe/counting.hpp"
#include "emulator/observe/group_table.hpp"

namespace kernelcast::emu {

namespace {

// Work-items and the wavefronts that hold at least one of them.
struct Wavefronts {
  std::uint64_t lanes = 0, w16 = 0, w32 = 0, w64 = 0;
  void add(Wavefronts const& o) {
    lanes += o.lanes;
    w16 += o.w16;
    w32 += o.w32;
    w64 += o.w64;
  }
};

bool shares_warps(Lanes const& lanes) {
  return lanes.group_lanes != 0 && lanes.group_lanes < lanes_per_warp;
}

// Calls each(place of the group, its lanes, its wavefronts of 32) for groups that run side by side.
template <class Each>
void for_each_group(Lanes const& lanes, Each each) {
  std::uint32_t const width = std::min(lanes.group_lanes, lanes_per_warp);
  std::uint32_t const ones = ~0u >> (lanes_per_warp - width);
  for (std::uint32_t w = 0; w < lanes.warps; ++w)
    for (std::uint32_t begin = 0; begin < lanes_per_warp; begin += width)
      if (std::uint32_t const mask = lanes.masks[w] >> begin & ones)
        each((lanes_per_warp * w + begin) / lanes.group_lanes, static_cast<std::uint64_t>(std::popcount(mask)), 1u);
}

Wavefronts count(Lanes const& lanes) {
  Wavefronts n;
  std::uint32_t earlier = 0;
  for (std::uint32_t w = 0; w < lanes.warps; ++w) {
    std::uint32_t const mask = lanes.masks[w];
    if (shares_warps(lanes)) {
      std::uint32_t const groups = groups_in(mask, lanes.group_lanes);
      n.add({static_cast<std::uint64_t>(std::popcount(mask)), groups, groups, groups});
      continue;
    }
    n.lanes += static_cast<std::uint64_t>(std::popcount(mask));
    n.w16 += ((mask & 0xffff) != 0) + ((mask >> 16) != 0);
    n.w32 += mask != 0;
    if (w % 2 == 0 || lanes.group_lanes == lanes_per_warp)
      n.w64 += mask != 0;
    else
      n.w64 += !earlier && mask;
    earlier = mask;
  }
  return n;
}

using PerAddress = std::unordered_map<std::uint64_t, std::uint64_t>;

std::uint64_t largest(PerAddress const& counts) {
  std::uint64_t most = 0;
  for (auto const& [address, count] : counts) most = std::max(most, count);
  return most;
}

void add_tx(AccessTotals const& totals, std::array<std::array<std::uint64_t, 3>, 3>& by_width) {
  for (std::size_t i = 0; i < 9; ++i) by_width[i / 3][i % 3] += totals[i];
}

// Of so many bytes, by rows of all banks.
AccessTotals whole_passes(std::uint64_t bytes) {
  AccessTotals out{};
  for (std::size_t i = 0; i < 9; ++i) out[i] = bytes >> (6 + i % 3);
  return out;
}

}  // namespace

std::uint64_t KernelCounters::inst_total() const {
  std::uint64_t sum = 0;
  for (std::uint64_t const n : inst) sum += n;
  return sum;
}

struct KernelObserver::State {
  explicit State(KernelMix m)
      : mix(std::move(m)),
        blocks(mix.blocks.size()),
        joined_entries(mix.blocks.size()),
        guarded(mix.instructions.size()),
        sites(mix.instructions.size()) {
    for (auto const& block : mix.blocks) {
      std::uint64_t unguarded = 0, all = 0;
      for (Class const c : record::values_of<Class>) {
        unguarded += block.unguarded[c];
        all += block.instructions[c];
      }
      lengths.push_back({unguarded, all});
    }
  }

  KernelMix mix;
  Counting const& count_accesses = counting();
  std::vector<Wavefronts> blocks;                               // [block], entries
  std::vector<Wavefronts> joined_entries;                       // [block], of forks that have joined
  std::map<std::string, double> products;                       // of matrices whose shape is data; joined ones, too
  std::vector<std::uint64_t> guarded;                           // [instruction], lanes whose predicate holds
  std::vector<std::vector<std::unique_ptr<AccessSite>>> sites;  // [instruction], one per space and direction met
  std::vector<AccessSite const*> all_sites;
  // Of each block, its unguarded and all its instructions; of all guarded instructions, the lanes: for the spread.
  std::vector<std::array<std::uint64_t, 2>> lengths;
  using PerGroup = std::array<std::uint64_t, max_groups_per_unit>;  // of the groups that run side by side
  PerGroup inst_lanes{}, block_issues{};
  std::uint64_t common_lanes = 0, common_issues = 0;  // what is the same for all of them
  Footprint footprint;
  std::uint64_t branches = 0, divergent_w32 = 0, divergent_w64 = 0;
  PerAddress global_atomics, shared_atomics;
  std::uint64_t max_shared_atomics = 0;
  std::uint64_t barriers = 0, groups = 0, texture_bytes = 0;
  std::uint32_t group_lanes = 0;                      // of the groups at work, where they run side by side
  std::array<std::uint64_t, 4> barriers_of_unit{};    // in this group, passed by all work-items of a unit together
  std::array<std::uint32_t, 1024> barriers_passed{};  // in this group, per work-item
  std::size_t barrier_lanes = 0;                      // how many of them may be other than 0
  KernelCounters joined;                              // from forks, but for what cannot be added: footprint, addresses

  // The whole unit, by its first warp: what count() would give for Lanes::full.
  struct Unit {
    std::uint32_t warps = 0;
    Wavefronts wavefronts;
    std::uint64_t lanes_of_group = 0, warps_of_group = 0;  // of groups side by side
  };
  std::array<Unit, 32> units{};

  // What each group did, over all launches: they differ between groups, not because launches do.
  GroupTable group_counters;
  std::vector<std::uint64_t> running;                              // the groups at work
  std::array<GroupTable::Counters, max_groups_per_unit> before{};  // the four counters when they began
  void end_groups();

  Wavefronts wavefronts(Lanes const& lanes) {
    if (!lanes.full || lanes.first_warp >= units.size()) return count(lanes);
    Unit& unit = units[lanes.first_warp];
    if (unit.warps != lanes.warps) {
      Wavefronts const n = count(lanes);
      std::size_t const side_by_side = std::max<std::size_t>(running.size(), 1);
      unit = {lanes.warps, n, n.lanes / side_by_side, n.w32 / side_by_side};
    }
    return unit.wavefronts;
  }
  AccessSite& site(MemoryAccess const& access);
  void atomic(AccessSite& site, MemoryAccess const& access);
  void add_guarded(std::uint32_t instruction, Lanes const&);
  std::array<std::uint64_t, 4> spread_counters(std::size_t place) const;
  void add_sites(KernelCounters&) const;
};

KernelObserver::KernelObserver(KernelMix mix) : state_(std::make_unique<State>(std::move(mix))) {}
KernelObserver::~KernelObserver() = default;

void KernelObserver::group_begin(std::uint64_t group) {
  state_->running.assign(1, group);  // the first place's counters are those at the end of whatever was there
}

void KernelObserver::pack_begin(std::span<std::uint64_t const> groups) {
  State& s = *state_;
  // Places that the last pack left empty: what is common to all has grown since.
  for (std::size_t k = std::max<std::size_t>(s.running.size(), 1); k < groups.size(); ++k)
    s.before[k] = s.spread_counters(k);
  s.running.assign(groups.begin(), groups.end());
  s.units = {};  // the last pack may have fewer groups than those before
}

std::array<std::uint64_t, 4> KernelObserver::State::spread_counters(std::size_t place) const {
  std::array<std::uint64_t, 4> now{inst_lanes[place] + common_lanes, block_issues[place] + common_issues, 0, 0};
  for (auto const* const site : all_sites) now[site->space == ptx::StateSpace::shared ? 3 : 2] += site->running[place];
  return now;
}

void KernelObserver::group_end() {
  state_->group_lanes = 0;
  state_->end_groups();
}

void KernelObserver::pack_end() {
  state_->end_groups();
}

void KernelObserver::State::end_groups() {
  for (std::size_t k = 0; k < running.size(); ++k) {
    auto const now = spread_counters(k);
    auto& sums = group_counters[running[k]];
    for (std::size_t i = 0; i < now.size(); ++i) sums[i] += now[i] - before[k][i];
    before[k] = now;
    ++groups;
  }
  // Groups side by side each count; the units of one group belong together.
  std::uint64_t most = 0;
  std::size_t const step = group_lanes ? group_lanes : default_lanes_per_unit;
  std::size_t const parts = group_lanes ? running.size() : barriers_of_unit.size();
  for (std::size_t k = 0; k < parts; ++k) {
    std::uint64_t passed = barriers_of_unit[group_lanes ? 0 : k];
    if (barrier_lanes > step * k)
      passed += *std::max_element(barriers_passed.begin() + static_cast<std::ptrdiff_t>(step * k),
                                  barriers_passed.begin() + static_cast<std::ptrdiff_t>(step * (k + 1)));
    if (group_lanes)
      barriers += passed;
    else
      most = std::max(most, passed);
  }
  barriers += most;
  barriers_of_unit = {};
  if (barrier_lanes > 0) {
    std::fill_n(barriers_passed.begin(), barrier_lanes, 0);
    barrier_lanes = 0;
  }
  if (!shared_atomics.empty()) {
    max_shared_atomics = std::max(max_shared_atomics, largest(shared_atomics));
    shared_atomics.clear();
  }
}

void KernelObserver::block(std::uint32_t block, Lanes const& lanes) {
  State& s = *state_;
  s.group_lanes = lanes.group_lanes;
  Wavefronts const n = s.wavefronts(lanes);
  s.blocks[block].add(n);
  auto const [unguarded, all] = s.lengths[block];
  if (!lanes.group_lanes) {
    s.inst_lanes[0] += unguarded * n.lanes;
    s.block_issues[0] += all * n.w32;
  } else if (lanes.full) {
    s.common_lanes += unguarded * s.units[0].lanes_of_group;
    s.common_issues += all * s.units[0].warps_of_group;
  } else {
    for_each_group(lanes, [&](std::size_t place, std::uint64_t taking, std::uint64_t warps) {
      s.inst_lanes[place] += unguarded * taking;
      s.block_issues[place] += all * warps;
    });
  }
}

void KernelObserver::product(std::uint32_t, std::uint32_t, char const* kind, double flop) {
  state_->products[kind] += flop;
}

void KernelObserver::State::add_guarded(std::uint32_t instruction, Lanes const& lanes) {
  std::uint64_t const holding = wavefronts(lanes).lanes;
  guarded[instruction] += holding;
  if (holding == 0) return;
  if (!lanes.group_lanes)
    inst_lanes[0] += holding;
  else if (lanes.full)
    common_lanes += units[0].lanes_of_group;
  else
    for_each_group(lanes, [&](std::size_t place, std::uint64_t taking, std::uint64_t) { inst_lanes[place] += taking; });
}

void KernelObserver::guarded(std::uint32_t instruction, Lanes const& lanes) {
  state_->add_guarded(instruction, lanes);
}

AccessSite& KernelObserver::State::site(MemoryAccess const& access) {
  auto& at = sites[access.instruction];
  for (auto& s : at)
    if (s->space == access.space && s->direction == access.direction) [[likely]]
      return *s;
  auto& added = at.emplace_back(std::make_unique<AccessSite>(access));
  all_sites.push_back(added.get());
  return *added;
}

void KernelObserver::State::atomic(AccessSite& site, MemoryAccess const& access) {
  bool const global = access.space == ptx::StateSpace::global;
  auto& counts = global ? global_atomics : shared_atomics;
  for (std::uint32_t w = 0; w < access.lanes.warps; ++w) {
    std::uint32_t const mask = access.lanes.masks[w];
    if (!mask) continue;
    site.lanes += static_cast<std::uint64_t>(std::popcount(mask));
    std::uint32_t const* const offsets = access.offsets + 32 * w;
    std::uint64_t address = 0, run = 0;  // neighbours on one address are added at once
    for (std::uint32_t m = mask; m; m &= m - 1) {
      std::uint64_t const next = access.base + offsets[std::countr_zero(m)];
      if (run && next != address) {
        counts[address] += run;
        run = 0;
      }
      address = next;
      ++run;
      if (global) footprint.mark(address >> 5);
    }
    counts[address] += run;
  }
}

void KernelObserver::memory(MemoryAccess const& access) {
  State& s = *state_;
  AccessSite& site = s.site(access);
  bool const global = access.space == ptx::StateSpace::global, shared = access.space == ptx::StateSpace::shared;
  if (access.direction == Direction::atomic && (global || shared))
    s.atomic(site, access);
  else if (global)
    s.count_accesses.record_global(site, access, s.footprint);
  else if (shared)
    s.count_accesses.record_shared(site, access);
  else if (access.space == ptx::StateSpace::tex)  // another launch's image may have other texels
    s.texture_bytes += s.wavefronts(access.lanes).lanes * access.bytes_per_lane;
  else
    site.lanes += s.wavefronts(access.lanes).lanes;
}

void KernelObserver::branch(std::uint32_t instruction, Lanes const& executing, Lanes const& taking) {
  State& s = *state_;
  s.add_guarded(instruction, taking);
  if (shares_warps(executing)) {
    for (std::uint32_t w = 0; w < executing.warps; ++w) {
      std::uint32_t const all = executing.masks[w], take = taking.masks[w] & all, lanes = executing.group_lanes;
      auto const divergent = static_cast<std::uint64_t>(
          std::popcount(groups_with_lanes(take, lanes) & groups_with_lanes(all & ~take, lanes)));
      s.branches += groups_in(all, lanes);
      s.divergent_w32 += divergent;
      s.divergent_w64 += divergent;
    }
    return;
  }
  std::uint32_t const step = executing.group_lanes == lanes_per_warp ? 1 : 2;
  for (std::uint32_t w = 0; w < executing.warps; w += step) {
    bool const pair = step == 2 && w + 1 < executing.warps;
    std::uint32_t const all0 = executing.masks[w], all1 = pair ? executing.masks[w + 1] : 0;
    std::uint32_t const take0 = taking.masks[w] & all0, take1 = pair ? taking.masks[w + 1] & all1 : 0;
    s.branches += (all0 != 0) + (all1 != 0);
    s.divergent_w32 += (take0 && take0 != all0) + (take1 && take1 != all1);
    s.divergent_w64 += (take0 | take1) && (take0 != all0 || take1 != all1);
  }
}

void KernelObserver::barrier(std::uint32_t, Lanes const& lanes, std::uint32_t, std::uint32_t) {
  State& s = *state_;
  std::size_t const unit = lanes.first_warp * std::size_t{lanes_per_warp} / default_lanes_per_unit;
  if (lanes.full && unit < s.barriers_of_unit.size()) {
    ++s.barriers_of_unit[unit];
    return;
  }
  for (std::uint32_t w = 0; w < lanes.warps; ++w) {
    std::size_t const first = (lanes.first_warp + w) * std::size_t{lanes_per_warp};
    if (first + lanes_per_warp > s.barriers_passed.size()) break;
    s.barrier_lanes = std::max(s.barrier_lanes, first + lanes_per_warp);
    for (unsigned l = 0; l < lanes_per_warp; ++l) s.barriers_passed[first + l] += lanes.masks[w] >> l & 1;
  }
}

std::unique_ptr<Observer> KernelObserver::fork() const {
  return std::make_unique<KernelObserver>(state_->mix);
}

void KernelObserver::State::add_sites(KernelCounters& k) const {
  for (std::size_t i = 0; i < sites.size(); ++i)
    for (auto const& site : sites[i]) {
      std::uint64_t const bytes = site->lanes * site->bytes;
      bool const load = site->direction == Direction::load;
      AccessTotals const totals =
          mix.instructions[i].engine && site->space == ptx::StateSpace::shared ? whole_passes(bytes) : site->all();
      switch (site->space) {
        case ptx::StateSpace::global:
          if (site->direction == Direction::atomic) {
            k.atomics_global += site->lanes;
            break;
          }
          (load ? k.global_load_bytes : k.global_store_bytes) += bytes;
          add_tx(totals, load ? k.global_load_tx : k.global_store_tx);
          for (std::size_t s = 0; s < 3; ++s) (load ? k.global_load_cc13 : k.global_store_cc13)[s] += totals[9 + s];
          break;
        case ptx::StateSpace::shared:
          if (site->direction == Direction::atomic) {
            k.atomics_shared += site->lanes;
            break;
          }
          (load ? k.shared_load_bytes : k.shared_store_bytes) += bytes;
          add_tx(totals, load ? k.shared_load_passes : k.shared_store_passes);
          break;
        case ptx::StateSpace::local:
          (load ? k.local_load_bytes : k.local_store_bytes) += bytes;
          break;
        case ptx::StateSpace::constant:
          k.const_bytes += bytes;
          break;
        default:
          break;  // parameters are counted from the text, see KernelMix
      }
    }
}

SlotCounts slots_of(std::span<record::PerPipe<double> const> blocks, std::span<std::uint64_t const> entries) {
  SlotCounts out;
  for (std::size_t b = 0; b < std::min(blocks.size(), entries.size()); ++b) {
    if (entries[b] == 0) continue;
    for (auto const pipe : record::values_of<record::Pipe>) {
      out.slots[pipe] += blocks[b][pipe] * static_cast<double>(entries[b]);
      out.code_slots += blocks[b][pipe];
    }
  }
  return out;
}

std::vector<std::uint64_t> KernelObserver::entries(unsigned width) const {
  State const& s = *state_;
  auto const own = width == 64 ? &Wavefronts::w64 : &Wavefronts::w32;
  std::vector<std::uint64_t> out;
  for (std::size_t b = 0; b < s.blocks.size(); ++b) out.push_back(s.blocks[b].*own + s.joined_entries[b].*own);
  return out;
}

KernelCounters KernelObserver::counters() const {
  State const& s = *state_;
  KernelCounters k = s.joined;
  std::vector<record::PerPipe<double>> by_rules;
  for (auto const& block : s.mix.blocks) by_rules.push_back(block.slots);
  auto const entered = entries();
  static_cast<SlotCounts&>(k) = slots_of(by_rules, entered);
  for (std::size_t b = 0; b < entered.size(); ++b)
    for (auto const& [kind, flop] : s.mix.blocks[b].matrix)
      if (entered[b] > 0) k.matrix_flop[kind] += flop * static_cast<double>(entered[b]);
  for (auto const& [kind, flop] : s.products) k.matrix_flop[kind] += flop;
  for (std::size_t b = 0; b < s.blocks.size(); ++b) {
    Wavefronts const& entries = s.blocks[b];
    auto const& mix = s.mix.blocks[b];
    for (Class const c : record::values_of<Class>) {
      k.inst[c] += mix.unguarded[c] * entries.lanes;
      k.issues[c][0] += mix.instructions[c] * entries.w16;
      k.issues[c][1] += mix.instructions[c] * entries.w32;
      k.issues[c][2] += mix.instructions[c] * entries.w64;
    }
    k.param_bytes += mix.param_bytes * entries.lanes;
    k.global_load_rounds += mix.load_rounds * entries.lanes;
  }
  for (std::size_t i = 0; i < s.guarded.size(); ++i) {
    k.inst[s.mix.instructions[i].kind] += s.guarded[i];
    k.param_bytes += s.mix.instructions[i].param_bytes * s.guarded[i];
  }
  s.add_sites(k);
  k.texture_bytes += s.texture_bytes;
  k.branches += s.branches;
  k.divergent_branches_w32 += s.divergent_w32;
  k.divergent_branches_w64 += s.divergent_w64;
  k.barriers += s.barriers;
  k.groups += s.groups;
  k.global_footprint_bytes = 32 * s.footprint.sectors();
  k.atomic_max_global = largest(s.global_atomics);
  k.atomic_max_shared = s.max_shared_atomics;
  return k;
}

Footprint const& KernelObserver::footprint() const {
  return state_->footprint;
}

void KernelObserver::join(Observer const& other) {
  State& s = *state_;
  auto const& from = dynamic_cast<KernelObserver const&>(other);
  State const& o = *from.state_;
  // Everything that adds up goes into `joined` as finished counters.
  KernelCounters const add = from.counters();
  KernelCounters& k = s.joined;
  for (Class const c : record::values_of<Class>) {
    k.inst[c] += add.inst[c];
    for (std::size_t w = 0; w < 3; ++w) k.issues[c][w] += add.issues[c][w];
  }
  for (auto const member :
       {&KernelCounters::branches, &KernelCounters::divergent_branches_w32, &KernelCounters::divergent_branches_w64,
        &KernelCounters::global_load_bytes, &KernelCounters::global_store_bytes, &KernelCounters::shared_load_bytes,
        &KernelCounters::shared_store_bytes, &KernelCounters::local_load_bytes, &KernelCounters::local_store_bytes,
        &KernelCounters::param_bytes, &KernelCounters::const_bytes, &KernelCounters::texture_bytes,
        &KernelCounters::atomics_global, &KernelCounters::atomics_shared, &KernelCounters::barriers,
        &KernelCounters::groups, &KernelCounters::global_load_rounds})
    k.*member += add.*member;
  for (auto const member : {&KernelCounters::global_load_tx, &KernelCounters::global_store_tx,
                            &KernelCounters::shared_load_passes, &KernelCounters::shared_store_passes})
    for (std::size_t i = 0; i < 9; ++i) (k.*member)[i / 3][i % 3] += (add.*member)[i / 3][i % 3];
  for (auto const member : {&KernelCounters::global_load_cc13, &KernelCounters::global_store_cc13})
    for (std::size_t i = 0; i < 3; ++i) (k.*member)[i] += (add.*member)[i];
  for (std::size_t b = 0; b < s.blocks.size(); ++b) {
    s.joined_entries[b].add(o.blocks[b]);
    s.joined_entries[b].add(o.joined_entries[b]);
  }
  for (auto const& [kind, flop] : o.products) s.products[kind] += flop;
  s.footprint.add(o.footprint);
  for (auto const& [address, count] : o.global_atomics) s.global_atomics[address] += count;
  s.max_shared_atomics = std::max(s.max_shared_atomics, o.max_shared_atomics);
  s.group_counters.add(o.group_counters);
}

std::optional<double> KernelObserver::spread_pct() const {
  auto const& groups = state_->group_counters.entries();
  if (groups.size() < 2) return std::nullopt;
  double largest = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max(), most = 0, sum = 0;
    for (auto const& [group, counters] : groups) {
      least = std::min(least, counters[i]);
      most = std::max(most, counters[i]);
      sum += counters[i];
    }
    double const mean = static_cast<double>(sum) / static_cast<double>(groups.size());
    if (sum > 0) largest = std::max(largest, 100.0 * static_cast<double>(most - least) / mean);
  }
  return largest;
}

std::array<std::uint64_t, 4> KernelObserver::counts_of(std::uint64_t group) const {
  auto const& entries = state_->group_counters.entries();
  auto const at = std::ranges::lower_bound(entries, group, {}, &GroupTable::Entry::group);
  return at != entries.end() && at->group == group ? at->counters : GroupTable::Counters{};
}

}  // namespace kernelcast::emu
