// libFuzzer target: any bytes as PTX text. A text is an Error with a place, or a module that can be printed, parsed
// again to the same print, and analysed. Nothing else may leave the parser.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "diag/diag.hpp"
#include "ptx/cfg.hpp"
#include "ptx/liveness.hpp"
#include "ptx/parser.hpp"
#include "ptx/printer.hpp"

namespace {

using namespace kernelcast;

[[noreturn]] void refuse(char const* what, std::string const& text) {
  std::fprintf(stderr, "%s\n%s\n", what, text.c_str());
  std::abort();
}

void print_and_parse_again(ptx::Module const& module) {
  std::string const printed = ptx::print(module);
  try {
    std::string const again = ptx::print(*ptx::parse(printed, "printed.ptx"));
    if (again != printed) refuse("the print of the parsed print differs:", printed + "\n----\n" + again);
  } catch (Error const& error) {
    refuse(error.text("fuzz").c_str(), printed);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  std::unique_ptr<ptx::Module> module;
  try {
    module = ptx::parse(std::string(reinterpret_cast<char const*>(data), size), "fuzz.ptx");
  } catch (Error const&) {
    return 0;
  }
  print_and_parse_again(*module);
  for (ptx::Function const& function : module->functions)
    if (function.has_body) ptx::registers_needed(function);
  return 0;
}
