#include "flux/attach/session.hpp"

#include <unistd.h>

#include <cstdlib>
#include <stdexcept>

#include <fmt/format.h>

#include "diag/diag.hpp"
#include "flux/attach/fatbin.hpp"
#include "flux/instrument.hpp"
#include "ptx/parser.hpp"

namespace kernelcast::flux {

namespace runtime {

Runtime const& loaded() {
  static Runtime const functions = [] {
    Runtime out;
#define KERNELCAST_RESOLVE(member, symbol, arguments)                \
  out.member = reinterpret_cast<decltype(out.member)>(find(symbol)); \
  if (!out.member) out.missing = symbol;
    KERNELCAST_RUNTIME_FUNCTIONS(KERNELCAST_RESOLVE)
#undef KERNELCAST_RESOLVE
    return out;
  }();
  return functions;
}

}  // namespace runtime

namespace attach {

namespace {

thread_local bool inside = false;  // a launch that the runtime makes within a launch

// Module or function variables in shared memory that the kernel's own instructions name.
std::uint64_t static_shared_bytes(ptx::Module const& module, ptx::Function const& kernel) {
  std::vector<bool> named(module.variables.size(), false);
  auto const look = [&](auto const& self, ptx::Operand const& o) -> void {
    if (o.kind == ptx::Operand::Kind::variable && !o.local) named[o.id] = true;
    for (auto const& element : o.elements) self(self, element);
  };
  for (auto const& i : kernel.instructions)
    for (auto const& o : i.operands) look(look, o);
  std::uint64_t sum = 0;
  for (std::size_t v = 0; v < named.size(); ++v)
    if (named[v] && module.variables[v].space == ptx::StateSpace::shared) sum += module.variables[v].size;
  for (auto const& v : kernel.variables)
    if (v.space == ptx::StateSpace::shared) sum += v.size;
  return sum;
}

std::string one_line(std::string text) {
  if (auto const end = text.find('\n'); end != std::string::npos) text.resize(end);
  return text;
}

std::string environment(char const* name, char const* otherwise) {
  char const* const value = std::getenv(name);
  return value ? value : otherwise;
}

// Rows of this process: OUTPUT.PID.
std::ofstream& output() {
  static std::ofstream file(fmt::format("{}.{}", environment("KERNELCAST_FLUX_OUTPUT", "kernelcast-flux"), getpid()));
  return file;
}

}  // namespace

Session& Session::get() {
  static auto* const session = new Session;  // never destroyed: the runtime may call at the very end
  return *session;
}

Session::Session() : rows_(std::make_unique<RowWriter>(output(), environment("KERNELCAST_FLUX_EMIT", "counts"))) {}

runtime::FatbinWrapper const* Session::replace(runtime::FatbinWrapper const* given) {
  std::lock_guard const lock(mutex_);
  auto& program = *programs_.emplace_back(std::make_unique<Program>());
  replaced_[given] = &program;
  try {
    auto const found = ptx_of_fatbin(given->data);
    if (!found) throw std::runtime_error("the program holds no PTX: compile it with -gencode arch=…,code=compute_…");
    program.module = ptx::parse(found->text, fmt::format("program {}", programs_.size()));
    auto made = instrument(*program.module);
    program.plan = std::move(made.plan);
    program.fatbin = fatbin_of(*found, made.ptx);
    program.wrapper = *given;
    program.wrapper.data = program.fatbin.data();
    if (auto const* const missing = runtime::loaded().missing)
      throw std::runtime_error(fmt::format("the CUDA runtime has no {}", missing));
    return &program.wrapper;
  } catch (Error const& error) {
    program.failure = one_line(error.text("flux-count"));
  } catch (std::exception const& error) {
    program.failure = error.what();
  }
  if (!program.module) program.module = std::make_unique<ptx::Module>();
  return given;
}

void Session::registered(void** handle, runtime::FatbinWrapper const* given) {
  std::lock_guard const lock(mutex_);
  handles_[handle] = replaced_.at(given);
}

void Session::add_kernel(void** handle, void const* host_function, char const* name) {
  std::lock_guard const lock(mutex_);
  auto const found = handles_.find(handle);
  if (found == handles_.end()) return;
  Kernel kernel;
  kernel.program = found->second;
  kernel.name = name;
  kernel.failure = found->second->failure;
  auto const& module = *found->second->module;
  if (kernel.failure.empty()) {
    if (auto const* const function = module.find_kernel(name)) {
      kernel.function = static_cast<std::uint32_t>(function - module.functions.data());
      kernel.bank = bank_bytes(found->second->plan, kernel.function);
      kernel.static_shared_bytes = static_shared_bytes(module, *function);
    } else {
      kernel.failure = "the program's PTX has no such kernel";
    }
  }
  kernels_[host_function] = std::move(kernel);
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

// ---------------------------------------------------------------- launches

Session::Prepared Session::prepare(void const* host_function, runtime::Dim3 grid, runtime::Dim3 block, void** arguments,
                                   std::size_t shared_bytes) {
  Prepared out;
  if (inside) {
    out.nested = true;
    return out;
  }
  std::lock_guard const lock(mutex_);
  inside = true;
  static Kernel const unknown = [] {
    Kernel kernel;
    kernel.name = "(unknown)";
    kernel.failure = "the kernel was not registered with the runtime in a way that is known here";
    return kernel;
  }();
  auto const found = kernels_.find(host_function);
  Kernel const& kernel = found == kernels_.end() ? unknown : found->second;
  auto& launch = out.pending.launch;
  out.pending.kernel = &kernel;
  launch.kernel = kernel.name;
  launch.grid_x = grid.x, launch.grid_y = grid.y, launch.grid_z = grid.z;
  launch.block_x = block.x, launch.block_y = block.y, launch.block_z = block.z;
  launch.shared_bytes = kernel.static_shared_bytes + shared_bytes;
  launch.case_name = sizes_text(launch);
  launch.launch = launches_++;
  int device = 0;
  if (runtime::loaded().get_device) runtime::loaded().get_device(&device);
  launch.device = std::to_string(device);
  harvest(false);
  if (!kernel.failure.empty() || kernel.bank == 0) return out;
  out.pending.banks = borrow(std::size_t{kernel.bank} * kernel.program->plan.options.banks);
  if (!out.pending.banks) {
    inside = false;
    out.error = runtime::memory_allocation;
    return out;
  }
  auto const parameters = kernel.program->module->functions[kernel.function].parameters.size();
  if (parameters) out.arguments.assign(arguments, arguments + parameters);
  out.arguments.push_back(&out.pending.banks->on_device);
  return out;
}

void Session::finish(Prepared& prepared, runtime::Error result, runtime::Stream stream) {
  std::lock_guard const lock(mutex_);
  inside = false;
  auto& pending = prepared.pending;
  auto const& api = runtime::loaded();
  if (result != 0) {  // the application sees the error; nothing ran
    if (pending.banks) free_banks_[{pending.banks->device, pending.banks->bytes}].push_back(pending.banks);
    return write_uncounted(pending, fmt::format("the launch failed with CUDA error {}", result));
  }
  if (!pending.kernel->failure.empty()) return write_uncounted(pending, pending.kernel->failure);
  if (!pending.banks) return write(pending);
  Banks& banks = *pending.banks;
  int capturing = 0;
  api.is_capturing(stream, &capturing);
  api.memcpy_async(banks.on_host, banks.on_device, banks.bytes, runtime::copy_to_host, stream);
  api.memset_async(banks.on_device, 0, banks.bytes, stream);
  if (capturing) {
    captured_.push_back(std::make_unique<Pending>(pending));
    api.launch_host(stream, harvest_captured, captured_.back().get());
    return;
  }
  api.event_record(banks.done, stream);
  pending_.push_back(std::move(pending));
}

std::vector<void*> Session::node_arguments(void const* host_function, runtime::Dim3 grid, runtime::Dim3 block,
                                           void** arguments, std::size_t shared_bytes) {
  auto prepared = prepare(host_function, grid, block, arguments, shared_bytes);
  std::lock_guard const lock(mutex_);
  if (!prepared.nested) inside = false;
  write_uncounted(prepared.pending, "a kernel node of a graph that was built by hand");
  return std::move(prepared.arguments);
}

// Banks begin zero, and every launch leaves them so.
Banks* Session::borrow(std::size_t bytes) {
  auto const& api = runtime::loaded();
  int device = 0;
  api.get_device(&device);
  auto& free = free_banks_[{device, bytes}];
  if (!free.empty()) {
    auto* const banks = free.back();
    free.pop_back();
    return banks;
  }
  int mode = runtime::capture_relaxed;  // allocation is allowed while a stream is captured
  api.exchange_capture_mode(&mode);
  auto banks = std::make_unique<Banks>();
  banks->device = device;
  banks->bytes = bytes;
  auto& stream = streams_[device];
  void* host = nullptr;
  bool const made = (stream || api.stream_create(&stream, runtime::stream_non_blocking) == 0) &&
                    api.malloc_device(&banks->on_device, bytes) == 0 && api.malloc_host(&host, bytes) == 0 &&
                    api.memset_async(banks->on_device, 0, bytes, stream) == 0 && api.stream_synchronize(stream) == 0 &&
                    api.event_create(&banks->done, runtime::event_without_time) == 0;
  api.exchange_capture_mode(&mode);
  if (!made) return nullptr;
  banks->on_host = static_cast<std::uint64_t*>(host);
  return all_banks_.emplace_back(std::move(banks)).get();
}

// ---------------------------------------------------------------- rows

void Session::harvest(bool wait) {
  auto const& api = runtime::loaded();
  while (!pending_.empty()) {
    Pending& first = pending_.front();
    auto const state = wait ? api.event_synchronize(first.banks->done) : api.event_query(first.banks->done);
    if (state != 0 && !wait) return;
    if (state == 0)
      write(first);
    else
      write_uncounted(first, fmt::format("the kernel or a later one failed with CUDA error {}", state));
    free_banks_[{first.banks->device, first.banks->bytes}].push_back(first.banks);
    pending_.pop_front();
  }
}

void Session::harvest_captured(void* raw) {
  auto& session = get();
  std::lock_guard const lock(session.mutex_);
  Pending pending = *static_cast<Pending*>(raw);
  if (session.ended_) return;
  pending.launch.launch = session.launches_++;  // each run of the graph is a launch of its own
  session.write(pending);
}

void Session::write(Pending const& pending) {
  Kernel const& kernel = *pending.kernel;
  auto const& l = pending.launch;
  std::vector<std::uint64_t> words(kernel.bank / 8, 0);
  if (pending.banks)
    for (std::size_t w = 0; w < pending.banks->bytes / 8; ++w) words[w % words.size()] += pending.banks->on_host[w];
  auto const items = l.grid_x * l.grid_y * l.grid_z * l.block_x * l.block_y * l.block_z;
  auto const counts = recover(*kernel.program->module, kernel.program->plan, kernel.function, items, words);
  rows_->add({l, *kernel.program->module, counts, 0});
}

void Session::write_uncounted(Pending const& pending, std::string reason) {
  static ptx::Module const empty;
  auto launch = pending.launch;
  launch.status = "uncounted";
  launch.reason = std::move(reason);
  rows_->add({launch, empty, {}, 0});
}

void Session::end() {
  std::lock_guard const lock(mutex_);
  if (ended_) return;
  ended_ = true;
  inside = true;
  harvest(true);
  rows_->end();
  output().flush();
}

}  // namespace attach
}  // namespace kernelcast::flux
