#include "measure/flux/trips.hpp"

#include <algorithm>
#include <bit>
#include <string_view>
#include <vector>

#include "kernels/ptx/liveness.hpp"

namespace kernelcast::flux {

namespace {

using ptx::Instruction;
using ptx::Operand;
__extension__ typedef __int128 Wide;  // holds every 64-bit number, signed or not, and a step beyond

bool is_register(Operand const& o) {
  return o.kind == Operand::Kind::reg && o.component == 0 && !o.negated;
}

// 32 or 64 for integer types of that size, else 0.
unsigned integer_bits(std::string_view type) {
  if (type.size() != 3 || std::string_view("sub").find(type[0]) == std::string_view::npos) return 0;
  return type.ends_with("32") ? 32 : type.ends_with("64") ? 64 : 0;
}

std::uint64_t wrapped(std::uint64_t value, bool wide) {
  return wide ? value : value & 0xffffffffu;
}
std::int64_t as_signed(std::uint64_t value, bool wide) {
  return wide ? static_cast<std::int64_t>(value) : static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
}

class Finder {
 public:
  Finder(ptx::Function const& function, Graph const& graph, std::uint32_t loop)
      : f_(function), graph_(graph), loop_(graph.cfg.loops[loop]) {
    trip_.loop = loop;
    for (auto const b : loop_.blocks)
      for (auto i = block(b).first; i < block(b).last; ++i) inside_.push_back(i);
  }

  std::optional<Trip> run() {
    if (!find_edges() || !find_comparison() || !find_induction()) return std::nullopt;
    return settle() ? std::optional(trip_) : std::nullopt;
  }

 private:
  ptx::CfgBlock const& block(std::uint32_t b) const { return graph_.cfg.blocks[b]; }
  bool in_loop(std::uint32_t node) const {
    return node != graph_.outside() && std::binary_search(loop_.blocks.begin(), loop_.blocks.end(), node);
  }

  // One edge back, one edge out; the block with the edge out is executed once per iteration.
  bool find_edges() {
    unsigned back = 0, out = 0;
    for (std::uint32_t e = 0; e < graph_.edges.size(); ++e) {
      Edge const& edge = graph_.edges[e];
      if (!in_loop(edge.from)) continue;
      if (edge.to == loop_.header) ++back, trip_.back_edge = e;
      if (!in_loop(edge.to)) ++out, exit_ = e;
    }
    if (back != 1 || out != 1) return false;
    exiting_ = graph_.edges[exit_].from;
    latch_ = graph_.edges[trip_.back_edge].from;
    Instruction const& last = f_.instructions[block(exiting_).last - 1];
    return block(exiting_).loop == trip_.loop && graph_.cfg.dominates(exiting_, latch_) && last.is(ptx::Op::bra) &&
           last.guard.present;
  }

  // Writes of a register within the loop.
  std::vector<std::uint32_t> writes(std::uint32_t reg) const {
    std::vector<std::uint32_t> out;
    for (auto const i : inside_)
      if (writes_to(f_.instructions[i], reg)) out.push_back(i);
    return out;
  }
  static bool writes_to(Instruction const& i, std::uint32_t reg) {
    auto const written = ptx::effects(i).written;
    return std::find(written.begin(), written.end(), reg) != written.end();
  }

  bool find_comparison() {
    Instruction const& branch = f_.instructions[block(exiting_).last - 1];
    for (auto i = block(exiting_).last - 1; i-- > block(exiting_).first;) {
      if (!writes_to(f_.instructions[i], branch.guard.reg)) continue;
      comparison_ = i;
      bool const leaves_if_true = graph_.edges[exit_].kind == Edge::Kind::branch;
      return read_comparison(f_.instructions[i], branch.guard.reg, leaves_if_true == branch.guard.negated);
    }
    return false;
  }

  // `holds`: the loop goes on where the comparison holds.
  bool read_comparison(Instruction const& i, std::uint32_t predicate, bool holds) {
    if (!i.is(ptx::Op::setp) || i.guard.present || i.operands.size() != 3 || i.modifiers.size() != 2) return false;
    if (!is_register(i.operands[0]) || i.operands[0].id != predicate) return false;
    unsigned const bits = integer_bits(i.modifiers[1]);
    if (bits == 0) return false;
    trip_.wide = bits == 64;
    std::string_view word = i.modifiers[0];
    trip_.is_signed = i.modifiers[1][0] == 's';
    for (auto const& [mnemonic, plain] : {std::pair{"lo", "lt"}, {"ls", "le"}, {"hi", "gt"}, {"hs", "ge"}})
      if (word == mnemonic) word = plain, trip_.is_signed = false;
    bool const first_varies = is_register(i.operands[1]) && !writes(i.operands[1].id).empty();
    if (!first_varies) word = mirrored(word);
    if (!holds) word = opposite(word);
    induction_ = i.operands[first_varies ? 1 : 2];
    trip_.bound = i.operands[first_varies ? 2 : 1];
    bool const bound_fixed =
        trip_.bound.kind == Operand::Kind::integer || (is_register(trip_.bound) && writes(trip_.bound.id).empty());
    if (!is_register(induction_) || !bound_fixed) return false;
    static constexpr std::pair<std::string_view, GoesOn> forms[] = {{"ne", GoesOn::not_equal},
                                                                    {"lt", GoesOn::less},
                                                                    {"le", GoesOn::less_equal},
                                                                    {"gt", GoesOn::greater},
                                                                    {"ge", GoesOn::greater_equal}};
    for (auto const& [name, form] : forms)
      if (word == name) return trip_.goes_on = form, true;
    return false;
  }

  static std::string_view mirrored(std::string_view word) {
    return word == "lt" ? "gt" : word == "gt" ? "lt" : word == "le" ? "ge" : word == "ge" ? "le" : word;
  }
  static std::string_view opposite(std::string_view word) {
    static constexpr std::pair<std::string_view, std::string_view> pairs[] = {{"lt", "ge"}, {"ge", "lt"}, {"gt", "le"},
                                                                              {"le", "gt"}, {"eq", "ne"}, {"ne", "eq"}};
    for (auto const& [a, b] : pairs)
      if (word == a) return b;
    return {};
  }

  // Executed exactly once per iteration that goes on, unless the loop ends before it.
  bool once(std::uint32_t i) const {
    auto const b = graph_.cfg.block_of[i];
    return block(b).loop == trip_.loop && graph_.cfg.dominates(b, latch_);
  }
  // Within an iteration; both are executed once.
  bool before(std::uint32_t a, std::uint32_t b) const {
    auto const block_a = graph_.cfg.block_of[a], block_b = graph_.cfg.block_of[b];
    return block_a == block_b ? a < b : graph_.cfg.dominates(block_a, block_b);
  }

  // r = r + constant; or n = r + constant and r = n: the place where r changes, and the one where n does.
  bool find_induction() {
    auto const writes_of_tested = writes(induction_.id);
    if (writes_of_tested.size() != 1) return false;
    auto const at = writes_of_tested[0];
    auto const added = addition(at);
    if (added && added->first == induction_.id) return place(induction_.id, added->second, at, at);
    if (added) {  // the comparison reads n, of n = r + constant
      auto const moved = writes(added->first);
      if (moved.size() != 1 || !is_move(moved[0], induction_.id) || !before(at, moved[0])) return false;
      return place(added->first, added->second, moved[0], at);
    }
    auto const source = moved_from(at);  // the comparison reads r, of r = n
    if (!source) return false;
    auto const next = writes(*source);
    if (next.size() != 1 || !before(next[0], at)) return false;
    auto const sum = addition(next[0]);
    return sum && sum->first == induction_.id && place(induction_.id, sum->second, at, at) && once(next[0]);
  }

  // `changes`: where what the comparison reads gets its new value.
  bool place(std::uint32_t reg, std::uint64_t step, std::uint32_t moved, std::uint32_t changes) {
    if (!once(changes) || !once(moved) || step == 0) return false;
    trip_.reg = reg;
    trip_.step = step;
    bool const tested_after = before(changes, comparison_);
    // A value n that is compared before it is made is that of the iteration before: none in the first one.
    if (!tested_after && (changes != moved || !before(comparison_, changes))) return false;
    trip_.offset = tested_after ? step : 0;
    return true;
  }

  std::optional<std::pair<std::uint32_t, std::uint64_t>> addition(std::uint32_t at) const {
    Instruction const& i = f_.instructions[at];
    bool const sum = i.is(ptx::Op::add), difference = i.is(ptx::Op::sub);
    if ((!sum && !difference) || i.guard.present || i.operands.size() != 3 || i.modifiers.size() != 1) return {};
    if (integer_bits(i.modifiers[0]) != (trip_.wide ? 64 : 32)) return {};
    if (!is_register(i.operands[0]) || !is_register(i.operands[1])) return {};
    if (i.operands[2].kind != Operand::Kind::integer) return {};
    auto const step = i.operands[2].value;
    return std::pair{i.operands[1].id, wrapped(sum ? step : 0 - step, trip_.wide)};
  }
  std::optional<std::uint32_t> moved_from(std::uint32_t at) const {
    Instruction const& i = f_.instructions[at];
    bool const move = i.is(ptx::Op::mov) && !i.guard.present && i.operands.size() == 2 && i.modifiers.size() == 1 &&
                      integer_bits(i.modifiers[0]) == (trip_.wide ? 64 : 32) && is_register(i.operands[1]);
    return move ? std::optional(i.operands[1].id) : std::nullopt;
  }
  bool is_move(std::uint32_t at, std::uint32_t from) const { return moved_from(at) == from; }

  // The register's value where the loop is entered, if it is always the same constant.
  std::optional<std::uint64_t> initial() const {
    std::vector<std::uint32_t> outside;
    for (std::uint32_t i = 0; i < f_.instructions.size(); ++i)
      if (!in_loop(graph_.cfg.block_of[i]) && writes_to(f_.instructions[i], trip_.reg)) outside.push_back(i);
    if (outside.size() != 1) return {};
    Instruction const& i = f_.instructions[outside[0]];
    auto const at = graph_.cfg.block_of[outside[0]];
    bool const constant = i.is(ptx::Op::mov) && !i.guard.present && i.operands.size() == 2 &&
                          i.operands[1].kind == Operand::Kind::integer && is_register(i.operands[0]);
    if (!constant || !block(at).reachable || block(at).loop != loop_.parent) return {};
    if (!graph_.cfg.dominates(at, loop_.header)) return {};
    return wrapped(i.operands[1].value, trip_.wide);
  }

  // Whether the form is one that is exact; the constant where all is constant.
  bool settle() {
    auto const step = as_signed(trip_.step, trip_.wide);
    bool const up = trip_.goes_on == GoesOn::less || trip_.goes_on == GoesOn::less_equal;
    if (trip_.goes_on != GoesOn::not_equal && step != (up ? 1 : -1)) return constant_bound_in_reach(up, step);
    if (trip_.bound.kind != Operand::Kind::integer) return true;
    trip_.bound.value = wrapped(trip_.bound.value, trip_.wide);
    auto const start = initial();
    if (!start) return true;
    trip_.constant = iterations(wrapped(*start + trip_.offset, trip_.wide));
    return true;
  }

  // Of `!=`, and of comparisons with steps of 1 and -1.
  std::uint64_t iterations(std::uint64_t first) const {
    auto const bound = trip_.bound.value;
    if (trip_.goes_on == GoesOn::not_equal) {
      auto const step = as_signed(trip_.step, trip_.wide);
      auto const distance = wrapped(step > 0 ? bound - first : first - bound, trip_.wide);
      auto const by = division_by(static_cast<std::uint64_t>(step > 0 ? step : -step), trip_.wide);
      return (distance >> by.shift) * by.inverse & by.mask;
    }
    auto const less = [this](std::uint64_t a, std::uint64_t b) {
      return trip_.is_signed ? as_signed(a, trip_.wide) < as_signed(b, trip_.wide) : a < b;
    };
    switch (trip_.goes_on) {
      case GoesOn::less:
        return less(first, bound) ? wrapped(bound - first, trip_.wide) : 0;
      case GoesOn::less_equal:
        return less(bound, first) ? 0 : wrapped(bound - first, trip_.wide) + 1;
      case GoesOn::greater:
        return less(bound, first) ? wrapped(first - bound, trip_.wide) : 0;
      default:
        return less(first, bound) ? 0 : wrapped(first - bound, trip_.wide) + 1;
    }
  }

  // Larger steps: known where start and bound are constants and the loop ends before it could wrap round.
  bool constant_bound_in_reach(bool up, std::int64_t step) {
    if (trip_.bound.kind != Operand::Kind::integer || (step > 0) != up) return false;
    auto const start = initial();
    if (!start || (trip_.wide && !trip_.is_signed)) return false;
    auto const number = [this](std::uint64_t value) {
      return trip_.is_signed ? static_cast<Wide>(as_signed(value, trip_.wide)) : static_cast<Wide>(value);
    };
    Wide const bound = number(wrapped(trip_.bound.value, trip_.wide));
    Wide const bits = trip_.wide ? 64 : 32;
    Wide const most = (static_cast<Wide>(1) << (bits - trip_.is_signed)) - 1;
    Wide const least = trip_.is_signed ? -most - 1 : 0;
    Wide value = number(wrapped(*start + trip_.offset, trip_.wide));
    std::uint64_t count = 0;
    auto const goes_on = [&] {
      switch (trip_.goes_on) {
        case GoesOn::less:
          return value < bound;
        case GoesOn::less_equal:
          return value <= bound;
        case GoesOn::greater:
          return value > bound;
        default:
          return value >= bound;
      }
    };
    for (; goes_on(); value += step)
      if (++count > 1'000'000 || value + step > most || value + step < least) return false;
    trip_.constant = count;
    return true;
  }

  ptx::Function const& f_;
  Graph const& graph_;
  ptx::Loop const& loop_;
  Trip trip_;
  std::vector<std::uint32_t> inside_;
  std::uint32_t exit_ = 0, exiting_ = 0, latch_ = 0, comparison_ = 0;
  Operand induction_;
};

}  // namespace

Division division_by(std::uint64_t step, bool wide) {
  Division by;
  by.shift = static_cast<unsigned>(std::countr_zero(step));
  std::uint64_t const odd = step >> by.shift;
  for (int round = 0; round < 6; ++round) by.inverse *= 2 - odd * by.inverse;  // Newton, modulo 2^64
  by.mask = ~std::uint64_t{0} >> (by.shift + (wide ? 0 : 32));
  by.inverse &= by.mask;
  return by;
}

std::optional<Trip> trip_of(ptx::Function const& function, Graph const& graph, std::uint32_t loop) {
  return Finder(function, graph, loop).run();
}

}  // namespace kernelcast::flux
