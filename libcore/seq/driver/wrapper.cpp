#include "seq/driver/wrapper.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "diag/diag.hpp"
#include "process/process.hpp"

namespace kernelcast::seq {

namespace {

bool starts_with(std::string const& text, char const* begin) {
  return text.rfind(begin, 0) == 0;
}

// Options whose value is the next argument.
bool takes_value(std::string const& option) {
  static constexpr std::array values{"-I",      "-D",     "-U",  "-include", "-isystem", "-iquote",        "-idirafter",
                                     "-MF",     "-MT",    "-MQ", "-x",       "-Xclang",  "-Xpreprocessor", "-arch",
                                     "-target", "--param"};
  return std::find(values.begin(), values.end(), option) != values.end();
}
bool is_for_linker(std::string const& option) {
  return starts_with(option, "-l") || starts_with(option, "-L") || starts_with(option, "-Wl,") || option == "-shared" ||
         option == "-static" || option == "-pthread" || option == "-rdynamic";
}

[[noreturn]] void become(std::vector<std::string> command) {
  execv(command[0].c_str(), null_terminated(command).data());
  throw Error(Status::io, "cannot run " + command[0] + ": " + std::strerror(errno));
}

}  // namespace

CompilerCall parse_compiler_call(std::vector<std::string> const& arguments) {
  CompilerCall call;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    auto const& a = arguments[i];
    bool const last = i + 1 == arguments.size();
    if (a == "-o" && !last) {
      call.output = arguments[++i];
    } else if (a == "-c") {
      call.compile_only = true;
    } else if (a == "-E" || a == "-S" || a == "-M" || a == "-MM" || a == "--version" || a == "-v" || a == "-###" ||
               a == "-dumpversion" || a == "-dumpmachine" || starts_with(a, "-print-")) {
      call.other = true;
    } else if (a == "-Xlinker" && !last) {
      call.objects.push_back(a);
      call.objects.push_back(arguments[++i]);
    } else if (takes_value(a) && !last) {
      call.flags.push_back(a);
      call.flags.push_back(arguments[++i]);
    } else if (is_for_linker(a)) {
      call.objects.push_back(a);
    } else if (starts_with(a, "-")) {
      // What is measured is not optimised before; the instrumented code is, with -O2.
      if (!starts_with(a, "-O") && !starts_with(a, "-flto")) call.flags.push_back(a);
    } else if (is_source(a)) {
      call.sources.push_back(a);
    } else {
      call.objects.push_back(a);
    }
  }
  return call;
}

Target target_from_environment() {
  auto const variable = [](char const* name) {
    auto const* const value = std::getenv(name);
    return std::string(value ? value : "");
  };
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
  auto const call = parse_compiler_call(arguments);
  if (call.other || (call.sources.empty() && call.objects.empty())) {
    std::vector<std::string> command{cxx ? tools.clangxx : tools.clang};
    command.insert(command.end(), arguments.begin(), arguments.end());
    become(std::move(command));
  }
  auto const object_of = [&](std::string const& source) {
    return call.output.empty() ? std::filesystem::path(source).stem().string() + ".o" : call.output;
  };
  if (call.compile_only) {
    for (auto const& source : call.sources) compile(tools, source, call.flags, object_of(source));
    return 0;
  }
  TemporaryFolder const scratch;
  Link link;
  link.target = target;
  link.cxx = cxx;
  link.program = call.output.empty() ? "a.out" : call.output;
  for (auto const& source : call.sources) {
    link.fortran |= is_fortran(source);
    link.bitcode.push_back(scratch.file(std::to_string(link.bitcode.size()) + ".bc"));
    compile(tools, source, call.flags, link.bitcode.back());
  }
  for (auto const& object : call.objects)
    (!starts_with(object, "-") && is_bitcode(object) ? link.bitcode : link.others).push_back(object);
  if (link.bitcode.empty())
    throw Error(Status::usage, "nothing that seqprof-cc has compiled is linked", "compile the objects with it, too");
  link_instrumented(tools, link);
  return 0;
}

}  // namespace kernelcast::seq
