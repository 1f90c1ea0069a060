// The features as the authors of [braun] chapter 5 count them: gpumangrove/utils.py of UniHD-CEG/gpu-mangrove, from the
// block counters of CUDA Flux.
//
// Problem: the thesis names groups of instructions; their program says which opcodes are in which, and differs from
// what one would expect: moves, conversions, selections and reciprocals are arithmetic, intensity is over bytes.
// Method: an opcode's group follows from how its text begins and from the digits at its end, as their patterns have it.
// Every instruction of a block counts for every work-item that enters the block, whatever its predicate.
// Limits: a block in which all instructions are guarded counts as often as the predicate holds most often.

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include "kernels/ptx/cfg.hpp"
#include "measure/flux/counts.hpp"

// Of its own, since files are compiled together.
namespace kernelcast::flux::authors {

namespace {

enum class Group : std::uint8_t {
  integer,
  floating,
  special,
  select,  // comparisons, too
  logic,
  move,
  convert,
  control,
  sync,
  load_global,
  store_global,
  load_shared,
  store_shared,
  load_param,
  store_param,
  load_local,
  store_local,
  load_const,
  store_const,
  atomic_global,
  atomic_shared,
  other
};

struct Class {
  Group group = Group::other;
  std::uint64_t bits = 0;
  friend bool operator<(Class const& a, Class const& b) {
    return std::pair(a.group, a.bits) < std::pair(b.group, b.bits);
  }
};

bool starts(std::string_view text, std::string_view with) {
  return text.substr(0, with.size()) == with;
}

template <std::size_t N>
bool starts_with_one(std::string_view text, std::array<std::string_view, N> const& words) {
  return std::any_of(words.begin(), words.end(), [&](auto const word) { return starts(text, word); });
}

constexpr std::array<std::string_view, 20> integer_words{"add", "sub",  "mul", "mad", "sad",  "div", "rem",
                                                         "abs", "neg",  "min", "max", "popc", "clz", "bfind",
                                                         "fns", "brev", "bfe", "bfi", "dp4a", "dp2a"};
constexpr std::array<std::string_view, 13> float_words{"testp", "copysign", "add", "sub", "mul", "fma", "mad",
                                                       "div",   "abs",      "neg", "min", "max", "rcp"};
constexpr std::array<std::string_view, 6> special_words{"sqrt", "rsqrt", "sin", "cos", "lg2", "ex2"};
constexpr std::array<std::string_view, 3> select_words{"set", "selp", "slct"};
// shf begins shfl, too: exchanges count as logic.
constexpr std::array<std::string_view, 9> logic_words{"and", "or", "xor", "not", "cnot", "lop3", "shf", "shl", "shr"};
constexpr std::array<std::string_view, 4> control_words{"bra", "call", "ret", "exit"};

struct Access {
  std::string_view text;
  Group group;
};
constexpr std::array<Access, 14> accesses{{{"ld.global", Group::load_global},
                                           {"ld.shared", Group::load_shared},
                                           {"ld.volatile.shared", Group::load_shared},
                                           {"ld.const", Group::load_const},
                                           {"ld.local", Group::load_local},
                                           {"ld.param", Group::load_param},
                                           {"ld", Group::load_global},
                                           {"st.global", Group::store_global},
                                           {"st.shared", Group::store_shared},
                                           {"st.volatile.shared", Group::store_shared},
                                           {"st.const", Group::store_const},
                                           {"st.local", Group::store_local},
                                           {"st.param", Group::store_param},
                                           {"st", Group::store_global}}};

// The type at the end of an opcode: its letters and its digits. Packed types (f16x2) are none.
struct Type {
  std::string_view letters;
  std::uint64_t bits = 0;
};
Type type_of(std::string_view opcode) {
  auto const last = opcode.substr(std::min(opcode.rfind('.'), opcode.size() - 1) + 1);
  auto const digits = last.find_first_of("0123456789");
  if (digits == last.npos || last.find_first_not_of("0123456789", digits) != last.npos) return {last, 0};
  std::uint64_t bits = 0;
  for (char const c : last.substr(digits)) bits = 10 * bits + static_cast<std::uint64_t>(c - '0');
  return {last.substr(0, digits), bits};
}

// Nothing but a vector's length and the type may follow the state space: ld.global.nc.f32 is no access to them.
Class access_of(std::string_view opcode, Type const& type) {
  for (auto const& [text, group] : accesses) {
    if (!starts(opcode, text)) continue;
    auto rest = opcode.substr(text.size());
    std::uint64_t elements = 1;
    if (starts(rest, ".v2") || starts(rest, ".v4")) {
      elements = rest[2] == '2' ? 2 : 4;
      rest.remove_prefix(3);
    }
    if (starts(rest, ".") && rest.find('.', 1) == rest.npos && type.bits > 0) return {group, elements * type.bits};
  }
  return {};
}

Class class_of(std::string_view opcode) {
  auto const type = type_of(opcode);
  if (type.bits > 0) {
    char const letter = type.letters.empty() ? ' ' : type.letters.back();  // bf16 ends as f16 does
    if ((letter == 'u' || letter == 's') && starts_with_one(opcode, integer_words)) return {Group::integer, type.bits};
    if (letter == 'f' && starts_with_one(opcode, float_words)) return {Group::floating, type.bits};
    if (letter == 'f' && starts_with_one(opcode, special_words)) return {Group::special, type.bits};
    if (starts_with_one(opcode, select_words)) return {Group::select, type.bits};
  }
  auto const bits = type.letters == "pred" ? 32 : type.bits;
  if (bits > 0 && starts_with_one(opcode, logic_words)) return {Group::logic, bits};
  if (auto const access = access_of(opcode, type); access.group != Group::other) return access;
  if (bits > 0 && starts(opcode, "mov")) return {Group::move, bits};
  if (type.bits > 0 && starts(opcode, "cvt")) return {Group::convert, type.bits};
  if (starts_with_one(opcode, control_words)) return {Group::control, 0};
  if (type.bits > 0 && starts(opcode, "atom.global")) return {Group::atomic_global, type.bits};
  if (type.bits > 0 && starts(opcode, "atom.shared")) return {Group::atomic_shared, type.bits};
  if (starts(opcode, "bar.sync")) return {Group::sync, 0};
  return {};
}

// Whether the authors' sum over all instructions has the class: it leaves out widths that their samples did not have.
bool in_total(Class const& c) {
  auto const among = [&](std::initializer_list<std::uint64_t> widths) {
    return std::find(widths.begin(), widths.end(), c.bits) != widths.end();
  };
  switch (c.group) {
    case Group::floating:
    case Group::special:
    case Group::store_param:
    case Group::store_shared:
    case Group::load_const:
      return among({32, 64});
    case Group::integer:
    case Group::logic:
    case Group::select:
    case Group::convert:
    case Group::move:
      return among({16, 32, 64});
    case Group::load_global:
    case Group::store_global:
      return among({8, 32, 64, 128});
    case Group::load_shared:
    case Group::load_param:
    case Group::load_local:
    case Group::store_local:
      return among({8, 32, 64});
    case Group::atomic_global:
    case Group::atomic_shared:
      return among({32});
    case Group::store_const:
      return false;
    case Group::control:
    case Group::sync:
    case Group::other:
      return true;
  }
  return false;
}

// Lanes that enter the block of each instruction.
std::vector<std::uint64_t> entries(ptx::Function const& function, std::vector<Executions> const& counts) {
  std::vector<std::uint64_t> out(counts.size());
  for (auto const& block : ptx::build_cfg(function).blocks) {
    auto const last = std::min<std::size_t>(block.last, counts.size());
    std::uint64_t entered = 0;
    for (std::size_t i = block.first; i < last; ++i) entered = std::max(entered, counts[i].lanes);
    for (std::size_t i = block.first; i < last; ++i) out[i] = entered;
  }
  return out;
}

}  // namespace

record::Feature features(ptx::Module const& module, Counts const& counts) {
  std::map<Class, std::uint64_t> sums;
  for (std::size_t f = 0; f < counts.functions.size(); ++f) {
    auto const& function = module.functions[f];
    auto const entered = entries(function, counts.functions[f]);
    for (std::size_t i = 0; i < entered.size(); ++i)
      if (entered[i]) sums[class_of(full_opcode(function.instructions[i]))] += entered[i];
  }
  // Instructions of these groups, of widths up to 64 bits where the group has any; bytes of all widths.
  auto const instructions = [&](std::initializer_list<Group> groups) {
    double sum = 0;
    for (auto const& [c, lanes] : sums)
      if (std::find(groups.begin(), groups.end(), c.group) != groups.end() && in_total(c))
        sum += static_cast<double>(lanes);
    return sum;
  };
  auto const bytes = [&](std::initializer_list<Group> groups) {
    double sum = 0;
    for (auto const& [c, lanes] : sums)
      if (std::find(groups.begin(), groups.end(), c.group) != groups.end())
        sum += static_cast<double>(lanes) * static_cast<double>(c.bits) / 8;
    return sum;
  };
  record::Feature row;
  row.definition = record::FeatureDefinition::authors;
  double total = 0;
  for (auto const& [c, lanes] : sums)
    if (in_total(c)) total += static_cast<double>(lanes);
  row.inst_total = total;
  row.inst_special = instructions({Group::special});
  row.inst_logic = instructions({Group::logic});
  row.inst_control = instructions({Group::control});
  row.inst_arithmetic = instructions({Group::floating, Group::integer, Group::move, Group::select, Group::convert});
  row.inst_sync = instructions({Group::sync});
  auto const atomics = sums.find({Group::atomic_global, 32});
  row.global_bytes = bytes({Group::load_global, Group::store_global}) +
                     (atomics == sums.end() ? 0 : 4 * static_cast<double>(atomics->second));
  row.param_bytes = bytes({Group::load_param, Group::store_param});
  row.shared_bytes_moved = bytes({Group::load_shared, Group::store_shared});
  if (double const moved = *row.global_bytes + *row.param_bytes; moved > 0)
    row.arithmetic_intensity = *row.inst_arithmetic / moved;
  return row;
}

}  // namespace kernelcast::flux::authors
