#include "kernels/frontend/toolchain.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "base/diag/diag.hpp"
#include "base/process/process.hpp"
#include "base/process/variables.hpp"

namespace kernelcast::frontend {
namespace {

bool exists(std::string const& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0;
}

std::vector<std::string> cuda_folders() {
  std::vector<std::string> folders;
  for (char const* name : {"CUDA_HOME", "CUDA_PATH"})
    if (char const* folder = std::getenv(name); folder && *folder) folders.emplace_back(folder);
  folders.emplace_back("/usr/local/cuda");
  return folders;
}

}  // namespace

Toolchain find_toolchain() {
  Toolchain tools;
  tools.clang = find_program("clang-19", {"/usr/lib/llvm-19/bin"});
  for (char const* folder : {"/usr/lib/clc/", "/usr/share/clc/", "/usr/lib/llvm-19/share/clc/"})
    if (tools.libclc.empty() && exists(std::string(folder) + "nvptx64--nvidiacl.bc")) tools.libclc = folder;
  for (int llvm = 19; tools.llvm_spirv.empty() && llvm >= 14; --llvm)
    tools.llvm_spirv = find_program(fmt::format("llvm-spirv-{}", llvm), {});
  std::vector<std::string> rocm{"/opt/rocm", "/usr"};
  if (char const* folder = std::getenv("ROCM_PATH"); folder && *folder) rocm.insert(rocm.begin(), folder);
  for (auto const& root : rocm) {
    if (tools.hip_root.empty() && exists(root + "/include/hip/hip_runtime.h")) tools.hip_root = root;
    for (char const* folder : {"/amdgcn/bitcode", "/lib/x86_64-linux-gnu/amdgcn/bitcode", "/lib/amdgcn/bitcode"})
      if (tools.hip_bitcode.empty() && exists(root + folder + "/ocml.bc")) tools.hip_bitcode = root + folder;
  }
  // KERNELCAST_NO_CUDA lets a test, or a user with a broken toolkit, go without one.
  if (std::getenv(variables::no_cuda)) return tools;
  std::vector<std::string> folders;
  for (auto const& root : cuda_folders()) folders.push_back(root + "/bin");
  tools.nvcc = find_program("nvcc", folders);
  tools.ptxas = find_program("ptxas", folders);
  tools.nvdisasm = find_program("nvdisasm", folders);
  for (auto const& root : cuda_folders())
    if (tools.cuda_root.empty() && exists(root + "/include/cuda_runtime.h")) tools.cuda_root = root;
  return tools;
}

std::string const& require_clang(Toolchain const& tools) {
  if (tools.clang.empty())
    throw Error(Status::unavailable, "clang-19 is not installed: OpenCL C and CUDA C++ cannot be compiled",
                "apt-get install clang-19 libclc-19, or pass a .ptx file");
  return tools.clang;
}

std::string require_libclc(Toolchain const& tools, std::string_view bitcode) {
  std::string path = tools.libclc + std::string(bitcode);
  if (tools.libclc.empty() || !exists(path))
    throw Error(Status::unavailable, fmt::format("libclc-19's {} is not installed", bitcode),
                "apt-get install libclc-19");
  return path;
}

std::string identity(std::string const& path) {
  struct stat info;
  if (path.empty() || stat(path.c_str(), &info) != 0) return path + " -\n";
  return fmt::format("{} {} {}.{:09}\n", path, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
}

std::vector<std::string> opencl_target(std::string const& arch) {
  // Without this path clang would take the PTX version from a CUDA toolkit that it finds: the output would depend on
  // the machine. PTX 7.8 knows every instruction of the shim, and Debian's own ptxas reads it.
  return {"-target", "nvptx64-nvidia-nvcl", "-march=" + arch, "--cuda-path=/nonexistent",
          "-Xclang", "-target-feature",     "-Xclang",        "+ptx78"};
}

std::vector<ShimPart> shim_parts(Request const& request) {
  auto common = opencl_target("sm_75");
  common.insert(common.end(), {"-O2", "-c", "-emit-llvm"});
  auto opencl = common;
  for (char const* option : {"-x", "cl", "-cl-std=CL3.0", "-Xclang", "-finclude-default-header", "-Xclang",
                             ("-cl-ext=+all,+__opencl_c_work_group_collective_functions,"
                              "+__opencl_c_atomic_scope_device,+__opencl_c_atomic_scope_all_devices")})
    opencl.emplace_back(option);
  ShimPart const barriers{"barriers.cl", "barriers.bc", opencl}, halves{"halves.cl", "halves.bc", opencl};
  ShimPart shim{"shim.cl", request.global_offset ? "shim_offset.bc" : "shim.bc", opencl};
  if (request.global_offset) shim.options.emplace_back("-DKERNELCAST_GLOBAL_OFFSET");
  ShimPart scratch{"scratch.c", "scratch.bc", common};
  scratch.options.insert(scratch.options.end(), {"-x", "c"});
  if (request.fence_flags) return {barriers, halves, shim, scratch};
  return {halves, shim, scratch};  // each may call what is behind it
}

std::string find_shim(Request const& request) {
  std::vector<std::string> folders;
  if (auto const beside = program_path().parent_path().string(); !beside.empty()) {
    folders.push_back(beside + "/../share/kernelcast/opencl/");
    folders.push_back(beside + "/../" KERNELCAST_INSTALL_DATADIR "/kernelcast/opencl/");
  }
  folders.emplace_back(KERNELCAST_BUILD_SHIM "/");
  for (auto const& folder : folders) {
    bool complete = true;
    for (auto const& part : shim_parts(request)) complete = complete && exists(folder + std::string(part.bitcode));
    if (complete) return folder;
  }
  return {};
}

}  // namespace kernelcast::frontend
