// OpenCL's kernel metadata in LLVM IR's text form:
//   define … spir_kernel void @mm(…) … !kernel_arg_addr_space !12 … !kernel_arg_name !17 !reqd_work_group_size !18 {
//   !12 = !{i32 1, i32 2, i32 3}
//   !17 = !{!"a", !"b", !"t"}
#include <charconv>
#include <string_view>
#include <unordered_map>

#include "base/diag/text.hpp"
#include "kernels/frontend/build.hpp"

namespace kernelcast::frontend {
namespace {

using Tuples = std::unordered_map<std::string_view, std::string_view>;  // "12" -> "i32 1, i32 2"

// The numbers or strings of a tuple; a string's \XX escapes are resolved.
std::vector<std::string> elements(std::string_view tuple) {
  std::vector<std::string> result;
  while (!tuple.empty()) {
    if (tuple.substr(0, 2) == "!\"") {
      auto const end = tuple.find('"', 2);
      std::string text;
      for (std::size_t i = 2; i < end && i < tuple.size(); ++i) {
        unsigned code = 0;
        if (tuple[i] == '\\' && i + 2 < end &&
            std::from_chars(tuple.data() + i + 1, tuple.data() + i + 3, code, 16).ec == std::errc{}) {
          text += static_cast<char>(code);
          i += 2;
        } else {
          text += tuple[i];
        }
      }
      result.push_back(std::move(text));
      tuple.remove_prefix(end == tuple.npos ? tuple.size() : end + 1);
    } else {
      auto const end = std::min(tuple.find(','), tuple.size());
      auto item = tuple.substr(0, end);
      result.emplace_back(item.substr(item.rfind(' ') == item.npos ? 0 : item.rfind(' ') + 1));
      tuple.remove_prefix(end);
    }
    auto const next = tuple.find_first_not_of(", ");
    tuple.remove_prefix(next == tuple.npos ? tuple.size() : next);
  }
  return result;
}

std::string_view attached_text(std::string_view define, std::string_view kind, Tuples const& tuples) {
  std::string const key = "!" + std::string(kind) + " !";
  auto const at = define.find(key);
  if (at == define.npos) return {};
  auto rest = define.substr(at + key.size());
  auto const found = tuples.find(rest.substr(0, rest.find_first_not_of("0123456789")));
  return found == tuples.end() ? std::string_view{} : found->second;
}
std::vector<std::string> attached(std::string_view define, std::string_view kind, Tuples const& tuples) {
  return elements(attached_text(define, kind, tuples));
}

// "uchar3" of "<3 x i8> undef, i32 0", which is a value of the type and whether it is signed; empty for others.
std::string hinted_type(std::string_view tuple) {
  if (tuple.empty()) return {};
  bool const is_unsigned = tuple.back() == '0';
  std::string size;
  if (tuple.front() == '<') {
    size = tuple.substr(1, tuple.find(' ') - 1);
    tuple.remove_prefix(std::min(tuple.size(), tuple.find("x ") + 2));
  }
  auto const word = tuple.substr(0, tuple.find_first_of("> "));
  for (auto const& [llvm, name] : {std::pair{"i8", "char"}, {"i16", "short"}, {"i32", "int"}, {"i64", "long"}})
    if (word == llvm) return (is_unsigned ? "u" : "") + std::string(name) + size;
  return word == "float" || word == "double" || word == "half" ? std::string(word) + size : std::string{};
}

std::vector<std::string> attributes_of(std::string_view define, Tuples const& tuples) {
  std::vector<std::string> out;
  for (auto const* kind : {"reqd_work_group_size", "work_group_size_hint"})
    if (auto const sides = attached(define, kind, tuples); sides.size() == 3)
      out.push_back(kind + ('(' + sides[0]) + ',' + sides[1] + ',' + sides[2] + ')');
  if (auto const type = hinted_type(attached_text(define, "vec_type_hint", tuples)); !type.empty())
    out.push_back("vec_type_hint(" + type + ')');
  return out;
}

std::string at_or_empty(std::vector<std::string> const& list, std::size_t i) {
  return i < list.size() ? list[i] : "";
}

ArgumentKind kind_of(std::string const& space, std::string const& base_type) {
  bool const pointer = !base_type.empty() && base_type.back() == '*';
  if (base_type.starts_with("image") && base_type.find("_t") != std::string::npos && !pointer)
    return ArgumentKind::image;
  if (base_type == "sampler_t") return ArgumentKind::sampler;
  if (space == "1") return ArgumentKind::global_buffer;
  if (space == "2") return ArgumentKind::constant_buffer;
  if (space == "3") return ArgumentKind::shared_buffer;
  return ArgumentKind::value;
}

KernelFacts facts_of(std::string_view define, Tuples const& tuples) {
  KernelFacts facts;
  auto const spaces = attached(define, "kernel_arg_addr_space", tuples);
  auto const types = attached(define, "kernel_arg_type", tuples);
  auto const base_types = attached(define, "kernel_arg_base_type", tuples);
  auto const names = attached(define, "kernel_arg_name", tuples);
  auto const access = attached(define, "kernel_arg_access_qual", tuples);
  auto const qualifiers = attached(define, "kernel_arg_type_qual", tuples);
  for (std::size_t i = 0; i < spaces.size(); ++i)
    facts.arguments.push_back({at_or_empty(names, i), at_or_empty(types, i),
                               kind_of(spaces[i], at_or_empty(base_types, i)), 0, at_or_empty(access, i),
                               at_or_empty(qualifiers, i)});
  if (auto const sides = attached(define, "reqd_work_group_size", tuples); sides.size() == 3) {
    std::array<std::uint32_t, 3> group{};
    for (std::size_t i = 0; i < 3; ++i) group[i] = to_number<std::uint32_t>(sides[i]).value_or(0);
    facts.required_group = group;
  }
  facts.attributes = attributes_of(define, tuples);
  return facts;
}

}  // namespace

std::map<std::string, KernelFacts> parse_kernel_metadata(std::string const& llvm_ir) {
  Tuples tuples;
  std::vector<std::string_view> defines;
  each_line(llvm_ir, [&](std::string_view line) {
    if (line.substr(0, 7) == "define " && line.find(" !kernel_arg_") != line.npos) defines.push_back(line);
    auto const open = line.find(" = !{");
    if (line.substr(0, 1) == "!" && open != line.npos && line.back() == '}')
      tuples[line.substr(1, open - 1)] = line.substr(open + 5, line.size() - open - 6);
  });
  std::map<std::string, KernelFacts> result;
  for (auto const define : defines) {
    auto const begin = define.find('@') + 1;
    auto const name = define.substr(begin, define.find('(', begin) - begin);
    result[std::string(name)] = facts_of(define, tuples);
  }
  return result;
}

}  // namespace kernelcast::frontend
