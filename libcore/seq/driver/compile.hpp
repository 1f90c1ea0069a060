// From C, C++ and Fortran sources to an instrumented program, by clang-19 with the seqprof plug-in.
//
// Method: every source becomes LLVM bitcode, not optimised; all bitcode of a program is linked and instrumented at
// once, so that the kernel may call functions of other files; the rest is an ordinary link with the run-time library.
#pragma once

#include <string>
#include <vector>

namespace kernelcast::seq {

struct CompilerTools {
  std::string clang, clangxx, link, env;  // clang-19, clang++-19, llvm-link-19, env
  std::string flang;                      // flang-19 or flang-new-19; empty where there is none
  std::string include_folder;             // where seqprof.h lies; empty where it is not found
  std::string plugin, runtime_folder;     // kernelcast-seqprof.so; where libkernelcast_seqprof.so lies
};
// Throws Error(unavailable) that names what is missing.
CompilerTools find_compiler_tools();

bool is_cxx(std::string const& path);  // by its ending
bool is_fortran(std::string const& path);
bool is_source(std::string const& path);   // C, C++ or Fortran
bool is_bitcode(std::string const& path);  // by its content
bool is_program(std::string const& path);  // an ELF executable

// The options that all sources are compiled with: nothing is optimised before it is measured, no operations are fused.
std::vector<std::string> measuring_options();

// Compiles one source (or reads LLVM text or bitcode) to bitcode. Throws Error(bad_data) with clang's first error.
void compile(CompilerTools const&, std::string const& source, std::vector<std::string> const& flags,
             std::string const& bitcode);

// What is profiled, and how.
struct Target {
  std::string kernel = "main";
  std::string region;            // between marks of this name, instead of a kernel; empty: none
  bool all_dependences = false;  // write after read and write after write, too
  bool invocations = false;      // each call of the kernel by itself, too
  bool operator==(Target const&) const = default;
};

struct Link {
  Target target;
  std::vector<std::string> bitcode;  // at least one
  std::vector<std::string> others;   // objects and linker options, in their order
  std::string program;               // to be written
  std::string keep;                  // where to write the code as it is instrumented; empty: nowhere
  bool cxx = false, fortran = false;
};
// Throws Error(usage) when there is no such kernel, with near names, and Error(bad_data) for what cannot be linked.
void link_instrumented(CompilerTools const&, Link const&);

}  // namespace kernelcast::seq
