// Folds what need not run: copies are replaced by what they copy, and address arithmetic of the form
//   kernel-uniform base + scale * 32-bit index + constants
// becomes part of the access. Both rest on single assignment: a register that one unguarded operation defines, before
// every use on every path, has a fixed meaning wherever it is read, and so have the registers that operation read, if
// they are single-assignment as well (a redefinition in between would lead to a path around the use's own definition).
#include <algorithm>
#include <optional>

#include "emulator/decode/draft.hpp"

namespace kernelcast::emu {

namespace {

class Fusion {
 public:
  explicit Fusion(Drafts& drafts) : d_(drafts) {}

  void run() {
    find_dominators();
    find_single_assignments();
    fold_copies();
    for (std::uint32_t i = 0; i < d_.drafts.size(); ++i)
      if (d_.drafts[i].access != no_register && d_.drafts[i].kind != Draft::Kind::arithmetic) fuse_address(i);
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  // Functions that calls execute share no register with anything else: they may as well follow the kernel's entry.
  std::vector<std::uint32_t> next_of(std::uint32_t block) const {
    std::vector<std::uint32_t> result = d_.successors(block);
    if (block == 0)
      for (CallableCode const& callable : d_.program.callables) result.push_back(callable.entry);
    return result;
  }

  void find_dominators() {
    std::uint32_t const count = static_cast<std::uint32_t>(d_.blocks.size());
    std::vector<std::vector<std::uint32_t>> predecessors(count);
    for (std::uint32_t b = 0; b < count; ++b)
      for (std::uint32_t s : next_of(b)) predecessors[s].push_back(b);
    std::vector<std::uint32_t> order, position(count, none);
    std::vector<bool> seen(count, false);
    std::vector<std::pair<std::uint32_t, std::size_t>> stack;
    if (count) {
      stack.emplace_back(0, 0);
      seen[0] = true;
    }
    while (!stack.empty()) {
      auto& [b, next] = stack.back();
      std::vector<std::uint32_t> const s = next_of(b);
      if (next < s.size()) {
        std::uint32_t const to = s[next++];
        if (!seen[to]) {
          seen[to] = true;
          stack.emplace_back(to, 0);
        }
      } else {
        order.push_back(b);
        stack.pop_back();
      }
    }
    std::reverse(order.begin(), order.end());
    for (std::uint32_t i = 0; i < order.size(); ++i) position[order[i]] = i;
    dominator_.assign(count, none);
    if (count) dominator_[0] = 0;
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t b : order) {
        if (b == 0) continue;
        std::uint32_t best = none;
        for (std::uint32_t p : predecessors[b]) {
          if (dominator_[p] == none) continue;
          if (best == none) {
            best = p;
            continue;
          }
          std::uint32_t x = p, y = best;
          while (x != y) {
            while (position[x] > position[y]) x = dominator_[x];
            while (position[y] > position[x]) y = dominator_[y];
          }
          best = x;
        }
        if (best != dominator_[b]) {
          dominator_[b] = best;
          changed = true;
        }
      }
    }
  }

  bool dominates(std::uint32_t a, std::uint32_t b) const {
    if (dominator_[b] == none) return true;  // b is never reached
    while (b != a && b != 0) b = dominator_[b];
    return b == a;
  }

  void find_single_assignments() {
    definition_.assign(d_.registers.size(), none);
    block_.assign(d_.drafts.size(), 0);
    std::vector<std::uint32_t> count(d_.registers.size(), 0);
    for (std::uint32_t b = 0; b < d_.blocks.size(); ++b) {
      for (std::uint32_t i = d_.blocks[b].first; i < d_.blocks[b].last; ++i) {
        block_[i] = b;
        for (std::uint32_t r : d_.drafts[i].destinations) {
          count[r] += d_.drafts[i].guard == no_register ? 1 : 2;
          definition_[r] = i;
        }
      }
      if (End const& end = d_.blocks[b].end; end.result != no_register) count[end.result] += 2;
    }
    for (std::uint32_t r = 0; r < definition_.size(); ++r)
      if (count[r] != 1) definition_[r] = none;
    auto check = [&](std::uint32_t r, std::uint32_t block, std::uint32_t at) {
      if (r == no_register) return;
      std::uint32_t const where = definition_[r];
      if (where == none) return;
      bool const before = block_[where] == block ? where < at : dominates(block_[where], block);
      if (!before) definition_[r] = none;
    };
    for (std::uint32_t b = 0; b < d_.blocks.size(); ++b) {
      for (std::uint32_t i = d_.blocks[b].first; i < d_.blocks[b].last; ++i) {
        for (std::uint32_t r : d_.drafts[i].sources) check(r, b, i);
        if (d_.drafts[i].guard != no_register) check(d_.drafts[i].guard, b, i);
      }
      for (std::uint32_t r : Drafts::reads(d_.blocks[b].end)) check(r, b, d_.blocks[b].last);
    }
  }

  bool pinned(std::uint32_t r) const { return d_.registers[r].pin != no_register; }
  bool fixed(std::uint32_t r) const { return pinned(r) || definition_[r] != none; }

  void fold_copies() {
    std::vector<std::uint32_t> stands_for(d_.registers.size());
    for (std::uint32_t r = 0; r < stands_for.size(); ++r) stands_for[r] = r;
    auto find = [&](std::uint32_t r) {
      while (stands_for[r] != r) r = stands_for[r];
      return r;
    };
    for (Draft& draft : d_.drafts) {
      if (!draft.copy || draft.guard != no_register || draft.destinations.size() != 1) continue;
      std::uint32_t const to = draft.destinations[0], from = find(draft.sources[0]);
      if (definition_[to] == none || !fixed(from) || d_.registers[to].wide != d_.registers[from].wide || from == to)
        continue;
      stands_for[to] = from;
      draft.dead = true;
    }
    auto replace = [&](std::uint32_t& r) {
      if (r != no_register) r = find(r);
    };
    for (Draft& draft : d_.drafts) {
      for (std::uint32_t& r : draft.sources) replace(r);
      replace(draft.guard);
    }
    for (DraftBlock& block : d_.blocks)
      for (std::uint32_t* r : {&block.end.guard, &block.end.index, &block.end.count, &block.end.reduced}) replace(*r);
  }

  Draft const* defined_by(std::uint32_t r, std::initializer_list<std::string_view> patterns) const {
    if (definition_[r] == none) return nullptr;
    Draft const& draft = d_.drafts[definition_[r]];
    if (!draft.opcode) return nullptr;
    for (std::string_view pattern : patterns)
      if (draft.opcode->pattern == pattern) return &draft;
    return nullptr;
  }
  std::optional<std::uint64_t> constant(std::uint32_t r) const {
    if (!pinned(r)) return {};
    Pin const& pin = d_.program.pins[d_.registers[r].pin];
    if (pin.kind != Pin::Kind::immediate) return {};
    return pin.value;
  }
  bool uniform(std::uint32_t r) const {
    if (!pinned(r)) return false;
    Pin const& pin = d_.program.pins[d_.registers[r].pin];
    return pin.kind != Pin::Kind::special && pin.kind != Pin::Kind::frame;
  }

  struct Index {
    std::uint32_t reg = 0;
    std::uint64_t scale = 1;
    bool is_signed = false;
    std::uint32_t read_at = 0;  // the draft that reads it
  };
  std::optional<Index> widened_index(std::uint32_t r) const {
    if (definition_[r] == none) return {};
    std::uint32_t const at = definition_[r];
    if (Draft const* w = defined_by(r, {"cvt.u64.u32", "cvt.s64.u32", "#widen.u32", "cvt.u64.u16"}))
      return Index{w->sources[0], 1, false, at};
    if (Draft const* w = defined_by(r, {"cvt.s64.s32", "cvt.u64.s32", "#widen.s32"}))
      return Index{w->sources[0], 1, true, at};
    for (bool sign : {false, true})
      if (Draft const* w = defined_by(r, {sign ? "mul.wide.s32" : "mul.wide.u32"})) {
        if (auto k = constant(w->sources[1]))
          return Index{w->sources[0],
                       sign ? static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(*k))) : *k,
                       sign, at};
      }
    if (Draft const* w = defined_by(r, {"shl.b64"}))
      if (auto k = constant(w->sources[1]); k && *k < 31)
        if (auto inner = widened_index(w->sources[0])) {
          inner->scale <<= *k;
          return inner;
        }
    return {};
  }

  // The index must still hold at the access what it held when the address was computed.
  bool still_holds(Index const& index, std::uint32_t access) const {
    if (fixed(index.reg)) return true;
    if (block_[index.read_at] != block_[access] || index.read_at > access) return false;
    for (std::uint32_t i = index.read_at; i < access; ++i)
      for (std::uint32_t r : d_.drafts[i].destinations)
        if (r == index.reg) return false;
    return true;
  }

  void fuse_address(std::uint32_t at) {
    Draft& draft = d_.drafts[at];
    Access& access = d_.program.accesses[draft.access];
    if (access.space == ptx::StateSpace::generic) return;
    // Constants first, in either width of address.
    for (;;) {
      Draft const* sum =
          defined_by(draft.sources[0], {access.address == Access::Address::wide ? "add.{u,s}64" : "add.{u,s}32"});
      if (!sum) break;
      auto k = constant(sum->sources[1]);
      std::uint32_t rest = sum->sources[0];
      if (!k) {
        k = constant(sum->sources[0]);
        rest = sum->sources[1];
      }
      if (!k || !fixed(rest)) break;
      access.displacement += *k;
      draft.sources[0] = rest;
    }
    if (access.address != Access::Address::wide) return;
    std::uint32_t base = 0, scaled = 0;
    if (Draft const* sum = defined_by(draft.sources[0], {"add.{u,s}64"})) {
      bool const first = uniform(sum->sources[0]);
      if (!first && !uniform(sum->sources[1])) return;
      base = sum->sources[first ? 0 : 1];
      scaled = sum->sources[first ? 1 : 0];
    } else {
      return;
    }
    auto const index = widened_index(scaled);
    if (!index || index->scale == 0 || index->scale > 0x7fffffff || !still_holds(*index, at)) return;
    if (d_.registers[index->reg].wide) return;
    access.address = Access::Address::indexed;
    access.index_signed = index->is_signed;
    access.scale = static_cast<std::uint32_t>(index->scale);
    draft.sources[0] = index->reg;
    d_.program.base_pins.resize(d_.program.accesses.size(), no_register);
    d_.program.base_pins[draft.access] = d_.registers[base].pin;
  }

  Drafts& d_;
  std::vector<std::uint32_t> dominator_, definition_, block_;
};

}  // namespace

void fuse(Drafts& drafts) {
  Fusion(drafts).run();
  drafts.program.base_pins.resize(drafts.program.accesses.size(), no_register);
}

}  // namespace kernelcast::emu
