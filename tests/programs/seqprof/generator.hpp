// Random C programs for the differential test: arrays of several types, loops, branches, pointers, copies, calls.
#pragma once

#include <cstdint>
#include <string>

namespace kernelcast::tests {

// A program whose function `kernel` calls `functions` random ones, twice. It prints a checksum.
std::string random_program(std::uint64_t seed, unsigned functions);

}  // namespace kernelcast::tests
