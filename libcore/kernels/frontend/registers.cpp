// Registers that real back ends would use: ptxas for each target that the PTX runs on, and for OpenCL C and CUDA C++
// the AMD back ends of clang-19. All run at the same time. What fails leaves its value empty with a note: the real
// device's compiler may well succeed.
//
// ptxas takes one target a run. sm_87 and sm_89 have sm_86's machine code and get the same registers (ptxas 13.0, 716
// kernels of public suites); between all other targets of the list some kernels differ.
//
// VLIW5 (r600, Cypress): the assembly marks the last operation of a bundle by `*`; operations / bundles of the whole
// kernel is its static packing. The bundles of a loop count once, as those outside: trip counts are not known here.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "base/diag/diag.hpp"
#include "base/diag/names.hpp"
#include "base/diag/text.hpp"
#include "kernels/amdgcn/amdgcn.hpp"
#include "kernels/frontend/build.hpp"
#include "kernels/ptx/printer.hpp"
#include "kernels/ptx/regions.hpp"

namespace kernelcast::frontend {
namespace {

constexpr std::array nvidia_targets{"sm_75", "sm_80", "sm_86", "sm_90", "sm_100", "sm_103", "sm_120"};

using Field = std::optional<std::uint64_t> Registers::*;

struct AmdColumn {
  std::string name;  // of the target
  std::string column;
  AmdTarget target;
  Field field;
};
std::vector<AmdColumn> const& amd_columns() {
  static std::vector<AmdColumn> const columns{
      {"gfx600", "vgprs_gfx6", amd_target("tahiti"), &Registers::vgprs_gfx6},
      {"gfx90a", "vgprs_gfx90a", amd_target("gfx90a"), &Registers::vgprs_gfx90a},
      {"gfx1030", "vgprs_gfx1030", amd_target("gfx1030"), &Registers::vgprs_gfx1030},
      {"cypress", "gprs_cypress", {"r600--", "cypress", "cypress-r600--.bc"}, nullptr},
  };
  return columns;
}

// The number that follows `key` in `line`.
std::optional<std::uint64_t> number_after(std::string_view line, std::string_view key) {
  auto const at = line.find(key);
  if (at == line.npos) return std::nullopt;
  auto rest = line.substr(at + key.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  std::uint64_t value = 0;
  auto const end = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  return end.ec == std::errc{} ? std::optional(value) : std::nullopt;
}

bool is_name(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '$' || c == '.';
  });
}

// "name:" at the start of a line that `.type name,@function` has announced.
std::string_view function_label(std::string_view line, std::string_view announced) {
  auto const colon = line.find(':');
  if (colon == line.npos || colon == 0 || announced.empty()) return {};
  return line.substr(0, colon) == announced ? announced : std::string_view{};
}

std::string_view announced_function(std::string_view line) {
  constexpr std::string_view directive = ".type\t";
  auto const at = line.find(directive), end = line.find(",@function");
  if (at == line.npos || end == line.npos) return {};
  auto const name = line.substr(at + directive.size(), end - at - directive.size());
  return is_name(name) ? name : std::string_view{};
}

// Functions that a kernel's assembly calls but that nothing defines, by kernel: its register count leaves them out.
std::map<std::string, std::string> missing_functions(std::string_view assembly) {
  std::map<std::string, std::string> result;
  std::string_view announced, kernel;
  each_line(assembly, [&](std::string_view line) {
    if (auto const name = announced_function(line); !name.empty()) announced = name;
    if (auto const name = function_label(line, announced); !name.empty()) kernel = name;
    for (std::string_view const relocation : {"@rel32@lo", "@gotpcrel32@lo", "@abs32@lo"}) {
      auto const at = line.find(relocation);
      if (at == line.npos) continue;
      auto const begin = line.find_last_of(" ,\t", at) + 1;
      auto const name = line.substr(begin, at - begin);
      // Built-in functions have mangled names; others that nothing defines here are work-group memory.
      if (name.substr(0, 2) == "_Z" && assembly.find(fmt::format("\n{}:", name)) == assembly.npos)
        result.emplace(std::string(kernel), demangled(std::string(name)));
    }
  });
  return result;
}

std::string first_line_with(std::string const& text, std::string_view sign) {
  auto const at = text.find(sign);
  if (at == text.npos) return text.substr(0, std::min<std::size_t>(text.find('\n'), 200));
  auto const begin = text.rfind('\n', at) + 1;
  return text.substr(begin, std::min(text.find('\n', at), begin + 200) - begin);
}

Fill note(std::string const& column, std::string const& reason) {
  return [text = column + ": " + reason](KernelInfo& kernel) { kernel.notes.push_back(text); };
}

// "sm_90a" -> 90; 0 where it is no such target.
std::uint64_t number_of(std::string_view target) {
  return target.starts_with("sm_") ? number_after(target, "sm_").value_or(0) : 0;
}

// What ptxas is asked for where the registers are those of `target`: the PTX's own form where that is for one
// architecture (sm_90a) or its family (sm_100f) alone. Empty: the PTX does not run there.
std::string ptxas_target(std::string_view ptx_target, std::string_view target) {
  auto const of_ptx = number_of(ptx_target), wanted = number_of(target);
  if (wanted < of_ptx) return {};
  if (ptx_target.ends_with('a')) return wanted == of_ptx ? std::string(ptx_target) : std::string();
  if (ptx_target.ends_with('f')) return wanted / 10 == of_ptx / 10 ? fmt::format("{}f", target) : std::string();
  return std::string(target);
}

// Of the module's text; empty where it names none.
std::string_view target_of_ptx(std::string_view ptx) {
  auto const at = ptx.find(".target");
  if (at == ptx.npos) return {};
  auto const text = trimmed(ptx.substr(at + 7, ptx.find('\n', at) - at - 7));
  return text.substr(0, text.find_first_of(", \t"));
}

Fill run_ptxas(Build const& build, std::string const& target, std::string const& arch) {
  auto const column = "registers of " + target;
  auto const output = build.scratch.file(target + ".cubin");
  auto const result =
      run_process({build.tools.ptxas, "-v", "-arch=" + arch, build.scratch.file("registers.ptx"), "-o", output},
                  build.request.time_limit_s);
  if (!result.succeeded()) return note(column, compiler_failure("ptxas", result, build.request.time_limit_s));
  return [figures = parse_ptxas(result.errors + result.output), column, target](KernelInfo& kernel) {
    if (auto const f = figures.find(kernel.name); f != figures.end())
      kernel.registers.ptxas[target] = f->second;
    else
      kernel.notes.push_back(column + ": ptxas reports nothing for this kernel");
  };
}

std::map<std::string, std::uint64_t> vgprs_in(std::string const& assembly) {
  std::map<std::string, std::uint64_t> out;
  try {
    for (auto const& [name, code] : amdgcn::read(assembly, "assembly")) out[name] = code.resources.vgprs;
  } catch (Error const&) {
    // No function: a note for each kernel says so.
  }
  return out;
}

Fill read_amdgcn(AmdColumn const& target, std::string const& assembly) {
  return [figures = vgprs_in(assembly), missing = missing_functions(assembly), &target](KernelInfo& kernel) {
    auto const f = figures.find(kernel.name);
    if (auto const lacks = missing.find(kernel.name); lacks != missing.end())
      kernel.notes.push_back(
          fmt::format("{}: libclc-19 has no {} for {}", target.column, lacks->second, target.target.processor));
    else if (f == figures.end())
      kernel.notes.push_back(fmt::format("{}: the assembly has nothing on this kernel", target.column));
    else
      kernel.registers.*target.field = f->second;
  };
}

Fill read_r600(AmdColumn const& target, std::string const& assembly) {
  return [figures = parse_r600(assembly), &target](KernelInfo& kernel) {
    auto const f = figures.find(kernel.name);
    if (f == figures.end()) {
      kernel.notes.push_back(fmt::format("{}: the assembly has nothing on this kernel", target.column));
      return;
    }
    kernel.registers.gprs_cypress = f->second.gprs;
    if (f->second.bundles > 0)
      kernel.registers.vliw_ops_per_bundle =
          static_cast<double>(f->second.operations) / static_cast<double>(f->second.bundles);
  };
}

Fill run_amd(Build const& build, AmdColumn const& column) {
  if (!build.request.linked.empty()) return note(column.column, "the program is linked from several sources");
  auto const output = build.scratch.file(column.target.processor + ".s");
  std::vector<std::string> argv;
  try {
    argv = amd_command(build, column.target);
  } catch (Error const& missing) {
    return note(column.column, missing.what());
  }
  argv.insert(argv.end(), {"-o", output});
  auto const result = run_process(argv, build.request.time_limit_s);
  if (!result.succeeded())
    return note(column.column,
                compiler_failure("clang-19 -mcpu=" + column.target.processor, result, build.request.time_limit_s));
  return column.field ? read_amdgcn(column, read_file(output)) : read_r600(column, read_file(output));
}

}  // namespace

std::vector<std::string> const& register_targets() {
  static std::vector<std::string> const targets = [] {
    std::vector<std::string> out(nvidia_targets.begin(), nvidia_targets.end());
    for (auto const& column : amd_columns()) out.push_back(column.name);
    return out;
  }();
  return targets;
}

std::string register_target(std::string_view target) {
  auto const& known = register_targets();
  if (is_machine_target(target) && !is_amd_target(target)) {
    std::string_view out = nvidia_targets.front();
    for (std::string_view const one : nvidia_targets)
      if (number_of(one) <= number_of(target)) out = one;
    return std::string(out);
  }
  if (std::ranges::find(known, target) != known.end()) return std::string(target);
  throw Error(Status::usage, fmt::format("no registers of a target '{}'", target),
              fmt::format("targets are {}", fmt::join(known, ", ")));
}

std::string compiler_failure(std::string_view compiler, ProcessResult const& result, double limit_s) {
  if (result.timed_out) return fmt::format("{} did not end within {} s", compiler, limit_s);
  auto const text = result.errors + result.output;
  for (char const* sign : {"error", "fatal", "Cannot select", "UNREACHABLE"})
    if (text.find(sign) != text.npos) return fmt::format("{} failed: {}", compiler, first_line_with(text, sign));
  return fmt::format("{} failed with exit status {}", compiler, result.exit_code);
}

std::map<std::string, PtxasFigures> parse_ptxas(std::string const& text) {
  std::map<std::string, PtxasFigures> result;
  std::string kernel;
  std::string_view function;
  each_line(text, [&](std::string_view line) {
    constexpr std::string_view entry = "Compiling entry function '", properties = "Function properties for ";
    if (auto const at = line.find(entry); at != line.npos) {
      auto const name = line.substr(at + entry.size());
      kernel = name.substr(0, name.find('\''));
    } else if (line.find(properties) != line.npos) {
      function = line.substr(line.find(properties) + properties.size());
    } else if (line.find(" bytes stack frame") != line.npos && !kernel.empty() && function == kernel) {
      result[kernel].stack_bytes = number_after(line, " ").value_or(0);
    } else if (auto const used = number_after(line, "Used "); used && !kernel.empty()) {
      auto& figures = result[kernel];
      figures.registers = *used;
      auto const smem = line.find(" bytes smem");
      if (smem != line.npos)
        figures.shared_bytes = number_after(line.substr(0, smem).substr(line.rfind(',', smem)), ", ").value_or(0);
      kernel.clear();
    }
  });
  return result;
}

std::map<std::string, VliwFigures> parse_r600(std::string const& assembly) {
  constexpr std::uint64_t sq_pgm_resources_ls = 0x288D4;  // bits 0..7: 128-bit registers
  std::map<std::string, VliwFigures> result;
  std::vector<std::uint64_t> words;
  std::string_view announced;
  VliwFigures* kernel = nullptr;
  bool in_config = false, in_alu = false;
  each_line(assembly, [&](std::string_view line) {
    if (line.find(".AMDGPU.config") != line.npos) {
      words.clear();
      in_config = true;
      return;
    }
    if (in_config) {
      if (auto const word = number_after(line, ".long")) return words.push_back(*word);
      in_config = false;
    }
    if (auto const name = announced_function(line); !name.empty() && name.find("$local") == name.npos) announced = name;
    if (auto const name = function_label(line, announced); !name.empty()) {
      kernel = &result[std::string(name)];
      for (std::size_t i = 0; i + 1 < words.size(); i += 2)
        if (words[i] == sq_pgm_resources_ls) kernel->gprs = words[i + 1] & 0xff;
      in_alu = false;
    }
    if (line.find(" clause starting at ") != line.npos) in_alu = line.find("ALU clause") != line.npos;
    if (line.substr(0, 10) == ".Lfunc_end") in_alu = false;
    if (!kernel || !in_alu) return;
    auto const begin = line.find_first_not_of(" \t");
    if (begin == 0 || begin == line.npos || !std::isupper(static_cast<unsigned char>(line[begin]))) return;
    auto const end = std::min(line.find(' ', begin), line.size());
    if (end == line.size() || line.find("clause") != line.npos) {
      if (line.substr(begin) != "GROUP_BARRIER") return;
    }
    ++kernel->operations;
    auto const after = line.find_first_not_of(' ', end);
    if ((after != line.npos && line[after] == '*') || line.substr(begin, end - begin) == "GROUP_BARRIER")
      ++kernel->bundles;
  });
  return result;
}

RegisterSearch::RegisterSearch(Build const& build) : build_(build) {
  if (build.request.path.ends_with(".cl")) start_amd();
}

bool RegisterSearch::asked(std::string_view target) const {
  return std::ranges::find(build_.request.registers, target) != build_.request.registers.end();
}

// Deferred: later, on the thread that waits for it, where the system refuses another one.
constexpr auto beside = std::launch::async | std::launch::deferred;

void RegisterSearch::start_amd() {
  for (auto const& column : amd_columns()) {
    if (!asked(column.name)) continue;
    bool const compiles =
        build_.request.path.ends_with(".cl") || (column.field && build_.request.path.ends_with(".cu"));
    if (compiles)
      running_.push_back(std::async(beside, [this, &column] { return run_amd(build_, column); }));
    else
      running_.push_back(std::async(std::launch::deferred, [&column] {
        return note(column.column, column.field ? "needs OpenCL C or CUDA C++ source" : "needs OpenCL C source");
      }));
  }
}

// ptxas compiles what a kernel reaches by address for each kernel anew, and counts for each the most registers of any
// such function. Of kernels that only start teams one stands for all: with 45 regions ptxas took a minute.
void RegisterSearch::finish(ptx::Module const& module, std::vector<KernelInfo>& kernels) {
  if (build_.request.registers.empty()) {
    for (auto& kernel : kernels) kernel.notes.emplace_back("registers: only live ranges were requested");
    return;
  }
  std::vector<std::future<Fill>> amd;
  std::swap(amd, running_);
  auto const of_ptx = target_of_ptx(build_.ptx);
  std::vector<std::uint32_t> alike;
  std::set<std::string> names;
  std::optional<std::string> one_of_them;
  for (std::uint32_t f = 0; f < module.functions.size(); ++f) {
    if (!module.functions[f].has_body || !ptx::starts_teams(module.functions[f])) continue;
    std::string const name(module.functions[f].name);
    if (!one_of_them) {
      one_of_them = name;
      continue;
    }
    alike.push_back(f);
    names.insert(name);
  }
  bool written = false;
  for (std::string const target : nvidia_targets) {
    if (!asked(target)) continue;
    auto const arch = ptxas_target(of_ptx, target);
    if (build_.tools.ptxas.empty() || arch.empty()) {
      for (auto& kernel : kernels)
        kernel.notes.push_back(arch.empty()
                                   ? fmt::format("registers of {}: the PTX is for {}", target, of_ptx)
                                   : fmt::format("registers of {}: ptxas (CUDA toolkit) is not installed", target));
      continue;
    }
    if (!written)
      write_file(build_.scratch.file("registers.ptx"), alike.empty() ? build_.ptx : ptx::print_without(module, alike));
    written = true;
    running_.push_back(std::async(beside, [this, target, arch] { return run_ptxas(build_, target, arch); }));
  }
  std::ranges::move(amd, std::back_inserter(running_));
  if (!build_.request.path.ends_with(".cl")) start_amd();
  for (auto& one : running_) {
    auto const fill = one.get();
    for (auto& kernel : kernels)
      if (!names.contains(kernel.name)) fill(kernel);
  }
  auto const known =
      std::ranges::find_if(kernels, [&](KernelInfo const& kernel) { return kernel.name == one_of_them; });
  if (known == kernels.end()) return;
  for (auto& kernel : kernels)
    if (names.contains(kernel.name)) kernel.registers.ptxas = known->registers.ptxas;
}

}  // namespace kernelcast::frontend
