#include "measure/flux/cuda_device.hpp"

#include <algorithm>
#include <cstring>
#include <tuple>

#include <fmt/format.h>

#include "base/diag/diag.hpp"

namespace kernelcast::flux {

namespace cuda = probe::cuda;

namespace {

constexpr auto use_the_emulator = "--backend emulator needs no device";

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

// ---------------------------------------------------------------- device

CudaDevice::CudaDevice(int number) : api_(cuda::driver()) {
  if (!api_.missing.empty()) throw Error(Status::unavailable, api_.missing, use_the_emulator);
  int count = 0;
  must(api_.device_count(&count), "cuDeviceGetCount");
  if (number >= count)
    throw Error(Status::unavailable, fmt::format("there is no CUDA device {}, only {}", number, count),
                use_the_emulator);
  must(api_.device_get(&device_, number), "cuDeviceGet");
  char name[256] = {};
  must(api_.device_name(name, sizeof name, device_), "cuDeviceGetName");
  name_ = fmt::format("{}:{}", number, name);
  cuda::Context context = nullptr;
  must(api_.context_retain(&context, device_), "cuDevicePrimaryCtxRetain");
  must(api_.context_set(context), "cuCtxSetCurrent");
  must(api_.event_create(&begin_, 0), "cuEventCreate");
  must(api_.event_create(&end_, 0), "cuEventCreate");
}

CudaDevice::~CudaDevice() {
  for (auto const at : memory_) api_.release(at);
  for (auto const module : modules_) api_.module_unload(module);
  for (auto const event : {begin_, end_})
    if (event) api_.event_destroy(event);
  api_.context_release(device_);
}

cuda::Module CudaDevice::load(std::string const& ptx) {
  cuda::Module module = nullptr;
  must(api_.module_load(&module, ptx.c_str()), "cuModuleLoadData");
  return modules_.emplace_back(module);
}

cuda::Pointer CudaDevice::allocate(std::span<std::byte const> content) {
  cuda::Pointer at = 0;
  must(api_.allocate(&at, std::max<std::size_t>(content.size(), 1)), "cuMemAlloc");
  memory_.push_back(at);
  copy_to(at, content);
  return at;
}

void CudaDevice::copy_to(cuda::Pointer at, std::span<std::byte const> content) {
  if (!content.empty()) must(api_.copy_to_device(at, content.data(), content.size()), "cuMemcpyHtoD");
}

void CudaDevice::copy_from(cuda::Pointer at, std::span<std::byte> content) {
  if (!content.empty()) must(api_.copy_to_host(content.data(), at, content.size()), "cuMemcpyDtoH");
}

double CudaDevice::launch(cuda::Module module, std::string const& kernel, emu::Launch const& launch,
                          std::vector<std::byte>& parameters) {
  constexpr std::uint32_t default_max_shared_bytes = 48 * 1024;
  cuda::Function function = nullptr;
  must(api_.module_function(&function, module, kernel.c_str()), "cuModuleGetFunction");
  if (launch.dynamic_shared_bytes > default_max_shared_bytes)
    must(api_.function_set(function, cuda::FunctionAttribute::max_dynamic_shared_bytes,
                           static_cast<int>(launch.dynamic_shared_bytes)),
         "cuFuncSetAttribute");
  std::size_t bytes = parameters.size();
  // CU_LAUNCH_PARAM_BUFFER_POINTER, ..._SIZE, ..._END
  void* extra[] = {reinterpret_cast<void*>(1), parameters.data(), reinterpret_cast<void*>(2), &bytes, nullptr};
  auto const& [grid, block] = std::tie(launch.grid, launch.block);
  must(api_.event_record(begin_, nullptr), "cuEventRecord");
  must(api_.launch(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, launch.dynamic_shared_bytes, nullptr,
                   nullptr, extra),
       "cuLaunchKernel");
  must(api_.event_record(end_, nullptr), "cuEventRecord");
  must(api_.synchronize(), "the kernel");
  float time_ms = 0;
  must(api_.event_elapsed(&time_ms, begin_, end_), "cuEventElapsedTime");
  return static_cast<double>(time_ms) * 1e-3;
}

void CudaDevice::must(cuda::Code result, char const* what) const {
  if (result == cuda::Code::success) return;
  char const* name = nullptr;
  api_.error_name(result, &name);
  throw Error(Status::unavailable,
              fmt::format("{} failed: {}", what, name ? name : std::to_string(static_cast<int>(result)).c_str()),
              use_the_emulator);
}

// ---------------------------------------------------------------- buffers

CudaBuffers::CudaBuffers(CudaDevice& device, launch::Plan const& plan, launch::RunOptions const& options)
    : device_(device),
      memory_((refuse_what_does_not_run(plan), options.max_memory_bytes)),
      host_(plan, options.seed, memory_) {
  for (std::size_t b = 0; b < plan.buffers.size(); ++b) at_.push_back(device.allocate(host_.bytes(b)));
}

void CudaBuffers::reset() {
  for (std::size_t b = 0; b < at_.size(); ++b) device_.copy_to(at_[b], host_.bytes(b));
}

// ---------------------------------------------------------------- program

CudaProgram::CudaProgram(CudaDevice& device, frontend::Compiled const& compiled,
                         std::optional<PlanOptions> const& options)
    : device_(device), compiled_(compiled), counts_(options.has_value()) {
  if (counts_) made_ = instrument(*compiled.module, *options);
  module_ = device.load(counts_ ? made_.ptx : std::string(compiled.module->text));
}

void CudaProgram::run(launch::Plan const& plan, CudaBuffers const& buffers,
                      std::function<void(CudaLaunch const&)> const& ended) {
  auto const& module = *compiled_.module;
  std::uint64_t launches = 0;
  for (auto const& call : plan.calls) {
    auto const& info = call.kernel.text.empty()
                           ? compiled_.kernels.at(0)
                           : frontend::find_kernel(compiled_.kernels, call.kernel.text, plan.request.path);
    auto const& function = *module.find_kernel(info.name);
    auto const kernel = static_cast<std::uint32_t>(&function - module.functions.data());
    auto bound = launch::bind(call, info, function, static_cast<std::uint32_t>(info.shared_bytes), buffers.on_host());
    auto parameters = bound.launch.parameters;
    for (std::size_t a = 0; a < call.arguments.size(); ++a) {
      if (call.arguments[a].kind != launch::Argument::Kind::buffer) continue;
      auto const at = buffers.on_device(call.arguments[a].buffer);
      std::memcpy(parameters.data() + function.parameters[a].offset, &at, sizeof at);
    }
    auto const bank = counts_ ? bank_bytes(made_.plan, kernel) : 0;
    std::vector<std::uint64_t> words(std::size_t{bank} * made_.plan.options.banks / 8, 0);
    if (bank) {
      auto const [known, fresh] = banks_.try_emplace(kernel, 0);
      if (fresh)
        known->second = device_.allocate(std::as_bytes(std::span(words)));
      else
        device_.copy_to(known->second, std::as_bytes(std::span(words)));
      parameters.resize((parameters.size() + 7) / 8 * 8 + 8);
      std::memcpy(parameters.data() + parameters.size() - 8, &known->second, 8);
    }
    auto const time_s = device_.launch(module_, info.name, bound.launch, parameters);
    if (bank) {
      device_.copy_from(banks_[kernel], std::as_writable_bytes(std::span(words)));
      for (std::size_t w = bank / 8; w < words.size(); ++w) words[w % (bank / 8)] += words[w];
      words.resize(bank / 8);
    }
    record::CountedLaunch row;
    row.kernel = info.name;
    row.case_name = plan.case_name;
    row.launch = launches++;
    auto const& [grid, block] = std::tie(bound.launch.grid, bound.launch.block);
    std::tie(row.grid_x, row.grid_y, row.grid_z) = std::tie(grid.x, grid.y, grid.z);
    std::tie(row.block_x, row.block_y, row.block_z) = std::tie(block.x, block.y, block.z);
    row.shared_bytes = bound.shared_bytes;
    row.device = device_.name();
    if (row.case_name.empty()) row.case_name = fmt::format("{}/{}", bound.global.x, block.x);
    ended({row, kernel, grid.count() * block.count(), time_s, words});
  }
}

}  // namespace kernelcast::flux
