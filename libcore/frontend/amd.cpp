// OpenCL C to assembly of AMD's machine code: clang-19's amdgcn back end, from the source that the PTX is made of.
#include <algorithm>

#include <fmt/format.h>

#include "diag/diag.hpp"
#include "frontend/build.hpp"
#include "frontend/lenient.hpp"

namespace kernelcast::frontend {

AmdTarget amd_target(std::string const& target) {
  // libclc has the functions that the first generation lacks instructions for apart.
  bool const first = target == "tahiti" || target.starts_with("gfx60");
  return {.triple = first ? "amdgcn-mesa-mesa3d" : "amdgcn-amd-amdhsa",
          .processor = target,
          .bitcode = first ? "tahiti-amdgcn-mesa-mesa3d.bc" : "amdgcn--amdhsa.bc"};
}

std::vector<std::string> amd_opencl_command(Build const& build, AmdTarget const& target) {
  std::vector<std::string> argv{require_clang(build.tools), "-target", target.triple, "-mcpu=" + target.processor,
                                "-nogpulib"};
  for (auto& option : opencl_options(build.request.options)) argv.push_back(std::move(option));
  argv.insert(argv.end(), {"-w", "-Xclang", "-mlink-builtin-bitcode", "-Xclang",
                           require_libclc(build.tools, target.bitcode), "-S", as_argument(build.request.path)});
  return argv;
}

void build_amd(Build& build, std::string const& target) {
  auto const output = build.scratch.file("kernel.s"), rule = build.scratch.file("kernel.d");
  auto argv = amd_opencl_command(build, amd_target(target));
  argv.insert(argv.end(), {"-gdwarf-2", "-gline-directives-only", "-MMD", "-MF", rule, "-o", output});
  auto result = run_process(argv, build.request.time_limit_s);
  for (bool again = true; again && !result.succeeded() && !result.timed_out;) {
    again = false;
    for (auto const& [more, note] : leniencies(build, result.errors + result.output, argv)) {
      argv.insert(argv.end(), more.begin(), more.end());
      again = true;
    }
    if (again) result = run_process(argv, build.request.time_limit_s);
  }
  if (result.timed_out)
    throw Error(Status::limit, fmt::format("machine code for {}: clang-19 did not end within {} s", target,
                                           build.request.time_limit_s));
  if (!result.succeeded())
    throw Error(Status::unavailable,
                fmt::format("machine code for {}: {}", target,
                            compiler_failure("clang-19", result, build.request.time_limit_s)),
                "the source compiles for NVIDIA's devices; leave out this target, or what only they know");
  build.ptx = read_file(output);
  for (auto& file : parse_dependencies(read_file(rule)))
    if (!file.starts_with(build.scratch.path().string())) build.dependencies.push_back(std::move(file));
}

}  // namespace kernelcast::frontend
