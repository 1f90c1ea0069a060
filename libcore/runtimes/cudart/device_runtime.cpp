#include "runtimes/cudart/device_runtime.hpp"

#include <cstring>

#include "runtimes/cudart/attributes.hpp"
#include "runtimes/cudart/launch.hpp"

namespace kernelcast::cudart {

namespace {

constexpr std::uint64_t tail_stream = 3;  // cudaStreamTailLaunch
constexpr std::uint64_t first_handle = 16;

template <class T>
T argument(emu::ExternalCall const& call, std::size_t k) {
  T value{};
  if (k < call.arguments.size())
    std::memcpy(&value, call.arguments[k].data(), std::min(sizeof value, call.arguments[k].size()));
  return value;
}

// Through the pointer that argument k is.
template <class T>
Code give(emu::ExternalCall const& call, std::size_t k, T value) {
  auto const room = call.memory_at(argument<std::uint64_t>(call, k));
  if (room.size() < sizeof value) return Code::invalid_value;
  std::memcpy(room.data(), &value, sizeof value);
  return Code::success;
}

// "LaunchDeviceV2" of __cudaCDP2LaunchDeviceV2_ptsz; empty for other functions.
std::string_view call_name(std::string_view function) {
  for (std::string_view const prefix : {"__cudaCDP2", "cuda"}) {
    if (!function.starts_with(prefix)) continue;
    function.remove_prefix(prefix.size());
    constexpr std::string_view per_thread = "_ptsz";
    if (function.ends_with(per_thread)) function.remove_suffix(per_thread.size());
    return function;
  }
  return {};
}

}  // namespace

DeviceRuntime::~DeviceRuntime() {
  for (auto const& [address, prepared] : prepared_) parts_.memory.release(address);
  for (auto const address : texts_) parts_.memory.release(address);
}

Code DeviceRuntime::remember(Code code) {
  if (code != Code::success) last_ = code;
  return code;
}

std::vector<DeviceRuntime::Work>& DeviceRuntime::queue(std::uint64_t stream) {
  return stream == tail_stream ? tail_ : work_;
}

std::uint64_t DeviceRuntime::text(char const* words) {
  auto const bytes = std::strlen(words) + 1;
  auto const address = parts_.memory.allocate(bytes, "text of an error");
  if (address == 0) return 0;
  std::memcpy(parts_.memory.find(address)->data, words, bytes);
  texts_.push_back(address);
  return address;
}

std::uint64_t DeviceRuntime::prepare_launch(emu::ExternalCall const& call) {
  auto const function = emu::function_at(*program_.module, argument<std::uint64_t>(call, 0));
  if (!function) return remember(Code::invalid_device_function), 0;
  auto const& target = program_.module->functions[*function];
  Prepared made{parts_.registry.find_kernel(program_, std::string(target.name)), argument<Dim3>(call, 1),
                argument<Dim3>(call, 2), argument<std::uint32_t>(call, 3)};
  if (!made.kernel) return remember(Code::invalid_device_function), 0;
  auto const address =
      parts_.memory.allocate(std::max<std::uint64_t>(target.parameter_bytes, 16), "arguments of a launch");
  if (address == 0) return remember(Code::memory_allocation), 0;
  prepared_[address] = made;
  return address;
}

Code DeviceRuntime::launch_prepared(std::uint64_t buffer, std::uint64_t stream) {
  auto const found = prepared_.find(buffer);
  if (found == prepared_.end()) return Code::invalid_value;
  auto const& prepared = found->second;
  if (std::uint64_t{prepared.grid.x} * prepared.grid.y * prepared.grid.z == 0 ||
      std::uint64_t{prepared.block.x} * prepared.block.y * prepared.block.z == 0)
    return Code::invalid_configuration;
  queue(stream).emplace_back([this, &prepared, buffer] {
    if (auto const failure = parts_.registry.prepare(*prepared.kernel); failure != Code::success) return failure;
    auto* const bytes = parts_.memory.find(buffer)->data;
    std::vector<void*> arguments;
    for (auto const& parameter : prepared.kernel->function->parameters) arguments.push_back(bytes + parameter.offset);
    LaunchRequest request;
    request.grid = prepared.grid;
    request.block = prepared.block;
    request.shared_bytes = prepared.shared_bytes;
    request.arguments = arguments.data();
    return parts_.launcher.launch(*prepared.kernel, request);
  });
  return Code::success;
}

Code DeviceRuntime::copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes, std::uint64_t stream) {
  queue(stream).emplace_back([this, to, from, bytes] {
    auto const *target = parts_.memory.find(to), *source = parts_.memory.find(from);
    if (!target || !source || bytes > target->address + target->size - to ||
        bytes > source->address + source->size - from)
      return Code::illegal_address;
    std::memmove(target->data + (to - target->address), source->data + (from - source->address), bytes);
    return Code::success;
  });
  return Code::success;
}

Code DeviceRuntime::set(std::uint64_t at, std::uint64_t value, std::uint64_t bytes, std::uint64_t stream) {
  queue(stream).emplace_back([this, at, value, bytes] {
    auto const* target = parts_.memory.find(at);
    if (!target || bytes > target->address + target->size - at) return Code::illegal_address;
    std::memset(target->data + (at - target->address), static_cast<int>(value & 0xff), bytes);
    return Code::success;
  });
  return Code::success;
}

Code DeviceRuntime::allocate(emu::ExternalCall const& call) {
  auto const address = parts_.memory.allocate(argument<std::uint64_t>(call, 1), "cudaMalloc in a kernel");
  return address ? give(call, 0, address) : Code::memory_allocation;
}

std::optional<std::uint64_t> DeviceRuntime::answer(emu::ExternalCall const& call) {
  auto const name = call_name(call.function);
  auto const number = [&](std::size_t k) { return argument<std::uint64_t>(call, k); };
  auto const done = [&](Code code) { return static_cast<std::uint64_t>(remember(code)); };
  if (name == "GetParameterBufferV2") return prepare_launch(call);
  if (name == "LaunchDeviceV2") return done(launch_prepared(number(0), number(1)));
  if (name == "MemcpyAsync") return done(copy(number(0), number(1), number(2), number(4)));
  if (name == "MemsetAsync") return done(set(number(0), number(1), number(2), number(3)));
  if (name == "Malloc") return done(allocate(call));
  if (name == "Free")
    return done(number(0) == 0 || parts_.memory.release(number(0)) == emu::Memory::Freed::done ? Code::success
                                                                                               : Code::invalid_value);
  if (name == "StreamCreateWithFlags" || name == "EventCreateWithFlags")
    return done(give(call, 0, first_handle + ++handles_));
  for (std::string_view const ordered :
       {"StreamDestroy", "StreamWaitEvent", "EventRecord", "EventRecordWithFlags", "EventDestroy"})
    if (name == ordered) return done(Code::success);
  if (name == "PeekAtLastError") return static_cast<std::uint64_t>(last_);
  if (name == "GetLastError") return static_cast<std::uint64_t>(std::exchange(last_, Code::success));
  if (name == "GetErrorString") return text(description(argument<Code>(call, 0)));
  if (name == "GetErrorName") return text(official_name(argument<Code>(call, 0)));
  if (name == "GetDevice") return done(give(call, 0, current_device()));
  if (name == "GetDeviceCount") return done(give(call, 0, static_cast<int>(parts_.devices.count())));
  if (name == "DeviceGetAttribute") {
    auto const device = argument<int>(call, 2);
    if (!parts_.devices.known(device)) return done(Code::invalid_device);
    auto const value = value_of(argument<Attribute>(call, 1), parts_.devices[device]);
    return done(value ? give(call, 0, *value) : Code::invalid_value);
  }
  return std::nullopt;
}

void DeviceRuntime::run() {
  for (auto* const queue : {&work_, &tail_})
    for (auto const& work : std::exchange(*queue, {})) {
      if (parts_.error.code != Code::success) return;
      if (auto const failure = work(); failure != Code::success)
        report(std::string("a request of a kernel failed: ") + description(failure));
    }
}

}  // namespace kernelcast::cudart
