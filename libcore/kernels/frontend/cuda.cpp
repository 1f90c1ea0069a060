// CUDA C++ to PTX: by nvcc; else by clang-19 with a toolkit's headers; else by clang-19 with our own header and libclc
// for mathematics. Whole files compile, their host code too: only the device part is kept.
#include <fmt/format.h>

#include "base/diag/diag.hpp"
#include "kernels/frontend/build.hpp"
#include "kernels/frontend/unrolling.hpp"

namespace kernelcast::frontend {
namespace {

// nvcc starts its parts by a shell, in double quotes, and escapes neither of these.
void refuse_shell_words(Build const& build, std::vector<std::string> const& argv) {
  for (auto const& word : argv)
    if (word.find_first_of("$`\\\n") != std::string::npos)
      throw Error(Status::bad_data, Where{build.request.path},
                  fmt::format("nvcc would have a shell interpret '{}'", word),
                  "use no $, `, \\ or line end in options and in the names of files and folders");
}

std::string compile(Build& build, std::string const& compiler, std::vector<std::string> argv) {
  auto const rule = build.scratch.file("kernel.d"), output = build.scratch.file("kernel.out");
  argv.insert(argv.end(), build.request.options.begin(), build.request.options.end());
  argv.insert(argv.end(), {"-MMD", "-MF", rule, as_argument(build.request.path), "-o", output});
  if (compiler == "nvcc") refuse_shell_words(build, argv);
  auto const result = run_process(argv, build.request.time_limit_s);
  build.notes = check_compiler(build, compiler, result);
  build.dependencies = parse_dependencies(read_file(rule));
  // Our own headers go with the scratch folder; the cache knows them by this library's version.
  std::erase_if(build.dependencies, [&](std::string const& path) { return path.starts_with(build.scratch.file("")); });
  return read_file(output);
}

// Parses with these arguments, then optimises as nvcc does (unrolling.hpp).
void compile_with_clang(Build& build, std::string const& compiler, std::vector<std::string> parse) {
  parse.insert(parse.end(), {"-Xclang", "-disable-llvm-passes", "-emit-llvm"});
  auto ir = compile(build, compiler, std::move(parse));
  unroll_private_arrays(ir, PrivatePointers::of_variables);
  auto const ir_file = build.scratch.file("kernel.ll"), ptx_file = build.scratch.file("kernel.ptx");
  write_file(ir_file, ir);
  std::vector<std::string> lower{build.tools.clang,          "-target",
                                 "nvptx64-nvidia-cuda",      "-march=" + build.request.arch,
                                 "--cuda-path=/nonexistent", "-ffp-contract=fast"};
  // The version of PTX that the first run has taken from the toolkit.
  if (auto const at = ir.find("\"+ptx"); at != ir.npos)
    lower.insert(lower.end(), {"-Xclang", "-target-feature", "-Xclang",
                               ir.substr(at + 1, ir.find_first_of(",\"", at + 1) - at - 1)});
  for (auto& option : optimisation_options(build.request.options)) lower.push_back(std::move(option));
  lower.insert(lower.end(),
               {"-x", "ir", ir_file, "-fno-caret-diagnostics", "-fno-color-diagnostics", "-S", "-o", ptx_file});
  check_compiler(build, "clang-19 (code generation)", run_process(lower, build.request.time_limit_s));
  build.ptx = read_file(ptx_file);
}

std::vector<std::string> clang_arguments(Build const& build) {
  return {require_clang(build.tools),
          "-x",
          "cuda",
          "--cuda-device-only",
          "--cuda-gpu-arch=" + build.request.arch,
          "-O2",
          "-S",
          "-gdwarf-2",
          "-gline-directives-only",
          "-fno-caret-diagnostics",
          "-fno-color-diagnostics",
          "-Wno-register",
          "-Wno-unknown-cuda-version",
          "-Wno-linker-warnings"};
}

void compile_with_toolkit(Build& build) {
  auto argv = clang_arguments(build);
  auto const folder = build.scratch.file("toolkit");
  std::filesystem::create_directory(folder);
  // clang-19 asks for a header that toolkits since 12 no longer have; it is the place for the surface functions, which
  // clang-19 lacks.
  for (auto const& file : embedded_cuda())
    if (file.name == "kernelcast_surface.h") write_file(folder + "/texture_fetch_functions.h", file.text);
  argv.insert(argv.end(), {"--cuda-path=" + build.tools.cuda_root, "-I", folder, "-include",
                           write_cuda_headers(build) + "/legacy.h"});
  compile_with_clang(build, "clang-19", std::move(argv));
}

void compile_without_toolkit(Build& build) {
  auto argv = clang_arguments(build);
  auto const folder = write_cuda_headers(build);
  argv.insert(argv.end(), {"--cuda-feature=+ptx75", "--cuda-path=/nonexistent", "-nocudainc", "-nocudalib", "-isystem",
                           folder, "-include", folder + "/cuda_runtime.h", "-Xclang", "-mlink-builtin-bitcode",
                           "-Xclang", require_libclc(build.tools, "nvptx64--nvidiacl.bc")});
  compile_with_clang(build, "clang-19 (without a CUDA toolkit)", std::move(argv));
}

}  // namespace

// Our headers, in a folder of the temporary folder; clang takes them for system headers, so that dependency lists leave
// them out and they raise no warnings.
std::string write_cuda_headers(Build const& build) {
  auto const folder = build.scratch.file("include");
  if (!std::filesystem::create_directory(folder)) return folder;
  for (auto const& file : embedded_cuda()) write_file(folder + "/" + std::string(file.name), file.text);
  // clang's __clang_cuda_intrinsics.h asks for it; it holds nothing that we need.
  std::filesystem::create_directory(folder + "/crt");
  write_file(folder + "/crt/sm_70_rt.hpp", "");
  return folder;
}

void build_cuda(Build& build) {
  if (!build.tools.nvcc.empty()) {
    auto const folder = write_cuda_headers(build);
    // Old sources use texture references and calls that toolkits since 12 no longer have.
    build.ptx = compile(build, "nvcc",
                        {build.tools.nvcc, "-ptx", "-arch=" + build.request.arch, "-lineinfo",
                         "-Wno-deprecated-gpu-targets", "-include", folder + "/legacy.h"});
    return;
  }
  if (!build.tools.cuda_root.empty()) return compile_with_toolkit(build);
  compile_without_toolkit(build);
  build.notes.emplace_back(
      "compiled without a CUDA toolkit: mathematics is libclc's, so instruction counts of sin, exp "
      "and the like differ from nvcc's");
}

}  // namespace kernelcast::frontend
