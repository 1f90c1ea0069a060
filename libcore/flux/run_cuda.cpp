// Counting on an NVIDIA GPU: the instrumented module through the driver's own compiler.
//
// Method: the launches of a plan one after the other, as launch::run does, with the buffers copied to the device. After
// each launch the banks are read, added up and cleared.
// Limits: no images, no shared memory as an argument (where it lies is the driver's to decide): Error(unavailable).
#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "diag/diag.hpp"
#include "flux/instrument.hpp"
#include "flux/run.hpp"
#include "probe/cuda/api.hpp"

namespace kernelcast::flux {

namespace {

namespace cuda = probe::cuda;

class Device {
 public:
  explicit Device(int number) : api_(cuda::driver()) {
    constexpr auto hint = "--backend emulator needs no device";
    if (!api_.missing.empty()) throw Error(Status::unavailable, api_.missing, hint);
    int count = 0;
    must(api_.device_count(&count), "cuDeviceGetCount");
    if (number >= count)
      throw Error(Status::unavailable, fmt::format("there is no CUDA device {}, only {}", number, count), hint);
    must(api_.device_get(&device_, number), "cuDeviceGet");
    char name[256] = {};
    must(api_.device_name(name, sizeof name, device_), "cuDeviceGetName");
    name_ = fmt::format("{}:{}", number, name);
    cuda::Context context = nullptr;
    must(api_.context_retain(&context, device_), "cuDevicePrimaryCtxRetain");
    must(api_.context_set(context), "cuCtxSetCurrent");
  }
  ~Device() {
    for (auto const at : memory_) api_.release(at);
    if (module_) api_.module_unload(module_);
    api_.context_release(device_);
  }
  Device(Device const&) = delete;

  std::string const& name() const { return name_; }
  void load(std::string const& ptx) { must(api_.module_load(&module_, ptx.c_str()), "cuModuleLoadData"); }
  cuda::Pointer allocate(std::span<std::byte const> content) {
    cuda::Pointer at = 0;
    must(api_.allocate(&at, std::max<std::size_t>(content.size(), 1)), "cuMemAlloc");
    memory_.push_back(at);
    copy_to(at, content);
    return at;
  }
  void copy_to(cuda::Pointer at, std::span<std::byte const> content) {
    if (!content.empty()) must(api_.copy_to_device(at, content.data(), content.size()), "cuMemcpyHtoD");
  }
  void copy_from(cuda::Pointer at, std::span<std::byte> content) {
    if (!content.empty()) must(api_.copy_to_host(content.data(), at, content.size()), "cuMemcpyDtoH");
  }
  void launch(std::string const& kernel, emu::Launch const& launch, std::vector<std::byte>& parameters) {
    constexpr std::uint32_t shared_without_asking = 48 * 1024;
    cuda::Function function = nullptr;
    must(api_.module_function(&function, module_, kernel.c_str()), "cuModuleGetFunction");
    if (launch.dynamic_shared_bytes > shared_without_asking)
      must(
          api_.function_set(function, cuda::function_max_dynamic_shared, static_cast<int>(launch.dynamic_shared_bytes)),
          "cuFuncSetAttribute");
    std::size_t bytes = parameters.size();
    // CU_LAUNCH_PARAM_BUFFER_POINTER, ..._SIZE, ..._END
    void* extra[] = {reinterpret_cast<void*>(1), parameters.data(), reinterpret_cast<void*>(2), &bytes, nullptr};
    auto const& [grid, block] = std::tie(launch.grid, launch.block);
    must(api_.launch(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, launch.dynamic_shared_bytes, nullptr,
                     nullptr, extra),
         "cuLaunchKernel");
    must(api_.synchronize(), "the kernel");
  }

 private:
  void must(cuda::Result result, char const* what) const {
    if (result == 0) return;
    char const* name = nullptr;
    api_.error_name(result, &name);
    throw Error(Status::unavailable, fmt::format("{} failed: {}", what, name ? name : std::to_string(result).c_str()),
                "--backend emulator needs no device");
  }

  cuda::Driver const& api_;
  cuda::Device device_ = 0;
  cuda::Module module_ = nullptr;
  std::vector<cuda::Pointer> memory_;
  std::string name_;
};

void refuse_what_does_not_run(launch::Plan const& plan) {
  auto const refuse = [](char const* what) {
    throw Error(Status::unavailable, fmt::format("{} cannot be given to a CUDA device", what),
                "--backend emulator takes all arguments");
  };
  if (!plan.images.empty() || !plan.samplers.empty()) refuse("images and samplers");
  for (auto const& call : plan.calls)
    for (auto const& argument : call.arguments)
      if (argument.kind == launch::Argument::Kind::shared) refuse("shared memory as an argument");
}

}  // namespace

launch::Report count_on_cuda(launch::Plan plan, launch::RunOptions const& options, int number, PlanOptions plan_options,
                             Receiver const& receive) {
  refuse_what_does_not_run(plan);
  Device device(number);
  launch::Report report;
  auto const compiled = frontend::compile(plan.request);
  report.notes = compiled.notes;
  auto const& module = *compiled.module;
  auto const made = instrument(module, plan_options);
  device.load(made.ptx);

  emu::Memory host(options.max_memory_bytes);
  launch::Buffers const buffers(plan, options.seed, host);
  std::vector<cuda::Pointer> at;
  for (std::size_t b = 0; b < plan.buffers.size(); ++b) at.push_back(device.allocate(buffers.bytes(b)));

  std::uint64_t launches = 0;
  std::map<std::uint32_t, cuda::Pointer> banks_of;  // by kernel
  for (auto const& call : plan.calls) {
    auto const& info = call.kernel.text.empty()
                           ? compiled.kernels.at(0)
                           : frontend::find_kernel(compiled.kernels, call.kernel.text, plan.request.path);
    auto const& function = *module.find_kernel(info.name);
    auto const kernel = static_cast<std::uint32_t>(&function - module.functions.data());
    auto bound = launch::bind(call, info, function, static_cast<std::uint32_t>(info.shared_bytes), buffers);
    auto parameters = bound.launch.parameters;
    for (std::size_t a = 0; a < call.arguments.size(); ++a)
      if (call.arguments[a].kind == launch::Argument::Kind::buffer)
        std::memcpy(parameters.data() + function.parameters[a].offset, &at[call.arguments[a].buffer], 8);
    auto const bank = bank_bytes(made.plan, kernel);
    std::vector<std::uint64_t> words(std::size_t{bank} * plan_options.banks / 8, 0);
    auto const raw = std::as_writable_bytes(std::span(words));
    if (bank) {
      auto const [known, fresh] = banks_of.try_emplace(kernel, 0);
      if (fresh) known->second = device.allocate(raw);
      parameters.resize((parameters.size() + 7) / 8 * 8 + 8);
      std::memcpy(parameters.data() + parameters.size() - 8, &known->second, 8);
    }
    device.launch(info.name, bound.launch, parameters);
    record::CountedLaunch row;
    row.kernel = info.name;
    row.case_name = plan.case_name;
    row.launch = launches++;
    auto const& [grid, block] = std::tie(bound.launch.grid, bound.launch.block);
    std::tie(row.grid_x, row.grid_y, row.grid_z) = std::tie(grid.x, grid.y, grid.z);
    std::tie(row.block_x, row.block_y, row.block_z) = std::tie(block.x, block.y, block.z);
    row.shared_bytes = bound.shared_bytes;
    row.device = device.name();
    if (row.case_name.empty()) row.case_name = fmt::format("{}/{}", bound.global.x, block.x);
    if (bank) {
      device.copy_from(banks_of[kernel], raw);
      for (std::size_t w = bank / 8; w < words.size(); ++w) words[w % (bank / 8)] += words[w];
      std::vector<std::uint64_t> const cleared(words.size(), 0);
      device.copy_to(banks_of[kernel], std::as_bytes(std::span(cleared)));
    }
    if (!options.only_kernel.empty() && info.name != options.only_kernel) continue;
    auto const counts =
        recover(module, made.plan, kernel, grid.count() * block.count(), std::span(words).first(bank / 8));
    receive({row, module, counts, 0});
  }
  return report;
}

}  // namespace kernelcast::flux
