// Any bytes as PTX text. A text is an Error with a place, or a module that can be printed, parsed again to the same
// print, and analysed.
#include "base/diag/diag.hpp"
#include "fuzz.hpp"
#include "kernels/ptx/liveness.hpp"
#include "kernels/ptx/parser.hpp"
#include "kernels/ptx/printer.hpp"

namespace kernelcast::fuzz {

namespace {

void print_and_parse_again(ptx::Module const& module) {
  std::string const printed = ptx::print(module);
  try {
    std::string const again = ptx::print(*ptx::parse(printed, "printed.ptx"));
    if (again != printed) defect("the print of the parsed print differs:\n" + printed + "\n----\n" + again);
  } catch (Error const& error) {
    defect(error.text("fuzz") + printed);
  }
}

}  // namespace

void run_input(std::string_view input) {
  auto const module = ptx::parse(std::string(input), "fuzz.ptx");
  print_and_parse_again(*module);
  for (ptx::Function const& function : module->functions)
    if (function.has_body) ptx::registers_needed(function);
}

}  // namespace kernelcast::fuzz
