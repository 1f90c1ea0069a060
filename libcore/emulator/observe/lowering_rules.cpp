#include "emulator/observe/lowering_rules.hpp"

#include <array>
#include <iterator>

namespace kernelcast::emu {

namespace lowering_table {

using ptx::Op;
using enum Wait;

constexpr std::uint16_t bit(Kind kind) {
  return static_cast<std::uint16_t>(1U << static_cast<unsigned>(kind));
}
constexpr std::uint16_t any = 0xffff, f16 = bit(Kind::f16), f32 = bit(Kind::f32), f64 = bit(Kind::f64),
                        i64 = bit(Kind::i64), i16 = bit(Kind::i16), i32 = bit(Kind::i32), pred = bit(Kind::pred),
                        floats = f32 | f64;

// Rows of one opcode stand together. A row's reason is what machine code has in its place.
constexpr Rule rules[] = {
    // floating point
    {Op::add, f32, "", {.fp32 = 1}, arithmetic, 1},
    {Op::add, f64, "", {.fp64 = 1}, Wait::fp64, 1},
    {Op::add, f16, "", {.fp16 = 1}, arithmetic, 1},
    {Op::add, pred, "", {}, none, 0},
    {Op::add, i64, "", {.alu = 1, .either = 1}, arithmetic, 2},  // low half with carry out, high half with carry in
    {Op::add, any, "", {.either = 1}, arithmetic, 1},            // IADD3 or IMAD.IADD
    {Op::sub, f32, "", {.fp32 = 1}, arithmetic, 1},
    {Op::sub, f64, "", {.fp64 = 1}, Wait::fp64, 1},
    {Op::sub, f16, "", {.fp16 = 1}, arithmetic, 1},
    {Op::sub, i64, "", {.alu = 1, .either = 1}, arithmetic, 2},
    {Op::sub, any, "", {.either = 1}, arithmetic, 1},
    {Op::addc, i64, "", {.alu = 1, .either = 1}, arithmetic, 2},
    {Op::addc, any, "", {.either = 1}, arithmetic, 1},
    {Op::subc, i64, "", {.alu = 1, .either = 1}, arithmetic, 2},
    {Op::subc, any, "", {.either = 1}, arithmetic, 1},
    {Op::fma, f64, "", {.fp64 = 1}, Wait::fp64, 1},
    {Op::fma, f16, "", {.fp16 = 1}, arithmetic, 1},
    {Op::fma, any, "", {.fp32 = 1}, arithmetic, 1},
    {Op::mul, f32, "", {.fp32 = 1}, arithmetic, 1},
    {Op::mul, f64, "", {.fp64 = 1}, Wait::fp64, 1},
    {Op::mul, f16, "", {.fp16 = 1}, arithmetic, 1},
    {Op::mul, any, "wide", {.imad = 1}, arithmetic, 1},                       // IMAD.WIDE
    {Op::mul, i64, "hi", {.imad = 4, .alu = 2, .either = 2}, arithmetic, 5},  // partial products with carries
    {Op::mul, i64, "", {.imad = 3, .either = 1}, arithmetic, 3},              // one wide product, two of the halves
    {Op::mul, any, "", {.imad = 1}, arithmetic, 1},
    {Op::mad, f32, "", {.fp32 = 1}, arithmetic, 1},
    {Op::mad, f64, "", {.fp64 = 1}, Wait::fp64, 1},
    {Op::mad, any, "wide", {.imad = 1}, arithmetic, 1},
    {Op::mad, i64, "hi", {.imad = 4, .alu = 3, .either = 2}, arithmetic, 6},
    {Op::mad, i64, "", {.imad = 3, .either = 1}, arithmetic, 3},
    {Op::mad, any, "", {.imad = 1}, arithmetic, 1},
    {Op::madc, i64, "", {.imad = 3, .either = 2}, arithmetic, 3},
    {Op::madc, any, "", {.imad = 1}, arithmetic, 1},
    {Op::mul24, any, "", {.imad = 1, .alu = 2}, arithmetic, 2},  // operands are cut to 24 bits
    {Op::mad24, any, "", {.imad = 1, .alu = 2}, arithmetic, 2},
    {Op::dp4a, any, "", {.imad = 1}, arithmetic, 1},
    {Op::dp2a, any, "", {.imad = 1}, arithmetic, 1},
    {Op::sad, any, "", {.alu = 2}, arithmetic, 2},
    {Op::neg, floats | f16, "", {}, none, 0},  // a modifier of the operand that reads it
    {Op::neg, i64, "", {.alu = 1, .either = 1}, arithmetic, 2},
    {Op::neg, any, "", {.either = 0.25}, arithmetic, 1},  // mostly a modifier
    {Op::abs, floats | f16, "", {}, none, 0},
    {Op::abs, i64, "", {.alu = 3, .either = 1}, arithmetic, 3},
    {Op::abs, any, "", {.alu = 0.5}, arithmetic, 1},  // IABS, unless a conversion or a minimum takes the magnitude
    {Op::copysign, f64, "", {.alu = 1, .either = 0.5}, arithmetic, 1},
    {Op::copysign, any, "", {.alu = 1}, arithmetic, 1},
    {Op::min, f64, "", {.alu = 5, .fp64 = 1}, Wait::fp64, 1},  // DSETP, then halves are chosen, NaNs made quiet
    {Op::min, f16, "", {.fp16 = 1}, arithmetic, 1},
    {Op::min, i64, "", {.alu = 4}, arithmetic, 3},
    {Op::min, any, "", {.alu = 1}, arithmetic, 1},
    {Op::max, f64, "", {.alu = 5, .fp64 = 1}, Wait::fp64, 1},
    {Op::max, f16, "", {.fp16 = 1}, arithmetic, 1},
    {Op::max, i64, "", {.alu = 4}, arithmetic, 3},
    {Op::max, any, "", {.alu = 1}, arithmetic, 1},
    // divisions: a reciprocal, Newton's steps, a test for the slow path
    {Op::div, f32, "approx", {.fp32 = 2, .alu = 1, .special = 1}, special, 1},  // scaled where small
    {Op::div, f32, "full", {.fp32 = 3, .alu = 1, .special = 1}, special, 1},
    {Op::div, f32, "", {.fp32 = 5, .alu = 1, .either = 0.25, .special = 1, .issue = 2.5}, special, 2},
    {Op::div, f64, "", {.fp32 = 1, .alu = 2, .either = 1.5, .fp64 = 8, .special = 1, .issue = 2.5}, Wait::fp64, 8},
    {Op::div, i64, "", {.imad = 27, .alu = 28, .either = 4, .convert64 = 2, .special = 1, .issue = 3}, special, 6},
    {Op::div, i32 | i16, "u32", {.imad = 4, .alu = 9, .either = 2, .special = 3}, special, 3},
    {Op::div, any, "", {.imad = 4, .alu = 11, .either = 4, .special = 3}, special, 3},
    {Op::rem, i64, "", {.imad = 27, .alu = 24, .either = 4, .convert64 = 2, .special = 1, .issue = 3}, special, 6},
    {Op::rem, i32 | i16, "u32", {.imad = 4, .alu = 7, .either = 2, .special = 3}, special, 3},
    {Op::rem, any, "", {.imad = 4, .alu = 9, .either = 4, .special = 3}, special, 3},
    // roots, reciprocals, exponentials: operands that may be denormal are scaled before, results after
    {Op::rcp, f64, "approx", {.either = 1, .special = 1}, special, 1},
    {Op::rcp, f64, "", {.alu = 2, .either = 1, .fp64 = 5, .special = 1, .issue = 2.5}, Wait::fp64, 6},
    {Op::rcp, f32, "approx", {.special = 1}, special, 1},
    {Op::rcp, f32, "", {.fp32 = 3, .alu = 3, .special = 1, .issue = 2.5}, special, 2},
    {Op::sqrt, f64, "", {.alu = 3, .either = 3, .fp64 = 8, .special = 1, .issue = 2.5}, Wait::fp64, 8},
    {Op::sqrt, f32, "approx", {.fp32 = 1, .special = 1}, special, 1},
    {Op::sqrt, f32, "", {.fp32 = 4, .alu = 2, .either = 0.5, .special = 1, .issue = 2.5}, special, 2},
    {Op::rsqrt, f64, "", {.alu = 2, .either = 1, .fp64 = 5, .special = 1, .issue = 1}, Wait::fp64, 5},
    {Op::rsqrt, f32, "ftz", {.special = 1}, special, 1},
    {Op::rsqrt, f32, "", {.fp32 = 2, .alu = 1, .special = 1}, special, 1},
    {Op::ex2, f32, "ftz", {.special = 1}, special, 1},
    {Op::ex2, f32, "", {.fp32 = 2, .alu = 1, .special = 1}, special, 1},
    {Op::ex2, any, "", {.special = 1}, special, 1},
    {Op::lg2, f32, "ftz", {.special = 1}, special, 1},
    {Op::lg2, any, "", {.fp32 = 2, .alu = 1, .special = 1}, special, 1},
    {Op::sin, any, "", {.fp32 = 1, .special = 1}, special, 1},  // the angle in turns
    {Op::cos, any, "", {.fp32 = 1, .special = 1}, special, 1},
    {Op::tanh, any, "", {.special = 1}, special, 1},
    // bits
    {Op::and_, i64, "", {.alu = 2}, arithmetic, 1},
    {Op::and_, pred, "", {}, none, 0},  // comparisons combine predicates themselves
    {Op::or_, i64, "", {.alu = 2}, arithmetic, 1},
    {Op::or_, pred, "", {}, none, 0},
    {Op::xor_, i64, "", {.alu = 2}, arithmetic, 1},
    {Op::xor_, pred, "", {}, none, 0},
    {Op::not_, i64, "", {.alu = 2}, arithmetic, 1},
    {Op::not_, pred, "", {}, none, 0},
    {Op::shl, i64, "", {.alu = 1, .either = 1}, arithmetic, 1},
    {Op::shl, any, "", {.either = 1}, arithmetic, 1},  // SHF or IMAD.SHL
    {Op::shr, i64, "", {.alu = 2}, arithmetic, 1},
    {Op::popc, i64, "", {.either = 1, .special = 2}, special, 1},
    {Op::popc, any, "", {.special = 1}, special, 1},
    {Op::clz, i64, "", {.alu = 2, .special = 2}, special, 1},
    {Op::clz, any, "", {.alu = 1, .special = 1}, special, 1},
    {Op::bfind, i64, "", {.alu = 2, .special = 2}, special, 1},
    {Op::bfind, any, "", {.special = 1}, special, 1},
    {Op::brev, i64, "", {.special = 2}, special, 1},
    {Op::brev, any, "", {.special = 1}, special, 1},
    {Op::bfe, i64, "", {.alu = 4}, arithmetic, 3},
    {Op::bfe, any, "", {.alu = 2}, arithmetic, 2},  // SHF, SGXT
    {Op::bfi, i64, "", {.alu = 6}, arithmetic, 3},
    {Op::bfi, any, "", {.imad = 1, .alu = 1}, arithmetic, 2},
    // comparisons, choices
    {Op::setp, f64, "", {.fp64 = 1}, Wait::fp64, 1},
    {Op::setp, f16, "", {.fp16 = 1}, arithmetic, 1},
    {Op::setp, i64, "", {.alu = 2}, arithmetic, 2},
    {Op::set, f64, "", {.alu = 1, .fp64 = 1}, Wait::fp64, 1},
    {Op::set, f16, "", {.fp16 = 1}, arithmetic, 1},
    {Op::set, i64, "", {.alu = 3}, arithmetic, 2},
    {Op::set, any, "", {.alu = 2}, arithmetic, 2},
    {Op::selp, i64 | f64, "", {.alu = 2}, arithmetic, 1},
    {Op::slct, i64 | f64, "", {.alu = 3}, arithmetic, 2},
    {Op::slct, any, "", {.alu = 2}, arithmetic, 2},
    // warps and matrices
    {Op::shfl, any, "", {.memory = 1}, shared, 1},
    {Op::vote, any, "", {.alu = 1}, arithmetic, 1},
    {Op::activemask, any, "", {.alu = 1}, arithmetic, 1},
    {Op::match, any, "", {.special = 1}, special, 1},
    {Op::mma, any, "", {.tensor = 1}, special, 1},
    {Op::wmma, any, "load", {.alu = 1, .either = 1, .memory = 1}, Wait::global, 1},  // memory: its requests, see
                                                                                     // lower()
    {Op::wmma, any, "store", {.alu = 1, .either = 1, .memory = 1}, none, 0},
    {Op::wmma, any, "", {.tensor = 2}, special, 2},  // two HMMA of 16 × 8, before 7.5 more
    {Op::wgmma, any, "", {.tensor = 1}, special, 1},
    {Op::tcgen05, any, "mma", {.tensor = 1}, special, 1},
    {Op::tcgen05, any, "ld", {.memory = 1}, shared, 1},
    {Op::tcgen05, any, "st", {.memory = 1}, none, 0},
    {Op::tcgen05, any, "", {.issue = 1}, none, 0},
    // what takes a slot of the scheduler
    {Op::bra, any, "uni", {.issue = 0.25}, none, 0},  // mostly falls through to where it jumps
    {Op::bra, any, "", {.either = 0.125, .issue = 1}, none, 0},
    {Op::prefetch, any, "", {.issue = 1}, none, 0},
    {Op::prefetchu, any, "", {.issue = 1}, none, 0},
    {Op::nanosleep, any, "", {.issue = 1}, none, 0},
    {Op::membar, any, "", {.issue = 1}, none, 0},
    {Op::fence, any, "", {.issue = 1}, none, 0},
    // free: another register's name, a constant operand, an operand's modifier
    {Op::mov, any, "", {}, none, 0},
    {Op::cvta, any, "", {}, none, 0},
};

constexpr Rule otherwise{Op::other, any, "", {.alu = 1}, arithmetic, 1};

// Where the rows of an opcode begin, plus one; 0: none.
constexpr auto first_row = [] {
  std::array<std::uint8_t, ptx::op_count> out{};
  for (std::size_t i = std::size(rules); i-- > 0;)
    out[static_cast<std::size_t>(rules[i].op)] = static_cast<std::uint8_t>(i + 1);
  return out;
}();
static_assert(std::size(rules) < 255);

}  // namespace lowering_table

Rule const& rule_for(ptx::Instruction const& i, Kind kind) {
  using namespace lowering_table;
  auto const op = static_cast<std::size_t>(i.opcode.op());
  if (op < first_row.size() && first_row[op] != 0)
    for (std::size_t row = first_row[op] - 1U; row < std::size(rules) && rules[row].op == i.opcode.op(); ++row)
      if (Rule const& rule = rules[row];
          (rule.kinds & bit(kind)) != 0 && (rule.modifier.empty() || i.has(rule.modifier)))
        return rule;
  return otherwise;
}

}  // namespace kernelcast::emu
