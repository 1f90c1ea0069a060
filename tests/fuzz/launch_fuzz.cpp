// A launch file; what lines such as `#--set n=4` say is chosen. A file may ask for a million launches, which take
// seconds: where there is a loop, numbers of four digits are enough here.
#include <cctype>
#include <string>
#include <vector>

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

std::vector<std::string> sets_in(std::string_view text) {
  constexpr std::string_view mark = "#--set ";
  std::vector<std::string> sets;
  for (std::size_t at = 0; sets.size() < 8 && (at = text.find(mark, at)) != text.npos;) {
    at += mark.size();
    sets.emplace_back(text.substr(at, text.find('\n', at) - at));
  }
  return sets;
}

}  // namespace

void run_input(std::string_view input) {
  if (loops_for_long(input)) return;
  static MemoryFile file;
  file.write(input);
  run_plan(launch::read_launch_file(file.path(), {}, sets_in(input)));
}

}  // namespace kernelcast::fuzz
