// The page's style sheet.
#pragma once

#include <string_view>

namespace kernelcast::report {

extern std::string_view const style;

}  // namespace kernelcast::report
