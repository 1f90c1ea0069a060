// A launch file. A file may ask for a million launches, which take seconds: where there is a loop, numbers of four
// digits are enough here.
#include <cctype>

#include "fuzz.hpp"
#include "launch_kernels.hpp"

namespace kernelcast::fuzz {

namespace {

bool loops_for_long(std::string_view text) {
  if (text.find("for") == std::string_view::npos) return false;
  std::size_t digits = 0;
  for (unsigned char const c : text) {
    digits = std::isdigit(c) || c == '_' ? digits + 1 : 0;
    if (digits > 4) return true;
  }
  return false;
}

}  // namespace

void run_input(std::string_view input) {
  if (loops_for_long(input)) return;
  static MemoryFile file;
  file.write(input);
  run_plan(launch::read_launch_file(file.path()));
}

}  // namespace kernelcast::fuzz
