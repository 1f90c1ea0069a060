#include "sequential/driver/wrapper.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/diag/diag.hpp"
#include "base/process/process.hpp"
#include "sequential/driver/arguments.hpp"

namespace kernelcast::seq {

namespace {

[[noreturn]] void become(std::vector<std::string> command) {
  execv(command[0].c_str(), null_terminated(command).data());
  throw Error(Status::io, "cannot run " + command[0] + ": " + std::strerror(errno));
}

std::string variable(char const* name) {
  auto const* const value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

Target target_from_environment() {
  Target target;
  if (auto const kernel = variable("SEQPROF_KERNEL"); !kernel.empty()) target.kernel = kernel;
  target.region = variable("SEQPROF_REGION");
  auto const dependences = variable("SEQPROF_DEPENDENCES");
  if (!dependences.empty() && dependences != "raw" && dependences != "all")
    throw Error(Status::usage, "SEQPROF_DEPENDENCES is '" + dependences + "'", "it is raw or all");
  target.all_dependences = dependences == "all";
  target.invocations = variable("SEQPROF_INVOCATIONS") == "1";
  return target;
}

int call_compiler(std::vector<std::string> const& arguments, bool cxx, Target const& target) {
  auto const tools = find_compiler_tools();
  auto const call = parse_compiler_call(arguments, cxx);
  if (call.other || (call.sources.empty() && call.objects.empty())) {
    std::vector<std::string> command{cxx ? tools.clangxx : tools.clang};
    command.insert(command.end(), arguments.begin(), arguments.end());
    become(std::move(command));
  }
  auto const compile_to = [&](Source const& source, std::string const& output) {
    auto const warnings = compile(tools, source, call.flags, output);
    std::fwrite(warnings.data(), 1, warnings.size(), stderr);
  };
  if (call.compile_only) {
    for (auto const& source : call.sources)
      compile_to(source,
                 !call.output.empty() ? call.output : std::filesystem::path(source.path).stem().string() + ".o");
    return 0;
  }
  TemporaryFolder const scratch;
  Link link;
  link.target = target;
  link.cxx = cxx;
  link.shared = call.shared;
  link.without = variable("SEQPROF_OTHERS") == "1" ? Link::Without::all : Link::Without::declared;
  link.program = call.output.empty() ? "a.out" : call.output;
  for (auto const& source : call.sources) {
    bool const assembly = is_assembly(source.language);
    link.cxx |= is_cxx(source.language);
    link.fortran |= is_fortran(source.language);
    auto& list = assembly ? link.others : link.bitcode;
    list.push_back(scratch.file(std::to_string(list.size()) + (assembly ? ".o" : ".bc")));
    compile_to(source, list.back());
  }
  for (auto const& object : call.objects)
    (object[0] != '-' && is_bitcode(object) ? link.bitcode : link.others).push_back(object);
  if (call.relocatable && link.others.empty()) {
    merge_bitcode(tools, link.bitcode, link.program);
    return 0;
  }
  link_instrumented(tools, link);
  return 0;
}

}  // namespace kernelcast::seq
