// Which options a launch file may give the compiler. Launch files come from others, and a compiler's options can load
// plug-ins, start programs and write files.
#pragma once

#include <string_view>

namespace kernelcast::launch {

// True for options that only change what code is made: macros, folders of headers, language, optimisation, mathematics,
// architecture, warnings. `value_follows` becomes true where the next option is the value of this one.
bool is_harmless_option(std::string_view option, bool& value_follows);

// True where a compiler takes it for nothing but a value.
bool is_plain_value(std::string_view value);

}  // namespace kernelcast::launch
