// OpenCL C and CUDA C++ to assembly of AMD's machine code: clang-19's amdgcn back end, from the source that the PTX is
// made of. CUDA C++ is compiled as HIP with our own headers, which map what NVIDIA's compilers know of themselves; a
// toolkit's are not used. OpenCL's images are compiled for the targets that have instructions for them, as libclc has
// none. HIP is compiled with AMD's own headers and libraries. Limits of CUDA C++: no textures, no PTX in the source, no
// libraries of the toolkit.

#include <algorithm>
#include <cstdlib>
#include <filesystem>

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

// The library's figures of a target: its own, else those of the nearest older one that the installed version knows.
std::string isa_bitcode(std::string const& folder, std::string const& processor) {
  constexpr std::string_view name = "oclc_isa_version_", ending = ".bc";
  auto const number = [](std::string const& text) { return std::strtoul(text.c_str(), nullptr, 16); };
  auto const wanted = number(processor.substr(processor.find_first_of("0123456789")));
  std::string best;
  for (auto const& entry : std::filesystem::directory_iterator(folder)) {
    auto const file = entry.path().filename().string();
    if (!file.starts_with(name) || !file.ends_with(ending)) continue;
    auto const version = file.substr(name.size(), file.size() - name.size() - ending.size());
    if (number(version) <= wanted && (best.empty() || number(version) > number(best))) best = version;
  }
  return fmt::format("{}{}", name, best);
}

// As AMD's hipcc does, with AMD's headers and device libraries. Source of the libraries' names: ROCm-Device-Libs,
// doc/OCML.md and README.
std::vector<std::string> hip_command(Build const& build, AmdTarget const& target) {
  auto const& tools = build.tools;
  if (tools.hip_root.empty() || tools.hip_bitcode.empty())
    throw Error(Status::unavailable,
                tools.hip_root.empty() ? "AMD's headers of HIP are not installed"
                                       : "AMD's device libraries of HIP are not installed",
                "apt-get install libamdhip64-dev rocm-device-libs, or set ROCM_PATH");
  std::vector<std::string> argv{require_clang(tools),
                                "-x",
                                "hip",
                                "--offload-device-only",
                                "--offload-arch=" + target.processor,
                                "-nogpulib",
                                "-O3",
                                "-fno-caret-diagnostics",
                                "-fno-color-diagnostics",
                                "-w",
                                "-working-directory",
                                build.request.hip_folder,
                                "--rocm-path=" + tools.hip_root,
                                "-mcode-object-version=5"};
  bool const wide = target.processor.starts_with("gfx6") || target.processor.starts_with("gfx7") ||
                    target.processor.starts_with("gfx8") || target.processor.starts_with("gfx9");
  for (auto const& library :
       {std::string("hip"), std::string("ocml"), std::string("ockl"), std::string("oclc_daz_opt_off"),
        std::string("oclc_unsafe_math_off"), std::string("oclc_finite_only_off"),
        std::string("oclc_correctly_rounded_sqrt_on"), std::string("oclc_abi_version_500"),
        fmt::format("oclc_wavefrontsize64_{}", wide ? "on" : "off"), isa_bitcode(tools.hip_bitcode, target.processor)})
    if (auto const path = fmt::format("{}/{}.bc", tools.hip_bitcode, library); std::filesystem::exists(path))
      argv.insert(argv.end(), {"-Xclang", "-mlink-builtin-bitcode", "-Xclang", path});
  argv.insert(argv.end(), inlined.begin(), inlined.end());
  argv.insert(argv.end(), build.request.options.begin(), build.request.options.end());
  argv.insert(argv.end(), {"-S", as_argument(build.request.path)});
  return argv;
}

}  // namespace

std::vector<Request> hip_requests(std::string_view section) {
  std::vector<Request> out;
  while (!section.empty()) {
    auto const text = section.substr(0, section.find('\0'));
    section.remove_prefix(std::min(section.size(), text.size() + 1));
    std::vector<std::string> lines;
    each_line(text, [&](std::string_view line) { lines.emplace_back(line); });
    if (lines.size() < 2) continue;  // what lies between two texts
    Request request;
    request.hip_folder = lines.front();
    request.path = (std::filesystem::path(lines.front()) / lines.back()).string();
    request.options.assign(lines.begin() + 1, lines.end() - 1);
    if (std::ranges::find(out, request) == out.end()) out.push_back(std::move(request));
  }
  return out;
}

std::vector<std::string> amd_command(Build const& build, AmdTarget const& target) {
  if (!build.request.hip_folder.empty()) return hip_command(build, target);
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
                build.request.hip_folder.empty()
                    ? "the source compiles for NVIDIA's devices; leave out this target, or what only they know"
                    : "its kernels are counted by rules; what is missing may come with AMD's ROCm (ROCM_PATH)");
  build.ptx = read_file(output);
  for (auto& file : parse_dependencies(read_file(rule)))
    if (!file.starts_with(build.scratch.path().string())) build.dependencies.push_back(std::move(file));
}

}  // namespace kernelcast::frontend
