// What a program leaves for the driver when it does not come to its end: a file beside the profile's place.
#pragma once

#include <string>

namespace kernelcast::seq {

// Where it is written, for a profile at `output`.
inline std::string failure_file(std::string const& output) {
  return output + ".failure";
}

// Failures of the run-time: "error TEXT".
void report_failure(std::string const& output, char const* text);

// On SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT: "signal NUMBER" and a line "frame MODULE OFFSET" per return address,
// innermost first; then the signal takes its course.
void watch_for_crashes(std::string const& output);

}  // namespace kernelcast::seq
