// Names of types, spaces and special registers, and the small questions a module answers.
#include "kernels/ptx/module.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "kernels/ptx/names.hpp"

namespace kernelcast::ptx {

namespace {

struct TypeFact {
  std::string_view name;
  unsigned bytes;
};
constexpr std::array<TypeFact, 31> types = {{
    {"", 0},       {"u8", 1},         {"u16", 2},     {"u32", 4},    {"u64", 8},   {"s8", 1},    {"s16", 2},
    {"s32", 4},    {"s64", 8},        {"b8", 1},      {"b16", 2},    {"b32", 4},   {"b64", 8},   {"b128", 16},
    {"f16", 2},    {"f16x2", 4},      {"bf16", 2},    {"bf16x2", 4}, {"tf32", 4},  {"f32", 4},   {"f64", 8},
    {"e4m3", 1},   {"e5m2", 1},       {"e4m3x2", 2},  {"e5m2x2", 2}, {"u16x2", 4}, {"s16x2", 4}, {"pred", 1},
    {"texref", 8}, {"samplerref", 8}, {"surfref", 8},
}};
constexpr std::size_t type_count = static_cast<std::size_t>(Type::surfref) + 1;
static_assert(types[type_count - 1].name == "surfref");

constexpr std::array<std::string_view, 9> spaces = {"generic", "reg",   "sreg",   "const", "global",
                                                    "local",   "param", "shared", "tex"};

constexpr std::string_view specials[] = {
    "%tid.x",
    "%tid.y",
    "%tid.z",
    "%ntid.x",
    "%ntid.y",
    "%ntid.z",
    "%ctaid.x",
    "%ctaid.y",
    "%ctaid.z",
    "%nctaid.x",
    "%nctaid.y",
    "%nctaid.z",
    "%laneid",
    "%warpid",
    "%nwarpid",
    "%smid",
    "%nsmid",
    "%gridid",
    "%lanemask_eq",
    "%lanemask_le",
    "%lanemask_lt",
    "%lanemask_ge",
    "%lanemask_gt",
    "%clock",
    "%clock_hi",
    "%clock64",
    "%globaltimer",
    "%globaltimer_lo",
    "%globaltimer_hi",
    "%dynamic_smem_size",
    "%total_smem_size",
    "%clusterid.x",
    "%clusterid.y",
    "%clusterid.z",
    "%nclusterid.x",
    "%nclusterid.y",
    "%nclusterid.z",
    "%cluster_ctaid.x",
    "%cluster_ctaid.y",
    "%cluster_ctaid.z",
    "%cluster_nctaid.x",
    "%cluster_nctaid.y",
    "%cluster_nctaid.z",
    "%cluster_ctarank",
    "%cluster_nctarank",
    "%is_explicit_cluster",
    "%current_graph_exec",
    "%envreg",
    "%pm",
    "",
};
static_assert(std::size(specials) == static_cast<std::size_t>(Special::other) + 1);

// Special registers without an enumerator; the vector ones also stand for themselves as a whole.
constexpr std::string_view other_specials[] = {
    "%tid",
    "%ntid",
    "%ctaid",
    "%nctaid",
    "%clusterid",
    "%nclusterid",
    "%cluster_ctaid",
    "%cluster_nctaid",
    "%aggr_smem_size",
    "%reserved_smem_offset_begin",
    "%reserved_smem_offset_end",
    "%reserved_smem_offset_cap",
    "%reserved_smem_offset_0",
    "%reserved_smem_offset_1",
    "%pm0_64",
    "%pm1_64",
    "%pm2_64",
    "%pm3_64",
    "%pm4_64",
    "%pm5_64",
    "%pm6_64",
    "%pm7_64",
};

}  // namespace

unsigned size_bytes(Type type) {
  return types[static_cast<std::size_t>(type)].bytes;
}
std::string_view name(Type type) {
  return types[static_cast<std::size_t>(type)].name;
}
std::string_view name(StateSpace space) {
  return spaces[static_cast<std::size_t>(space)];
}
std::string_view name(Special special) {
  return specials[static_cast<std::size_t>(special)];
}

std::optional<Type> find_type(std::string_view word) {
  for (std::size_t i = 1; i < type_count; ++i)
    if (types[i].name == word) return static_cast<Type>(i);
  return std::nullopt;
}

std::optional<std::pair<Special, std::uint64_t>> find_special(std::string_view word) {
  if (!word.starts_with('%')) return std::nullopt;
  for (std::size_t i = 0; i < static_cast<std::size_t>(Special::envreg); ++i)
    if (specials[i] == word) return std::pair{static_cast<Special>(i), std::uint64_t{0}};
  auto const indexed = [word](std::string_view prefix, unsigned limit) -> std::optional<std::uint64_t> {
    if (!word.starts_with(prefix) || word.size() == prefix.size() || word.size() > prefix.size() + 2)
      return std::nullopt;
    unsigned index = 0;
    for (char c : word.substr(prefix.size())) {
      if (c < '0' || c > '9') return std::nullopt;
      index = index * 10 + static_cast<unsigned>(c - '0');
    }
    if (index >= limit) return std::nullopt;
    return index;
  };
  if (auto index = indexed("%envreg", 32)) return std::pair{Special::envreg, *index};
  if (auto index = indexed("%pm", 8)) return std::pair{Special::pm, *index};
  if (std::find(std::begin(other_specials), std::end(other_specials), word) != std::end(other_specials))
    return std::pair{Special::other, std::uint64_t{0}};
  return std::nullopt;
}

std::vector<std::string> special_names() {
  std::vector<std::string> names;
  for (auto word : specials)
    if (!word.empty()) names.emplace_back(word);
  return names;
}

StateSpace Instruction::space() const {
  for (std::string_view const modifier : modifiers) {
    std::string_view const word = modifier.substr(0, modifier.find(':'));
    for (auto const space :
         {StateSpace::global, StateSpace::shared, StateSpace::local, StateSpace::constant, StateSpace::param})
      if (word == name(space)) return space;
  }
  return StateSpace::generic;
}

unsigned Instruction::elements() const {
  for (std::string_view const m : modifiers)
    if (m == "v2" || m == "v4" || m == "v8") return static_cast<unsigned>(m[1] - '0');
  return 1;
}

Instruction instruction_of(std::string_view full_opcode) {
  Instruction i;
  auto dot = full_opcode.find('.');
  i.opcode = full_opcode.substr(0, dot);
  while (dot != std::string_view::npos) {
    auto const next = full_opcode.find('.', dot + 1);
    i.modifiers.push_back(full_opcode.substr(dot + 1, next == std::string_view::npos ? next : next - dot - 1));
    dot = next;
  }
  return i;
}

std::string full_opcode(Instruction const& instruction) {
  std::string out(instruction.opcode.text());
  for (auto modifier : instruction.modifiers) {
    out += '.';
    out += modifier;
  }
  return out;
}

Function const* Module::find_kernel(std::string_view kernel) const {
  for (auto const& function : functions)
    if (function.entry && function.has_body && function.name == kernel) return &function;
  return nullptr;
}

std::string_view Module::line(std::uint32_t number) const {
  std::string_view rest = text;
  for (std::uint32_t i = 1; i < number; ++i) {
    auto const end = rest.find('\n');
    if (end == std::string_view::npos) return {};
    rest.remove_prefix(end + 1);
  }
  rest = rest.substr(0, rest.find('\n'));
  if (rest.ends_with('\r')) rest.remove_suffix(1);
  return number ? rest : std::string_view{};
}

std::string_view Module::slice(std::uint64_t text_slice) const {
  return std::string_view(text).substr(text_slice >> 16, text_slice & 0xFFFF);
}

std::string Module::describe(SourcePosition position) const {
  if (position.line == 0) return {};
  auto const file = files.find(position.file);
  if (file == files.end()) return {};
  return fmt::format("{}:{}", file->second, position.line);
}

}  // namespace kernelcast::ptx
