#include "sequential/crash.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>

namespace kernelcast::seq {

namespace {

std::array<char, 4096> path;  // of the failure file; a handler must not allocate
constexpr std::array signals = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

void write_frame(int file, void* address) {
  Dl_info info{};
  if (!dladdr(address, &info) || !info.dli_fname) return;
  auto const offset = static_cast<char*>(address) - static_cast<char*>(info.dli_fbase);
  dprintf(file, "frame %s %#zx\n", info.dli_fname, static_cast<std::size_t>(offset));
}

void on_signal(int number, siginfo_t*, void* context) {
  auto const file = open(path.data(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file >= 0) {
    dprintf(file, "signal %d\n", number);
#ifdef __x86_64__
    auto const pc = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP];
    write_frame(file, reinterpret_cast<void*>(pc));  // NOLINT
#endif
    std::array<void*, 64> frames;
    auto const n = backtrace(frames.data(), static_cast<int>(frames.size()));
    // A return address lies behind its call.
    for (int i = 0; i < n; ++i) write_frame(file, static_cast<char*>(frames[static_cast<std::size_t>(i)]) - 1);
    close(file);
  }
  signal(number, SIG_DFL);
  raise(number);
}

}  // namespace

void report_failure(std::string const& output, char const* text) {
  if (auto* const file = std::fopen(failure_file(output).c_str(), "w")) {
    std::fprintf(file, "error %s\n", text);
    std::fclose(file);
  }
}

void watch_for_crashes(std::string const& output) {
  auto const file = failure_file(output);
  if (file.size() >= path.size()) return;
  file.copy(path.data(), file.size());
  static auto* const stack = new std::array<char, 1 << 16>;
  stack_t alternative{};
  alternative.ss_sp = stack->data();
  alternative.ss_size = stack->size();
  sigaltstack(&alternative, nullptr);
  std::array<void*, 1> warm;
  backtrace(warm.data(), 1);  // loads what it needs now rather than in the handler
  struct sigaction action{};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (auto const number : signals) {
    struct sigaction before{};
    sigaction(number, nullptr, &before);
    if (before.sa_handler == SIG_DFL) sigaction(number, &action, nullptr);
  }
}

}  // namespace kernelcast::seq
