// The runtime of this process: its parts, and the lock that guards them.
#include <pthread.h>

#include "base/process/setting.hpp"
#include "emulator/launch/history.hpp"
#include "runtimes/attach/settings.hpp"
#include "runtimes/cudart/allocations.hpp"
#include "runtimes/cudart/arrays.hpp"
#include "runtimes/cudart/call.hpp"
#include "runtimes/cudart/commands.hpp"
#include "runtimes/cudart/copies.hpp"
#include "runtimes/cudart/deferred.hpp"
#include "runtimes/cudart/device_limits.hpp"
#include "runtimes/cudart/devices.hpp"
#include "runtimes/cudart/graphs.hpp"
#include "runtimes/cudart/launch.hpp"
#include "runtimes/cudart/registry.hpp"
#include "runtimes/cudart/streams.hpp"
#include "runtimes/cudart/textures.hpp"
#include "runtimes/cudart/timeline.hpp"

namespace kernelcast::cudart {

namespace {

// The host's own (pinned) memory lies in the same range.
constexpr std::uint64_t host_bytes = std::uint64_t{16} << 30;

std::uint64_t memory_range_bytes(Devices const& devices) {
  std::uint64_t sum = host_bytes;
  for (int d = 0; d < devices.count(); ++d) sum += devices.memory_bytes(d);
  return sum;
}

std::string database() {
  char const* const given = setting(variables::devdb);
  return given ? given : "";
}

struct Runtime {
  std::recursive_mutex mutex;
  attach::Settings const& settings = attach::settings();
  StickyError error;
  Devices devices{settings.devices, database(), settings.memory_bytes};
  emu::Memory memory{memory_range_bytes(devices), emu::Memory::Addresses::of_host};
  launch::TouchHistory touched;
  Allocations allocations{devices, memory, touched};
  Registry registry{devices, memory};
  Streams streams;
  Graphs graphs;
  Arrays arrays;
  Textures textures{memory};
  DeviceLimits limits{devices, memory, settings.stack_bytes, settings.heap_bytes};
  Commands commands{settings.commands ? settings.row_spool : "", memory, allocations, registry, touched};
  Timeline timeline{settings, allocations};
  Deferred deferred{memory, allocations, registry, settings.execute == "needed"};
  Copies copies{allocations, commands, deferred, timeline};
  Launcher launcher{{settings, devices, memory, touched, allocations, registry, streams, textures, limits, commands,
                     deferred, timeline, error}};
};

// A child of fork() finds everything as it is between two calls, and the lock free.
Runtime& runtime();
void register_fork_handlers() {
  pthread_atfork([] { runtime().mutex.lock(); }, [] { runtime().mutex.unlock(); },
                 [] {
                   new (&runtime().mutex) std::recursive_mutex;
                   runtime().timeline.forked();
                 });  // it belonged to the parent's thread
}

Runtime* known_runtime = nullptr;

Runtime& runtime() {
  static auto* const made = [] {
    known_runtime = new Runtime;
    register_fork_handlers();
    return known_runtime;
  }();
  return *made;
}

}  // namespace

// Threads of the application may call until the very end, beside exit(): what this library has as statics is never
// destroyed. Hidden, so that it takes the place of the C library's in this library alone.
extern "C" __attribute__((visibility("hidden"))) int __cxa_atexit(void (*)(void*), void*, void*) {
  return 0;
}

__attribute__((destructor)) static void at_the_end() {
  if (!known_runtime) return;
  if (std::unique_lock const lock(known_runtime->mutex, std::try_to_lock); lock) known_runtime->timeline.flush();
}

std::recursive_mutex& call_mutex() {
  return runtime().mutex;
}

calls::Lasting::Lasting() {
  runtime().timeline.entered();
}
calls::Lasting::~Lasting() {
  runtime().timeline.left();
}

Code calls::refusal() {
  return runtime().devices.count() == 0 ? Code::no_device : runtime().error.code;
}

#define KERNELCAST_PART(Type, name) \
  template <>                       \
  Type& part() {                    \
    return runtime().name;          \
  }
KERNELCAST_PARTS(KERNELCAST_PART)
KERNELCAST_PART(emu::Memory, memory)
KERNELCAST_PART(StickyError, error)

}  // namespace kernelcast::cudart
