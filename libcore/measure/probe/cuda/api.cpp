#include "measure/probe/cuda/api.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/diag/diag.hpp"
#include "measure/probe/access.hpp"

namespace kernelcast::probe::cuda {

namespace {

// What drivers before 11.4 lack, and only graphs need.
constexpr bool is_of_graphs(std::string_view symbol) {
  return symbol.starts_with("cuGraph") || symbol.find("Capture") != std::string_view::npos;
}

Driver load_driver() {
  Driver out;
  auto const [library, trouble] = open_library({"libcuda.so.1", "libcuda.so"});
  if (!library) {
    out.missing = trouble.empty() ? "there is no CUDA driver (libcuda.so.1)"
                                  : fmt::format("the CUDA driver does not load: {}", trouble);
    return out;
  }
#define KERNELCAST_RESOLVE(member, symbol, arguments) \
  out.member = reinterpret_cast<decltype(out.member)>(dlsym(library, symbol));
#define KERNELCAST_DRIVER_CALLED(member, symbol, parameters) \
  KERNELCAST_RESOLVE(member, #symbol, parameters)            \
  if (!out.member && !is_of_graphs(#symbol)) out.missing = "the CUDA driver has no " #symbol ": it is too old";
#include "kernels/cuda/driver_entry_points.def"
  if (!out.missing.empty()) return out;
  if (auto const result = out.init(0); result != Code::success) {
    char const* name = nullptr;
    out.error_name(result, &name);
    out.missing =
        fmt::format("the CUDA driver does not start: {}{}",
                    name ? name : std::to_string(static_cast<int>(result)).c_str(), refusal_of_device_files());
  }
  return out;
}

Compiler load_compiler() {
  Compiler out;
  std::vector<std::string> names;
  for (int const major : {13, 12, 11}) names.push_back(fmt::format("libnvrtc.so.{}", major));
  names.insert(names.end(), {"libnvrtc.so.11.2", "libnvrtc.so"});
  std::vector<std::string> all = names;
  for (char const* const variable : {"CUDA_HOME", "CUDA_PATH"})
    if (char const* const home = std::getenv(variable))
      for (auto const& name : names) all.push_back(std::string(home) + "/lib64/" + name);
  for (auto const& name : names) all.push_back("/usr/local/cuda/lib64/" + name);
  auto const [library, trouble] = open_library(all);
  if (!library) {
    out.missing = trouble.empty() ? "there is no NVRTC (libnvrtc.so)" : fmt::format("NVRTC does not load: {}", trouble);
    return out;
  }
  KERNELCAST_NVRTC_FUNCTIONS(KERNELCAST_RESOLVE)
#undef KERNELCAST_RESOLVE
  return out;
}

}  // namespace

Driver const& driver() {
  static Driver const loaded = load_driver();
  return loaded;
}

Compiler const& compiler() {
  static Compiler const loaded = load_compiler();
  return loaded;
}

std::string compile(std::string const& source, std::string const& architecture) {
  auto const& nvrtc = compiler();
  if (!nvrtc.missing.empty())
    throw Error(Status::unavailable, nvrtc.missing, "it comes with the CUDA toolkit; CUDA_HOME may name the toolkit");
  Program program = nullptr;
  if (nvrtc.create(&program, source.c_str(), "microbench.cu", 0, nullptr, nullptr) != 0)
    throw Error(Status::unavailable, "nvrtcCreateProgram failed", "is the toolkit complete?");
  auto const option = "--gpu-architecture=" + architecture;
  char const* const options[] = {option.c_str(), "--std=c++14"};
  if (nvrtc.compile(program, 2, options) != 0) {
    std::size_t size = 0;
    nvrtc.log_size(program, &size);
    std::string log(size, '\0');
    nvrtc.log(program, log.data());
    nvrtc.destroy(&program);
    auto const at = log.find("error");
    auto const from = at == std::string::npos ? 0 : log.rfind('\n', at) + 1;
    throw Error(Status::unavailable,
                fmt::format("NVRTC does not compile the kernel for {}: {}", architecture,
                            log.substr(from, log.find('\n', from) - from)),
                "a newer toolkit knows newer devices, an older one older devices");
  }
  std::size_t size = 0;
  nvrtc.ptx_size(program, &size);
  std::string ptx(size, '\0');
  nvrtc.ptx(program, ptx.data());
  nvrtc.destroy(&program);
  return ptx;
}

}  // namespace kernelcast::probe::cuda
