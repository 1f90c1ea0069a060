#include "runtimes/attach/offload.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

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

}  // namespace

void put_offload(std::vector<std::string>& variables) {
  put_unless_set(variables, "OMP_TARGET_OFFLOAD", "mandatory");
}

std::string hint_of_offload(std::string const& program, bool called_cuda) {
  auto const content = content_of(program);
  if (!content.starts_with("\177ELF")) return {};
  auto const holds = [&](std::string_view text) { return content.find(text) != content.npos; };
  bool const openmp = holds("GOMP_target"), openacc = holds("GOACC_parallel");
  if (!openmp && !openacc) return {};
  if (!holds("GOMP_offload_register"))
    return std::string("its regions have no code for a GPU: build it with -") + (openacc ? "fopenacc" : "fopenmp") +
           " -foffload=nvptx-none (Debian has this compiler in the package gcc-offload-nvptx)";
  if (!holds("BEGIN PREAMBLE"))  // of each PTX text that GCC writes
    return "its regions have no code for NVIDIA's GPUs: build it with -foffload=nvptx-none";
  if (called_cuda) return {};
  return "libgomp runs regions on a GPU by a plug-in: is libgomp-plugin-nvptx.so.1 installed (on Debian the package "
         "libgomp-plugin-nvptx1), and did the program ask for its device?";
}

}  // namespace kernelcast::attach
