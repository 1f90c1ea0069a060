// The opcodes of PTX files, and which of them the emulator refuses: CSV group,file,kernel,opcode,refused, a row for
// each opcode of a kernel. Usage: matrix_opcodes GROUP FILE…: PTX, or programs of nvcc that hold PTX.
#include <cstdio>
#include <exception>
#include <map>
#include <string>

#include "base/diag/diag.hpp"
#include "base/process/process.hpp"
#include "emulator/emu.hpp"
#include "kernels/cuda/fatbin.hpp"
#include "kernels/ptx/parser.hpp"

namespace {

using namespace kernelcast;

// A field of CSV.
std::string quoted(std::string text) {
  for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2) text.insert(at, 1, '"');
  return '"' + text + '"';
}

void list(std::string const& group, std::string const& path, std::string const& text) {
  auto const module = ptx::parse(text, path);
  for (auto const& function : module->functions) {
    if (!function.entry || !function.has_body) continue;
    emu::Program const program(*module, function);
    std::map<std::string, std::string> opcodes;  // refused: why
    for (auto const& i : program.kernel().instructions) opcodes.try_emplace(ptx::full_opcode(i));
    for (auto const& r : program.refused())
      opcodes[ptx::full_opcode(program.kernel().instructions[r.instruction])] =
          r.reason.empty() ? "the opcode itself" : r.reason;
    for (auto const& [opcode, reason] : opcodes)
      std::printf("%s,%s,%s,%s,%s\n", quoted(group).c_str(), quoted(path).c_str(),
                  quoted(std::string(function.name)).c_str(), quoted(opcode).c_str(), quoted(reason).c_str());
  }
}

void list(std::string const& group, std::string const& path) {
  std::string const content = read_file(path);
  if (!content.starts_with("\x7f"
                           "ELF"))
    return list(group, path, content);
  for (auto const binary : fatbin::in_host_object(content))
    for (auto const& entry : fatbin::entries_of(binary.data()))
      if (entry.is_ptx) list(group, path, fatbin::text_of(entry));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: matrix_opcodes GROUP FILE...\n");
    return 2;
  }
  try {
    for (int i = 2; i < argc; ++i) list(argv[1], argv[i]);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 3;
  }
}
