// Runs launches on whatever OpenCL device the installed ICDs offer: the suite's second opinion (PoCL, Oclgrind).
//
// Plain OpenCL 1.2, one in-order queue, first device of the first platform that has one.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "references.hpp"

namespace kernelcast::suites {

struct LocalBytes {
  std::size_t bytes = 0;
};
struct BufferName {
  std::string name;
};
// A two-dimensional image to read from, its texels four floats, with what the buffer holds before the first launch.
struct ImageOf {
  std::string buffer;
  std::size_t width = 1, height = 1;
};
using OpenClArgument = std::variant<std::vector<std::byte>, BufferName, LocalBytes, ImageOf>;  // the first: a value

struct OpenClLaunch {
  std::string kernel;
  unsigned dimensions = 1;
  std::array<std::size_t, 3> global{1, 1, 1}, local{1, 1, 1};  // work-items
  std::vector<OpenClArgument> arguments;
};

struct OpenClRun {
  std::string device;
  Buffers buffers;   // after the last launch
  double cpu_s = 0;  // processor time of the launches alone, all threads, build and transfers excluded
};

// The device's name, or nothing where no ICD offers a device.
std::optional<std::string> opencl_device();

// Throws std::runtime_error with the call that failed, or the build log.
OpenClRun run_opencl(std::string const& source, std::string const& options, Buffers buffers,
                     std::vector<OpenClLaunch> const& launches);

}  // namespace kernelcast::suites
