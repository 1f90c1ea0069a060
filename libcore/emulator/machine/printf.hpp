// What printf makes of its format: C99's conversions and OpenCL's vectors. Internal to emu.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace kernelcast::emu {

struct Printed {
  std::string text;
  std::int32_t arguments = 0;  // consumed
};

// `arguments` is the structure that the compiler passes to vprintf: promoted values one after the other, each at its
// natural alignment; what lies behind its end reads as 0. `string_at` gives the text at an address, for %s.
Printed format_printf(std::string_view format, std::span<std::byte const> arguments,
                      std::function<std::string(std::uint64_t)> const& string_at);

}  // namespace kernelcast::emu
