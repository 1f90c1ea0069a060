// What the layer knows of the application's OpenCL objects: enough to describe a launch.
//
// Limits: an object is known from the call that made it; the layer never keeps one alive.
#pragma once

#include <CL/cl.h>

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace kernelcast::intercept {

struct Program {
  std::string source;   // OpenCL C, all strings of clCreateProgramWithSource
  std::string options;  // of the last clBuildProgram
  std::string why_not;  // why its kernels cannot be emulated: "it was made from a binary"; empty where they can
};

struct Argument {
  enum class Kind : std::uint8_t { unset, value, local, memory, sampler, shared_virtual };
  Kind kind = Kind::unset;
  std::size_t bytes = 0;           // of the value, or of local memory
  std::vector<std::byte> content;  // of a value; a handle for memory and samplers
};

// One configuration of a kernel: what gives it a row of its own.
struct Configuration {
  cl_uint dimensions = 0;
  std::array<std::size_t, 3> global{}, local{};  // local {0, 0, 0}: left to the implementation
  std::size_t local_bytes = 0;                   // of all local arguments
  bool operator==(Configuration const&) const = default;
};

// The launches of a kernel so far, whichever object it was launched through.
struct History {
  struct Seen {
    Configuration configuration;
    std::uint64_t* launches = nullptr;  // in the spool; never null
  };
  std::vector<Seen> seen;
  std::uint64_t launches = 0;
};

struct Kernel {
  std::string name;
  std::shared_ptr<Program> program;
  std::vector<Argument> arguments;
  History* history = nullptr;
};

// All of them, behind one lock that no OpenCL call is made under.
struct Objects {
  std::mutex mutex;
  std::unordered_map<cl_program, std::shared_ptr<Program>> programs;
  std::unordered_map<cl_kernel, std::shared_ptr<Kernel>> kernels;
  std::unordered_set<cl_mem> memory;
  std::unordered_map<std::string, History> histories;    // by kernel name, source and options
  std::unordered_map<cl_sampler, std::string> samplers;  // as a launch file has them: "linear,clamp,normalized"
};
Objects& objects();

}  // namespace kernelcast::intercept
