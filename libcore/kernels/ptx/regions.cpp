#include "kernels/ptx/regions.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/diag/names.hpp"

namespace kernelcast::ptx {

namespace {

struct Region {
  std::string_view function;  // as the linker knows it
  std::uint64_t number = 0;   // among those of the function or, of clang's, of the line
  std::uint64_t line = 0;     // of clang's
};

// The text before the last `separator`, behind which there is nothing but a number.
std::optional<std::string_view> take_number(std::string_view text, std::string_view separator, std::uint64_t& number) {
  auto const at = text.rfind(separator);
  if (at == text.npos || at == 0) return std::nullopt;
  auto const digits = text.substr(at + separator.size());
  auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return text.substr(0, at);
}

// FUNCTION_lLINE or FUNCTION_lLINE_NUMBER behind the two numbers that clang knows a file by.
std::optional<Region> region_of_clang(std::string_view kernel) {
  Region out;
  for (int field = 0; field < 2; ++field) {
    kernel.remove_prefix(std::min(kernel.find_first_not_of("0123456789abcdef"), kernel.size()));
    if (!kernel.starts_with('_')) return std::nullopt;
    kernel.remove_prefix(1);
  }
  auto function = take_number(kernel, "_l", out.line);
  if (!function)
    if (auto const first = take_number(kernel, "_", out.number)) function = take_number(*first, "_l", out.line);
  if (!function) return std::nullopt;
  out.function = *function;
  return out;
}

std::optional<Region> region_of(std::string_view kernel) {
  constexpr std::string_view of_clang = "__omp_offloading_";
  if (kernel.starts_with(of_clang)) return region_of_clang(kernel.substr(of_clang.size()));
  Region out;
  auto const function = take_number(kernel, "$_omp_fn$", out.number);
  if (!function) return std::nullopt;
  out.function = *function;
  return out;
}

// The line of the directive. A loop's own instructions have it, and they stand first, or last where those of the body
// are before them; line 0 where the text has no lines of this function.
SourcePosition begin_of(Function const& function) {
  SourcePosition first, last;
  for (auto const& instruction : function.instructions) {
    if (instruction.source.line == 0) continue;
    if (first.line == 0) first = instruction.source;
    last = instruction.source;
  }
  return last.file == first.file && last.line < first.line ? last : first;
}

// Of the kernel, or of what it starts; of the loop that the team runs where that has no lines.
SourcePosition begin_of(Module const& module, Function const& kernel, Region const& region) {
  auto const* code = &kernel;
  auto const inner = std::string(kernel.name) + "$impl";
  for (auto const& function : module.functions)
    if (function.has_body && function.name == inner) code = &function;
  auto out = begin_of(*code);
  for (auto const& instruction : code->instructions)
    for (auto const& operand : instruction.operands) {
      if (out.line > 0) return out;
      if (operand.kind != Operand::Kind::function) continue;
      auto const& named = module.functions[operand.id];
      auto const inside = region_of(named.name);
      if (inside && inside->function == region.function) out = begin_of(named);
    }
  return out;
}

bool is_fortran(Module const& module, SourcePosition at) {
  auto const found = module.files.find(at.file);
  if (found == module.files.end()) return false;
  auto const dot = found->second.rfind('.');
  return dot != std::string::npos && (found->second[dot + 1] == 'f' || found->second[dot + 1] == 'F');
}

// __heat_MOD_step is heat::step; step_ and the main program are those of gfortran's.
std::string in_fortran(std::string_view function) {
  constexpr std::string_view module_prefix = "__", infix = "_MOD_";
  if (function == "MAIN__") return "main program";
  auto const at = function.find(infix);
  if (function.starts_with(module_prefix) && at != function.npos)
    return fmt::format("{}::{}", function.substr(module_prefix.size(), at - module_prefix.size()),
                       function.substr(at + infix.size()));
  if (function.ends_with('_')) function.remove_suffix(1);
  return std::string(function);
}

// Of a clone (step$constprop$0) the function that it is one of.
std::string in_source(std::string_view function, bool fortran) {
  auto const known = function.substr(0, function.find('$'));
  return fortran ? in_fortran(known) : name_in_source(std::string(known));
}

std::string with_line(Module const& module, Function const& kernel) {
  auto const region = region_of(kernel.name);
  if (!region) return {};
  if (region->line > 0) return fmt::format("{}:{}", in_source(region->function, false), region->line);
  auto const begin = begin_of(module, kernel, *region);
  if (begin.line == 0) return {};
  return fmt::format("{}:{}", in_source(region->function, is_fortran(module, begin)), begin.line);
}

}  // namespace

bool starts_teams(Function const& kernel) {
  auto const& parameters = kernel.parameters;
  return kernel.entry && parameters.size() == 3 && parameters[1].name == "%stack" && parameters[1].size == 8 &&
         parameters[2].name == "%sz";
}

std::string name_in_rows(Module const& module, Function const& kernel) {
  auto out = with_line(module, kernel);
  if (out.empty()) return std::string(kernel.name);
  auto const number = region_of(kernel.name)->number;
  auto const before = std::count_if(module.functions.begin(), module.functions.end(), [&](Function const& other) {
    return other.entry && other.has_body && &other != &kernel && with_line(module, other) == out &&
           std::pair(region_of(other.name)->number, other.name) < std::pair(number, kernel.name);
  });
  return before == 0 ? out : fmt::format("{}#{}", out, before + 1);
}

SourceLine source_of(Module const& module, Function const& kernel) {
  auto const region = region_of(kernel.name);
  auto const begin = region ? begin_of(module, kernel, *region) : begin_of(kernel);
  auto const file = module.files.find(begin.file);
  return begin.line == 0 || file == module.files.end() ? SourceLine{} : SourceLine{file->second, begin.line};
}

}  // namespace kernelcast::ptx
