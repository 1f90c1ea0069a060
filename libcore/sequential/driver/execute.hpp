// Runs an instrumented program and gives what it profiled.
#pragma once

#include <string>
#include <vector>

#include "records/profile.hpp"
#include "sequential/settings.hpp"

namespace kernelcast::seq {

// Standard input is the program's; what it prints goes to standard error. `settings.output` is not used. Throws
// Error(finding) with signal and source line when it crashes, when it ends with another status than 0, and when it
// never calls the kernel; Error(limit) and Error(unavailable) for what the run-time library reports.
std::vector<record::Profile> execute(std::string const& program, std::vector<std::string> const& arguments,
                                     Settings const& settings);

// The variables that hand `settings` to a program, "NAME=value".
std::vector<std::string> environment_of(Settings const& settings);

}  // namespace kernelcast::seq
