// The entry that libFuzzer and replay.cpp call. With KERNELCAST_FUZZ_SLOWEST=FILE the input that took most CPU time is
// kept in FILE, and its milliseconds in FILE.ms.
#include <fcntl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "base/diag/diag.hpp"
#include "fuzz.hpp"

// Freed memory that the address sanitizer holds back counts as memory of the target: keep little. Frames of functions
// that have returned would be kept for a tenth of the time.
extern "C" char const* __asan_default_options() {
  return "quarantine_size_mb=8:malloc_context_size=8:detect_stack_use_after_return=0";
}

namespace kernelcast::fuzz {

namespace {

double cpu_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

class Slowest {
 public:
  void see(std::string_view input, double ms) {
    if (!file_ || ms <= ms_) return;
    ms_ = ms;
    std::ofstream(file_, std::ios::binary) << input;
    std::ofstream(std::string(file_) + ".ms") << ms << '\n';
  }

 private:
  char const* file_ = std::getenv("KERNELCAST_FUZZ_SLOWEST");
  double ms_ = 0;
};

void check(bool worked, char const* call) {
  if (worked) return;
  std::perror(call);
  std::abort();
}

}  // namespace

void defect(std::string_view what) {
  std::fprintf(stderr, "%.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

MemoryFile::MemoryFile(std::string_view text) : descriptor_(memfd_create("fuzz", MFD_CLOEXEC)) {
  check(descriptor_ != -1, "memfd_create");
  path_ = "/proc/self/fd/" + std::to_string(descriptor_);
  write(text);
}

MemoryFile::~MemoryFile() {
  close(descriptor_);
}

void MemoryFile::write(std::string_view text) {
  check(ftruncate(descriptor_, 0) == 0, "ftruncate");
  check(pwrite(descriptor_, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()), "pwrite");
}

}  // namespace kernelcast::fuzz

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace kernelcast;
  static fuzz::Slowest slowest;
  // libFuzzer may have closed standard error; a file of ours must not take its place.
  static int const reserved = [] {
    int file = open("/dev/null", O_RDWR);
    while (file >= 0 && file < 3) file = open("/dev/null", O_RDWR);
    return file;
  }();
  (void)reserved;
  std::string_view const input(reinterpret_cast<char const*>(data), size);
  double const begin = fuzz::cpu_ms();
  try {
    fuzz::run_input(input);
  } catch (Error const&) {
    // refused
  }
  slowest.see(input, fuzz::cpu_ms() - begin);
  return 0;
}
