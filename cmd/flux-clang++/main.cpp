// flux-clang++: clang++-19 that makes CUDA programs count their instructions, for existing Makefiles: make
// CXX=flux-clang++. For programs that flux-count cannot attach to, because they hold the static CUDA runtime.
// The program writes its rows to kernelcast-flux.PID, or where KERNELCAST_FLUX_OUTPUT says; KERNELCAST_FLUX_EMIT
// chooses counts, groups or features.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/diag/diag.hpp"
#include "base/diag/ending.hpp"
#include "base/process/process.hpp"

using kernelcast::Error;
using kernelcast::Status;

namespace {

// Before the compiler's own page.
constexpr char const* help = R"(Usage: flux-clang++ COMPILER-ARGUMENT...
compile and link CUDA programs that count the instructions of their kernels

For programs with the static CUDA runtime, which flux-count cannot attach to. The
program needs a GPU, behaves as before and writes rows of each launch.

When the program runs:
  KERNELCAST_FLUX_OUTPUT=FILE
                          the rows; a dot and the process number are appended
                          (default: kernelcast-flux)
  KERNELCAST_FLUX_EMIT=counts|groups|features

Example:
  make CXX=flux-clang++

Manual: man flux-clang++

All arguments are the compiler's:

)";

[[gnu::init_priority(101)]] kernelcast::EndsInOrder const ends_in_order;

bool links(std::vector<std::string> const& arguments) {
  for (auto const& argument : arguments)
    if (argument == "-c" || argument == "-S" || argument == "-E" || argument == "-fsyntax-only" || argument == "-M" ||
        argument == "-MM" || argument == "--version" || argument == "-###")
      return false;
  return !arguments.empty();
}

int call_clang(std::vector<std::string> const& arguments) {
  auto const pass = kernelcast::find_plugin("kernelcast-flux.so");
  auto const runtime = kernelcast::find_plugin("kernelcast-flux-runtime.so");
  if (pass.empty() || runtime.empty())
    throw Error(Status::unavailable, "kernelcast-flux.so is not installed beside the program",
                "build with the package llvm-19-dev");
  std::vector<std::string> command{"clang++-19", "-Qunused-arguments", "-fpass-plugin=" + pass};
  command.insert(command.end(), arguments.begin(), arguments.end());
  if (links(arguments))
    // Behind -Wl, since -x cuda would make it a source.
    command.push_back("-Wl," + runtime + ",-rpath," + std::filesystem::path(runtime).parent_path().string());
  execvp(command[0].c_str(), kernelcast::null_terminated(command).data());
  throw Error(Status::unavailable, std::string("cannot run clang++-19: ") + std::strerror(errno),
              "install the package clang-19");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--help") {
    std::fputs(help, stdout);
    std::fflush(stdout);
  }
  try {
    return call_clang({argv + 1, argv + argc});
  } catch (...) {
    return kernelcast::report_exception("flux-clang++");
  }
}
