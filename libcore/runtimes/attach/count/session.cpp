#include "runtimes/attach/count/session.hpp"

#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include <fmt/format.h>

#include "runtimes/attach/count/capture.hpp"
#include "runtimes/attach/settings.hpp"

namespace kernelcast::attach::count {

using namespace cudart;

namespace {

// Rows of this process: OUTPUT.PID.
std::ofstream& output() {
  static auto& file = *new std::ofstream(fmt::format("{}.{}", settings().count_output, getpid()));
  return file;
}

void end_session() {
  Session::get().end();
}

}  // namespace

}  // namespace kernelcast::attach::count

kernelcast::cudart::Client& kernelcast::cudart::client() {
  return attach::count::Session::get();
}

namespace kernelcast::attach::count {

Session& Session::get() {
  static auto* const session = new Session;  // never destroyed, like all that rows need: they end at the very end
  return *session;
}

Session::Session() : rows_(std::make_unique<flux::RowWriter>(output(), settings().count_emit)) {
  unknown_.name = "(unknown)";
}

// ---------------------------------------------------------------- programs and kernels

FatbinWrapper const* Session::replace(FatbinWrapper const* given) {
  static bool const at_exit = std::atexit(end_session) == 0;  // what it uses is destroyed after its end
  static_cast<void>(at_exit);
  std::lock_guard const lock(mutex_);
  auto& program = *programs_.emplace_back(instrumented_program(*given, programs_.size() + 1));
  replaced_[given] = &program;
  return program.failure.empty() ? &program.wrapper : given;
}

void Session::add_program(void** handle, FatbinWrapper const* given) {
  std::lock_guard const lock(mutex_);
  registered_.add_program(handle, *replaced_.at(given));
}

void Session::add_kernel(void** handle, void const* host_function, char const* name) {
  std::lock_guard const lock(mutex_);
  registered_.add_kernel(handle, host_function, name);
}

void Session::add_handle(void const* kernel, void const* host_function) {
  std::lock_guard const lock(mutex_);
  registered_.add_handle(kernel, host_function);
}

Loaded const& Session::loaded(Kernel& kernel, void const* host_function) {
  auto const& api = runtime();
  auto const [at, fresh] = kernel.on.try_emplace(current_device());
  Loaded& out = at->second;
  if (!fresh) return out;
  if (!kernel.program) {
    out.failure = "the kernel was not registered with the runtime in a way that is known here";
    return out;
  }
  FunctionAttributes attributes{};
  auto error = Code::success;
  if (api.cudaFuncGetAttributes) {
    AnyCaptureGoesOn const loading;
    error = api.cudaFuncGetAttributes(&attributes, host_function);
  }
  out.static_shared_bytes = attributes.shared_bytes;
  out.failure = kernel.program->failure;
  if (!out.failure.empty()) return out;
  auto const* const variant = kernel.program->variant_for(attributes.ptx_version);
  if (error != Code::success)
    out.failure = fmt::format("its code cannot be loaded: CUDA error {}", static_cast<int>(error));
  else if (!variant)
    out.failure = fmt::format("the device runs machine code for sm_{}, the program's PTX is for later devices",
                              attributes.binary_version);
  else if (!variant->failure.empty())
    out.failure = variant->failure;
  else if (auto const* const function = variant->module->find_kernel(kernel.name)) {
    out.variant = variant;
    out.function = static_cast<std::uint32_t>(function - variant->module->functions.data());
    out.bank = flux::bank_bytes(variant->plan, out.function);
  } else
    out.failure = "the program's PTX has no such kernel";
  return out;
}

// ---------------------------------------------------------------- launches

Code Session::launch(PassingLaunch const& launch, LaunchCall const& call) {
  Prepared prepared = prepare(launch, nullptr);
  if (prepared.error != Code::success) return prepared.error;
  auto const result = call(prepared.arguments.empty() ? launch.arguments : prepared.arguments.data());
  finish(prepared, result, launch.stream);
  return result;
}

Session::Prepared Session::prepare(PassingLaunch const& passing, void** extra) {
  Prepared out;
  std::lock_guard const lock(mutex_);
  auto* const found = registered_.kernel(passing.kernel);
  Kernel& kernel = found ? *found : unknown_;
  Loaded const& code = loaded(kernel, registered_.host_of(passing.kernel));
  out.pending.kernel = &code;
  auto& launch = out.pending.launch;
  launch.kernel = kernel.name;
  launch.grid_x = passing.grid.x, launch.grid_y = passing.grid.y, launch.grid_z = passing.grid.z;
  launch.block_x = passing.block.x, launch.block_y = passing.block.y, launch.block_z = passing.block.z;
  launch.shared_bytes = code.static_shared_bytes + passing.shared_bytes;
  launch.case_name = flux::sizes_text(launch);
  launch.device = std::to_string(current_device());
  harvest(false);
  if (!code.variant || code.bank == 0) return out;
  out.pending.banks = pool_.borrow(std::size_t{code.bank} * code.variant->plan.options.banks);
  if (!out.pending.banks) {
    out.error = Code::memory_allocation;
    return out;
  }
  auto const& parameters = code.variant->module->functions[code.function].parameters;
  if (passing.arguments)
    out.arguments.assign(passing.arguments, passing.arguments + parameters.size());
  else if (auto* const packed = packed_arguments(extra))
    for (auto const& parameter : parameters) out.arguments.push_back(packed + parameter.offset);
  out.arguments.push_back(&out.pending.banks->on_device);
  return out;
}

void Session::finish(Prepared& prepared, Code result, Stream stream) {
  std::lock_guard const lock(mutex_);
  auto& pending = prepared.pending;
  auto const& api = runtime();
  if (result == Code::success && is_capturing(stream)) return captured(pending, stream);
  pending.launch.launch = launches_++;
  if (result != Code::success) {  // the application sees the error; nothing ran
    if (pending.banks) pool_.give_back(pending.banks);
    return write_uncounted(pending, fmt::format("the launch failed with CUDA error {}", static_cast<int>(result)));
  }
  if (!pending.banks) return write(pending, {});
  Banks& banks = *pending.banks;
  api.cudaMemcpyAsync(banks.on_host, banks.on_device, banks.bytes, CopyKind::device_to_host, stream);
  api.cudaMemsetAsync(banks.on_device, 0, banks.bytes, stream);
  api.cudaEventRecord(banks.done, stream);
  pending_.push_back(std::move(pending));
}

// ---------------------------------------------------------------- rows

void Session::harvest(bool wait) {
  auto const& api = runtime();
  harvest_reported();
  if (pending_.empty()) return;
  AnyCaptureGoesOn const asking;
  while (!pending_.empty()) {
    Pending& first = pending_.front();
    auto const state = wait ? api.cudaEventSynchronize(first.banks->done) : api.cudaEventQuery(first.banks->done);
    if (state != Code::success && !wait) return;
    if (state == Code::success)
      write(first, summed(*first.banks, first.kernel->bank));
    else
      write_uncounted(first,
                      fmt::format("the kernel or a later one failed with CUDA error {}", static_cast<int>(state)));
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
  rows_->add({l, *variant.module, flux::recover(*variant.module, variant.plan, kernel.function, items, words), 0});
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
    ++inner_calls;  // of this thread, for good: nothing more is counted
  }
  synchronize_graphs();
  std::lock_guard const lock(mutex_);
  harvest(true);
  harvest_reported();
  rows_->end();
  output().flush();
  ended_ = true;
}

}  // namespace kernelcast::attach::count
