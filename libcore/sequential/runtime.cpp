// The run-time library of instrumented programs: the functions that instrumented code calls.
// Limits: one thread; 2^30 levels; 2^32 iterations of all loops together.
#include <dlfcn.h>
#include <pthread.h>
#include <threads.h>
#include <unistd.h>

#include <unordered_map>
#include <vector>

#include "sequential/run.hpp"

#define KERNELCAST_EXPORT extern "C" __attribute__((visibility("default")))

KERNELCAST_EXPORT kernelcast::seq::State kernelcast_seq_state;
kernelcast::seq::State kernelcast_seq_state{};

namespace kernelcast::seq {

namespace {

// Never destroyed: instrumented code may run in the destructors of the program.
Run* run = nullptr;
pid_t owner = 0;
bool starting_thread = false;  // our own

std::vector<FunctionDescriptor const*>& functions() {
  static auto* const list = new std::vector<FunctionDescriptor const*>;
  return *list;
}
std::unordered_map<void*, void*>& copies() {
  static auto* const map = new std::unordered_map<void*, void*>;
  return *map;
}

[[noreturn]] void refuse_thread() {
  fail(settings_from_environment(), "the program starts a thread, and only sequential programs can be profiled");
}

__attribute__((destructor)) void finish_run() {
  if (run && getpid() == owner) run->finish();
}

}  // namespace

}  // namespace kernelcast::seq

using namespace kernelcast::seq;

KERNELCAST_EXPORT void kernelcast_seq_register(FunctionDescriptor* function) {
  functions().push_back(function);
}
KERNELCAST_EXPORT void kernelcast_seq_copy_of(void* original, void* copy) {
  copies()[original] = copy;
}
KERNELCAST_EXPORT void* kernelcast_seq_find(void* original) {
  auto const at = copies().find(original);
  return at == copies().end() ? nullptr : at->second;
}
KERNELCAST_EXPORT void kernelcast_seq_kernel_enter(char const* name, std::uint64_t mode) {
  if (!run) {
    owner = getpid();
    starting_thread = true;
    run = new Run(kernelcast_seq_state, name, mode, functions());
    starting_thread = false;
    pthread_atfork(nullptr, nullptr, [] { run->abandon(); });
  }
  run->enter_kernel();
}
KERNELCAST_EXPORT void kernelcast_seq_kernel_exit() {
  run->exit_kernel();
}
KERNELCAST_EXPORT LoopCounter* kernelcast_seq_enter(FunctionDescriptor* function) {
  return run->enter(*function);
}
KERNELCAST_EXPORT std::uint64_t* kernelcast_seq_flush(std::uint64_t const* end, std::uint64_t clock) {
  return run->flush(end, clock);
}
KERNELCAST_EXPORT std::uint64_t kernelcast_seq_load(std::uint64_t address, std::uint64_t size, Site const* site,
                                                    LoopFrame* top) {
  return run->load(address, size, site, top);
}
KERNELCAST_EXPORT void kernelcast_seq_store(std::uint64_t address, std::uint64_t size, std::uint64_t cell) {
  run->store(address, size, cell);
}
KERNELCAST_EXPORT void kernelcast_seq_split(std::uint64_t address) {
  run->split(address);
}
KERNELCAST_EXPORT void kernelcast_seq_clear(void const* memory, std::uint64_t size) {
  if (memory) run->clear(reinterpret_cast<std::uint64_t>(memory), size);
}
KERNELCAST_EXPORT void kernelcast_seq_copy(void const* to, void const* from, std::uint64_t size, Site const* site,
                                           LoopFrame* top) {
  run->copy(reinterpret_cast<std::uint64_t>(to), reinterpret_cast<std::uint64_t>(from), size, *site, top);
}
KERNELCAST_EXPORT void kernelcast_seq_fill(void const* to, std::uint64_t size, Site const* site, LoopFrame* top) {
  run->fill(reinterpret_cast<std::uint64_t>(to), size, *site, top);
}
KERNELCAST_EXPORT std::uint64_t kernelcast_seq_load_all(std::uint64_t address, std::uint64_t size, Site const* site,
                                                        LoopFrame* top) {
  return run->load_all(address, size, site, top);
}
KERNELCAST_EXPORT void kernelcast_seq_store_all(std::uint64_t address, std::uint64_t size, std::uint64_t cell,
                                                Site const* site, LoopFrame* top) {
  run->store_all(address, size, cell, site, top);
}
KERNELCAST_EXPORT void kernelcast_seq_sync(Site const* site, char const* what) {
  run->synchronize(*site, what);
}
KERNELCAST_EXPORT void kernelcast_seq_used(std::uint64_t address, std::uint64_t size, std::uint64_t level) {
  run->used(address, size, level);
}

// Stands before the C library's: a profile of several threads at once would be wrong, so there is none.
KERNELCAST_EXPORT int pthread_create(pthread_t* thread, pthread_attr_t const* attributes, void* (*start)(void*),
                                     void* argument) {
  using Create = int (*)(pthread_t*, pthread_attr_t const*, void* (*)(void*), void*);
  static auto const real = reinterpret_cast<Create>(dlsym(RTLD_NEXT, "pthread_create"));
  if (!starting_thread) refuse_thread();
  return real(thread, attributes, start, argument);
}
KERNELCAST_EXPORT int thrd_create(thrd_t*, thrd_start_t, void*) {
  refuse_thread();
}
