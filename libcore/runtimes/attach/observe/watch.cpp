#include "runtimes/attach/observe/watch.hpp"

#include <fmt/format.h>

#include "base/diag/diag.hpp"
#include "kernels/cuda/fatbin.hpp"
#include "kernels/cuda/next.hpp"
#include "kernels/ptx/parser.hpp"
#include "runtimes/attach/description.hpp"
#include "runtimes/attach/settings.hpp"

namespace kernelcast::attach::observe {

using namespace cudart;

namespace {

std::uint32_t capability() {
  int major = 0, minor = 0;
  runtime().cudaDeviceGetAttribute(&major, Attribute::capability_major, current_device());
  runtime().cudaDeviceGetAttribute(&minor, Attribute::capability_minor, current_device());
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
        runtime().cudaMemcpy(to, reinterpret_cast<void const*>(block.address), block.bytes, CopyKind::by_address);
    if (code != Code::success)
      throw Refused{fmt::format("its memory cannot be read back (error {})", static_cast<int>(code)), true};
  }
  bool read_variable(ptx::Variable const& variable, std::vector<std::uint8_t>& value) const override {
    if (begins_as_address(variable)) return false;  // addresses of the device mean nothing here
    for (auto const& symbol : program_.symbols) {
      if (symbol.name != variable.name || symbol.bytes != variable.size) continue;
      if (runtime().cudaMemcpyFromSymbol(value.data(), symbol.host, value.size(), 0, CopyKind::device_to_host) !=
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
}  // namespace kernelcast::attach::observe

kernelcast::cudart::Client& kernelcast::cudart::client() {
  return attach::observe::Watch::get();
}

namespace kernelcast::attach::observe {

Watch& Watch::get() {
  static auto* const watch = new Watch;  // never destroyed: the application may call at the very end
  return *watch;
}

Watch::Watch() {
  auto const& given = settings();
  if (given.spool.empty() || runtime().missing(observing)) return;
  policy_.emplace(Spool(given.spool), given.every);
  if (given.commands) commands_.emplace(given.spool);
}

void Watch::add_program(void** handle, FatbinWrapper const* wrapper) {
  std::lock_guard const lock(mutex_);
  auto& program = *programs_.emplace_back(std::make_unique<Program>());
  program.fatbin = wrapper->data;
  registered_.add_program(handle, program);
}

void Watch::add_kernel(void** handle, void const* host, char const* name) {
  std::lock_guard const lock(mutex_);
  registered_.add_kernel(handle, host, name);
}

void Watch::add_variable(void** handle, Variable const& variable) {
  std::lock_guard const lock(mutex_);
  if (auto* const program = registered_.program(handle))
    program->symbols.push_back({variable.host, variable.name, variable.bytes});
}

void Watch::add_handle(void const* handle, void const* host) {
  std::lock_guard const lock(mutex_);
  registered_.add_handle(handle, host);
}

void Watch::allocated(void* pointer, std::size_t bytes, MemoryType type) {
  if (!pointer || bytes == 0) return;
  std::lock_guard const lock(mutex_);
  auto const address = reinterpret_cast<std::uint64_t>(pointer);
  memory_[address] = bytes;
  if (type == MemoryType::device) on_device_[address] = bytes, device_bytes_ += bytes;
  if (commands_ && type != MemoryType::host) commands_->add_memory(address, bytes, type == MemoryType::managed);
}

void Watch::freeing(void* pointer) {
  std::lock_guard const lock(mutex_);
  memory_.erase(reinterpret_cast<std::uint64_t>(pointer));
  if (auto const at = on_device_.find(reinterpret_cast<std::uint64_t>(pointer)); at != on_device_.end()) {
    device_bytes_ -= at->second;
    on_device_.erase(at);
  }
  if (commands_) commands_->remove_memory(reinterpret_cast<std::uint64_t>(pointer));
}

void Watch::copied(Area const& to, Area const& from, std::optional<Stream> stream) {
  if (!commands_ || (stream && is_capturing(*stream))) return;
  std::lock_guard const lock(mutex_);
  commands_->copied(to, from);
}

void Watch::filled(Area const& to, std::optional<Stream> stream) {
  if (!commands_ || (stream && is_capturing(*stream))) return;
  std::lock_guard const lock(mutex_);
  commands_->filled(to);
}

Code Watch::launch(PassingLaunch const& launch, LaunchCall const& call) {
  auto const passing = begin(launch);
  auto const code = call(launch.arguments);
  end(passing, code);
  return code;
}

Watch::Passing Watch::begin(PassingLaunch const& launch) {
  Passing out;
  if (!policy_) return out;
  std::lock_guard const lock(mutex_);
  auto const* const kernel = registered_.kernel(launch.kernel);
  if (!kernel || !kernel->program) return out;
  Sizes const sizes{launch.grid, launch.block, launch.shared_bytes};
  out.counted = policy_->count(kernel, sizes.configuration(), device_bytes_);
  if (out.counted.number) describe(*kernel, launch, *out.counted.number, out);
  auto const* const module = kernel->program->module.get();
  auto const* const function = commands_ && module ? module->find_kernel(kernel->name) : nullptr;
  if (function && out.counted.launches && !is_capturing(launch.stream))
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

void Watch::describe(Kernel const& kernel, PassingLaunch const& launch, std::uint64_t number, Passing& out) {
  auto const& spool = policy_->spool();
  bool const has_error = runtime().cudaPeekAtLastError() != Code::success;
  try {
    int capturing = 0;
    if (runtime().cudaStreamIsCapturing(launch.stream, &capturing) != Code::success)
      throw Refused{"its stream is none", true};
    if (capturing != 0) throw Refused{"it is captured in a graph"};
    load(*kernel.program);
    if (!kernel.program->failure.empty()) throw Refused{kernel.program->failure};
    auto const* const function = kernel.program->module->find_kernel(kernel.name);
    if (!function) throw Refused{"its program's PTX has no such kernel"};
    if (runtime().cudaDeviceSynchronize() != Code::success) throw Refused{"an earlier launch has failed", true};
    out.text = describe_launch(
        {*kernel.program->module, *function, {launch.grid, launch.block, launch.shared_bytes}, launch.arguments},
        OnGpu(*kernel.program, memory_), spool, number);
    out.file = spool.name("launch", number, ".toml");
  } catch (Refused const& refused) {
    if (refused.left_error && !has_error) runtime().cudaGetLastError();  // the application has none
    out.text = kernel.name + '\n' + refused.why + '\n';
    out.file = spool.name("skipped", number, ".txt");
  }
}

}  // namespace kernelcast::attach::observe
