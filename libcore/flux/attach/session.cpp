#include "flux/attach/session.hpp"

#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include <fmt/format.h>

#include "process/setting.hpp"

namespace kernelcast::flux::attach {

namespace {

thread_local bool inside = false;  // a launch that the runtime makes within a launch

std::string environment(char const* name, char const* otherwise) {
  char const* const value = setting(name);
  return value ? value : otherwise;
}

// Rows of this process: OUTPUT.PID.
std::ofstream& output() {
  static auto& file =
      *new std::ofstream(fmt::format("{}.{}", environment("KERNELCAST_FLUX_OUTPUT", "kernelcast-flux"), getpid()));
  return file;
}

// CU_LAUNCH_PARAM_BUFFER_POINTER (1) and its value, in a list that ends with 0.
std::byte* packed_arguments(void** extra) {
  for (; extra && *extra; extra += 2)
    if (reinterpret_cast<std::uintptr_t>(*extra) == 1) return static_cast<std::byte*>(extra[1]);
  return nullptr;
}

}  // namespace

Session& Session::get() {
  static auto* const session = new Session;  // never destroyed, like all that rows need: they end at the very end
  return *session;
}

Session::Session() : rows_(std::make_unique<RowWriter>(output(), environment("KERNELCAST_FLUX_EMIT", "counts"))) {
  unknown_.name = "(unknown)";
}

// ---------------------------------------------------------------- programs and kernels

runtime::FatbinWrapper const* Session::replace(runtime::FatbinWrapper const* given) {
  std::lock_guard const lock(mutex_);
  auto& program = *programs_.emplace_back(instrumented_program(*given, programs_.size() + 1));
  replaced_[given] = &program;
  return program.failure.empty() ? &program.wrapper : given;
}

void Session::registered(void** handle, runtime::FatbinWrapper const* given) {
  std::lock_guard const lock(mutex_);
  handles_[handle] = replaced_.at(given);
}

void Session::add_kernel(void** handle, void const* host_function, char const* name) {
  std::lock_guard const lock(mutex_);
  if (auto const found = handles_.find(handle); found != handles_.end())
    kernels_[host_function] = {found->second, name, {}};
}

void Session::add_handle(runtime::Kernel kernel, void const* host_function) {
  std::lock_guard const lock(mutex_);
  host_functions_[kernel] = host_function;
}

void const* Session::host_function_of(runtime::Kernel kernel) const {
  std::lock_guard const lock(mutex_);
  auto const found = host_functions_.find(kernel);
  return found == host_functions_.end() ? nullptr : found->second;
}

Loaded const& Session::loaded(Kernel& kernel, void const* host_function) {
  auto const& api = runtime::loaded();
  int device = 0;
  if (api.get_device) api.get_device(&device);
  auto const [at, fresh] = kernel.on.try_emplace(device);
  Loaded& out = at->second;
  if (!fresh) return out;
  if (!kernel.program) {
    out.failure = "the kernel was not registered with the runtime in a way that is known here";
    return out;
  }
  runtime::FunctionAttributes attributes{};
  runtime::Error error = 0;
  if (api.function_attributes) {
    runtime::AnyCaptureGoesOn const loading;
    error = api.function_attributes(&attributes, host_function);
  }
  out.static_shared_bytes = attributes.shared_bytes;
  out.failure = kernel.program->failure;
  if (!out.failure.empty()) return out;
  auto const* const variant = kernel.program->variant_for(attributes.ptx_version);
  if (error != 0)
    out.failure = fmt::format("its code cannot be loaded: CUDA error {}", error);
  else if (!variant)
    out.failure = fmt::format("the device runs machine code for sm_{}, the program's PTX is for later devices",
                              attributes.binary_version);
  else if (!variant->failure.empty())
    out.failure = variant->failure;
  else if (auto const* const function = variant->module->find_kernel(kernel.name)) {
    out.variant = variant;
    out.function = static_cast<std::uint32_t>(function - variant->module->functions.data());
    out.bank = bank_bytes(variant->plan, out.function);
  } else
    out.failure = "the program's PTX has no such kernel";
  return out;
}

// ---------------------------------------------------------------- launches

Session::Prepared Session::prepare(void const* host_function, Sizes const& sizes, void** arguments, void** extra) {
  Prepared out;
  if (inside) {
    out.nested = true;
    return out;
  }
  std::lock_guard const lock(mutex_);
  inside = true;
  auto const found = kernels_.find(host_function);
  Kernel& kernel = found == kernels_.end() ? unknown_ : found->second;
  Loaded const& code = loaded(kernel, host_function);
  out.pending.kernel = &code;
  auto& launch = out.pending.launch;
  launch.kernel = kernel.name;
  launch.grid_x = sizes.grid.x, launch.grid_y = sizes.grid.y, launch.grid_z = sizes.grid.z;
  launch.block_x = sizes.block.x, launch.block_y = sizes.block.y, launch.block_z = sizes.block.z;
  launch.shared_bytes = code.static_shared_bytes + sizes.shared_bytes;
  launch.case_name = sizes_text(launch);
  int device = 0;
  if (runtime::loaded().get_device) runtime::loaded().get_device(&device);
  launch.device = std::to_string(device);
  harvest(false);
  if (!code.variant || code.bank == 0) return out;
  out.pending.banks = pool_.borrow(std::size_t{code.bank} * code.variant->plan.options.banks);
  if (!out.pending.banks) {
    inside = false;
    out.error = runtime::memory_allocation;
    return out;
  }
  auto const& parameters = code.variant->module->functions[code.function].parameters;
  if (arguments)
    out.arguments.assign(arguments, arguments + parameters.size());
  else if (auto* const packed = packed_arguments(extra))
    for (auto const& parameter : parameters) out.arguments.push_back(packed + parameter.offset);
  out.arguments.push_back(&out.pending.banks->on_device);
  return out;
}

void Session::end_of_call() {
  inside = false;
}

void Session::finish(Prepared& prepared, runtime::Error result, runtime::Stream stream) {
  std::lock_guard const lock(mutex_);
  end_of_call();
  auto& pending = prepared.pending;
  auto const& api = runtime::loaded();
  int capturing = 0;
  if (api.is_capturing && result == 0) api.is_capturing(stream, &capturing);
  if (capturing) return captured(pending, stream);
  pending.launch.launch = launches_++;
  if (result != 0) {  // the application sees the error; nothing ran
    if (pending.banks) pool_.give_back(pending.banks);
    return write_uncounted(pending, fmt::format("the launch failed with CUDA error {}", result));
  }
  if (!pending.banks) return write(pending, {});
  Banks& banks = *pending.banks;
  api.memcpy_async(banks.on_host, banks.on_device, banks.bytes, runtime::copy_to_host, stream);
  api.memset_async(banks.on_device, 0, banks.bytes, stream);
  api.event_record(banks.done, stream);
  pending_.push_back(std::move(pending));
}

// ---------------------------------------------------------------- rows

void Session::harvest(bool wait) {
  auto const& api = runtime::loaded();
  harvest_reported();
  if (pending_.empty()) return;
  runtime::AnyCaptureGoesOn const asking;
  while (!pending_.empty()) {
    Pending& first = pending_.front();
    auto const state = wait ? api.event_synchronize(first.banks->done) : api.event_query(first.banks->done);
    if (state != 0 && !wait) return;
    if (state == 0)
      write(first, summed(*first.banks, first.kernel->bank));
    else
      write_uncounted(first, fmt::format("the kernel or a later one failed with CUDA error {}", state));
    pool_.give_back(first.banks);
    pending_.pop_front();
  }
}

void Session::write(Pending const& pending, std::vector<std::uint64_t> const& words) {
  Loaded const& kernel = *pending.kernel;
  auto const& failure = pending.failure.empty() ? kernel.failure : pending.failure;
  if (!failure.empty()) return write_uncounted(pending, failure);
  auto const& l = pending.launch;
  auto const items = l.grid_x * l.grid_y * l.grid_z * l.block_x * l.block_y * l.block_z;
  auto const& variant = *kernel.variant;
  rows_->add({l, *variant.module, recover(*variant.module, variant.plan, kernel.function, items, words), 0});
}

void Session::write_uncounted(Pending const& pending, std::string reason) {
  static auto const& empty = *new ptx::Module;
  auto launch = pending.launch;
  launch.status = record::RowStatus::uncounted;
  launch.reason = std::move(reason);
  rows_->add({launch, empty, {}, 0});
}

void Session::end() {
  {
    std::lock_guard const lock(mutex_);
    if (ending_) return;
    ending_ = true;
    inside = true;
  }
  synchronize_graphs();
  std::lock_guard const lock(mutex_);
  harvest(true);
  harvest_reported();
  rows_->end();
  output().flush();
  ended_ = true;
}

}  // namespace kernelcast::flux::attach
