#include "emulator/observe/lowering.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "emulator/observe/lowering_rules.hpp"
#include "kernels/ptx/liveness.hpp"
#include "kernels/ptx/matrix.hpp"

namespace kernelcast::emu {

namespace {

using ptx::Instruction;
using ptx::Op;
using ptx::Operand;
using record::Pipe;

Kind kind_of(std::string_view type) {
  if (type == "pred") return Kind::pred;
  if (type.starts_with("f16") || type.starts_with("bf16")) return Kind::f16;
  if (type == "f32") return Kind::f32;
  if (type == "f64") return Kind::f64;
  if (type == "s64" || type == "u64" || type == "b64") return Kind::i64;
  if (type == "s32" || type == "u32" || type == "b32") return Kind::i32;
  if (type == "s16" || type == "u16" || type == "b16" || type == "s8" || type == "u8" || type == "b8") return Kind::i16;
  return Kind::none;
}

Kind kind_of(Instruction const& i) {
  for (auto at = i.modifiers.rbegin(); at != i.modifiers.rend(); ++at)
    if (Kind const kind = kind_of(*at); kind != Kind::none) return kind;
  return Kind::none;
}

bool is_integer(Kind kind) {
  return kind == Kind::i16 || kind == Kind::i32 || kind == Kind::i64;
}

std::optional<std::uint64_t> constant_operand(Instruction const& i, std::size_t operand) {
  if (operand >= i.operands.size() || i.operands[operand].kind != Operand::Kind::integer) return std::nullopt;
  return i.operands[operand].value;
}

std::optional<std::uint32_t> register_of(Instruction const& i, std::size_t operand) {
  if (operand >= i.operands.size() || i.operands[operand].kind != Operand::Kind::reg) return std::nullopt;
  return i.operands[operand].id;
}

// The register of an address [register + offset].
std::optional<std::uint32_t> address_register(Instruction const& i) {
  for (Operand const& o : i.operands)
    if (o.kind == Operand::Kind::address && !o.elements.empty() && o.elements[0].kind == Operand::Kind::reg)
      return o.elements[0].id;
  return std::nullopt;
}

struct Work {
  Slots slots;
  Wait wait = Wait::none;
  float waits = 0;
};

Work const free_of_cost{};
Work alu(float slots) {
  return {{.alu = slots}, Wait::arithmetic, slots};
}

// cvt{.mode}.to.from
Work conversion(Instruction const& i) {
  std::string_view to_name, from_name;
  for (auto const m : i.modifiers)
    if (kind_of(m) != Kind::none) (to_name.empty() ? to_name : from_name) = m;
  Kind const to = kind_of(to_name), from = kind_of(from_name);
  bool const rounds = i.has("rni") || i.has("rzi") || i.has("rmi") || i.has("rpi");
  Work const converts{{.special = 1}, Wait::special, 1}, converts64{{.convert64 = 1}, Wait::special, 1};
  if (is_integer(to) && is_integer(from)) {
    if (i.has("sat")) return alu(2);
    // A sign is spread; zeros are there already, and narrow values fill whole registers.
    bool const spreads = from_name.starts_with("s") && (to == Kind::i64 || from == Kind::i16) && to != from;
    return spreads ? alu(1) : free_of_cost;
  }
  if (to == Kind::f64 && from == Kind::f64)
    return i.has("sat") ? Work{{.alu = 6, .either = 6, .fp64 = 2}, Wait::fp64, 2} : converts64;
  if (to == Kind::f64 || from == Kind::f64 || to == Kind::i64 || from == Kind::i64) return converts64;
  if (to == Kind::f32 && from == Kind::f32)
    return rounds ? converts : free_of_cost;  // saturation is a modifier of what makes the value
  if (to == Kind::f16 && from == Kind::f32) return {{.fp32_to_fp16 = 1}, Wait::arithmetic, 1};
  if ((to == Kind::f16 || from == Kind::f16) && !is_integer(to) && !is_integer(from))
    return {{.fp16 = 1}, Wait::arithmetic, 1};
  bool const narrow_signed = from == Kind::i16 && from_name.starts_with("s");
  if (to == Kind::f32 && is_integer(from) && !narrow_signed && i.has("rn"))
    return {{.int_to_fp32 = 1}, Wait::arithmetic, 1};  // I2FP, where there is one
  return converts;
}

// What reads a register. A product that only sums read is part of them, and so on.
enum Reader : std::uint16_t {
  reads_otherwise = 1,
  float_sum = 2,  // of a kind without a rounding mode, which leaves the choice of a fused one to the assembler
  sum32 = 4,
  sum64 = 8,
  shift64 = 16,
  logic32 = 32,
  logic64 = 64,
  address = 128,
  zero_test = 256,  // setp.eq or .ne with 0
};

// A forward branch over few instructions becomes their predicate.
constexpr std::uint32_t short_branch = 10;

class Lowering {
 public:
  explicit Lowering(Program const& program)
      : program_(program),
        instructions_(program.kernel().instructions),
        values_(program.kernel().registers.size()),
        joined_bytes_(instructions_.size()),
        overwritten_(instructions_.size()) {}

  std::vector<Lowered> run() {
    note_blocks();
    note_values();
    std::vector<Work> work;
    work.reserve(instructions_.size());
    for (std::uint32_t i = 0; i < instructions_.size(); ++i) work.push_back(of(i));
    if (!work.empty()) {
      // The stack pointer, the size of an element, the descriptor of global memory.
      work[0].slots.either += scales_ ? 2 : 1;
      work[0].slots.issue += 1;
    }
    return balanced(work);
  }

 private:
  struct Value {
    std::uint32_t definition = 0;
    std::uint8_t definitions = 0, readers = 0;  // up to 255
    std::uint16_t read_by = 0;                  // Reader bits
    std::uint8_t alignment = 0;                 // a power of two that divides it, as an exponent
    bool merged = false;                        // its instruction is part of its reader
  };

  // ---------------------------------------------------------------- what stands around an instruction

  void note_blocks() {
    block_of_.assign(instructions_.size(), 0);
    std::uint32_t number = 0;
    for (auto const& block : program_.blocks()) {
      for (std::uint32_t i = block.first; i < block.last && i < block_of_.size(); ++i) block_of_[i] = number;
      ++number;
    }
  }

  static Reader reader_of(Instruction const& i, Kind kind) {
    if (i.is(Op::add, Op::sub)) {
      bool const fixed = i.has("rn") || i.has("rz") || i.has("rm") || i.has("rp") || i.has("sat");
      if (kind == Kind::f32 || kind == Kind::f64 || kind == Kind::f16) return fixed ? reads_otherwise : float_sum;
      // A running sum takes a product made before its loop.
      bool const runs = i.operands.size() == 3 && register_of(i, 0) &&
                        (register_of(i, 0) == register_of(i, 1) || register_of(i, 0) == register_of(i, 2));
      if (i.has("cc") || (kind == Kind::i64 && runs)) return reads_otherwise;
      return kind == Kind::i32 ? sum32 : kind == Kind::i64 ? sum64 : reads_otherwise;
    }
    if (i.is(Op::and_, Op::or_, Op::xor_, Op::not_))
      return kind == Kind::i32 ? logic32 : kind == Kind::i64 ? logic64 : reads_otherwise;
    if (i.is(Op::shl) && kind == Kind::i64) return shift64;
    if (i.is(Op::setp) && (i.has("eq") || i.has("ne")) && constant_operand(i, 2) == 0) return zero_test;
    return reads_otherwise;
  }

  void note_values() {
    for (std::uint32_t n = 0; n < instructions_.size(); ++n) {
      Instruction const& i = instructions_[n];
      ptx::effects(i, effects_);
      for (auto const reg : effects_.written) {
        Value& v = values_[reg];
        v.definition = n;
        if (v.definitions < 255) ++v.definitions;
      }
      Reader const reader = reader_of(i, kind_of(i));
      auto base = i.is_memory() ? address_register(i) : std::nullopt;
      for (auto const reg : effects_.read) {
        Value& v = values_[reg];
        if (v.readers < 255) ++v.readers;
        bool const guards = i.guard.present && i.guard.reg == reg;
        v.read_by |= guards ? reads_otherwise : base == reg ? address : reader;
        if (!guards && base == reg) base.reset();  // a second time it is data
      }
    }
  }

  Value const* value(std::optional<std::uint32_t> reg) const { return reg ? &values_[*reg] : nullptr; }
  Value* destination(Instruction const& i) {
    auto const reg = register_of(i, 0);
    return reg ? &values_[*reg] : nullptr;
  }
  // Whether only such instructions read it.
  static bool only(Value const& v, unsigned readers) {
    return v.definitions == 1 && v.readers > 0 && (v.read_by & ~readers) == 0;
  }
  bool only(Instruction const& i, unsigned readers) {
    Value const* const v = destination(i);
    return v && !i.guard.present && only(*v, readers);
  }

  // Its result becomes part of what reads it.
  Work merge(Instruction const& i) {
    if (Value* const v = destination(i)) v->merged = true;
    return free_of_cost;
  }
  // Operands of the instruction that are merged into it.
  unsigned merged(Instruction const& i) const {
    unsigned out = 0;
    for (std::size_t k = 1; k < i.operands.size(); ++k)
      if (Value const* const v = value(register_of(i, k)); v && v->merged) ++out;
    return out;
  }
  Instruction const* definition(Instruction const& i, std::size_t operand) const {
    Value const* const v = value(register_of(i, operand));
    return v && v->definitions == 1 ? &instructions_[v->definition] : nullptr;
  }

  // ---------------------------------------------------------------- alignments, for loads that are joined

  static constexpr std::uint8_t max_alignment = 16;

  std::uint8_t alignment(Operand const& o) const {
    switch (o.kind) {
      case Operand::Kind::reg:
        return values_[o.id].alignment;
      case Operand::Kind::integer:
        return static_cast<std::uint8_t>(std::min<int>(std::countr_zero(o.value), max_alignment));
      case Operand::Kind::variable: {
        auto const& variables = o.local ? program_.kernel().variables : program_.module().variables;
        if (o.id >= variables.size()) return 0;
        ptx::Variable const& v = variables[o.id];
        // ptxas lays out shared memory itself, and aligns arrays to what it joins.
        bool const chosen = v.space == ptx::StateSpace::shared && v.linkage != ptx::Linkage::external && v.size >= 16;
        auto const align = std::max<std::uint64_t>(v.align, chosen ? 16 : 1) | o.value;
        return static_cast<std::uint8_t>(std::min<int>(std::countr_zero(align), max_alignment));
      }
      default:
        return 0;
    }
  }

  std::uint8_t alignment(Instruction const& i) const {
    auto const of_operand = [&](std::size_t k) {
      return k < i.operands.size() ? alignment(i.operands[k]) : std::uint8_t{0};
    };
    auto const capped = [](unsigned a) { return static_cast<std::uint8_t>(std::min<unsigned>(a, max_alignment)); };
    if (!is_integer(kind_of(i))) return 0;
    if (i.is(Op::mov, Op::cvta, Op::cvt, Op::neg)) return of_operand(1);
    if (i.is(Op::add, Op::sub, Op::or_, Op::xor_)) return std::min(of_operand(1), of_operand(2));
    if (i.is(Op::and_)) return std::max(of_operand(1), of_operand(2));
    if (i.is(Op::shl))
      return capped(of_operand(1) +
                    static_cast<unsigned>(std::min<std::uint64_t>(constant_operand(i, 2).value_or(0), max_alignment)));
    if (i.is(Op::mul) && !i.has("hi")) return capped(of_operand(1) + of_operand(2));
    if (i.is(Op::mad) && !i.has("hi")) return std::min(capped(of_operand(1) + of_operand(2)), of_operand(3));
    return 0;
  }

  // The greatest fixed point, from above; without one after a few rounds nothing is known.
  void note_alignments() {
    for (Value& v : values_) v.alignment = v.definitions > 0 ? max_alignment : 0;
    for (int round = 0; round < 8; ++round) {
      bool changed = false;
      for (Instruction const& i : instructions_) {
        ptx::effects(i, effects_);
        if (effects_.written.empty()) continue;
        std::uint8_t const now = effects_.written.size() == 1 ? alignment(i) : 0;
        for (auto const reg : effects_.written)
          if (now < values_[reg].alignment) {
            values_[reg].alignment = now;
            changed = true;
          }
      }
      if (!changed) return;
    }
    for (Value& v : values_) v.alignment = 0;
  }

  // ---------------------------------------------------------------- one instruction

  bool is_short(std::uint32_t at) const {
    Instruction const& i = instructions_[at];
    if (!i.guard.present || i.operands.empty() || i.operands[0].kind != Operand::Kind::label) return false;
    std::uint32_t const to = program_.kernel().labels[i.operands[0].id].instruction;
    if (to <= at || to - at > short_branch + 1) return false;
    for (std::uint32_t k = at + 1; k < to; ++k)
      if (instructions_[k].is_branch() || instructions_[k].is_call() || instructions_[k].is_barrier()) return false;
    return true;
  }

  // A branch to the end is an EXIT under its predicate.
  bool leaves(Instruction const& i) const {
    if (!i.guard.present || i.operands.empty() || i.operands[0].kind != Operand::Kind::label) return false;
    auto const to = program_.kernel().labels[i.operands[0].id].instruction;
    return to >= instructions_.size() || instructions_[to].is(Op::ret, Op::exit);
  }

  Work ruled(Instruction const& i, Kind kind) const {
    Rule const& rule = rule_for(i, kind);
    return {rule.slots, rule.wait, rule.waits};
  }

  Work of(std::uint32_t at) {
    Instruction const& i = instructions_[at];
    using enum record::InstructionClass;
    Kind const kind = kind_of(i);
    switch (program_.instruction_class(at)) {
      case memory:
        return i.is(Op::shfl) ? ruled(i, kind) : access(at);
      case sync:
        return {{.issue = 1}, i.is_barrier() ? Wait::barrier : Wait::none, i.is_barrier() ? 1.0F : 0.0F};
      case control:
        if (i.is_branch() && leaves(i)) return {{.issue = 1}, Wait::none, 0};
        if (i.is_branch() && is_short(at)) return free_of_cost;
        return i.is_branch() ? ruled(i, kind) : Work{{.issue = 1}, Wait::none, 0};
      default:
        break;
    }
    if (i.is(Op::mov, Op::cvta)) return move(i);
    if (i.is(Op::cvt)) {
      // Addresses take a 32-bit index as it is.
      if (kind == Kind::i32 && i.has("s64") && only(i, sum64 | shift64)) return free_of_cost;
      return reads_load(i) ? free_of_cost : conversion(i);
    }
    if (i.is(Op::mul) && !i.has("rn") && !i.has("rz") && !i.has("rm") && !i.has("rp") && !i.has("sat") &&
        !is_integer(kind) && only(i, float_sum))
      return merge(i);  // a fused multiply-add
    if (i.is(Op::wmma, Op::mma)) return matrix(at, i, kind);
    if (is_integer(kind)) return integer(at, i, kind);
    Work out = ruled(i, kind);
    // A sum takes one product; a second one is an instruction of its own.
    if (i.is(Op::add, Op::sub) && merged(i) > 1) (kind == Kind::f64 ? out.slots.fp64 : out.slots.fp32) += 1;
    return out;
  }

  Work matrix(std::uint32_t at, Instruction const& i, Kind kind) const {
    Work out = ruled(i, kind);
    if (unsigned const requests = program_.fragment_requests(at).count; requests > 0) {
      out.slots.memory = static_cast<float>(requests);
      if (out.wait == Wait::global && i.space() == ptx::StateSpace::shared) out.wait = Wait::shared;
      return out;
    }
    // Volta takes a depth of 4 at a time, in four steps for sums of f32 (HMMA.884 .STEP0 … .STEP3), in two for f16.
    auto const product = ptx::matrix_product(i);
    if (program_.fragments() != WmmaFragments::volta || !product || !product->kind.starts_with("mma/f16/")) return out;
    constexpr double flop_of_depth = 2 * 16 * 16 * 4;
    float const steps = product->kind.ends_with("/f32") ? 4 : 2;
    out.slots.tensor = steps * static_cast<float>(product->flop / flop_of_depth);
    return out;
  }

  // Loads of bytes and halves extend what they read, to integers.
  bool reads_load(Instruction const& i) const {
    Instruction const* const from = definition(i, 1);
    return from && from->is_load() && std::ranges::all_of(i.modifiers, [](std::string_view m) {
             return kind_of(m) == Kind::none || is_integer(kind_of(m));
           });
  }

  Work move(Instruction const& i) {
    if (i.operands.size() < 2 || i.operands[1].kind != Operand::Kind::special || i.guard.present) return free_of_cost;
    using enum ptx::Special;
    auto const which = static_cast<ptx::Special>(i.operands[1].id);
    if (which == ntid_x || which == ntid_y || which == ntid_z || which == nctaid_x || which == nctaid_y ||
        which == nctaid_z)
      return free_of_cost;  // constants of the launch
    bool const changes = which == clock || which == clock_hi || which == clock64 || which == globaltimer;
    auto& seen = special_seen_[std::min<std::size_t>(i.operands[1].id, special_seen_.size() - 1)];
    if (seen && !changes) return free_of_cost;
    seen = true;
    return {{.issue = 1}, Wait::special, 1};
  }

  Work integer(std::uint32_t at, Instruction const& i, Kind kind) {
    bool const wide = kind == Kind::i64, word = kind == Kind::i32;
    unsigned const same_sum = wide ? sum64 : sum32;
    if (i.is(Op::mul)) {
      bool const makes64 = i.has("wide") && word;
      if (makes64 && only(i, sum64)) {  // IMAD.WIDE
        scales_ = scales_ || constant_operand(i, 2).has_value();
        return merge(i);
      }
      if (!i.has("wide") && !i.has("hi") && word && only(i, sum32)) return merge(i);  // IMAD
    }
    if (i.is(Op::shl) && constant_operand(i, 2) && only(i, same_sum)) return merge(i);         // LEA
    if (i.is(Op::shr) && word && constant_operand(i, 2) && single(i, sum32)) return merge(i);  // LEA.HI
    if (i.is(Op::shr) && wide && constant_operand(i, 2).value_or(0) >= 32) return alu(1);      // of the high half
    if (i.is(Op::add, Op::sub) && !i.has("cc") && (wide || word)) return sum(at, i, wide, same_sum);
    if (i.is(Op::and_, Op::or_, Op::xor_, Op::not_) && (wide || word)) return logic(at, i, kind);
    if (i.is(Op::setp) && (wide || word)) return comparison(i, kind);
    if (i.is(Op::div, Op::rem) && word && constant_operand(i, 2))
      return {{.imad = 1, .alu = i.is(Op::rem) ? 3.0F : 2.0F}, Wait::arithmetic, 3};  // the high half of a product
    return ruled(i, kind);
  }

  bool single(Instruction const& i, unsigned readers) {
    Value const* const v = destination(i);
    return v && v->readers == 1 && only(i, readers);
  }

  // The reader of a value that one instruction of the same block reads, as far as that is known.
  bool stays(std::uint32_t at, std::uint32_t reg) const {
    auto const end = std::min<std::size_t>(instructions_.size(), std::size_t{at} + 64);
    for (std::size_t k = at + 1; k < end && block_of_[k] == block_of_[at]; ++k)
      for (std::size_t o = 1; o < instructions_[k].operands.size(); ++o)
        if (register_of(instructions_[k], o) == reg) return true;
    return false;
  }

  Work sum(std::uint32_t at, Instruction const& i, bool wide, unsigned same_sum) {
    unsigned const parts = merged(i);
    bool const offset = constant_operand(i, 2).has_value() || constant_operand(i, 1).has_value();
    if (offset && parts == 0 && only(i, address)) return merge(i);  // [register + offset]
    if (wide) {
      if (parts > 0 && has_product(i)) return {{.imad = static_cast<float>(parts)}, Wait::arithmetic, 1};
      if (parts > 0) return {{.alu = 2 * static_cast<float>(parts)}, Wait::arithmetic, 2};  // LEA, LEA.HI.X
    } else if (parts > 0) {
      bool const product = has_product(i);
      float const n = static_cast<float>(parts);
      return {{.imad = product ? 1.0F : 0.0F, .alu = product ? n - 1 : n}, Wait::arithmetic, n};
    }
    // Three terms are one instruction.
    if (auto const reg = register_of(i, 0); single(i, same_sum) && stays(at, *reg)) return merge(i);
    return ruled(i, wide ? Kind::i64 : Kind::i32);
  }

  bool has_product(Instruction const& i) const {
    for (std::size_t k = 1; k < i.operands.size(); ++k) {
      Value const* const v = value(register_of(i, k));
      if (v && v->merged && instructions_[v->definition].is(Op::mul)) return true;
    }
    return false;
  }

  // LOP3 is any function of three operands.
  Work logic(std::uint32_t at, Instruction const& i, Kind kind) {
    unsigned const same = kind == Kind::i64 ? logic64 : logic32;
    float const halves = kind == Kind::i64 ? 2 : 1;
    unsigned const parts = merged(i);
    if (i.is(Op::not_) && only(i, same)) return merge(i);
    if (auto const reg = register_of(i, 0); parts == 0 && single(i, same) && stays(at, *reg)) return merge(i);
    return alu(halves * static_cast<float>(std::max(1U, parts)));
  }

  // A logical operation tests its result for zero itself.
  Work comparison(Instruction const& i, Kind kind) {
    Instruction const* const from = definition(i, 1);
    bool const tests = reader_of(i, kind) == zero_test && from && from->is(Op::and_, Op::or_, Op::xor_) &&
                       values_[i.operands[1].id].readers == 1;
    return tests ? free_of_cost : ruled(i, kind);
  }

  // ---------------------------------------------------------------- memory

  Work access(std::uint32_t at) {
    Instruction const& i = instructions_[at];
    using enum ptx::StateSpace;
    if (i.is(Op::prefetch, Op::prefetchu)) return {{.issue = 1}, Wait::none, 0};
    auto const space = i.space();
    if (space == param) return free_of_cost;
    bool const loads = i.is_load() || i.is_atomic() || i.is_image_access() || i.is(Op::ldmatrix);
    if (space == local && is_overwritten(at)) {
      overwritten_[at] = true;
      return free_of_cost;
    }
    if (space == constant && loads && !address_register(i))
      return {{.issue = 0.5}, Wait::constant, 1};  // an operand, or ULDC
    Wait const wait = !loads              ? Wait::none
                      : space == constant ? Wait::constant
                      : space == shared   ? Wait::shared
                                          : Wait::global;
    return {{.memory = is_joined(at) ? 0.0F : 1.0F}, wait, loads ? 1.0F : 0.0F};
  }

  // A store to private memory of what another overwrites, in its block or under a short branch behind it: one store of
  // either value.
  bool is_overwritten(std::uint32_t at) const {
    Instruction const& i = instructions_[at];
    auto const address = [](Instruction const& store) -> Operand const* {
      for (Operand const& o : store.operands)
        if (o.kind == Operand::Kind::address && !o.elements.empty()) return &o;
      return nullptr;
    };
    Operand const* const to = address(i);
    if (!i.is(Op::st) || i.guard.present || i.has("volatile") || !to) return false;
    Value const* const base = value(address_register(i));
    if (base && base->definitions != 1) return false;
    auto const end = std::min<std::size_t>(instructions_.size(), std::size_t{at} + 32);
    for (auto next = at + 1; next < end; ++next) {
      Instruction const& other = instructions_[next];
      if (other.is_call() || other.is_barrier() || (other.is_branch() && !is_short(next))) return false;
      if (other.is_memory() && other.space() == ptx::StateSpace::local && !other.is(Op::st)) return false;
      if (!other.is(Op::st) || other.space() != ptx::StateSpace::local) continue;
      Operand const* const same = address(other);
      if (same && same->value == to->value && same->elements[0].kind == to->elements[0].kind &&
          same->elements[0].id == to->elements[0].id && same->elements[0].value == to->elements[0].value &&
          other.elements() == i.elements() && kind_of(other) == kind_of(i))
        return true;
    }
    return false;
  }

  struct Place {
    std::uint32_t base = 0;
    bool of_register = false;
    std::uint64_t offset = 0;
    unsigned bytes = 0;
    std::uint8_t alignment = 0;  // of the base
  };
  // Where a scalar load or store of 4 or 8 bytes to shared memory goes.
  std::optional<Place> place(Instruction const& i) const {
    if (!(i.is_load() || i.is(Op::st)) || i.space() != ptx::StateSpace::shared || i.guard.present ||
        i.elements() != 1 || i.has("volatile"))
      return std::nullopt;
    Kind const kind = kind_of(i);
    Place out;
    out.bytes = kind == Kind::i64 || kind == Kind::f64 ? 8 : kind == Kind::i32 || kind == Kind::f32 ? 4 : 0;
    if (out.bytes == 0) return std::nullopt;
    for (Operand const& o : i.operands) {
      if (o.kind != Operand::Kind::address || o.elements.empty()) continue;
      Operand const& base = o.elements[0];
      if (base.kind != Operand::Kind::reg && base.kind != Operand::Kind::variable) return std::nullopt;
      out.base = base.id;
      out.of_register = base.kind == Operand::Kind::reg;
      out.offset = o.value + (out.of_register ? 0 : base.value);
      Operand whole = base;
      whole.value = 0;
      out.alignment = alignment(whole);
      return out;
    }
    return std::nullopt;
  }

  // Whether a load is part of another of its block: of the 16 aligned bytes, or 8, that it lies in, each is loaded, and
  // it is not the first. Stores and barriers end what is joined.
  bool is_joined(std::uint32_t at) {
    if (at < joined_until_) return joined_[at - joined_from_] == part_of_another;
    if (!instructions_[at].is_load() || !place(instructions_[at])) return false;
    if (!aligned_) note_alignments();
    aligned_ = true;
    note_joined(at);
    return joined_[0] == part_of_another;
  }

  // Of a load, in joined_: neither, or the bytes that it has of itself and of the others.
  static constexpr std::uint8_t alone = 0, part_of_another = 0xFF;

  // Of the stretch that begins at a load: which loads are parts of others.
  void note_joined(std::uint32_t from) {
    struct Load {
      std::uint32_t at;
      Place place;
    };
    std::vector<Load> loads;
    std::uint32_t end = from;
    for (; end < instructions_.size() && block_of_[end] == block_of_[from] && loads.size() < 1024; ++end) {
      Instruction const& i = instructions_[end];
      if (i.is_barrier() || i.is_atomic() || (i.is(Op::st) && i.space() != ptx::StateSpace::global)) break;
      if (!i.is_load()) continue;
      if (auto const where = place(i)) loads.push_back({end, *where});
    }
    joined_from_ = from;
    joined_until_ = std::max(end, from + 1);
    joined_.assign(joined_until_ - joined_from_, alone);
    auto const less = [](Load const& a, Load const& b) {
      return std::tuple(a.place.of_register, a.place.base, a.place.bytes, a.place.offset, a.at) <
             std::tuple(b.place.of_register, b.place.base, b.place.bytes, b.place.offset, b.at);
    };
    std::sort(loads.begin(), loads.end(), less);
    for (std::size_t k = 0; k < loads.size();) k += run_of(loads, k);
    for (std::uint32_t i = joined_from_; i < joined_until_; ++i)
      if (auto const bytes = joined_[i - joined_from_]; bytes != alone)
        joined_bytes_[i] = bytes == part_of_another ? std::uint8_t{0} : bytes;
  }

  template <class Loads>
  std::size_t run_of(Loads const& loads, std::size_t k) {
    Place const& first = loads[k].place;
    for (unsigned const bytes : {16U, 8U}) {
      std::size_t const parts = bytes / first.bytes;
      if (parts < 2 || k + parts > loads.size() || (1U << std::min<unsigned>(first.alignment, 4)) < bytes ||
          first.offset % bytes != 0)
        continue;
      bool whole = true;
      for (std::size_t p = 1; p < parts && whole; ++p) {
        Place const& next = loads[k + p].place;
        whole = next.base == first.base && next.of_register == first.of_register && next.bytes == first.bytes &&
                next.offset == first.offset + p * first.bytes;
      }
      if (!whole) continue;
      joined_[loads[k].at - joined_from_] = static_cast<std::uint8_t>(bytes);
      for (std::size_t p = 1; p < parts; ++p) joined_[loads[k + p].at - joined_from_] = part_of_another;
      return parts;
    }
    return 1;
  }

  // ---------------------------------------------------------------- imad or alu

  // ptxas gives what both pipes can do to the one that has less of the kernel.
  std::vector<Lowered> balanced(std::vector<Work> const& work) const {
    double multiplies = 0, others = 0, flexible = 0;
    for (Work const& w : work) {
      multiplies += w.slots.imad + w.slots.fp32;
      others += w.slots.alu;
      flexible += w.slots.either;
    }
    double const share = flexible == 0 ? 0 : std::clamp((flexible + others - multiplies) / (2 * flexible), 0.0, 1.0);
    auto const to_imad = static_cast<float>(static_cast<int>(share * 8 + 0.5)) / 8;
    std::vector<Lowered> out(work.size());
    for (std::size_t k = 0; k < work.size(); ++k) {
      Slots const& s = work[k].slots;
      auto& slots = out[k].slots;
      slots[Pipe::fp32] = s.fp32;
      slots[Pipe::imad] = s.imad + s.either * to_imad;
      slots[Pipe::alu] = s.alu + s.either * (1 - to_imad);
      slots[Pipe::fp16] = s.fp16;
      slots[Pipe::fp64] = s.fp64;
      slots[Pipe::convert64] = s.convert64;
      slots[Pipe::int_to_fp32] = s.int_to_fp32;
      slots[Pipe::fp32_to_fp16] = s.fp32_to_fp16;
      slots[Pipe::special] = s.special;
      slots[Pipe::memory] = s.memory;
      slots[Pipe::tensor] = s.tensor;
      slots[Pipe::issue] = s.issue;
      out[k].wait = work[k].wait;
      out[k].waits = work[k].waits;
      out[k].joined_bytes = joined_bytes_[k];
      out[k].overwritten = overwritten_[k];
      out[k].predicates =
          instructions_[k].is_branch() && !leaves(instructions_[k]) && is_short(static_cast<std::uint32_t>(k));
    }
    return out;
  }

  Program const& program_;
  std::vector<Instruction> const& instructions_;
  std::vector<Value> values_;            // [register]
  std::vector<std::uint32_t> block_of_;  // [instruction]
  std::array<bool, 64> special_seen_{};
  bool scales_ = false;   // an index is multiplied by a size
  bool aligned_ = false;  // alignments are noted
  std::uint32_t joined_from_ = 0, joined_until_ = 0;
  std::vector<std::uint8_t> joined_;                       // [instruction - joined_from_]
  std::vector<std::optional<std::uint8_t>> joined_bytes_;  // [instruction]
  std::vector<bool> overwritten_;                          // [instruction]
  ptx::Effects effects_;
};

}  // namespace

std::vector<Lowered> lower(Program const& program) {
  return Lowering(program).run();
}

}  // namespace kernelcast::emu
