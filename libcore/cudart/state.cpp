#include "cudart/state.hpp"

#include <pthread.h>

#include <algorithm>

#include "process/setting.hpp"

namespace kernelcast::cudart {

namespace {

// The host's own (pinned) memory lies in the same range.
constexpr std::uint64_t host_bytes = std::uint64_t{16} << 30;

std::string database() {
  char const* const given = setting(variables::devdb);
  return given ? given : "";
}

std::uint64_t memory_range_bytes(attach::Settings const& settings, Devices const& devices) {
  std::uint64_t sum = host_bytes;
  for (int d = 0; d < devices.count(); ++d) sum += std::min(settings.memory_bytes, memory_bytes(devices[d]));
  return sum;
}

}  // namespace

int& current_device() {
  static thread_local int device = 0;
  return device;
}

namespace {

// A child of fork() finds everything as it is between two calls, and the lock free.
void register_fork_handlers() {
  pthread_atfork([] { State::get().mutex.lock(); }, [] { State::get().mutex.unlock(); },
                 [] { new (&State::get().mutex) std::recursive_mutex; });  // it belonged to the parent's thread
}

}  // namespace

State& State::get() {
  static auto* const state = [] {
    auto* const made = new State;  // never destroyed: the application may call at the very end
    register_fork_handlers();
    return made;
  }();
  return *state;
}

State::State()
    : settings(attach::settings()),
      devices(settings.devices, database()),
      memory(memory_range_bytes(settings, devices), emu::Memory::Addresses::of_host),
      allocations(memory, touched),
      rows(settings),
      commands(*this),
      stack_bytes(settings.stack_bytes),
      heap_bytes(settings.heap_bytes) {
  memory.limit_heap(heap_bytes);
}

device::Device const& State::device() const {
  return devices[current_device()];
}

std::uint64_t State::device_memory_bytes() const {
  return std::min(settings.memory_bytes, memory_bytes(device()));
}

void State::reset() {
  broken = Code::success;
  graphs = {};
  streams.clear();
  for (auto const& [handle, texture] : textures) memory.images().remove(handle);
  textures.clear();
  arrays.clear();
  allocations.clear();
}

}  // namespace kernelcast::cudart
