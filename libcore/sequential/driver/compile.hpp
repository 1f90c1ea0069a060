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
  std::string nm;                         // llvm-nm-19; empty where there is none
  std::string include_folder;             // where seqprof.h lies; empty where it is not found
  std::string plugin, runtime_folder;     // kernelcast-seqprof.so; where libkernelcast_seqprof.so lies
};
// Throws Error(unavailable) that names what is missing.
CompilerTools find_compiler_tools();

// The language of a source by its ending, by the name that clang's -x has for it; empty for other files.
std::string language_of(std::string const& path);
bool is_cxx(std::string const& language);
bool is_fortran(std::string const& language);
bool is_assembly(std::string const& language);
bool is_bitcode(std::string const& path);  // by its content
bool is_program(std::string const& path);  // an ELF executable

// The options that all sources are compiled with: nothing is optimised before it is measured, no operations are fused.
std::vector<std::string> measuring_options();

struct Source {
  std::string path, language;  // - is standard input; no language: LLVM text or bitcode
};
// Compiles one source to bitcode, or to machine code where it is assembly. Gives what the compiler warns of. Throws
// Error(bad_data) with clang's first error.
std::string compile(CompilerTools const&, Source const&, std::vector<std::string> const& flags,
                    std::string const& output);
// The source of C or C++ as preprocessed, with marks for OpenMP's directives (openmp.hpp), in the file `output`; what
// is to be compiled in its place.
Source marked(CompilerTools const&, Source const&, std::vector<std::string> const& flags, std::string const& output);

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
  bool shared = false;  // a library: -shared is among the others
  // Which programs without the kernel are linked as they are.
  enum class Without { none, declared, all } without = Without::none;  // declared: it lies in another library
};
// Throws Error(usage) when there is no such kernel, with near names, and Error(bad_data) for what cannot be linked.
void link_instrumented(CompilerTools const&, Link);
// One file of bitcode of several.
void merge_bitcode(CompilerTools const&, std::vector<std::string> const& files, std::string const& output);

}  // namespace kernelcast::seq
