// How long the kernels of launch files take on a CUDA device: rows `suite,program,kernel,case,device,cache,time_s`, as
// bench-suites/validation/measured has them and `rank --measured` reads them. Column cache:
//   program       all launches in order with fresh buffers, again and again: what the copies and launches before left
//   warm          what one launch of the same left, with the buffers as the program had them before it
//   cold          a copy of twice the second level's size has replaced all
//   back_to_back  one of many launches that the host does not wait for
// A kernel's time is the sum over its launches, each the median of its runs, by the device's own events. Of a kernel
// with more than 16 launches, evenly spread ones stand for all, except in `program`. The first run is not counted.
//
// Usage: gpu_kernel_times [--caches NAME,...] [--runs N] [--device ID] [--ptx FOLDER] DEVDB
//                         LAUNCH_FILE [--set NAME=VALUE|SET]...
// ID is the device's in the database, where its name does not say it. PTX that FOLDER has is not compiled again; what
// it lacks is compiled and stays there, without a device, too: such a folder replaces the compilers on another machine.
// Status 77: no device; stdout says why. Status 1: a launch file could not be timed, stderr says why.
// Limits: no images, no clusters, no shared memory as an argument; such a file is named on stderr and left out.
// Launches back to back repeat what they do to their buffers, a warm one does it twice: leave these out where the work
// depends on it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

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

// A launch with the device's addresses.
struct Ready {
  std::string kernel;
  cuda::Function function = nullptr;
  emu::Dim3 grid, block;
  unsigned shared_bytes = 0;
  std::vector<std::byte> parameters;
};

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
    if (flushed_) api_.release(flushed_);
    api_.event_destroy(begin_);
    api_.event_destroy(end_);
    api_.context_release(device_);
  }
  Gpu(Gpu const&) = delete;

  void launch(Ready& call) {
    std::size_t bytes = call.parameters.size();
    // CU_LAUNCH_PARAM_BUFFER_POINTER, ..._SIZE, ..._END
    void* extra[] = {reinterpret_cast<void*>(1), call.parameters.data(), reinterpret_cast<void*>(2), &bytes, nullptr};
    must(api_.launch(call.function, call.grid.x, call.grid.y, call.grid.z, call.block.x, call.block.y, call.block.z,
                     call.shared_bytes, nullptr, nullptr, extra),
         "cuLaunchKernel");
  }

  // Of one of so many launches.
  double launch_s(Ready& call, int launches = 1) {
    must(api_.synchronize(), "what goes before the kernel");
    must(api_.event_record(begin_, nullptr), "cuEventRecord");
    for (int i = 0; i < launches; ++i) launch(call);
    must(api_.event_record(end_, nullptr), "cuEventRecord");
    must(api_.event_synchronize(end_), "the kernel");
    float milliseconds = 0;
    must(api_.event_elapsed(&milliseconds, begin_, end_), "cuEventElapsedTime");
    return milliseconds * 1e-3 / launches;
  }

  // Replaces what the caches hold.
  void flush() {
    if (!flushed_) {
      int bytes = 0;
      api_.device_attribute(&bytes, cuda::Attribute::l2_bytes, device_);
      flush_bytes_ = 2 * static_cast<std::size_t>(std::max(bytes, 1 << 20));
      must(api_.allocate(&flushed_, 2 * flush_bytes_), "cuMemAlloc");
    }
    must(api_.copy_on_device(flushed_, flushed_ + flush_bytes_, flush_bytes_), "cuMemcpyDtoD");
  }

  std::string name;

 private:
  cuda::Driver const& api_;
  cuda::Device device_ = 0;
  cuda::Event begin_ = nullptr, end_ = nullptr;
  cuda::Pointer flushed_ = 0;
  std::size_t flush_bytes_ = 0;
};

bool can_run(launch::Plan const& plan) {
  if (!plan.images.empty() || !plan.samplers.empty()) return false;
  for (auto const& call : plan.calls) {
    if (call.cluster || call.offset || !call.bindings.empty()) return false;
    for (auto const& argument : call.arguments)
      if (argument.kind == launch::Argument::Kind::shared) return false;
  }
  return true;
}

// Compiles the plan's source, or takes the PTX that FOLDER has of it.
std::string ptx_of(launch::Plan& plan, std::string const& program, std::string const& folder) {
  plan.request.registers.clear();
  if (folder.empty()) return frontend::compile_text(plan.request).ptx;
  std::string file = program + "_" + plan.case_name + ".ptx";
  std::replace(file.begin(), file.end(), '/', '_');
  auto const path = std::filesystem::path(folder) / file;
  if (!std::filesystem::exists(path)) {
    std::filesystem::create_directories(folder);
    std::ofstream(path) << frontend::compile_text(plan.request).ptx;
  }
  frontend::Request request;
  request.path = path.string();
  request.registers.clear();
  plan.request = request;
  return frontend::compile_text(plan.request).ptx;
}

// A plan on the device.
class Program {
 public:
  Program(launch::Plan const& plan, std::string const& ptx, Gpu& gpu)
      : gpu_(gpu), host_(std::uint64_t{16} << 30), buffers_(plan, 0, host_) {
    must(api_.module_load(&module_, ptx.c_str()), "cuModuleLoadData");
    bool pointers = false;
    for (std::size_t b = 0; b < plan.buffers.size(); ++b) {
      at_.push_back(allocate(b));
      pointers = pointers || plan.buffers[b].at != 0;
    }
    if (pointers)
      for (std::size_t b = 0; b < at_.size(); ++b) relocate(buffers_.bytes(b));
    auto const compiled = frontend::compile(plan.request);
    for (auto const& call : plan.calls) {
      auto const& info = call.kernel.text.empty()
                             ? compiled.kernels.at(0)
                             : frontend::find_kernel(compiled.kernels, call.kernel.text, plan.request.path);
      auto const& kernel = *compiled.module->find_kernel(info.name);
      auto const bound = launch::bind(call, info, kernel, static_cast<std::uint32_t>(info.shared_bytes), buffers_);
      Ready ready{info.name,
                  nullptr,
                  bound.launch.grid,
                  bound.launch.block,
                  static_cast<unsigned>(bound.launch.dynamic_shared_bytes),
                  bound.launch.parameters};
      if (pointers) relocate(ready.parameters);
      for (std::size_t a = 0; a < call.arguments.size(); ++a) {
        auto const& argument = call.arguments[a];
        if (argument.kind != launch::Argument::Kind::buffer) continue;
        cuda::Pointer const address = at_[argument.buffer] + argument.offset_bytes;
        std::memcpy(ready.parameters.data() + kernel.parameters[a].offset, &address, 8);
      }
      must(api_.module_function(&ready.function, module_, info.name.c_str()), "cuModuleGetFunction");
      if (ready.shared_bytes > 48 * 1024)
        must(api_.function_set(ready.function, cuda::FunctionAttribute::max_dynamic_shared_bytes,
                               static_cast<int>(ready.shared_bytes)),
             "cuFuncSetAttribute");
      calls_.push_back(std::move(ready));
    }
  }
  ~Program() {
    for (auto const& set : {at_, copies_})
      for (cuda::Pointer const p : set) api_.release(p);
    if (module_) api_.module_unload(module_);
  }
  Program(Program const&) = delete;

  using Times = std::map<std::string, double>;  // seconds by kernel

  Times in_order(int runs) {
    std::vector<std::vector<double>> of_call(calls_.size());
    Clock const clock(1);
    for (int run = -1; run < runs && (run < min_runs || !clock.over()); ++run) {
      upload();
      for (std::size_t c = 0; c < calls_.size(); ++c) {
        double const seconds = gpu_.launch_s(calls_[c]);
        if (run >= 0) of_call[c].push_back(seconds);
      }
    }
    Times out;
    for (std::size_t c = 0; c < of_call.size(); ++c) out[calls_[c].kernel] += median(of_call[c]);
    return out;
  }

  // `sample` times a launch whose buffers are as the program has them before it.
  Times one_by_one(int runs, std::function<double(Ready&)> const& sample) {
    std::map<std::string, std::vector<std::size_t>> launches;
    for (std::size_t c = 0; c < calls_.size(); ++c) launches[calls_[c].kernel].push_back(c);
    std::vector<bool> chosen(calls_.size());
    std::map<std::string, double> stands_for;
    for (auto const& [kernel, numbers] : launches) {
      std::size_t const count = std::min(max_launches, numbers.size());
      for (std::size_t i = 0; i < count; ++i) chosen[numbers[(2 * i + 1) * numbers.size() / (2 * count)]] = true;
      stands_for[kernel] = static_cast<double>(numbers.size()) / static_cast<double>(count);
    }
    if (copies_.empty())
      for (std::size_t b = 0; b < at_.size(); ++b) copies_.push_back(allocate(b));
    upload();
    Times out;
    for (std::size_t c = 0; c < calls_.size(); ++c) {
      auto& call = calls_[c];
      if (chosen[c]) {
        copy(at_, copies_);
        std::vector<double> samples;
        Clock const clock(0.1);
        for (int run = -1; run < runs && (run < min_runs || !clock.over()); ++run) {
          copy(copies_, at_);
          double const seconds = sample(call);
          if (run >= 0) samples.push_back(seconds);
        }
        out[call.kernel] += median(samples) * stands_for[call.kernel];
        copy(copies_, at_);
      }
      gpu_.launch(call);
    }
    must(api_.synchronize(), "the kernels");
    return out;
  }

 private:
  static constexpr std::size_t max_launches = 16;
  static constexpr int min_runs = 3;

  class Clock {
   public:
    explicit Clock(double seconds) : end_(now() + std::chrono::duration<double>(seconds)) {}
    bool over() const { return now() > end_; }

   private:
    static std::chrono::time_point<std::chrono::steady_clock, std::chrono::duration<double>> now() {
      return std::chrono::steady_clock::now();
    }
    std::chrono::time_point<std::chrono::steady_clock, std::chrono::duration<double>> end_;
  };

  cuda::Pointer allocate(std::size_t buffer) const {
    cuda::Pointer out = 0;
    must(api_.allocate(&out, std::max<std::size_t>(buffers_.bytes(buffer).size(), 1)), "cuMemAlloc");
    return out;
  }
  void upload() {
    for (std::size_t b = 0; b < at_.size(); ++b)
      must(api_.copy_to_device(at_[b], buffers_.bytes(b).data(), buffers_.bytes(b).size()), "cuMemcpyHtoD");
  }
  void copy(std::vector<cuda::Pointer> const& from, std::vector<cuda::Pointer> const& to) {
    for (std::size_t b = 0; b < at_.size(); ++b)
      must(api_.copy_on_device(to[b], from[b], buffers_.bytes(b).size()), "cuMemcpyDtoD");
  }
  // Words that point into one of the emulator's buffers.
  void relocate(std::span<std::byte> bytes) const {
    for (std::size_t k = 0; k + 8 <= bytes.size(); k += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + k, 8);
      for (std::size_t b = 0; b < at_.size(); ++b)
        if (word >= buffers_.address(b) && word - buffers_.address(b) <= buffers_.bytes(b).size()) {
          word = at_[b] + (word - buffers_.address(b));
          std::memcpy(bytes.data() + k, &word, 8);
          break;
        }
    }
  }

  cuda::Driver const& api_ = cuda::driver();
  Gpu& gpu_;
  emu::Memory host_;
  launch::Buffers const buffers_;
  cuda::Module module_ = nullptr;
  std::vector<cuda::Pointer> at_, copies_;
  std::vector<Ready> calls_;
};

Program::Times times(std::string_view cache, Program& program, Gpu& gpu, int runs) {
  if (cache == "program") return program.in_order(runs);
  return program.one_by_one(runs, [&](Ready& call) {
    if (cache == "cold") {
      gpu.flush();
      return gpu.launch_s(call);
    }
    double const first_s = gpu.launch_s(call);
    if (cache == "warm") return gpu.launch_s(call);
    return gpu.launch_s(call, static_cast<int>(std::clamp(0.05 / first_s, 4., 50.)));
  });
}

std::string csv_cell(std::string const& text) {
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string out = "\"";
  for (char const c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

struct Options {
  int runs = 21;
  std::string device, ptx;
  std::vector<std::string> caches = {"program", "warm", "cold", "back_to_back"};
};

// Of one launch file; false: it is left out or failed, stderr says why. Without a device it is only compiled.
bool report(char** first, char** last, Options const& options, Gpu* gpu, std::string const& slug) try {
  auto plan = std::move(read_plans(first, last).at(0));
  if (!can_run(plan)) {
    std::fprintf(stderr, "%s: left out\n", plan.case_name.c_str());
    return true;
  }
  auto const file = std::filesystem::absolute(*first);
  auto const name = fmt::format("{}/{}", file.parent_path().filename().string(), file.stem().string());
  if (!gpu) {
    if (!options.ptx.empty()) ptx_of(plan, name, options.ptx);
    return true;
  }
  auto const ptx = ptx_of(plan, name, options.ptx);
  Program program(plan, ptx, *gpu);
  for (auto const& cache : options.caches)
    for (auto const& [kernel, seconds] : times(cache, program, *gpu, options.runs)) {
      fmt::print("{},{},{},{},{},{},{:.6g}\n", slug, csv_cell(name), csv_cell(kernel), csv_cell(plan.case_name), slug,
                 cache, seconds);
      std::fflush(stdout);
    }
  return true;
} catch (Error const& error) {
  std::fputs(error.text("gpu_kernel_times").c_str(), stderr);
  return false;
}

int usage() {
  std::fprintf(stderr,
               "usage: gpu_kernel_times [--caches NAME,...] [--runs N] [--device ID] [--ptx FOLDER] DEVDB LAUNCH_FILE "
               "[--set NAME=VALUE|SET]...\n");
  return 2;
}

}  // namespace

int main(int argc, char** argv) try {
  Options options;
  char** next = argv + 1;
  char** const last = argv + argc;
  for (; last - next >= 2 && next[0][0] == '-'; next += 2) {
    std::string_view const option = next[0];
    std::string const value = next[1];
    if (option == "--runs")
      options.runs = std::max(1, std::atoi(value.c_str()));
    else if (option == "--device")
      options.device = value;
    else if (option == "--ptx")
      options.ptx = value;
    else if (option == "--caches") {
      auto const known = std::exchange(options.caches, {});
      for (std::size_t begin = 0; begin <= value.size(); begin = value.find(',', begin) + 1) {
        options.caches.push_back(value.substr(begin, value.find(',', begin) - begin));
        if (std::find(known.begin(), known.end(), options.caches.back()) == known.end()) return usage();
        if (value.find(',', begin) == std::string::npos) break;
      }
    } else
      return usage();
  }
  if (last - next < 2) return usage();
  auto const database = device::load(*next++);
  std::unique_ptr<Gpu> gpu;
  std::string slug, missing;
  try {
    gpu = std::make_unique<Gpu>();
    slug = database.find(options.device.empty() ? gpu->name : options.device).device;
  } catch (Error const& error) {
    missing = error.what();
    gpu.reset();
  }
  if (gpu) std::puts("suite,program,kernel,case,device,cache,time_s");
  bool good = true;
  while (next != last) {
    char** const file = next++;
    while (last - next >= 2 && std::string_view(*next) == "--set") next += 2;
    good = report(file, next, options, gpu.get(), slug) && good;
  }
  if (!good) return 1;
  if (gpu) return 0;
  std::puts(missing.c_str());
  return skipped;
} catch (Error const& error) {
  std::fputs(error.text("gpu_kernel_times").c_str(), stderr);
  return static_cast<int>(error.status());
}
