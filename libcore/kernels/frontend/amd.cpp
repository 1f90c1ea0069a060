// OpenCL C and CUDA C++ to assembly of AMD's machine code: clang-19's amdgcn back end, from the source that the PTX is
// made of. CUDA C++ is compiled as HIP with our own headers, which map what NVIDIA's compilers know of themselves; a
// toolkit's are not used. OpenCL's images are compiled for the targets that have instructions for them, as libclc has
// none. Limits: no textures, no PTX in the source, no libraries of the toolkit.

#include <fmt/format.h>

#include "base/diag/diag.hpp"
#include "kernels/frontend/build.hpp"
#include "kernels/frontend/lenient.hpp"

namespace kernelcast::frontend {

AmdTarget amd_target(std::string const& target) {
  // libclc has the functions that the first generation lacks instructions for apart.
  bool const first = target == "tahiti" || target.starts_with("gfx60");
  return {.triple = first ? "amdgcn-mesa-mesa3d" : "amdgcn-amd-amdhsa",
          .processor = target,
          .bitcode = first ? "tahiti-amdgcn-mesa-mesa3d.bc" : "amdgcn--amdhsa.bc"};
}

bool has_images(std::string_view target) {
  return target != "gfx90a" && !target.starts_with("gfx94") && !target.starts_with("gfx95");
}

namespace {

// As AMD's own compilers of OpenCL C and HIP do: kernels call nothing, and nothing else is visible.
std::vector<std::string> const inlined{"-mllvm", "-amdgpu-early-inline-all=true",
                                       "-mllvm", "-amdgpu-function-calls=false",
                                       "-mllvm", "-amdgpu-internalize-symbols"};

// What libclc lacks for images, where the source may have some; empty elsewhere.
std::string image_header(Build const& build, AmdTarget const& target) {
  if (!has_images(target.processor) || build.source.find("image") == std::string::npos) return {};
  auto const header = build.scratch.file("amd_images.clh");
  for (auto const& file : embedded_opencl())
    if (file.name == "amd_images.clh") write_file(header, file.text);
  return header;
}

std::vector<std::string> opencl_command(Build const& build, AmdTarget const& target) {
  std::vector<std::string> argv{require_clang(build.tools), "-target", target.triple, "-mcpu=" + target.processor,
                                "-nogpulib"};
  argv.insert(argv.end(), inlined.begin(), inlined.end());
  for (auto& option : opencl_options(build.request.options)) argv.push_back(std::move(option));
  if (auto const header = image_header(build, target); !header.empty()) argv.insert(argv.end(), {"-include", header});
  argv.insert(argv.end(), {"-w", "-Xclang", "-mlink-builtin-bitcode", "-Xclang",
                           require_libclc(build.tools, target.bitcode), "-S", as_argument(build.request.path)});
  return argv;
}

std::vector<std::string> cuda_command(Build const& build, AmdTarget const& target) {
  auto const headers = write_cuda_headers(build);
  auto const arch = build.request.arch.substr(build.request.arch.find('_') + 1);  // "75"
  std::vector<std::string> argv{require_clang(build.tools),
                                "-x",
                                "hip",
                                "--offload-device-only",
                                "--offload-arch=" + (target.processor == "tahiti" ? "gfx600" : target.processor),
                                "-nogpuinc",
                                "-nogpulib",
                                "-O2",
                                "-fno-caret-diagnostics",
                                "-fno-color-diagnostics",
                                "-w",
                                "-isystem",
                                headers,
                                "-include",
                                headers + "/cuda_runtime.h",
                                "-D__CUDACC__",
                                fmt::format("-D__CUDA_ARCH__={}0", arch),
                                "-Xclang",
                                "-mlink-builtin-bitcode",
                                "-Xclang",
                                require_libclc(build.tools, target.bitcode)};
  argv.insert(argv.end(), inlined.begin(), inlined.end());
  argv.insert(argv.end(), build.request.options.begin(), build.request.options.end());
  argv.insert(argv.end(), {"-S", as_argument(build.request.path)});
  return argv;
}

}  // namespace

std::vector<std::string> amd_command(Build const& build, AmdTarget const& target) {
  return build.request.path.ends_with(".cu") ? cuda_command(build, target) : opencl_command(build, target);
}

void build_amd(Build& build, std::string const& target) {
  auto const output = build.scratch.file("kernel.s"), rule = build.scratch.file("kernel.d");
  auto argv = amd_command(build, amd_target(target));
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
