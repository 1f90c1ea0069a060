#include "seq/driver/compile.hpp"

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include <fmt/format.h>

#include "diag/diag.hpp"
#include "process/process.hpp"

namespace kernelcast::seq {

namespace fs = std::filesystem;

namespace {

constexpr double time_limit_s = 600;

// The first of clang's messages "file:line:column: error: text", as an Error.
Error first_error(std::string const& messages, std::string const& what) {
  static std::regex const form(R"(^(.*?):(\d+):(\d+): (?:fatal )?error: (.*)$)");
  std::istringstream in(messages);
  std::string first;
  for (std::string line; std::getline(in, line);) {
    std::smatch part;
    if (std::regex_match(line, part, form))
      return Error(Status::bad_data, Where{part[1], std::stoul(part[2]), std::stoul(part[3])}, part[4]);
    if (auto const at = line.find("error: "); first.empty() && at != std::string::npos) first = line.substr(at + 7);
  }
  if (first.find("Unknown attribute kind") != std::string::npos || first.find("Invalid record") != std::string::npos)
    first += "; it was written by another version of LLVM";
  return Error(Status::bad_data, fmt::format("{}: {}", what, first.empty() ? "clang-19 failed" : first),
               "clang-19 reads LLVM code of version 19 and earlier");
}

void require(ProcessResult const& result, std::string const& what) {
  if (result.timed_out) throw Error(Status::limit, fmt::format("{}: gave up after {} s", what, time_limit_s));
  if (!result.succeeded()) throw first_error(result.errors, what);
}

std::vector<std::string> lines_of(std::string const& path) {
  std::vector<std::string> lines;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string extension(std::string const& path) {
  return fs::path(path).extension().string();
}

[[noreturn]] void refuse(std::string const& errors, Link const& link, std::string const& names) {
  static std::regex const form(R"(seqprof: (.*))");
  std::smatch part;
  if (!std::regex_search(errors, part, form)) throw first_error(errors, "cannot instrument the program");
  std::string const what = part[1];
  std::string hint = "compile with -g, or give the sources";
  if (what.rfind("no function", 0) == 0) hint = did_you_mean(link.kernel, lines_of(names));
  if (what.rfind("several", 0) == 0) hint = "give the symbol: " + did_you_mean(link.kernel, lines_of(names));
  if (what.find("variable number") != std::string::npos) hint = "profile a function that it calls";
  throw Error(what.rfind("no debug", 0) == 0 ? Status::bad_data : Status::usage, what, hint);
}

}  // namespace

CompilerTools find_compiler_tools() {
  CompilerTools tools;
  std::vector<std::string> const llvm{"/usr/lib/llvm-19/bin"};
  tools.clang = find_program("clang-19", llvm);
  tools.clangxx = find_program("clang++-19", llvm);
  tools.link = find_program("llvm-link-19", llvm);
  if (tools.link.empty()) tools.link = find_program("llvm-link", llvm);
  tools.env = find_program("env");
  tools.plugin = find_plugin("kernelcast-seqprof.so");
  auto const runtime = find_plugin("libkernelcast_seqprof.so");
  if (tools.clang.empty() || tools.clangxx.empty())
    throw Error(Status::unavailable, "clang-19 is not installed: nothing can be compiled", "apt-get install clang-19");
  if (tools.link.empty()) throw Error(Status::unavailable, "llvm-link-19 is not installed", "apt-get install llvm-19");
  if (tools.plugin.empty() || runtime.empty())
    throw Error(Status::unavailable, "the plug-in for clang-19 is not there: this build was made without LLVM 19",
                "apt-get install llvm-19-dev, then build again");
  tools.runtime_folder = fs::path(runtime).parent_path().string();
  return tools;
}

bool is_cxx(std::string const& path) {
  auto const end = extension(path);
  return end == ".cpp" || end == ".cc" || end == ".cxx" || end == ".C" || end == ".c++";
}
bool is_source(std::string const& path) {
  return is_cxx(path) || extension(path) == ".c";
}

bool is_bitcode(std::string const& path) {
  std::ifstream in(path, std::ios::binary);
  std::string magic(4, '\0');
  in.read(magic.data(), 4);
  return magic == "BC\xC0\xDE" || extension(path) == ".ll";
}

bool is_program(std::string const& path) {
  std::ifstream in(path, std::ios::binary);
  std::string magic(4, '\0');
  in.read(magic.data(), 4);
  std::error_code error;
  auto const rights = fs::status(path, error).permissions();
  return magic ==
             "\x7F"
             "ELF" &&
         (rights & fs::perms::owner_exec) != fs::perms::none;
}

std::vector<std::string> measuring_options() {
  return {"-g", "-O1", "-Xclang", "-disable-llvm-passes", "-ffp-contract=off", "-fno-math-errno"};
}

void compile(CompilerTools const& tools, std::string const& source, std::vector<std::string> const& flags,
             std::string const& bitcode) {
  std::vector<std::string> command{is_cxx(source) ? tools.clangxx : tools.clang};
  if (is_source(source)) command.insert(command.end(), flags.begin(), flags.end());
  for (auto const& option : measuring_options())
    if (is_source(source)) command.push_back(option);
  if (!is_source(source)) command.insert(command.end(), {"-Xclang", "-disable-llvm-passes", "-Wno-override-module"});
  command.insert(command.end(), {"-emit-llvm", "-c", source, "-o", bitcode});
  require(run_process(command, time_limit_s), source);
}

void link_instrumented(CompilerTools const& tools, Link const& link) {
  TemporaryFolder const scratch;
  auto const whole = scratch.file("whole.bc"), object = scratch.file("whole.o"), names = scratch.file("names");
  std::vector<std::string> merge{tools.link, "-o", whole};
  merge.insert(merge.end(), link.bitcode.begin(), link.bitcode.end());
  require(run_process(merge, time_limit_s), "cannot link the bitcode");

  auto const instrumented =
      run_process({tools.env, "KERNELCAST_SEQPROF_KERNEL=" + link.kernel, "KERNELCAST_SEQPROF_NAMES=" + names,
                   "KERNELCAST_SEQPROF_KEEP=" + link.keep, tools.clang, "-O2", "-g", "-fPIC", "-ffp-contract=off",
                   "-Wno-override-module", "-fpass-plugin=" + tools.plugin, "-c", whole, "-o", object},
                  time_limit_s);
  if (!instrumented.succeeded()) refuse(instrumented.errors, link, names);

  std::vector<std::string> command{link.cxx ? tools.clangxx : tools.clang, object};
  command.insert(command.end(), link.others.begin(), link.others.end());
  command.insert(command.end(), {"-o", link.program, "-L" + tools.runtime_folder, "-Wl,--no-as-needed",
                                 "-lkernelcast_seqprof", "-Wl,-rpath," + tools.runtime_folder, "-lm"});
  require(run_process(command, time_limit_s), "cannot link the program");
}

}  // namespace kernelcast::seq
