#include "intercept/cuda/forward/watch.hpp"

#include <dlfcn.h>

#include <cstdlib>

#include <fmt/format.h>

#include "diag/diag.hpp"
#include "fatbin/fatbin.hpp"
#include "intercept/cuda/description.hpp"
#include "intercept/cuda/forward/next.hpp"
#include "process/setting.hpp"
#include "ptx/parser.hpp"

namespace kernelcast::cudart::forward {

void* find(char const* name) {
  return dlsym(RTLD_NEXT, name);
}

Runtime const& runtime() {
  static Runtime const found = [] {
    Runtime out;
    out.synchronize = next(out.synchronize, "cudaDeviceSynchronize");
    out.copy = next(out.copy, "cudaMemcpy");
    out.copy_from_symbol = next(out.copy_from_symbol, "cudaMemcpyFromSymbol");
    out.peek_error = next(out.peek_error, "cudaPeekAtLastError");
    out.take_error = next(out.take_error, "cudaGetLastError");
    out.is_capturing = next(out.is_capturing, "cudaStreamIsCapturing");
    out.attribute = next(out.attribute, "cudaDeviceGetAttribute");
    out.device = next(out.device, "cudaGetDevice");
    return out;
  }();
  return found;
}

namespace {

std::uint32_t capability() {
  constexpr int major_attribute = 75, minor_attribute = 76;
  int device = 0, major = 0, minor = 0;
  runtime().device(&device);
  runtime().attribute(&major, major_attribute, device);
  runtime().attribute(&minor, minor_attribute, device);
  return static_cast<std::uint32_t>(10 * major + minor);
}

void load(Program& program) {
  if (program.loaded) return;
  program.loaded = true;
  try {
    auto found = fatbin::ptx_of(program.fatbin, capability());
    if (!found) throw std::runtime_error("its program holds no PTX for this device");
    program.module = ptx::parse(std::move(found->text), "the application's PTX");
  } catch (std::exception const& error) {
    program.failure = error.what();
    program.module = nullptr;
  }
}

// What the application has on its GPU.
class OnGpu final : public LaunchSource {
 public:
  OnGpu(Program const& program, std::map<std::uint64_t, std::uint64_t> const& memory)
      : program_(program), memory_(memory) {}

  Block holding(std::uint64_t address) const override {
    auto const after = memory_.upper_bound(address);
    if (after == memory_.begin()) return {};
    auto const& [begin, bytes] = *std::prev(after);
    return address - begin < bytes ? Block{begin, bytes} : Block{};
  }
  void read(Block const& block, std::byte* to) const override {
    auto const code =
        runtime().copy(to, reinterpret_cast<void const*>(block.address), block.bytes, CopyKind::by_address);
    if (code != Code::success)
      throw Refused{fmt::format("its memory cannot be read back (error {})", static_cast<int>(code)), true};
  }
  bool read_variable(ptx::Variable const& variable, std::vector<std::uint8_t>& value) const override {
    if (begins_as_address(variable)) return false;  // addresses of the device mean nothing here
    for (auto const& symbol : program_.symbols) {
      if (symbol.name != variable.name || symbol.bytes != variable.size) continue;
      if (runtime().copy_from_symbol(value.data(), symbol.host, value.size(), 0, CopyKind::device_to_host) !=
          Code::success)
        throw Refused{"a variable of its program cannot be read back", true};
      return true;
    }
    return false;
  }

 private:
  Program const& program_;
  std::map<std::uint64_t, std::uint64_t> const& memory_;
};

}  // namespace

Watch& Watch::get() {
  static auto* const watch = new Watch;  // never destroyed: the application may call at the very end
  return *watch;
}

Watch::Watch() {
  char const* const spool = setting("KERNELCAST_SPOOL");
  char const* const every = setting("KERNELCAST_EVERY");
  if (!spool || !runtime().complete()) return;
  policy_.emplace(spool, every ? every : "");
  if (setting("KERNELCAST_COMMANDS")) commands_.emplace(spool);
}

void Watch::add_program(void** handle, void const* fatbin) {
  std::lock_guard const lock(mutex_);
  auto& program = *programs_.emplace_back(std::make_unique<Program>());
  program.fatbin = fatbin;
  by_handle_[handle] = &program;
}

void Watch::add_kernel(void** handle, void const* host, char const* name) {
  std::lock_guard const lock(mutex_);
  if (auto const found = by_handle_.find(handle); found != by_handle_.end()) kernels_[host] = {found->second, name};
}

void Watch::add_symbol(void** handle, void const* host, char const* name, std::size_t bytes) {
  std::lock_guard const lock(mutex_);
  auto const found = by_handle_.find(handle);
  if (found != by_handle_.end()) found->second->symbols.push_back({host, name, bytes});
}

void Watch::add_handle(void const* handle, void const* host) {
  std::lock_guard const lock(mutex_);
  hosts_[handle] = host;
}

void Watch::add_memory(void const* pointer, std::size_t bytes, Of of) {
  if (!pointer || bytes == 0) return;
  std::lock_guard const lock(mutex_);
  auto const address = reinterpret_cast<std::uint64_t>(pointer);
  memory_[address] = bytes;
  if (of == Of::device) on_device_[address] = bytes, device_bytes_ += bytes;
  if (commands_ && of != Of::host) commands_->add_memory(address, bytes, of == Of::managed);
}

void Watch::remove_memory(void const* pointer) {
  std::lock_guard const lock(mutex_);
  memory_.erase(reinterpret_cast<std::uint64_t>(pointer));
  if (auto const at = on_device_.find(reinterpret_cast<std::uint64_t>(pointer)); at != on_device_.end()) {
    device_bytes_ -= at->second;
    on_device_.erase(at);
  }
  if (commands_) commands_->remove_memory(reinterpret_cast<std::uint64_t>(pointer));
}

void Watch::copied(Commands::Area const& to, Commands::Area const& from) {
  if (!commands_) return;
  std::lock_guard const lock(mutex_);
  commands_->copied(to, from);
}

void Watch::filled(Commands::Area const& to) {
  if (!commands_) return;
  std::lock_guard const lock(mutex_);
  commands_->filled(to);
}

Kernel const* Watch::find(void const* host_or_handle) const {
  auto const host = hosts_.find(host_or_handle);
  auto const found = kernels_.find(host == hosts_.end() ? host_or_handle : host->second);
  return found == kernels_.end() ? nullptr : &found->second;
}

Watch::Passing Watch::begin(void const* host_or_handle, Launch const& launch) {
  Passing out;
  if (!policy_) return out;
  InnerCalls const inner;
  std::lock_guard const lock(mutex_);
  auto const* const kernel = find(host_or_handle);
  if (!kernel) return out;
  out.counted = policy_->count(kernel, launch.sizes, device_bytes_);
  if (out.counted.number) describe(*kernel, launch, *out.counted.number, out);
  auto const* const module = kernel->program->module.get();
  auto const* const function = commands_ && module ? module->find_kernel(kernel->name) : nullptr;
  int capturing = 0;
  if (function && out.counted.launches && runtime().is_capturing(launch.stream, &capturing) == Code::success &&
      capturing == 0)
    out.command = commands_->launch(policy_->spool().number_of(out.counted.launches), *function, launch.arguments);
  return out;
}

void Watch::end(Passing const& passing, Code code) {
  if (!passing.counted.history) return;
  std::lock_guard const lock(mutex_);
  if (code != Code::success) return policy_->take_back(passing.counted);
  if (!passing.file.empty()) policy_->spool().publish(passing.file, passing.text);
  if (commands_) commands_->launched(passing.command);
}

void Watch::describe(Kernel const& kernel, Launch const& launch, std::uint64_t number, Passing& out) {
  auto const& spool = policy_->spool();
  bool const has_error = runtime().peek_error() != Code::success;
  try {
    int capturing = 0;
    if (runtime().is_capturing(launch.stream, &capturing) != Code::success) throw Refused{"its stream is none", true};
    if (capturing != 0) throw Refused{"it is captured in a graph"};
    load(*kernel.program);
    if (!kernel.program->failure.empty()) throw Refused{kernel.program->failure};
    auto const* const function = kernel.program->module->find_kernel(kernel.name);
    if (!function) throw Refused{"its program's PTX has no such kernel"};
    if (runtime().synchronize() != Code::success) throw Refused{"an earlier launch has failed", true};
    out.text = describe_launch({*kernel.program->module, *function, launch.sizes, launch.arguments},
                               OnGpu(*kernel.program, memory_), spool, number);
    out.file = spool.name("launch", number, ".toml");
  } catch (Refused const& refused) {
    if (refused.left_error && !has_error) runtime().take_error();  // the application has none
    out.text = kernel.name + '\n' + refused.why + '\n';
    out.file = spool.name("skipped", number, ".txt");
  }
}

}  // namespace kernelcast::cudart::forward
