// From a request to PTX and facts: cache, else the source language's compiler, then the register counters.
#include "kernels/frontend/frontend.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <filesystem>

#include "base/diag/diag.hpp"
#include "kernels/frontend/build.hpp"
#include "kernels/frontend/entry.hpp"
#include "kernels/ptx/kernel_registers.hpp"
#include "kernels/ptx/parser.hpp"

namespace kernelcast::frontend {
namespace {

// Raised whenever the same inputs may give other results.
constexpr std::string_view own_version = "frontend 14";

enum class Language { opencl, cuda, ptx, hip };

Language language_of(std::string const& path) {
  auto const suffix = std::filesystem::path(path).extension().string();
  if (suffix == ".cl" || suffix == spirv_suffix) return Language::opencl;
  if (suffix == ".cu") return Language::cuda;
  if (suffix == ".ptx") return Language::ptx;
  throw Error(Status::bad_data, Where{path}, fmt::format("unknown kind of kernel file '{}'", suffix),
              "a kernel file ends in .cl (OpenCL C), .spv (SPIR-V), .cu (CUDA C++) or .ptx");
}

// An option that is neither a switch nor the value of the one before would be taken for another source file.
void check_options(std::vector<std::string> const& options) {
  bool value_follows = false;
  for (auto const& option : options) {
    if (!value_follows && (option.empty() || option[0] != '-'))
      throw Error(Status::usage, fmt::format("compiler option '{}' does not begin with '-'", option),
                  "write -DNAME=VALUE, -IFOLDER or another option of clang");
    value_follows = !value_follows && (option == "-D" || option == "-I" || option == "-U" || option == "-include" ||
                                       option == "-isystem" || option == "-Xclang" || option == "-x");
  }
}

// Everything that decides the result and is known before compiling.
std::string cache_key(Request const& request, Toolchain const& tools, std::string const& source, Language language) {
  std::string text = fmt::format("{}\n{}\n{} {}{}\n", own_version, request.arch, fmt::join(request.registers, ","),
                                 request.global_offset, static_cast<int>(language));
  // Included files are found beside the source; relative -I counts from the working folder.
  std::error_code error;
  text += request.path + '\n' + std::filesystem::current_path(error).string() + '\n';
  auto const add = [&text](std::vector<std::string> const& options) {
    for (auto const& option : options) text += fmt::format("{} {}\n", option.size(), option);
  };
  add(request.options);
  if (request.fence_flags) text += "fence flags\n";
  for (auto const& unit : request.linked) {
    text += fmt::format("{} {}\n", unit.path, file_hash(unit.path));
    add(unit.options);
  }
  text += identity(tools.ptxas);
  if (language != Language::ptx) text += identity(tools.clang);
  if (language == Language::cuda) {
    text += identity(tools.nvcc) + identity(tools.cuda_root);
    for (auto const& file : embedded_cuda()) text += content_hash(file.text);
  }
  if (language == Language::hip) text += request.hip_folder + identity(tools.hip_root + "/include/hip/hip_version.h");
  if (language == Language::opencl) {
    text += identity(tools.llvm_spirv);
    for (char const* bitcode : {"nvptx64--nvidiacl.bc", "amdgcn--amdhsa.bc"}) text += identity(tools.libclc + bitcode);
    for (auto const& file : embedded_opencl()) text += content_hash(file.text);
  }
  for (char const* name : {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"})
    if (char const* value = std::getenv(name)) text += fmt::format("{}={}\n", name, value);
  return content_hash(text + content_hash(source));
}

// What the source includes, with hashes of the contents.
std::vector<std::pair<std::string, std::string>> hashed(Build const& work) {
  std::vector<std::pair<std::string, std::string>> out;
  for (auto const& path : work.dependencies)
    if (path != work.request.path) out.emplace_back(std::filesystem::absolute(path).string(), file_hash(path));
  return out;
}

CacheEntry build(Request const& request, Toolchain const& tools, std::string const& source, Language language,
                 std::unique_ptr<ptx::Module>& module) {
  TemporaryFolder const scratch;
  Build work{request, tools, source, scratch};
  RegisterSearch registers(work);
  if (language == Language::opencl) build_opencl(work);
  if (language == Language::cuda) build_cuda(work);
  if (language == Language::ptx) work.ptx = source;
  module = ptx::parse(work.ptx, request.path);
  CacheEntry entry;
  auto& compiled = entry.compiled;
  compiled.kernels = describe_kernels(*module, work.facts);
  for (auto& kernel : compiled.kernels) {
    kernel.registers.ptx = ptx::kernel_registers(*module, *module->find_kernel(kernel.name));
  }
  registers.finish(*module, compiled.kernels);
  compiled.ptx = std::move(work.ptx);
  compiled.notes = std::move(work.notes);
  entry.dependencies = hashed(work);
  return entry;
}

// The module is set only where it had to be parsed anyway.
CompiledText compile(Request const& request, std::unique_ptr<ptx::Module>& module) {
  auto const language = language_of(request.path);
  check_options(request.options);
  for (auto const& unit : request.linked) {
    check_options(unit.options);
    if (language != Language::opencl || language_of(unit.path) != Language::opencl)
      throw Error(Status::bad_data, Where{unit.path}, "only OpenCL C is linked with OpenCL C",
                  "give one source of another language");
  }
  refuse_named_pipe(request.path);
  auto const source = read_file(request.path);
  auto const tools = find_toolchain();
  auto const folder = request.cache ? cache_folder() : std::string{};
  std::string key;
  if (!folder.empty()) {
    key = cache_key(request, tools, source, language);
    if (auto entry = read_entry(folder, key)) return std::move(entry->compiled);
  }
  auto entry = build(request, tools, source, language, module);
  if (!folder.empty()) {
    if (auto problem = write_entry(folder, key, entry); !problem.empty())
      entry.compiled.notes.push_back(std::move(problem));
  } else if (request.cache) {
    entry.compiled.notes.emplace_back("nothing is cached: neither XDG_CACHE_HOME nor HOME names a folder");
  }
  return std::move(entry.compiled);
}

}  // namespace

CompiledText compile_text(Request const& request) {
  std::unique_ptr<ptx::Module> module;
  return compile(request, module);
}

std::optional<CompiledText> find_cached(Request const& request) {
  auto const folder = request.cache ? cache_folder() : std::string{};
  if (folder.empty()) return std::nullopt;
  refuse_named_pipe(request.path);
  auto const source = read_file(request.path);
  auto entry = read_entry(folder, cache_key(request, find_toolchain(), source, language_of(request.path)));
  return entry ? std::optional(std::move(entry->compiled)) : std::nullopt;
}

std::string amd_assembly(Request const& request, std::string const& target) {
  auto const language = request.hip_folder.empty() ? language_of(request.path) : Language::hip;
  bool const of_spirv = request.path.ends_with(spirv_suffix);
  if (language == Language::ptx || of_spirv || !request.linked.empty())
    throw Error(Status::usage, Where{request.path},
                fmt::format("machine code for {} is made of one source, {}", target,
                            language == Language::ptx ? "and this is PTX"
                            : of_spirv                ? "and this is SPIR-V"
                                                      : "and this program is linked of several"),
                "give OpenCL C or CUDA C++, or leave out the target");
  check_options(request.options);
  auto const source = read_file(request.path);
  auto const tools = find_toolchain();
  auto const folder = request.cache ? cache_folder() : std::string{};
  std::string headers;
  for (auto const& file : embedded_opencl()) headers += file.text;
  auto const key = content_hash(fmt::format("amd {} {}{}{}{}", target, cache_key(request, tools, source, language),
                                            identity(tools.libclc + amd_target(target).bitcode),
                                            identity(tools.hip_bitcode + "/ocml.bc"), content_hash(headers)));
  if (!folder.empty())
    if (auto entry = read_entry(folder, key)) return std::move(entry->compiled.ptx);
  TemporaryFolder const scratch;
  Build work{request, tools, source, scratch};
  build_amd(work, target);
  CacheEntry entry;
  entry.compiled.ptx = std::move(work.ptx);
  entry.dependencies = hashed(work);
  if (!folder.empty()) write_entry(folder, key, entry);  // one that cannot be written is no error here
  return std::move(entry.compiled.ptx);
}

Compiled compile(Request const& request) {
  Compiled result;
  auto text = compile(request, result.module);
  if (!result.module) result.module = ptx::parse(std::move(text.ptx), request.path);
  result.kernels = std::move(text.kernels);
  result.notes = std::move(text.notes);
  result.from_cache = text.from_cache;
  return result;
}

}  // namespace kernelcast::frontend
