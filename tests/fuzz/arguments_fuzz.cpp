// A launch as the command line of miniemu describes it, an option a line: its first byte is the option (g -g, G --grid,
// l -l, k -k, b --bind, r --groups, d --dump, c --check), any other line is an argument.
#include "fuzz.hpp"
#include "launch_kernels.hpp"

namespace kernelcast::fuzz {

void run_input(std::string_view input) {
  launch::CommandLine line;
  line.path = "kernels.ptx";
  while (!input.empty()) {
    auto const end = std::min(input.find('\n'), input.size());
    std::string const text(input.substr(0, end));
    input.remove_prefix(std::min(end + 1, input.size()));
    std::string const rest = text.empty() ? text : text.substr(1);
    switch (text.empty() ? '\0' : text.front()) {
      case 'g':
        line.global = rest;
        break;
      case 'G':
        line.grid = rest;
        break;
      case 'l':
        line.local = rest;
        break;
      case 'k':
        line.kernel = rest;
        break;
      case 'b':
        line.bindings.push_back(rest);
        break;
      case 'r':
        launch::parse_groups(rest);
        break;
      case 'd':
        launch::parse_dump(rest);
        break;
      case 'c':
        launch::parse_check(rest);
        break;
      default:
        line.arguments.push_back(text.substr(text.starts_with('-') ? 1 : 0));
    }
  }
  run_plan(launch::plan_of(line));
}

}  // namespace kernelcast::fuzz
