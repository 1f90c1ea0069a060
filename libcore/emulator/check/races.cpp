#include "emulator/check/races.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace kernelcast::emu {

namespace {

using ptx::StateSpace;
constexpr int widest_cell_shift = 4;
constexpr std::size_t max_logged = 4096, max_patterns = 256;

std::string_view verb(bool reads, bool writes) {
  return reads && writes ? "updates" : writes ? "stores to" : "loads";
}

}  // namespace

struct RaceCheck::Place {
  MemoryAccess const& access;
  Facts::Site const& site;
  bool global, reads, writes, strong;
  Bounds bounds;
  Record stamp;
  std::uint32_t first_item;  // of lane 0
  unsigned cells_log2 = 0;   // cells of one lane's access

  std::uint32_t item_of(std::uint32_t lane) const {
    return first_item + (access.issuer == MemoryAccess::no_issuer ? lane : access.issuer);
  }
};

void RaceCheck::begin(Facts const& facts) {
  facts_ = &facts;
  loops_ = &cell_loops();
  Order::Time const now = std::max(orders_[0].now(), orders_[1].now());
  orders_[0].begin_launch(facts, facts.any_partial ? orders_shared : orders_all, now);
  orders_[1].begin_launch(facts, orders_global, now);
}

void RaceCheck::begin_group(std::uint64_t group) {
  if (std::max(orders_[0].now(), orders_[1].now()) > max_time / 2 + max_time / 4) forget();
  forget_log();
  for_orders([&](Order& order) { order.begin_group(group); });
}

void RaceCheck::begin_pack(std::uint64_t first_group) {
  side_by_side_ = true;
  begin_group(first_group);
}

void RaceCheck::meet(Meeting const& m, std::uint8_t orders, std::uint32_t instruction) {
  if (m.everyone && orders != 0) forget_log();  // what is written after the barrier comes after all of this
  if (!facts_->any_partial) return orders_[0].meet(m);
  for (std::uint8_t const space : {orders_shared, orders_global}) {
    Order& order = orders_[space == orders_global];
    if (orders & space)
      order.meet(m);
    else
      order.meet_unordered(m, orders != 0, instruction);
  }
}

// Reads of shared memory not written since the last barrier matter only if it is written before the next
// one: they are kept as they come, and recorded then.
void RaceCheck::log(MemoryAccess const& a, Record stamp) {
  if (log_.size() == max_logged || patterns_.size() == max_patterns) replay();
  if (patterns_.empty() || a.pattern == 0 || patterns_.back().number != a.pattern ||
      patterns_.back().first_warp != a.lanes.first_warp || patterns_.back().warps != a.lanes.warps) {
    Pattern& pattern = patterns_.emplace_back();
    pattern.number = a.pattern;
    pattern.first_warp = a.lanes.first_warp;
    pattern.warps = a.lanes.warps;
    std::copy_n(a.offsets, lanes_per_warp * a.lanes.warps, pattern.offsets);
    std::copy_n(a.steps, 2 * a.lanes.warps, pattern.steps);
    std::copy_n(a.lanes.masks, a.lanes.warps, pattern.masks);
  }
  log_.push_back({stamp, a.base, a.instruction, static_cast<std::uint32_t>(patterns_.size() - 1), a.bytes_per_lane});
}

void RaceCheck::replay() {
  for (LoggedRead const& read : log_) {
    Pattern const& pattern = patterns_[read.pattern];
    MemoryAccess a;
    a.instruction = read.instruction;
    a.space = StateSpace::shared;
    a.bytes_per_lane = read.bytes_per_lane;
    a.base = read.base;
    a.offsets = pattern.offsets;
    a.steps = pattern.steps;
    a.lanes = {pattern.masks, pattern.warps, pattern.first_warp, false};
    unsigned const cells = static_cast<unsigned>(read.bytes_per_lane) >> shared_.cell_shift;
    regular({a, facts_->sites[read.instruction], false, true, false, false, bounds(false), read.stamp,
             pattern.first_warp * lanes_per_warp, static_cast<unsigned>(std::countr_zero(cells))},
            shared_);
    shared_.latest_read = time_of(read.stamp);
  }
  forget_log();
}

// The clock is at its end: what was accessed so far is forgotten.
void RaceCheck::forget() {
  if (side_by_side_) throw Inconclusive{};
  forget_log();
  for_orders([](Order& order) { order.rewind(); });
  shared_.written.clear();
  shared_.read.clear();
  shared_.latest_write = shared_.latest_read = 0;
  global_.clear();
  last_shadow_ = nullptr;
}

void RaceCheck::resize(Shadow& s, std::uint64_t bytes, unsigned cell_shift) {
  std::uint64_t const cells = (bytes >> cell_shift) + 64;
  Shadow larger;
  larger.bytes = bytes;
  larger.cell_shift = cell_shift;
  larger.written = ShadowBytes(cells * sizeof(Record));
  larger.read = ShadowBytes(cells * sizeof(Record));
  larger.latest_write = s.latest_write;
  larger.latest_read = s.latest_read;
  if (s.bytes == bytes && (s.latest_write || s.latest_read))
    for (std::uint64_t cell = 0; cell < bytes >> cell_shift; ++cell) {
      std::uint64_t const from = cell << cell_shift >> s.cell_shift;
      if (Record const r = s.writes()[from]) larger.writes()[cell] = r;
      if (Record const r = s.reads()[from]) larger.reads()[cell] = r;
    }
  s = std::move(larger);
}

RaceCheck::Shadow& RaceCheck::shadow_of(std::uint64_t region, std::uint64_t bytes, bool global) {
  if (!global) {
    if (shared_.bytes < bytes) resize(shared_, bytes, shared_.bytes ? shared_.cell_shift : widest_cell_shift);
    return shared_;
  }
  if (last_shadow_ && last_region_ == region && last_shadow_->bytes == bytes) return *last_shadow_;
  Shadow& s = global_[region];
  if (s.bytes != bytes) {
    s = Shadow{};
    resize(s, bytes, widest_cell_shift);
  }
  last_region_ = region;
  last_shadow_ = &s;
  return s;
}

Bounds RaceCheck::bounds(bool global) const {
  auto const at = [](Order::Time t) { return Record{t} << time_shift; };
  Order const& order = order_of(global);
  Order::Time const floor = global && side_by_side_ ? order.group_start() : order.floor();
  return {at(global ? order.launch_start() : order.group_start()), at(order.group_start()), at(floor),
          at(global && side_by_side_ ? floor : order.read_floor())};
}

void RaceCheck::access(MemoryAccess const& a) {
  bool const global = a.space == StateSpace::global;
  if (!global && a.space != StateSpace::shared) return;
  // The mbarrier that a copy completes: the instruction's other accesses are plain, and only mbarrier instructions meet
  // it.
  if (a.direction == Direction::atomic && facts_->sites[a.instruction].completes) return;
  if (!global && facts_->sites[a.instruction].asynchronous) return;
  reach(a.instruction, a.lanes);
  Order& order = order_of(global);
  if (lockstep_) order.step();
  if (order.now() > max_time - 1) forget();
  Facts::Site const& site = facts_->sites[a.instruction];
  Record const stamp =
      Record{order.now()} << time_shift | Record{site.number} << site_shift | Record{site.number} << other_site_shift;
  Place place{a,
              site,
              global,
              a.direction != Direction::store,
              a.direction != Direction::load,
              a.direction == Direction::atomic || (global ? site.strong_global : site.strong),
              bounds(global),
              stamp,
              a.lanes.first_warp * lanes_per_warp};
  int const widest = site.aligned ? widest_cell_shift : 2;
  unsigned const cell_shift =
      static_cast<unsigned>(std::min(widest, std::countr_zero(static_cast<unsigned>(a.bytes_per_lane))));
  Memory::Buffer const* const buffer = global ? memory_.find(a.region) : nullptr;
  bool const one = !global || (buffer && buffer->address == a.region && buffer->size == a.region_bytes);
  if (one) {
    Shadow& s = shadow_of(a.region, a.region_bytes, global);
    if (s.cell_shift > cell_shift) resize(s, s.bytes, cell_shift);
    if (!global) {
      if (!place.writes && !place.strong && !lockstep_ && order.plain() && s.latest_write < order.floor() &&
          a.issuer == MemoryAccess::no_issuer)
        return log(a, stamp);
      replay();
    }
    place.cells_log2 = static_cast<unsigned>(std::countr_zero(static_cast<unsigned>(a.bytes_per_lane) >> s.cell_shift));
    regular(place, s);
    if (place.writes) s.latest_write = order.now();
    if (place.reads) s.latest_read = order.now();
    return;
  }
  // Several buffers at once.
  for (std::uint32_t w = 0; w < a.lanes.warps; ++w)
    for (std::uint32_t rest = a.lanes.masks[w]; rest; rest &= rest - 1) {
      std::uint32_t const lane = w * lanes_per_warp + static_cast<std::uint32_t>(std::countr_zero(rest));
      std::uint64_t const address = a.base + a.offsets[lane];
      Memory::Buffer const* const b = memory_.find(address);
      if (!b) continue;
      Shadow& s = shadow_of(b->address, b->size, true);
      if (s.cell_shift > cell_shift) resize(s, s.bytes, cell_shift);
      place.cells_log2 =
          static_cast<unsigned>(std::countr_zero(static_cast<unsigned>(a.bytes_per_lane) >> s.cell_shift));
      touch(place, s, lane, address - b->address);
      if (place.writes) s.latest_write = order.now();
      if (place.reads) s.latest_read = order.now();
    }
}

// Half warps at a time: neighbours that access neighbouring places as one run of cells, one place read by all as one.
void RaceCheck::regular(Place const& p, Shadow& s) {
  MemoryAccess const& a = p.access;
  Order const& order = order_of(p.global);
  std::uint64_t const base = a.base - a.region;
  bool const simple = order.plain() && !lockstep_ && !p.strong;
  Order::Time const since = p.global ? order.launch_start() : order.floor();
  // Something finer than a barrier of the group would have to know of all readers.
  bool const settles = simple && !facts_->any_points;
  bool const unwritten = s.latest_write < since, unread = s.latest_read < since;
  Run run{p.stamp, 0, 0, p.cells_log2, settles, p.bounds};
  for (std::uint32_t h = 0; h < 2 * a.lanes.warps; ++h) {
    std::uint32_t const mask = a.lanes.masks[h / 2];
    std::uint32_t const first = h * half_warp;
    if (mask == 0) continue;
    if (a.issuer != MemoryAccess::no_issuer) {
      lane_by_lane(p, s, first, mask >> (h % 2 * half_warp) & 0xffff);
      continue;
    }
    std::uint32_t const step = mask == ~0u && simple ? a.steps[h] : MemoryAccess::no_step;
    if (!p.writes && settles && unwritten && mask == ~0u && step != a.bytes_per_lane &&
        loops_->settled(s.reads(), base, a.offsets + first, s.cell_shift, 1u << p.cells_log2, p.bounds))
      continue;
    if (step == 0 && !p.writes) {
      same_place(p, s, first, base + a.offsets[first]);
      continue;
    }
    if (step != a.bytes_per_lane) {
      std::uint32_t const half = mask >> (h % 2 * half_warp) & 0xffff;
      if (simple && step != 0 && p.cells_log2 <= 2)
        spread(p, s, first, half, unread, unwritten);
      else
        lane_by_lane(p, s, first, half);
      continue;
    }
    std::uint32_t halves = 1;
    while (h + halves < 2 * a.lanes.warps && a.lanes.masks[(h + halves) / 2] == ~0u && a.steps[h + halves] == step &&
           a.offsets[first + halves * half_warp] == a.offsets[first] + halves * half_warp * step)
      ++halves;
    std::uint64_t const cell = (base + a.offsets[first]) >> s.cell_shift;
    run.item = p.first_item + first;
    run.cells = halves * half_warp << p.cells_log2;
    bool const fine = p.writes ? loops_->write(s.writes() + cell, unread ? nullptr : s.reads() + cell, run)
                               : loops_->read(unwritten ? nullptr : s.writes() + cell, s.reads() + cell, run);
    if (!fine)
      for (std::uint32_t i = 0; i < halves; ++i) lane_by_lane(p, s, first + i * half_warp, 0xffff);
    h += halves - 1;
  }
}

// Lanes that take no part, or whose places do not lie in a row.
void RaceCheck::spread(Place const& p, Shadow& s, std::uint32_t first, std::uint32_t mask, bool unread,
                       bool unwritten) {
  if (mask == 0) return;
  MemoryAccess const& a = p.access;
  Spread const at{p.stamp,           p.first_item + first, mask,         a.base - a.region,
                  a.offsets + first, s.cell_shift,         p.cells_log2, p.bounds};
  if (p.writes)
    lane_by_lane(p, s, first, loops_->write_spread(s.writes(), unread ? nullptr : s.reads(), at));
  else if (!loops_->read_spread(unwritten ? nullptr : s.writes(), s.reads(), at))
    lane_by_lane(p, s, first, mask);
}

void RaceCheck::lane_by_lane(Place const& p, Shadow& s, std::uint32_t first, std::uint32_t mask) {
  std::uint64_t const base = p.access.base - p.access.region;
  for (; mask; mask &= mask - 1) {
    std::uint32_t const lane = first + static_cast<std::uint32_t>(std::countr_zero(mask));
    touch(p, s, lane, base + p.access.offsets[lane]);
  }
}

// Sixteen work-items read one place: two of them stand for all.
void RaceCheck::same_place(Place const& p, Shadow& s, std::uint32_t lane, std::uint64_t offset) {
  touch(p, s, lane, offset);
  touch(p, s, lane + 1, offset);
}

void RaceCheck::touch(Place const& p, Shadow& s, std::uint32_t lane, std::uint64_t offset) {
  std::uint64_t const cell = offset >> s.cell_shift;
  Record const item = p.item_of(lane);
  Record const mine = p.stamp | item << other_shift | item;
  for (std::uint64_t c = cell; c < cell + (std::uint64_t{1} << p.cells_log2); ++c) {
    Record &written = s.writes()[c], &read = s.reads()[c];
    if (stands_against(written, item, p.bounds)) judge(p, written, lane, true);
    if (p.writes && stands_against(read, item, p.bounds.of_reads())) judge(p, read, lane, false);
    if (!p.writes) {
      read = after_read(read, p.stamp, item, p.bounds.of_reads());
      continue;
    }
    // An atomic after the work-item's own plain write leaves that on record: other atomics race with it.
    bool const own = written >= p.bounds.floor && item_of(written) == item && other_of(written) == item;
    if (p.strong && own && !facts_->sites[facts_->instruction_of[site_of(written)]].strong) continue;
    written = p.strong && written >= p.bounds.floor ? after_read(written, p.stamp, item, p.bounds) : mine;
  }
  if (p.strong)
    for_orders([&](Order& order) {
      order.strong_access(static_cast<std::uint32_t>(item) / lanes_per_warp, p.access.base + p.access.offsets[lane],
                          p.global, p.site);
    });
}

// A record that may conflict: looks at both work-items it names, at what orders them, and at the values.
void RaceCheck::judge(Place const& p, Record r, std::uint32_t lane, bool recorded_write) {
  std::uint32_t const item = p.item_of(lane);
  Order const& order = order_of(p.global);
  bool const foreign = r < p.bounds.group;
  bool const unordered = p.global && side_by_side_;  // who it is may be in another group
  Order::Time const then = time_of(r);
  if (foreign && (in_cluster_ || order.group_before(then))) return;
  for (int which = 0; which < 2; ++which) {
    std::uint32_t const other = which == 0 ? item_of(r) : other_of(r);
    std::uint32_t const number = which == 0 ? site_of(r) : other_site_of(r);
    if (!foreign &&
        (other == item || (!unordered && order.before(other / lanes_per_warp, then, item / lanes_per_warp, lockstep_))))
      continue;
    // The record's time is that of the latest access; the other one is as old or older.
    if (!foreign && !unordered && which == 1 && !order.exact(other / lanes_per_warp, item / lanes_per_warp, lockstep_))
      continue;
    std::uint32_t const instruction = facts_->instruction_of[number];
    Facts::Site const& site = facts_->sites[instruction];
    bool const other_strong = p.global ? site.strong_global : site.strong;
    if (p.strong && (other_strong || (facts_->crowded && number == Facts::last_site))) continue;
    bool const one_copy = same_copy(p, r, other, lane);
    bool const equal = one_copy || (recorded_write && p.writes && !p.reads && !site.reads && !unordered &&
                                    same_value(p, r, other, lane));
    auto const kind = equal ? Finding::Kind::equal_stores : Finding::Kind::race;
    if (equal && !reporter_.is_new(kind, p.access.instruction, instruction)) continue;
    MemoryAccess const& a = p.access;
    std::string message =
        describe_access(a, memory_, a.base + a.offsets[lane]) + ", which " + reporter_.work_item(other);
    if (foreign) message += " of " + reporter_.work_group(order.group_at(then));
    message +=
        " " + std::string(verb(!recorded_write || site.reads, recorded_write)) + " at " + reporter_.place(instruction);
    std::string hint;
    message += foreign ? ": groups are not ordered"
               : p.strong || other_strong
                   ? ": one is atomic, the other is not, and nothing orders them"
                   : ": " + reason(p.global, item, other, which == 0 ? then : order.floor(), hint);
    if (equal) message += one_copy ? ", and both copy at once" : ", and both store the same value";
    reporter_.report(kind, item, p.access.instruction, instruction,
                     (equal ? "race of equal stores: " : "race: ") + message, std::move(hint));
    if (!equal) return;
  }
}

// Why two accesses of a group, the earlier one at `then` or later, are not ordered; with a hint where something was to
// order them.
std::string RaceCheck::reason(bool global, std::uint32_t item, std::uint32_t other, Order::Time then,
                              std::string& hint) const {
  Order const& order = order_of(global);
  std::uint32_t const warp = item / lanes_per_warp, other_warp = other / lanes_per_warp;
  std::string const flag = global ? "CLK_GLOBAL_MEM_FENCE" : "CLK_LOCAL_MEM_FENCE";
  if (auto const passed = order.passed_barrier(warp, other_warp, then); passed.time) {
    bool const none = facts_->sites[passed.instruction].orders == 0;
    hint = none ? "barrier(0) orders no memory: give it " + flag
                : "give the barrier both flags, CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE";
    return "nothing orders them; the barrier at " + reporter_.place(passed.instruction) +
           (none     ? " has no flags and orders no memory"
            : global ? " has no " + flag + " and orders local memory only"
                     : " has no " + flag + " and orders global memory only");
  }
  if (auto const passed = order.passed_fence(warp, other_warp, then); passed.time) {
    hint = "put a barrier in the place of the fence, or beside it";
    return "nothing orders them; the fence at " + reporter_.place(passed.instruction) +
           " (mem_fence, __threadfence) does not wait for other work-items, as a barrier does";
  }
  return "nothing orders them";
}

// A copy that lanes of a warp issue together, all to the same place.
bool RaceCheck::same_copy(Place const& p, Record r, std::uint32_t other, std::uint32_t lane) const {
  return p.site.asynchronous && p.access.direction == Direction::store && time_of(r) == order_of(p.global).now() &&
         site_of(r) == p.site.number && other / lanes_per_warp == p.item_of(lane) / lanes_per_warp;
}

// Does this store write what the earlier store of `other` wrote? That one's value is in memory, or, of the same
// instruction, still in its register.
bool RaceCheck::same_value(Place const& p, Record r, std::uint32_t other, std::uint32_t lane) const {
  MemoryAccess const& a = p.access;
  if (!a.registers) return false;
  std::uint32_t const other_lane = other - p.first_item;
  bool const same_instruction = time_of(r) == order_of(p.global).now() && site_of(r) == p.site.number &&
                                other >= p.first_item && other_lane < a.lanes.warps * lanes_per_warp &&
                                (a.lanes.masks[other_lane / lanes_per_warp] >> other_lane % lanes_per_warp & 1) &&
                                r >= p.bounds.group && a.offsets[other_lane] == a.offsets[lane];
  std::size_t const pitch = a.element_bytes == 8 ? 8 : 4;
  for (unsigned e = 0; e < a.elements; ++e) {
    std::byte const* const values = a.registers + a.slots[e];
    std::byte const* const mine = values + pitch * lane;
    std::byte const* const theirs =
        same_instruction ? values + pitch * other_lane : a.host + a.offsets[lane] + std::size_t{e} * a.element_bytes;
    if (std::memcmp(mine, theirs, a.element_bytes) != 0) return false;
  }
  return true;
}

}  // namespace kernelcast::emu
