// Replaces opencl.cpp where no OpenCL headers are installed: there is no device.
#include <stdexcept>

#include "opencl.hpp"

namespace kernelcast::suites {

std::optional<std::string> opencl_device() {
  return std::nullopt;
}

OpenClRun run_opencl(std::string const&, std::string const&, Buffers, std::vector<OpenClLaunch> const&) {
  throw std::runtime_error("built without OpenCL");
}

}  // namespace kernelcast::suites
