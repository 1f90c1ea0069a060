// What the layer knows of the application's OpenCL objects: enough to describe a launch.
//
// Limits: an object is known from the call that made it; the layer never keeps one alive.
#pragma once

#include <CL/cl.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtimes/attach/launch_policy.hpp"

namespace kernelcast::attach {

// What one clBuildProgram or clCompileProgram made of source; a linked program has several.
struct Unit {
  std::string source;   // SPIR-V, or OpenCL C: all strings of clCreateProgramWithSource
  std::string options;  // of the last build
  std::vector<std::pair<std::string, std::string>> headers;  // name and text of those given to clCompileProgram
};

// A buffer or image; parts of it, and images of a buffer, share the record of the whole.
struct Memory {
  bool written = false;  // by the host, a copy or a kernel: before that it holds nothing worth reading
  cl_mem whole = nullptr;
  cl_context context = nullptr;
  std::size_t bytes = 0;
};

struct Argument {
  enum class Kind : std::uint8_t { unset, value, local, memory, sampler, shared_virtual };
  Kind kind = Kind::unset;
  std::size_t bytes = 0;           // of the value, or of local memory
  std::vector<std::byte> content;  // of a value; a handle for memory and samplers; a pointer into shared virtual memory
  std::shared_ptr<Memory> memory;
  bool unwritten = false;  // of a launch: nothing had written that memory before
};

// One for all objects through which a kernel is launched.
using Histories = std::unordered_map<std::string, History>;  // by the kernel's name

struct Program {
  std::vector<Unit> units;
  std::string why_not;       // why its kernels cannot be emulated: "it was made from a binary"; empty where they can
  bool from_binary = false;  // its units are those of the program that the binary came from, options included
  Histories* histories = nullptr;  // of all programs made of the same
  std::string constants = {};      // of specialisation, as attach::add_constant() writes them
};

struct Kernel {
  std::string name;
  std::shared_ptr<Program const> program;
  std::vector<Argument> arguments;
  std::vector<std::uintptr_t> pointed_to;  // shared virtual memory that it reaches through pointers in memory
  History* history = nullptr;
};

// All of them, behind one lock that no OpenCL call is made under.
struct Objects {
  std::mutex mutex;
  std::unordered_map<cl_program, std::shared_ptr<Program const>> programs;
  std::unordered_map<cl_kernel, std::shared_ptr<Kernel>> kernels;
  std::unordered_map<cl_mem, std::shared_ptr<Memory>> memory;
  std::unordered_map<cl_context, std::uint64_t> allocated_bytes;  // of buffers and images; until the whole is released
  std::map<std::uintptr_t, std::size_t> shared_virtual;           // where it begins, bytes
  std::unordered_map<std::string, Histories> histories;           // by all that a program is made of
  std::unordered_map<cl_sampler, std::string> samplers;  // as a launch file has them: "linear,clamp,normalized"
};
Objects& objects();

}  // namespace kernelcast::attach
