// How much memory a measured program takes beyond its own, per byte that it touches.
//   seqprof_memory PROGRAM.c         128 MB more of doubles and of floats: what is kept of every value is at most 4
//                                    times as large; with stack distances of lines
//   seqprof_memory PROGRAM.c large   1 GB of doubles, with stack distances of words, in 5 GB
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/diag/diag.hpp"
#include "base/process/process.hpp"

using namespace kernelcast;

namespace {

std::string const& bin() {
  static std::string const folder = std::getenv("BIN") ? std::getenv("BIN") : "build/bin";
  return folder;
}

void must(std::vector<std::string> const& command) {
  if (auto const result = run_process(command, 300, ~std::uint64_t{0}); !result.succeeded())
    throw Error(Status::finding, command[0] + " failed: " + result.errors);
}

// The largest memory of a run, in bytes.
std::uint64_t peak_bytes(std::vector<std::string> command) {
  auto const argv = null_terminated(command);
  auto const child = fork();
  if (child == 0) {
    execv(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  rusage usage{};
  wait4(child, &status, 0, &usage);
  if (status != 0) throw Error(Status::finding, command[0] + " failed");
  return static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

struct Build {
  Build(std::string const& source, std::string const& type)
      : measured(folder.file("measured")), plain(folder.file("plain")) {
    setenv("SEQPROF_KERNEL", "kernel", 1);
    must({bin() + "/seqprof-cc", "-DTYPE=" + type, source, "-o", measured});
    must({find_program("clang-19", {"/usr/lib/llvm-19/bin"}), "-O2", "-DTYPE=" + type, source, "-o", plain});
    setenv("KERNELCAST_SEQPROF_OUTPUT", folder.file("p.csv").c_str(), 1);
  }
  TemporaryFolder const folder;
  std::string const measured, plain;
};

bool check_shadow(std::string const& source, std::string const& type, std::uint64_t megabytes) {
  Build const build(source, type);
  setenv("KERNELCAST_SEQPROF_GRANULARITY", "64", 1);
  auto const extra = [&](std::uint64_t n) {
    auto const text = std::to_string(n);
    return static_cast<double>(peak_bytes({build.measured, text})) -
           static_cast<double>(peak_bytes({build.plain, text}));
  };
  // What is kept of the past to find repetitions has its full size at 64 MB.
  auto const per_byte = (extra(64 + megabytes) - extra(64)) / (static_cast<double>(megabytes) * 1e6);
  std::printf("%s: %.2f bytes for each byte touched\n", type.c_str(), per_byte);
  return per_byte <= 4;
}

bool check_large(std::string const& source) {
  Build const build(source, "double");
  setenv("KERNELCAST_SEQPROF_GRANULARITY", "8", 1);
  auto const bytes = peak_bytes({build.measured, "1000"});
  std::printf("1 GB of doubles: %.2f GB\n", static_cast<double>(bytes) / 1e9);
  return bytes <= 5000000000;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 2) return 2;
    std::string const source = argv[1];
    if (argc > 2 && std::strcmp(argv[2], "large") == 0) return check_large(source) ? 0 : 1;
    bool const doubles = check_shadow(source, "double", 128), floats = check_shadow(source, "float", 128);
    return doubles && floats ? 0 : 1;
  } catch (Error const& error) {
    std::fputs(error.text("seqprof_memory").c_str(), stdout);
    return 1;
  }
}
