// How long the kernels of a launch file take on a CUDA device, after its buffers were copied there: rows
// `kernel,case,device,time_s` that `rank --measured` reads.
//
// All launches run in order with fresh buffers, again and again; a kernel's time is the sum over its launches of the
// median over the runs, by the device's own events. The first run is not counted.
// Usage: gpu_kernel_times [--runs N] [--device ID] DEVDB LAUNCH_FILE [--set NAME=VALUE|SET]…
// ID is the device's in the database, where its name does not say it. Status 77: no device; stdout says why.
// Limits: no images, no shared memory as an argument; such a file is named on stderr and left out.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string_view>

#include <fmt/format.h>

#include "../launches.hpp"
#include "base/diag/diag.hpp"
#include "base/statistics/median.hpp"
#include "emulator/launch/launch.hpp"
#include "measure/probe/cuda/api.hpp"
#include "records/device/device.hpp"

using namespace kernelcast;
namespace cuda = probe::cuda;

namespace {

constexpr int skipped = 77;

void must(cuda::Code result, char const* what) {
  if (result == cuda::Code::success) return;
  char const* name = nullptr;
  cuda::driver().error_name(result, &name);
  throw Error(Status::unavailable,
              fmt::format("{} failed: {}", what, name ? name : std::to_string(static_cast<int>(result)).c_str()));
}

class Gpu {
 public:
  Gpu() : api_(cuda::driver()) {
    if (!api_.missing.empty()) throw Error(Status::unavailable, api_.missing);
    int count = 0;
    must(api_.device_count(&count), "cuDeviceGetCount");
    if (count == 0) throw Error(Status::unavailable, "there is no CUDA device");
    must(api_.device_get(&device_, 0), "cuDeviceGet");
    char text[256] = {};
    must(api_.device_name(text, sizeof text, device_), "cuDeviceGetName");
    name = text;
    cuda::Context context = nullptr;
    must(api_.context_retain(&context, device_), "cuDevicePrimaryCtxRetain");
    must(api_.context_set(context), "cuCtxSetCurrent");
    must(api_.event_create(&begin_, 0), "cuEventCreate");
    must(api_.event_create(&end_, 0), "cuEventCreate");
  }
  ~Gpu() {
    api_.event_destroy(begin_);
    api_.event_destroy(end_);
    api_.context_release(device_);
  }
  Gpu(Gpu const&) = delete;

  double launch_s(cuda::Function function, emu::Launch const& launch, std::vector<std::byte>& parameters) {
    std::size_t bytes = parameters.size();
    // CU_LAUNCH_PARAM_BUFFER_POINTER, ..._SIZE, ..._END
    void* extra[] = {reinterpret_cast<void*>(1), parameters.data(), reinterpret_cast<void*>(2), &bytes, nullptr};
    must(api_.event_record(begin_, nullptr), "cuEventRecord");
    must(api_.launch(function, launch.grid.x, launch.grid.y, launch.grid.z, launch.block.x, launch.block.y,
                     launch.block.z, launch.dynamic_shared_bytes, nullptr, nullptr, extra),
         "cuLaunchKernel");
    must(api_.event_record(end_, nullptr), "cuEventRecord");
    must(api_.event_synchronize(end_), "the kernel");
    float milliseconds = 0;
    must(api_.event_elapsed(&milliseconds, begin_, end_), "cuEventElapsedTime");
    return milliseconds * 1e-3;
  }

  std::string name;

 private:
  cuda::Driver const& api_;
  cuda::Device device_ = 0;
  cuda::Event begin_ = nullptr, end_ = nullptr;
};

bool can_run(launch::Plan const& plan) {
  if (!plan.images.empty() || !plan.samplers.empty()) return false;
  for (auto const& call : plan.calls)
    for (auto const& argument : call.arguments)
      if (argument.kind == launch::Argument::Kind::shared) return false;
  return true;
}

// Seconds by kernel.
std::map<std::string, double> times(launch::Plan const& plan, Gpu& gpu, int runs) {
  auto const& api = cuda::driver();
  auto const text = frontend::compile_text(plan.request);
  auto const compiled = frontend::compile(plan.request);
  cuda::Module module = nullptr;
  must(api.module_load(&module, text.ptx.c_str()), "cuModuleLoadData");
  emu::Memory host(std::uint64_t{16} << 30);
  launch::Buffers const buffers(plan, 0, host);
  std::vector<cuda::Pointer> at;
  for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
    at.push_back(0);
    must(api.allocate(&at.back(), std::max<std::size_t>(buffers.bytes(b).size(), 1)), "cuMemAlloc");
  }
  std::vector<std::vector<double>> of_call(plan.calls.size());
  std::vector<std::string> names;
  for (int run = -1; run < runs; ++run) {
    for (std::size_t b = 0; b < at.size(); ++b)
      must(api.copy_to_device(at[b], buffers.bytes(b).data(), buffers.bytes(b).size()), "cuMemcpyHtoD");
    for (std::size_t c = 0; c < plan.calls.size(); ++c) {
      auto const& call = plan.calls[c];
      auto const& info = call.kernel.text.empty()
                             ? compiled.kernels.at(0)
                             : frontend::find_kernel(compiled.kernels, call.kernel.text, plan.request.path);
      auto const& kernel = *compiled.module->find_kernel(info.name);
      auto const bound = launch::bind(call, info, kernel, static_cast<std::uint32_t>(info.shared_bytes), buffers);
      auto parameters = bound.launch.parameters;
      for (std::size_t a = 0; a < call.arguments.size(); ++a)
        if (call.arguments[a].kind == launch::Argument::Kind::buffer)
          std::memcpy(parameters.data() + kernel.parameters[a].offset, &at[call.arguments[a].buffer], 8);
      cuda::Function function = nullptr;
      must(api.module_function(&function, module, info.name.c_str()), "cuModuleGetFunction");
      double const seconds = gpu.launch_s(function, bound.launch, parameters);
      if (run >= 0) of_call[c].push_back(seconds);
      if (run < 0) names.push_back(info.name);
    }
  }
  for (cuda::Pointer const p : at) api.release(p);
  api.module_unload(module);
  std::map<std::string, double> out;
  for (std::size_t c = 0; c < of_call.size(); ++c) out[names[c]] += median(of_call[c]);
  return out;
}

}  // namespace

int main(int argc, char** argv) try {
  int runs = 21, next = 1;
  std::string slug;
  for (; next + 1 < argc && argv[next][0] == '-'; next += 2)
    std::string_view(argv[next]) == "--runs" ? void(runs = std::max(1, std::atoi(argv[next + 1])))
                                             : void(slug = argv[next + 1]);
  if (argc - next < 2) {
    std::fprintf(stderr,
                 "usage: gpu_kernel_times [--runs N] [--device ID] DEVDB LAUNCH_FILE [--set NAME=VALUE|SET]...\n");
    return 2;
  }
  auto const database = device::load(argv[next++]);
  std::unique_ptr<Gpu> gpu;
  try {
    gpu = std::make_unique<Gpu>();
    slug = database.find(slug.empty() ? gpu->name : slug).device;
  } catch (Error const& error) {
    std::puts(error.what());
    return skipped;
  }
  std::puts("kernel,case,device,time_s");
  for (auto const& plan : read_plans(argv + next, argv + argc)) {
    if (!can_run(plan)) {
      std::fprintf(stderr, "%s: left out\n", plan.case_name.c_str());
      continue;
    }
    for (auto const& [kernel, seconds] : times(plan, *gpu, runs))
      fmt::print("{},{},{},{}\n", kernel, plan.case_name, slug, seconds);
    std::fflush(stdout);
  }
} catch (Error const& error) {
  std::fputs(error.text("gpu_kernel_times").c_str(), stderr);
  return static_cast<int>(error.status());
}
