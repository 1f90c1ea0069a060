#include "runtimes/attach/offload.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "base/process/process.hpp"
#include "runtimes/attach/environment.hpp"

namespace kernelcast::attach {

namespace {

constexpr std::uintmax_t max_program_bytes = std::uintmax_t{1} << 30;

std::string content_of(std::string const& program) {
  auto const path = program.find('/') == program.npos ? find_program(program) : program;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error) || std::filesystem::file_size(path, error) > max_program_bytes)
    return {};
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool holds(std::string const& content, std::string_view text) {
  return content.find(text) != content.npos;
}

std::string hint_of_clang(std::string const& program, bool called_cuda) {
  constexpr std::string_view options = "--offload-arch=sm_80 -foffload-lto -Wl,--embed-bitcode";
  if (!holds(program, "__tgt_register_lib"))
    return fmt::format("its regions have no code for a GPU: build it with clang's -fopenmp {}", options);
  if (!holds(program, "nvptx64"))
    return fmt::format("its regions have no code for NVIDIA's GPUs: build it with {}", options);
  if (!holds(program, "BC\xC0\xDE"))  // LLVM's bitcode
    return fmt::format("its regions have machine code, of certain devices: build it with {}, for any that --as names",
                       options);
  return called_cuda ? "" : "is libomptarget built with its plug-in for CUDA, as Debian's package libomp5-19 is?";
}

std::string hint_of_gcc(std::string const& program, bool called_cuda) {
  bool const openacc = holds(program, "GOACC_parallel");
  if (!holds(program, "GOMP_offload_register"))
    return std::string("its regions have no code for a GPU: build it with -") + (openacc ? "fopenacc" : "fopenmp") +
           " -foffload=nvptx-none (Debian has this compiler in the package gcc-offload-nvptx)";
  if (!holds(program, "BEGIN PREAMBLE"))  // of each PTX text that GCC writes
    return "its regions have no code for NVIDIA's GPUs: build it with -foffload=nvptx-none";
  if (called_cuda) return {};
  return "libgomp runs regions on a GPU by a plug-in: is libgomp-plugin-nvptx.so.1 installed (on Debian the package "
         "libgomp-plugin-nvptx1), and did the program ask for its device?";
}

}  // namespace

void put_offload(std::vector<std::string>& variables) {
  put_unless_set(variables, "OMP_TARGET_OFFLOAD", "mandatory");
}

std::string hint_of_offload(std::string const& file, bool called_cuda) {
  auto const program = content_of(file);
  if (!program.starts_with("\177ELF")) return {};
  if (holds(program, "GOMP_target") || holds(program, "GOACC_parallel")) return hint_of_gcc(program, called_cuda);
  if (holds(program, "__tgt_register_lib") || holds(program, "__omp_offloading_"))
    return hint_of_clang(program, called_cuda);
  return {};
}

}  // namespace kernelcast::attach
