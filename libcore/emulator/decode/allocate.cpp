// Liveness, dead code, slots, and the final micro-operations.
//
// Slots are shared by registers that are never live together in text order. Divergence does not matter: lanes that
// wait elsewhere keep their own lanes of a slot, and a lane runs through the text as it would alone.
#include <algorithm>
#include <bit>

#include "emulator/decode/draft.hpp"

namespace kernelcast::emu {

namespace {

class Allocation {
 public:
  explicit Allocation(Drafts& drafts) : d_(drafts), words_((drafts.registers.size() + 63) / 64) {}

  void run() {
    find_liveness();
    drop_dead_code();
    find_intervals();
    assign_slots();
    share_placements();
    list_saved();
    emit();
  }

 private:
  using Set = std::vector<std::uint64_t>;

  static void put(Set& set, std::uint32_t r) {
    if (r != no_register) set[r / 64] |= std::uint64_t{1} << (r % 64);
  }
  static void take(Set& set, std::uint32_t r) { set[r / 64] &= ~(std::uint64_t{1} << (r % 64)); }
  static bool has(Set const& set, std::uint32_t r) { return set[r / 64] >> (r % 64) & 1; }

  // `body` gets the members one after the other: sets are mostly sparse.
  template <class Body>
  static void for_each(Set const& set, Body const& body) {
    for (std::size_t w = 0; w < set.size(); ++w)
      for (std::uint64_t bits = set[w]; bits; bits &= bits - 1)
        body(static_cast<std::uint32_t>(64 * w + static_cast<std::size_t>(std::countr_zero(bits))));
  }

  static bool has_effect(Draft const& draft) {
    return draft.effect || (draft.kind != Draft::Kind::arithmetic && draft.kind != Draft::Kind::clock);
  }

  // Goes backwards through a block; `drop` marks what is not needed.
  void backwards(std::uint32_t b, Set& live, bool drop) {
    DraftBlock& block = d_.blocks[b];
    if (block.end.result != no_register && block.end.guard == no_register) take(live, block.end.result);
    for (std::uint32_t r : Drafts::reads(block.end)) put(live, r);
    for (std::uint32_t i = block.last; i-- > block.first;) {
      Draft& draft = d_.drafts[i];
      bool needed = has_effect(draft) && !draft.dead;
      for (std::uint32_t r : draft.destinations) needed |= has(live, r) && !draft.dead;
      if (!needed && drop) draft.dead = true;
      if (needed) {
        // A guarded write keeps the old value of other lanes.
        if (draft.guard == no_register)
          for (std::uint32_t r : draft.destinations) take(live, r);
        for (std::uint32_t r : draft.sources) put(live, r);
      }
      // Even if the result is not needed, observers are notified of a guarded instruction.
      if (draft.guard != no_register) put(live, draft.guard);
    }
  }

  void find_liveness() {
    std::size_t const count = d_.blocks.size();
    live_in_.assign(count, Set(words_, 0));
    live_out_.assign(count, Set(words_, 0));
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t b = count; b-- > 0;) {
        Set out(words_, 0);
        for (std::uint32_t s : d_.successors(static_cast<std::uint32_t>(b)))
          for (std::size_t w = 0; w < words_; ++w) out[w] |= live_in_[s][w];
        live_out_[b] = out;
        backwards(static_cast<std::uint32_t>(b), out, false);
        if (out != live_in_[b]) {
          live_in_[b] = std::move(out);
          changed = true;
        }
      }
    }
  }

  void drop_dead_code() {
    for (std::uint32_t b = 0; b < d_.blocks.size(); ++b) {
      Set live = live_out_[b];
      backwards(b, live, true);
    }
  }

  struct Interval {
    std::uint32_t begin = ~std::uint32_t{0}, end = 0, reg = 0;
  };

  void touch(std::uint32_t r, std::uint32_t at) {
    if (r == no_register) return;  // an element that a store leaves out
    intervals_[r].begin = std::min(intervals_[r].begin, at);
    intervals_[r].end = std::max(intervals_[r].end, at);
  }

  // Draft i reads at 4 i + 1 and writes at 4 i + 2, so that a result may take the place of an operand that ends there.
  // A block's own ends are the points before its first and after its last draft.
  void find_intervals() {
    intervals_.assign(d_.registers.size(), {});
    for (std::uint32_t b = 0; b < d_.blocks.size(); ++b) {
      DraftBlock const& block = d_.blocks[b];
      std::uint32_t const begin = 4 * block.first, end = 4 * block.last;
      for_each(live_in_[b], [&](std::uint32_t r) { touch(r, begin); });
      for_each(live_out_[b], [&](std::uint32_t r) { touch(r, end); });
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        Draft const& draft = d_.drafts[i];
        if (draft.guard != no_register) touch(draft.guard, 4 * i + 3);  // held while its operations run
        if (draft.dead) continue;
        for (std::uint32_t r : draft.sources) touch(r, 4 * i + 1);
        for (std::uint32_t r : draft.destinations) touch(r, 4 * i + 2);
      }
      for (std::uint32_t r : Drafts::reads(block.end)) touch(r, end);
      if (block.end.result != no_register) touch(block.end.result, end);
    }
  }

  // A guard is read once, before the first of its operations.
  void assign_slots() {
    std::vector<Interval> order;
    slot_.assign(d_.registers.size(), no_slot);
    for (std::uint32_t r = 0; r < d_.registers.size(); ++r) {
      Interval interval = intervals_[r];
      if (interval.begin == ~std::uint32_t{0}) continue;
      interval.reg = r;
      if (d_.registers[r].pin == no_register) order.push_back(interval);
    }
    std::sort(order.begin(), order.end(), [](Interval const& a, Interval const& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.reg < b.reg;
    });
    std::vector<Interval> active;
    std::vector<std::uint32_t> free_slots[2];
    std::uint32_t top = 0;
    for (Interval const& interval : order) {
      std::erase_if(active, [&](Interval const& a) {
        if (a.end >= interval.begin) return false;
        free_slots[d_.registers[a.reg].wide].push_back(slot_[a.reg]);
        return true;
      });
      bool const is_wide = d_.registers[interval.reg].wide;
      std::vector<std::uint32_t>& pool = free_slots[is_wide];
      if (!pool.empty()) {
        auto lowest = std::min_element(pool.begin(), pool.end());
        slot_[interval.reg] = *lowest;
        pool.erase(lowest);
      } else {
        slot_[interval.reg] = top;
        top += is_wide ? 2 : 1;
      }
      active.push_back(interval);
    }
    for (std::uint32_t r = 0; r < d_.registers.size(); ++r) {
      std::uint32_t const pin = d_.registers[r].pin;
      if (pin == no_register || intervals_[r].begin == ~std::uint32_t{0}) continue;
      slot_[r] = d_.program.pins[pin].slot = top;
      top += d_.registers[r].wide ? 2 : 1;
    }
    d_.program.scratch = top;
    d_.program.slots = top + 2;
  }

  // Accesses of a block that address by the same unchanged register, unguarded, share the first one's placement.
  void share_placements() {
    Program::Impl& p = d_.program;
    struct Leader {
      std::uint32_t access, reg;
    };
    for (DraftBlock const& block : d_.blocks) {
      std::vector<Leader> leaders;
      std::uint32_t next = 1;
      for (std::uint32_t i = block.first; i < block.last; ++i) {
        Draft const& draft = d_.drafts[i];
        if (draft.dead) continue;
        if ((draft.kind == Draft::Kind::load || draft.kind == Draft::Kind::store) && draft.guard == no_register) {
          Access& x = p.accesses[draft.access];
          auto same = [&](Leader const& l) {
            Access const& y = p.accesses[l.access];
            return l.reg == draft.sources[0] && y.address == x.address && y.scale == x.scale && y.space == x.space &&
                   y.index_signed == x.index_signed;
          };
          auto found = std::find_if(leaders.begin(), leaders.end(), same);
          if (found == leaders.end()) {
            leaders.push_back({draft.access, draft.sources[0]});
          } else {
            Access& leader = p.accesses[found->access];
            if (leader.placement_index == 0) leader.placement_index = next++;
            x.placement_index = leader.placement_index;
            x.follows = true;
          }
        }
        for (std::uint32_t r : draft.destinations) std::erase_if(leaders, [&](Leader const& l) { return l.reg == r; });
      }
      p.placements = std::max(p.placements, next - 1);
    }
  }

  // Registers of a set, with their places.
  std::vector<CallSite::Saved> places(Set const& set) const {
    std::vector<CallSite::Saved> result;
    for_each(set, [&](std::uint32_t r) {
      if (d_.registers[r].pin == no_register && slot_[r] != no_slot) result.push_back({slot_[r], d_.registers[r].wide});
    });
    return result;
  }

  // What calls must preserve, and what has to begin as 0 since it may be read before it is written: otherwise a result
  // could depend on the group that ran before.
  void list_saved() {
    Program::Impl& p = d_.program;
    if (!d_.blocks.empty()) p.cleared = places(live_in_[0]);
    for (CallableCode& callable : p.callables) callable.cleared = places(live_in_[callable.entry]);
    for (std::uint32_t b = 0; b < d_.blocks.size(); ++b) {
      if (d_.blocks[b].end.kind != End::Kind::call) continue;
      CallSite& site = p.calls[d_.blocks[b].end.target];
      site.return_block = b + 1;
      site.saved = places(live_out_[b]);
      for (CallSite::Saved const& saved : site.saved) site.saved_bytes += saved.wide ? 8 : 4;
    }
  }

  std::uint32_t slot(std::uint32_t r) const { return r == no_register ? no_slot : slot_[r]; }

  void list_operands(Draft const& draft, MicroOp& op) {
    std::vector<std::uint32_t> all;
    for (std::uint32_t r : draft.destinations) all.push_back(slot(r));
    for (std::uint32_t r : draft.sources) all.push_back(slot(r));
    op.destinations = static_cast<std::uint16_t>(draft.destinations.size());
    op.sources = static_cast<std::uint16_t>(draft.sources.size());
    d_.program.long_operands.push_back(std::move(all));
    op.operands = d_.program.long_operands.back().data();
  }

  MicroOp translate(Draft const& draft) {
    Program::Impl& p = d_.program;
    MicroOp op;
    op.instruction = draft.instruction;
    for (std::size_t k = 0; k < draft.destinations.size() && k < 2; ++k) op.d[k] = slot(draft.destinations[k]);
    for (std::size_t k = 0; k < draft.sources.size() && k < 4; ++k) op.s[k] = slot(draft.sources[k]);
    switch (draft.kind) {
      case Draft::Kind::arithmetic:
        op.full = op.partial = draft.opcode->full;
        op.masked = draft.opcode->masked;
        op.extra = draft.extra;
        op.data = draft.data;
        if (draft.access != no_register) op.access = &p.accesses[draft.access];
        if (draft.destinations.size() > 2 || draft.sources.size() > 4) list_operands(draft, op);
        // What looks across lanes must not see lanes that have left.
        if (draft.opcode->full == draft.opcode->masked) op.partial = op.masked;
        break;
      case Draft::Kind::load:
      case Draft::Kind::store: {
        Access& access = p.accesses[draft.access];
        bool const load = draft.kind == Draft::Kind::load;
        Handlers::Pair const pair = load ? p.handlers->loads[static_cast<int>(draft.extension)]
                                         : p.handlers->stores[std::countr_zero(unsigned{access.element_bytes})];
        op.full = pair.full;
        op.partial = op.masked = pair.masked;
        for (std::size_t k = 0; k < access.elements; ++k)
          access.slots[k] = slot(load ? draft.destinations[k] : draft.sources[k + 1]);
        op.d[0] = op.d[1] = no_slot;
        op.s[1] = op.s[2] = op.s[3] = no_slot;
        op.access = &access;
        break;
      }
      case Draft::Kind::atomic:
        op.full = op.partial = op.masked = draft.opcode->masked;
        op.access = &p.accesses[draft.access];
        if (draft.destinations.size() > 2 || draft.sources.size() > 4) list_operands(draft, op);
        break;
      case Draft::Kind::clock:
        op.full = op.partial = op.masked =
            d_.registers[draft.destinations[0]].wide ? p.handlers->clock64 : p.handlers->clock32;
        break;
      case Draft::Kind::machine:
        op.full = op.partial = op.masked = draft.handler;
        op.extra = draft.extra;
        break;
      case Draft::Kind::refuse:
        op.full = op.partial = op.masked = refuse;
        op.data = draft.data;
        break;
    }
    return op;
  }

  void emit() {
    Program::Impl& p = d_.program;
    for (std::uint32_t b = 0; b < d_.blocks.size(); ++b) {
      DraftBlock const& block = d_.blocks[b];
      BlockCode code;
      code.first = static_cast<std::uint32_t>(p.ops.size());
      for (std::uint32_t i = block.first; i < block.last;) {
        Draft const& draft = d_.drafts[i];
        if (draft.guard == no_register) {
          if (!draft.dead) p.ops.push_back(translate(draft));
          ++i;
          continue;
        }
        std::size_t const guard = p.ops.size();
        MicroOp op;
        op.full = op.partial = op.masked = p.handlers->guard;
        op.s[0] = slot(draft.guard);
        op.extra = draft.guard_negated;
        op.instruction = draft.instruction;
        p.ops.push_back(op);
        for (std::uint32_t const of = draft.instruction; i < block.last && d_.drafts[i].instruction == of; ++i)
          if (!d_.drafts[i].dead) p.ops.push_back(translate(d_.drafts[i]));
        p.ops[guard].length = static_cast<std::uint32_t>(p.ops.size() - guard);
      }
      code.last = static_cast<std::uint32_t>(p.ops.size());
      code.length = p.blocks[b].last - p.blocks[b].first;
      code.end = block.end;
      for (std::uint32_t* r : {&code.end.guard, &code.end.index, &code.end.count, &code.end.reduced, &code.end.result})
        *r = slot(*r);
      p.code.push_back(std::move(code));
    }
  }

  Drafts& d_;
  std::size_t words_;
  std::vector<Set> live_in_, live_out_;
  std::vector<Interval> intervals_;
  std::vector<std::uint32_t> slot_;
};

}  // namespace

void allocate(Drafts& drafts) {
  Allocation(drafts).run();
}

}  // namespace kernelcast::emu
