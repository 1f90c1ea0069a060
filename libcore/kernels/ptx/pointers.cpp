#include "kernels/ptx/pointers.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>

#include "kernels/ptx/liveness.hpp"

namespace kernelcast::ptx {

namespace {

using Set = std::uint64_t;                      // of pointers by number; the last four bits say more
constexpr Set from_memory = Set{1} << 63;       // 64 bits that memory has held: perhaps a pointer
constexpr Set half_from_memory = Set{1} << 62;  // 32 bits or fewer: half of one, where two are put together
constexpr Set of_group = Set{1} << 61;          // shared and local memory
constexpr std::size_t max_pointers = 60;

constexpr std::array clocks{Special::clock,       Special::clock_hi,       Special::clock64,
                            Special::globaltimer, Special::globaltimer_lo, Special::globaltimer_hi};

class Tracing {
 public:
  explicit Tracing(Function const& kernel) : kernel_(kernel), of_(kernel.registers.size()) {}

  std::optional<std::vector<TouchedPointer>> run() {
    if (!std::ranges::all_of(kernel_.instructions, [](auto const& i) { return traceable(i); })) return std::nullopt;
    for (bool grew = true; grew && !overflow_;) {
      grew = false;
      for (auto const& instruction : kernel_.instructions) grew |= trace(instruction);
    }
    for (auto const& instruction : kernel_.instructions) {
      if (overflow_ || !note_access(instruction)) return std::nullopt;
      note_values(instruction);
    }
    std::erase_if(pointers_, [](TouchedPointer const& p) { return !p.read && !p.written; });
    return std::move(pointers_);
  }

 private:
  static bool reads_clock(Operand const& operand) {
    if (operand.kind == Operand::Kind::special)
      return std::ranges::find(clocks, static_cast<Special>(operand.id)) != clocks.end();
    return std::ranges::any_of(operand.elements, reads_clock);
  }
  static bool names_memory(Operand const& operand) { return operand.kind == Operand::Kind::address; }

  static bool traceable(Instruction const& i) {
    if (i.is_call() || i.is_image_access() || std::ranges::any_of(i.operands, reads_clock)) return false;
    if (i.is_load() || i.is(Op::st) || i.is_atomic() || i.is(Op::prefetch) || i.is(Op::ldmatrix, Op::stmatrix))
      return true;
    if (is_async_copy(i)) return true;
    return std::ranges::none_of(i.operands, names_memory);
  }
  // cp.async.ca.shared.global [to], [from], …
  static bool is_async_copy(Instruction const& i) {
    return i.opcode == Op::cp && i.has("async") && i.has("shared") && i.has("global") && !i.has("bulk");
  }

  Set number_of(bool is_variable, std::uint64_t at) {
    auto const [place, is_new] = numbers_.try_emplace({is_variable, at}, pointers_.size());
    if (is_new) pointers_.push_back({is_variable, at, false, false});
    if (place->second >= max_pointers) return overflow_ = true, Set{0};
    return Set{1} << place->second;
  }

  Set of(Operand const& operand) {
    switch (operand.kind) {
      case Operand::Kind::reg:
        return of_[operand.id];
      case Operand::Kind::variable:
        return operand.local ? of_group : number_of(true, operand.id);
      case Operand::Kind::address:
        return operand.elements.empty() ? Set{0} : of(operand.elements.front());
      case Operand::Kind::vector:
      case Operand::Kind::list: {
        Set out = 0;
        for (auto const& element : operand.elements) out |= of(element);
        return out;
      }
      default:
        return 0;
    }
  }

  // What a load of the kernel's own parameters gives, or of other memory.
  Set loaded(Instruction const& i, unsigned element) {
    auto const bytes = size_bytes(type_of(i));
    auto const& address = i.operands.back();
    if (i.accesses_parameter() && !address.elements.empty() &&
        address.elements.front().kind == Operand::Kind::parameter) {
      auto const& base = address.elements.front();
      auto const offset = kernel_.parameters[base.id].offset + base.value + address.value + element * bytes;
      return bytes == 8 ? number_of(false, offset) : half_from_memory;
    }
    return bytes >= 8 ? from_memory : half_from_memory;
  }

  static Type type_of(Instruction const& i) {
    static std::map<std::string_view, Type> const types = [] {
      std::map<std::string_view, Type> out;
      for (int t = static_cast<int>(Type::u8); t <= static_cast<int>(Type::pred); ++t)
        out.emplace(name(static_cast<Type>(t)), static_cast<Type>(t));
      return out;
    }();
    for (auto m = i.modifiers.rbegin(); m != i.modifiers.rend(); ++m)
      if (auto const found = types.find(*m); found != types.end()) return found->second;
    return Type::b64;  // the most that it can be
  }

  bool give(Operand const& to, Set set) {
    if (to.kind == Operand::Kind::vector || to.kind == Operand::Kind::list) {
      bool grew = false;
      for (auto const& element : to.elements) grew |= give(element, set);
      return grew;
    }
    if (to.kind != Operand::Kind::reg || (of_[to.id] | set) == of_[to.id]) return false;
    of_[to.id] |= set;
    return true;
  }

  // Larger than any size of an element, so that it moves bits to where an address has its upper ones.
  static bool moves_far(Operand const& by) {
    constexpr std::uint64_t far = 16;
    return by.kind == Operand::Kind::integer && by.value >= far;
  }

  bool trace(Instruction const& i) {
    if (i.operands.empty() || i.is(Op::st) || i.is(Op::red)) return false;
    auto const& to = i.operands.front();
    if (i.is_load()) {
      if (to.kind != Operand::Kind::vector) return give(to, loaded(i, 0));
      bool grew = false;
      for (unsigned e = 0; e < to.elements.size(); ++e) grew |= give(to.elements[e], loaded(i, e));
      return grew;
    }
    if (i.is_atomic()) return give(to, size_bytes(type_of(i)) >= 8 ? from_memory : half_from_memory);
    Set set = 0;
    for (std::size_t o = 1; o < i.operands.size(); ++o) set |= of(i.operands[o]);
    bool const packs = i.is(Op::mov) && i.operands.size() > 1 && i.operands[1].kind == Operand::Kind::vector;
    bool const tainted = (set & (from_memory | half_from_memory)) != 0;
    if (packs && tainted) return give(to, set | from_memory);
    if (i.is(Op::mul, Op::mad) || i.is(Op::shl)) {
      // A product or a shift is no pointer, unless it is made of halves.
      auto const& factor = i.operands.size() > 2 ? i.operands[2] : i.operands.back();
      constexpr std::uint64_t large = std::uint64_t{1} << 16;
      bool const makes_upper =
          tainted && (i.is(Op::shl) ? moves_far(factor) || factor.kind != Operand::Kind::integer
                                    : factor.kind == Operand::Kind::integer && factor.value >= large &&
                                          !i.has("wide") && (i.has("u64") || i.has("s64")));
      Set const added = i.is(Op::mad) && i.operands.size() > 3 ? of(i.operands[3]) : 0;
      return give(to, added | (makes_upper ? from_memory : 0));
    }
    return give(to, set);
  }

  // False where it is not known what is touched.
  bool note_access(Instruction const& i) {
    if (i.accesses_parameter() || i.is(Op::prefetch)) return true;
    if (is_async_copy(i)) return note(of(i.operands[1]), true, false);
    if (!i.is_memory()) return true;
    auto const space = i.space();
    if (space == StateSpace::shared || space == StateSpace::local || space == StateSpace::param) return true;
    auto const address = std::ranges::find_if(i.operands, names_memory);
    if (address == i.operands.end()) return false;
    auto const set = of(*address);
    if (set == of_group && space == StateSpace::generic) return true;
    return note(set, !i.is(Op::st), !i.is_load());
  }
  static bool compares(Instruction const& i) {
    return i.is(Op::setp, Op::set) || i.is(Op::sub, Op::min) || i.is(Op::max, Op::div) || i.is(Op::rem);
  }
  // Values that go to memory, or that are compared with another pointer or with what memory holds.
  void note_values(Instruction const& i) {
    Set values = 0;
    bool const stores = i.is(Op::st) || i.is(Op::red) || i.is_atomic();
    if (stores || compares(i))
      for (auto const& operand : i.operands)
        if (!stores || !names_memory(operand)) values |= of(operand);
    values &= ((Set{1} << max_pointers) - 1) | from_memory;
    if (!stores && std::has_single_bit(values)) return;
    for (std::size_t p = 0; p < pointers_.size(); ++p) pointers_[p].is_value |= (values >> p & 1) != 0;
  }
  bool note(Set set, bool read, bool written) {
    Set const pointers = set & ~(half_from_memory | of_group);
    if (pointers == 0 || (pointers & from_memory) != 0) return false;
    for (std::size_t p = 0; p < pointers_.size(); ++p)
      if ((pointers >> p & 1) != 0) {
        pointers_[p].read |= read;
        pointers_[p].written |= written;
      }
    return true;
  }

  Function const& kernel_;
  std::vector<Set> of_;  // by register
  std::map<std::pair<bool, std::uint64_t>, std::size_t> numbers_;
  std::vector<TouchedPointer> pointers_;
  bool overflow_ = false;
};

}  // namespace

std::optional<std::vector<TouchedPointer>> touched_pointers(Function const& kernel) {
  return Tracing(kernel).run();
}

}  // namespace kernelcast::ptx
