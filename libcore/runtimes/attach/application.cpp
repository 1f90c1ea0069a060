#include "runtimes/attach/application.hpp"

#include <spawn.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/cache/cache.hpp"
#include "base/diag/diag.hpp"
#include "base/process/process.hpp"
#include "base/process/variables.hpp"
#include "runtimes/attach/environment.hpp"
#include "runtimes/attach/offload.hpp"

namespace kernelcast::attach {

namespace fs = std::filesystem;

namespace {

pid_t volatile running = 0;  // the application, for signals

void leave_to_the_application(int signal) {
  bool const from_the_terminal = signal == SIGINT || signal == SIGQUIT;  // which asks every process
  if (running > 0) {
    if (!from_the_terminal) kill(running, signal);
    return;
  }
  end_by_signal(signal);
}

// Empty where this build has none: only CUDA applications can be attached to.
std::string find_layer() {
  auto const path = find_plugin("kernelcast-opencl.so");
  if (path.empty() && KERNELCAST_HAS_OPENCL_LAYER)
    throw Error(Status::unavailable, "the OpenCL layer kernelcast-opencl.so is not installed beside the program",
                "install the whole suite; without it the kernels of an OpenCL application would not be seen");
  return path;
}

// Where libcuda.so.1, libcudart.so.12 and .13 of ours lie; empty in a build without them.
std::string folder_of_runtimes() {
  std::string out;
  for (std::string const name : {"libcuda.so.1", "libcudart.so.12", "libcudart.so.13", "libkernelcast-cuda.so"}) {
    auto const path = find_plugin("kernelcast-cudart/" + name);
    if (path.empty() && KERNELCAST_HAS_CUDART)
      throw Error(Status::unavailable,
                  "the CUDA library kernelcast-cudart/" + name + " is not installed beside the program",
                  "install the whole suite; without it a CUDA application would run on another runtime, or on none");
    if (path.empty()) return {};
    out = fs::path(path).parent_path().string();
  }
  return out;
}

// In a folder of its own, as bin/nvcc beside what lies beside the user's nvcc: PyCUDA looks for libraries there. CuPy
// does not look on the PATH first.
void put_nvcc(std::vector<std::string>& variables, std::string const& program, fs::path const& folder) {
  fs::path const users = find_program("nvcc");
  std::error_code error;
  if (users.empty() || !fs::create_directories(folder / "bin", error)) return;
  fs::create_symlink(program, folder / "bin/nvcc", error);
  for (auto const& entry : fs::directory_iterator(users.parent_path().parent_path(), error))
    if (auto const name = entry.path().filename(); name != "bin")
      fs::create_symlink(entry.path(), folder / name, error);
  put_first(variables, "PATH", (folder / "bin").string());
  put_unless_set(variables, "NVCC", (folder / "bin/nvcc").string());
}

// Of programs in Python. What their packages have compiled for the emulator is no code of a GPU, nor the other way
// round: it is cached apart. Triton makes machine code by a program, ptxas, and PyCUDA by nvcc.
void put_compilers(std::vector<std::string>& variables, std::string const& runtimes, std::string const& spool) {
  preload(variables, "kernelcast-cuda-compilers.so", "install the whole suite");
  auto const cached = cache_folder();
  auto const compiled = cached.empty() ? spool + "/compiled/" : cached + "compiled/";
  for (std::string const package : {"CUPY", "NUMBA", "PYCUDA", "TORCHINDUCTOR", "TRITON"})
    put_unless_set(variables, package + "_CACHE_DIR", compiled + package);
  put_unless_set(variables, "TORCH_EXTENSIONS_DIR", compiled + "TORCH");
  put_unless_set(variables, "WARP_CACHE_PATH", compiled + "WARP");
  std::error_code ignored;
  fs::create_directories(compiled + "PYCUDA", ignored);  // PyCUDA does not
  auto const program = [](std::string const& name) {
    auto path = find_plugin(name);
    if (path.empty())
      throw Error(Status::unavailable, "the program " + name + " is not installed beside the program",
                  "install the whole suite");
    return path;
  };
  auto const assembler = program("kernelcast-ptxas");
  put_nvcc(variables, program("kernelcast-nvcc"), spool + "/cuda");
  replace(variables, "TRITON_PTXAS_PATH", assembler);
  replace(variables, "TRITON_PTXAS_BLACKWELL_PATH", assembler);
  put_unless_set(variables, "TRITON_LIBCUDA_PATH", runtimes);
  if (auto const start = find_plugin("python/start/sitecustomize.py"); !start.empty())
    put_first(variables, "PYTHONPATH", fs::path(start).parent_path().string());
}

constexpr char const* opencl_loader = "libOpenCL.so.1";

// Where the system's dynamic linker would find it.
bool has_opencl_loader() {
  std::error_code error;
  char const* const given = std::getenv("LD_LIBRARY_PATH");
  for (std::string_view rest = given ? given : ""; !rest.empty();) {
    auto const end = rest.find(':');
    if (fs::exists(fs::path(rest.substr(0, end)) / opencl_loader, error)) return true;
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
  }
  for (char const* const folder : {"/lib", "/usr/lib", "/lib64", "/usr/lib64"})
    if (fs::exists(fs::path(folder) / opencl_loader, error)) return true;
  std::ifstream cache("/etc/ld.so.cache", std::ios::binary);
  std::string const names{std::istreambuf_iterator<char>(cache), {}};
  return names.find(std::string(opencl_loader) + '\0') != names.npos;
}

// In place of the drivers that there are. ocl-icd takes a library's path here; Khronos' loader takes it there.
void put_platform(std::vector<std::string>& variables) {
  auto const platform = find_plugin("libkernelcast-opencl.so");
  if (platform.empty())
    throw Error(Status::unavailable, "the OpenCL platform libkernelcast-opencl.so is not installed beside the program",
                "install the whole suite, or build it with the package opencl-headers");
  replace(variables, "OCL_ICD_VENDORS", platform);
  replace(variables, "OCL_ICD_FILENAMES", platform);
  if (has_opencl_loader()) return;
  auto const loader = find_plugin(std::string("kernelcast-opencl-loader/") + opencl_loader);
  if (!loader.empty()) put_first(variables, "LD_LIBRARY_PATH", fs::path(loader).parent_path().string());
}

}  // namespace

bool has_opencl_driver() {
  for (char const* const name : {"OCL_ICD_VENDORS", "OCL_ICD_FILENAMES"})
    if (char const* const given = std::getenv(name); given && *given) return true;
  std::error_code error;
  for (auto const& entry : fs::directory_iterator("/etc/OpenCL/vendors", error))
    if (entry.path().extension() == ".icd") return true;
  return false;
}

// The layer goes below those that the user has enabled: it sees what reaches the device.
std::vector<std::string> environment_of_application(Settings const& given, Cuda cuda, std::string const& database) {
  auto const layer = find_layer();
  auto const runtimes = cuda == Cuda::observed && !layer.empty() ? std::string{} : folder_of_runtimes();
  if (layer.empty() && runtimes.empty())
    throw Error(Status::unavailable,
                "this build can attach to no application: it has no OpenCL layer and no CUDA runtime",
                "build with the packages opencl-headers, libzstd-dev and liblz4-dev");
  auto out = environment_without({});
  if (!layer.empty()) put_first(out, "OPENCL_LAYERS", layer);
  if (!layer.empty() && !given.opencl_devices.empty()) put_platform(out);
  given.put_into(out);
  if (!database.empty()) replace(out, variables::devdb, database);
  if (cuda == Cuda::observed) {
    preload(out, "kernelcast-cudart-forward.so", "build with the packages libzstd-dev and liblz4-dev");
  } else if (!runtimes.empty()) {
    put_first(out, "LD_LIBRARY_PATH", runtimes);
    put_compilers(out, runtimes, given.spool);
    put_offload(out);
  }
  return out;
}

std::string lasting_programs() {
  auto const cached = cache_folder();
  if (cached.empty()) return {};
  std::error_code error;
  fs::create_directories(cached + "programs", error);
  return error ? std::string{} : cached + "programs";
}

LeaveSignalsToTheApplication::LeaveSignalsToTheApplication() {
  struct sigaction ours{};
  ours.sa_handler = leave_to_the_application;
  ours.sa_flags = SA_RESTART;
  for (std::size_t i = 0; i < signals_.size(); ++i) sigaction(signals_[i], &ours, &before_[i]);
}

LeaveSignalsToTheApplication::~LeaveSignalsToTheApplication() {
  for (std::size_t i = 0; i < signals_.size(); ++i) sigaction(signals_[i], &before_[i], nullptr);
}

pid_t start_application(std::vector<std::string> command, std::vector<std::string> variables) {
  if (command.empty()) throw Error(Status::usage, "which application?", "write it after --: … -- ./app its arguments");
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  for (int signal : {SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGHUP}) sigaddset(&defaults, signal);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t process = -1;
  int const error = posix_spawnp(&process, command.front().c_str(), nullptr, &attributes,
                                 null_terminated(command).data(), null_terminated(variables).data());
  posix_spawnattr_destroy(&attributes);
  if (error != 0)
    throw Error(Status::io, Where{command.front()}, std::string("cannot start: ") + std::strerror(error),
                "is the application's name right?");
  running = process;
  return process;
}

std::optional<int> ended(pid_t application) {
  int status = 0;
  pid_t const found = waitpid(application, &status, WNOHANG);
  if (found != application && !(found == -1 && errno != EINTR)) return std::nullopt;
  running = 0;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace kernelcast::attach
