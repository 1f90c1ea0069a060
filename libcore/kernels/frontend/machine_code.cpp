// Machine code of one kernel: ptxas, then nvdisasm, cached by the PTX, the target and both tools.
#include <algorithm>

#include <fmt/format.h>

#include "base/cache/cache.hpp"
#include "base/diag/diag.hpp"
#include "base/diag/text.hpp"
#include "kernels/frontend/build.hpp"
#include "kernels/frontend/frontend.hpp"
#include "kernels/frontend/toolchain.hpp"

namespace kernelcast::frontend {

namespace {

// "registers 32\n", then the listing.
constexpr std::string_view head = "registers ";

std::string text_of(MachineCode const& code) {
  return fmt::format("{}{}\n{}", head, code.registers, code.listing);
}

std::optional<MachineCode> parsed(std::string const& text) {
  std::size_t const newline = text.find('\n');
  if (!text.starts_with(head) || newline == std::string::npos) return std::nullopt;
  MachineCode out;
  auto const registers =
      to_number<decltype(out.registers)>(std::string_view(text).substr(0, newline).substr(head.size()));
  if (!registers) return std::nullopt;
  out.registers = *registers;
  out.listing = text.substr(newline + 1);
  return out;
}

std::string first_line(std::string const& text) {
  return text.substr(0, text.find('\n'));
}

void require_tools(Toolchain const& tools) {
  for (auto const& [tool, path] : {std::pair{"ptxas", &tools.ptxas}, {"nvdisasm", &tools.nvdisasm}})
    if (path->empty())
      throw Error(Status::unavailable, fmt::format("machine code: {} is not installed", tool),
                  "both are parts of a CUDA toolkit, found on PATH or below CUDA_HOME");
}

ProcessResult checked(std::string_view tool, std::string const& target, std::vector<std::string> const& argv,
                      double time_limit_s) {
  auto result = run_process(argv, time_limit_s);
  if (result.timed_out)
    throw Error(Status::limit,
                fmt::format("machine code for {}: {} did not end within {} s", target, tool, time_limit_s));
  if (!result.succeeded())
    throw Error(
        Status::unavailable,
        fmt::format("machine code for {}: {} failed: {}", target, tool, first_line(result.errors + result.output)),
        "the target must be one that this ptxas knows, and no older than the PTX's own");
  return result;
}

MachineCode assemble(Toolchain const& tools, ptx::Module const& module, std::string const& kernel,
                     std::string const& target, double time_limit_s) {
  TemporaryFolder const scratch;
  auto const ptx = scratch.file("kernel.ptx"), cubin = scratch.file("kernel.cubin");
  write_file(ptx, module.text);
  auto const messages =
      checked("ptxas", target, {tools.ptxas, "-v", "-lineinfo", "-arch=" + target, "-e", kernel, ptx, "-o", cubin},
              time_limit_s);
  MachineCode out;
  if (auto const figures = parse_ptxas(messages.errors + messages.output); figures.contains(kernel))
    out.registers = figures.at(kernel).registers;
  out.listing = checked("nvdisasm", target, {tools.nvdisasm, "-c", "-gp", cubin}, time_limit_s).output;
  return out;
}

}  // namespace

bool is_amd_target(std::string_view target) {
  if (target == "tahiti") return true;
  return target.starts_with("gfx") && target.size() > 5 && target.size() <= 8 &&
         std::all_of(target.begin() + 3, target.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_machine_target(std::string_view target) {
  if (is_amd_target(target)) return true;
  if (!target.starts_with("sm_") || target.size() < 5) return false;
  auto const number = target.substr(3, target.find_last_of("0123456789") - 2),
             suffix = target.substr(3 + number.size());
  return !number.empty() && std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; }) &&
         (suffix.empty() || suffix == "a" || suffix == "f");
}

MachineCode machine_code(ptx::Module const& module, std::string const& kernel, std::string const& target, bool cache,
                         double time_limit_s) {
  auto const tools = find_toolchain();
  require_tools(tools);
  std::string folder = cache ? cache_folder() : std::string();
  if (!folder.empty()) folder += "machine-code/";
  auto const name = content_hash(fmt::format("{}{}{}\n{}\n{}", identity(tools.ptxas), identity(tools.nvdisasm), target,
                                             kernel, content_hash(module.text)));
  if (!folder.empty())
    if (auto const kept = parsed(read_cached(folder, name))) return *kept;
  auto out = assemble(tools, module, kernel, target, time_limit_s);
  if (!folder.empty()) write_cached(folder, name, text_of(out));  // one that cannot be written is no error here
  return out;
}

}  // namespace kernelcast::frontend
