#include "models/ake/lower.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace kernelcast::model::ake {

namespace {

using record::InstructionClass;
using record::Pipe;

constexpr double max_ratio = 8;

enum class Family : std::uint8_t { floating, fp64, product, other, scalar, none };
constexpr std::size_t family_count = 5;

Family family_of(Instruction const& i) {
  if (i.type.kind != Kind::plain) return Family::none;
  switch (i.type.instruction_class) {
    case Class::fp32_add:
    case Class::fp32_mul:
    case Class::fp32_fma:
    case Class::fp16:
      return Family::floating;
    case Class::fp64:
      return Family::fp64;
    case Class::int_mul:
    case Class::int_mad:
      return Family::product;
    case Class::int_add:
    case Class::shift:
    case Class::logic:
    case Class::cvt:
    case Class::move:
      return Family::other;
    default:
      return Family::none;
  }
}

double ratio(double slots, double instructions) {
  return instructions > 0 ? std::clamp(slots / instructions, 0.0, max_ratio) : 1;
}

// Whole numbers of a share that add up to it, by how often each is used.
class Share {
 public:
  std::size_t take(double wanted, double runs) {
    double const exact = wanted + (runs > 0 ? carried_ / runs : 0);
    double const whole = std::max(0.0, std::floor(exact + 0.5));
    if (runs > 0) carried_ += (wanted - whole) * runs;
    return static_cast<std::size_t>(whole);
  }

 private:
  double carried_ = 0;
};

// How many of `all` in the first n + 1 of `of`, less those of the first n.
std::size_t share_of(std::size_t n, std::size_t of, std::size_t all) {
  return (n + 1) * all / of - n * all / of;
}

class Lowering {
 public:
  Lowering(Kernel const& kernel, std::vector<Group> const& groups, SlotRatios const& ratios)
      : kernel_(kernel), ratios_{ratios.floating, ratios.fp64, ratios.product, ratios.other, ratios.scalar} {
    runs_.assign(kernel.blocks.size(), 0);
    for (Group const& group : groups)
      for (Row const& row : group.rows) ++runs_[row.block];
  }

  Kernel run() {
    Kernel out;
    out.name = kernel_.name;
    out.blocks.resize(kernel_.blocks.size());
    std::vector<std::size_t> order(kernel_.blocks.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order,
                      [&](std::size_t a, std::size_t b) { return std::pair(-runs_[a], a) < std::pair(-runs_[b], b); });
    for (std::size_t const b : order) out.blocks[b] = block(kernel_.blocks[b], runs_[b]);
    return out;
  }

 private:
  std::vector<Instruction> block(std::vector<Instruction> const& from, double runs) {
    std::array<std::size_t, family_count> there{}, take{}, done{};
    for (Instruction const& i : from)
      if (Family const family = family_of(i); family != Family::none) ++there[index(family)];
    std::size_t const integers = there[index(Family::product)] + there[index(Family::other)];
    for (Family const family : {Family::floating, Family::fp64, Family::product, Family::other})
      take[index(family)] =
          shares_[index(family)].take(static_cast<double>(there[index(family)]) * ratios_[index(family)], runs);
    std::size_t const scalars =
        shares_[index(Family::scalar)].take(static_cast<double>(integers) * ratios_[index(Family::scalar)], runs);
    std::vector<Instruction> out;
    std::size_t so_far = 0;
    for (Instruction const& i : from) {
      Family const family = family_of(i);
      out.push_back(i);
      if (family == Family::none) continue;
      // A part that the block lacks has nothing to be thinned out; what it wanted is 0.
      std::size_t const times = share_of(done[index(family)]++, there[index(family)], take[index(family)]);
      out.back().folded = times == 0;
      for (std::size_t n = 1; n < times; ++n) out.push_back(alone(i.type));
      if (family != Family::product && family != Family::other) continue;
      for (std::size_t n = share_of(so_far++, integers, scalars); n > 0; --n)
        out.push_back(alone({Class::scalar, Kind::plain, Space::none}));
    }
    return out;
  }

  static Instruction alone(InstructionType type) {
    Instruction out;
    out.type = type;
    return out;
  }
  static std::size_t index(Family family) { return static_cast<std::size_t>(family); }

  Kernel const& kernel_;
  std::array<double, family_count> ratios_;
  std::array<Share, family_count> shares_;
  std::vector<double> runs_;
};

}  // namespace

SlotRatios slot_ratios(record::Kernel const& row, unsigned width) {
  std::size_t const w = width == 64 ? 2 : 1;
  auto const ptx = [&](std::initializer_list<InstructionClass> classes) {
    double sum = 0;
    for (auto const c : classes) sum += row.issues[c][w];
    return sum;
  };
  auto const code = [&](std::initializer_list<Pipe> pipes) {
    double sum = 0;
    for (auto const p : pipes) sum += row.slots[p].value_or(0);
    return sum;
  };
  using enum InstructionClass;
  double const integers = ptx({int_add, int_mul, shift, logic, convert, other});
  // Special functions stay one for one; the pipe has conversions, too.
  double const rest =
      code({Pipe::alu, Pipe::int_to_fp32, Pipe::fp32_to_fp16, Pipe::convert64, Pipe::special}) - ptx({special});
  SlotRatios out;
  out.floating = ratio(code({Pipe::fp32, Pipe::fp16}), ptx({fp32, fp16}));
  out.fp64 = ratio(code({Pipe::fp64}), ptx({fp64}));
  out.product = ratio(code({Pipe::imad}), ptx({int_mul}));
  out.other = ratio(std::max(0.0, rest), integers - ptx({int_mul}));
  out.scalar = integers > 0 ? ratio(code({Pipe::scalar}), integers) : 0;
  return out;
}

Kernel lower(Kernel const& kernel, std::vector<Group> const& groups, SlotRatios const& ratios) {
  return Lowering(kernel, groups, ratios).run();
}

record::Kernel const* SlotRows::find(std::string const& kernel, std::string const& case_name,
                                     std::string const& target) const {
  auto const at = std::ranges::find_if(rows_, [&](record::Kernel const& row) {
    return row.kernel == kernel && row.case_name == case_name && !target.empty() && row.target == target;
  });
  return at == rows_.end() ? nullptr : &*at;
}

}  // namespace kernelcast::model::ake
