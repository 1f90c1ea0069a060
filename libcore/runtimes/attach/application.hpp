// An application that runs as this program's child, with a library of ours loaded into it.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtimes/attach/settings.hpp"

namespace kernelcast::attach {

// The variables of this process, and those that put into an application the layer for OpenCL, below it the platform on
// the emulator where it is to see devices of ours (Settings::opencl_devices), and, for CUDA, the runtime on the
// emulator or our look-out before the runtime of its GPU. `database`: the device database's folder; empty: where it is
// found. Throws Error(unavailable) where one of them is not installed; a build without a runtime has none.
enum class Cuda : std::uint8_t { emulated, observed };
std::vector<std::string> environment_of_application(Settings const&, Cuda, std::string const& database);
// Whether an OpenCL application finds a driver: by the loader's variables, or where drivers are installed.
bool has_opencl_driver();
// A folder for sources (Settings::programs) beside the cache of compiled kernels, which goes by the place of a source
// as well: what is compiled in one run is found by the next. Empty where nothing can be cached.
std::string lasting_programs();

// Keys that end a program on a terminal are for the application, and requests to end are passed on to it; what it has
// launched until then is still reported. Once it has ended they end this program.
class LeaveSignalsToTheApplication {
 public:
  LeaveSignalsToTheApplication();
  ~LeaveSignalsToTheApplication();
  LeaveSignalsToTheApplication(LeaveSignalsToTheApplication const&) = delete;

 private:
  static constexpr std::array<int, 4> signals_{SIGINT, SIGQUIT, SIGTERM, SIGHUP};
  std::array<struct sigaction, signals_.size()> before_{};
};

// Begins it, with signals as a shell would. Throws Error: usage (an empty command), io (it cannot be started).
pid_t start_application(std::vector<std::string> command, std::vector<std::string> variables);

// Its exit status, 128 + signal where a signal ended it; empty while it runs.
std::optional<int> ended(pid_t application);

}  // namespace kernelcast::attach
