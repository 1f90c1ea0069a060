// What the front end makes of kernels beside what ptxas and AMD's compiler make of them: CSV, a row for each kernel.
//
//   compilers <LINES      lines of file|options of the front end, .cl, .cu or .ptx; a file that does not compile has a
//   row
//                         with the reason
//
// local_bytes: of arrays in PTX's local memory. stack, registers: ptxas's, target:n joined by ;. live_registers: live
// ranges of the PTX, which are taken where there is no ptxas. scratch_bytes: private memory of the AMD target gfx90a.
#include <cstdio>
#include <exception>
#include <iostream>
#include <map>
#include <string>

#include <fmt/format.h>

#include "base/diag/diag.hpp"
#include "kernels/amdgcn/amdgcn.hpp"
#include "kernels/frontend/frontend.hpp"
#include "kernels/ptx/module.hpp"

namespace {

using namespace kernelcast;

std::string quoted(std::string text) {
  for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2) text.insert(at, 1, '"');
  return text.find_first_of(",\"\n") == text.npos ? text : '"' + text + '"';
}

void list(std::string const& line) {
  frontend::Request request;
  for (std::size_t begin = 0, end = 0; end != line.npos; begin = end + 1) {
    end = line.find('|', begin);
    auto word = line.substr(begin, end == line.npos ? end : end - begin);
    if (begin == 0)
      request.path = word;
    else
      for (std::size_t at = 0, space = 0; space != word.npos; at = space + 1) {
        space = word.find(' ', at);
        if (auto option = word.substr(at, space == word.npos ? space : space - at); !option.empty())
          request.options.push_back(std::move(option));
      }
  }
  auto const row = [&](std::string const& kernel, std::string const& rest) {
    std::printf("%s,%s,%s\n", quoted(request.path).c_str(), quoted(kernel).c_str(), rest.c_str());
  };
  try {
    auto const compiled = frontend::compile(request);
    std::string assembly;
    std::map<std::string, amdgcn::Code> amd;
    if (!request.path.ends_with(".ptx")) try {
        assembly = frontend::amd_assembly(request, "gfx90a");
        amd = amdgcn::read(assembly, request.path);
      } catch (Error const&) {  // it does not compile for AMD
      }
    for (auto const& kernel : compiled.kernels) {
      std::uint64_t local = 0;
      for (auto const& function : compiled.module->functions)
        if (function.name == kernel.name)
          for (auto const& variable : function.variables)
            if (variable.space == ptx::StateSpace::local) local += variable.size;
      std::string registers, stack, scratch;
      for (auto const& [target, figures] : kernel.registers.ptxas) {
        registers += fmt::format("{}{}:{}", registers.empty() ? "" : ";", target, figures.registers);
        stack += fmt::format("{}{}:{}", stack.empty() ? "" : ";", target, figures.stack_bytes);
      }
      if (auto const code = amd.find(kernel.name); code != amd.end())
        scratch = std::to_string(code->second.resources.scratch_bytes);
      auto const group = kernel.required_group;
      row(kernel.name,
          fmt::format("{},{},{},{},{},{},{},", local, stack, scratch, registers,
                      kernel.registers.ptx ? std::to_string(*kernel.registers.ptx) : "", kernel.shared_bytes,
                      group ? std::to_string((*group)[0] * (*group)[1] * (*group)[2]) : ""));
    }
  } catch (Error const& e) {
    std::string const why = e.what();
    row("", ",,,,,,," + quoted(why.substr(0, why.find('\n'))));
  }
}

}  // namespace

int main() {
  try {
    std::puts("file,kernel,local_bytes,stack,scratch_bytes,registers,live_registers,shared_bytes,group,reason");
    for (std::string line; std::getline(std::cin, line);)
      if (!line.empty()) list(line);
  } catch (std::exception const& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
