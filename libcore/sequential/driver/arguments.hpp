// The command line of a C, C++ or Fortran compiler, as far as it matters to a program that replaces the compiler.
#pragma once

#include <string>
#include <vector>

#include "sequential/driver/compile.hpp"

namespace kernelcast::seq {

struct CompilerCall {
  std::vector<Source> sources;
  std::vector<std::string> flags;    // for compiling
  std::vector<std::string> objects;  // objects, archives and linker options, in their order
  std::string output;                // of -o; empty where none
  bool compile_only = false;         // -c
  bool shared = false;               // -shared
  bool relocatable = false;          // -r
  bool other = false;                // -E, -S, -M, --version, …: nothing for us
};
// Words @FILE stand for the words in that file. What a sequential profile has no use for is left out: -O and -flto (the
// instrumented code is optimised), -fopenmp (its directives are comments then) and its libraries, -static.
// `cxx`: by the name of a C++ compiler, to which .c is C++, too.
CompilerCall parse_compiler_call(std::vector<std::string> const& arguments, bool cxx);

}  // namespace kernelcast::seq
