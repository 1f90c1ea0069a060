// What the program seqprof is to do: sources or a program, what of it to profile, and how to run it.
#pragma once

#include <string>
#include <vector>

#include "records/profile.hpp"
#include "sequential/driver/compile.hpp"
#include "sequential/settings.hpp"

namespace kernelcast::seq {

struct Request {
  std::vector<std::string> files;         // sources, LLVM code, objects; or one program that seqprof-cc has linked
  std::string compile_flags, link_flags;  // separated by blanks
  Target target;
  std::string keep;                    // where to write the code that is measured; empty: nowhere
  std::vector<std::string> arguments;  // of the program
  Settings settings;
};

// Builds what is to be built, runs it, and gives its profile. Throws Error as compile(), link_instrumented() and
// execute() do, and Error(usage) where nothing can be profiled.
std::vector<record::Profile> profile(Request const&);

// A message on how far a sampled profile may be off; empty where it is exact.
std::string sampling_note(std::vector<record::Profile> const&);

// A message where the number of synchronizations is to come from the source and none was passed, or sources were not
// read for OpenMP's directives; empty otherwise.
std::string sync_note(Request const&, std::vector<record::Profile> const&);

// Powers of two from 8 to 4096. Throws Error(usage).
std::vector<std::uint64_t> granularities(std::vector<std::string> const& texts);

}  // namespace kernelcast::seq
