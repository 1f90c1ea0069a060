// Error codes: what each is called, and what a thread's last one was.
#pragma once

#include <string>
#include <string_view>

#include "cuda/abi.hpp"
#include "emu/emu.hpp"

namespace kernelcast::cudart {

char const* official_name(Code);  // "cudaErrorInvalidValue"
char const* description(Code);    // "invalid argument"

// Remembered as this thread's last error, unless it is success; returned.
Code remembered(Code);
Code last_error();
Code take_last_error();

// What a kernel that was ended by this finding leaves behind: it stays until the device is reset.
Code code_of(emu::Finding::Kind);

// A line on standard error, begun with our name; once for each text.
void report(std::string const& text);
// The call is named on standard error, once.
Code unsupported(std::string_view call);

}  // namespace kernelcast::cudart
