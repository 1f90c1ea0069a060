#include "sequential/driver/compile.hpp"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <regex>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diag/diag.hpp"
#include "base/process/process.hpp"
#include "base/process/variables.hpp"
#include "sequential/driver/archive.hpp"
#include "sequential/driver/openmp.hpp"

namespace kernelcast::seq {

namespace fs = std::filesystem;

namespace {

constexpr double time_limit_s = 600;

// The first of clang's messages "file:line:column: error: text", as an Error.
Error first_error(std::string const& messages, std::string const& what, bool is_source = true) {
  static std::regex const form(R"(^(.*?):(\d+):(\d+): (?:fatal )?error: (.*)$)");
  std::string const hint =
      is_source ? ""
                : "clang-19 reads the LLVM code of version 19, bitcode of earlier ones too; use its clang and flang";
  static std::regex const of_linker("(undefined reference to|multiple definition of|cannot find|unknown file type).*");
  std::istringstream in(messages);
  std::string first;
  for (std::string line; std::getline(in, line);) {
    std::smatch part;
    // What the linker says; the compiler's driver says only that it failed.
    if (first.empty() && std::regex_search(line, part, of_linker)) first = part[0];
    if (std::regex_match(line, part, form))
      return Error(Status::bad_data, Where{part[1], std::stoul(part[2]), std::stoul(part[3])}, part[4], hint);
    if (auto const at = line.find("error: "); first.empty() && at != std::string::npos) first = line.substr(at + 7);
  }
  if (first.find("Unknown attribute kind") != std::string::npos || first.find("Invalid record") != std::string::npos)
    first += "; it was written by another version of LLVM";
  return Error(Status::bad_data, fmt::format("{}: {}", what, first.empty() ? "clang-19 failed" : first), hint);
}

void require(ProcessResult const& result, std::string const& what, bool is_source = true) {
  if (result.timed_out) throw Error(Status::limit, fmt::format("{}: gave up after {} s", what, time_limit_s));
  if (result.succeeded()) return;
  require_space(result);
  throw first_error(result.errors, what, is_source);
}

std::vector<std::string> lines_of(std::string const& path) {
  std::vector<std::string> lines;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// seqprof.h lies beside the programs, as the other data does.
std::string include_folder() {
  std::error_code error;
  auto const folder = program_path().parent_path() / ".." / KERNELCAST_INCLUDES_FROM_BIN;
  return fs::exists(folder / "seqprof.h", error) ? fs::canonical(folder, error).string() : "";
}

[[noreturn]] void refuse(ProcessResult const& failed, Link const& link, std::string const& names) {
  require_space(failed);
  auto const& errors = failed.errors;
  static std::regex const form(R"(seqprof: (.*))");
  std::smatch part;
  if (!std::regex_search(errors, part, form)) throw first_error(errors, "cannot instrument the program");
  std::string const what = part[1];
  std::string hint = "compile with -g, or give the sources";
  auto const begins = [&](char const* text) { return what.starts_with(text); };
  if (begins("no function")) hint = did_you_mean(link.target.kernel, lines_of(names));
  if (begins("several functions")) hint = fmt::format("give the symbol: {}", fmt::join(lines_of(names), " or "));
  if (begins("no region")) {
    auto const regions = lines_of(names);
    hint = regions.empty() ? "put seqprof_begin(\"NAME\") and seqprof_end(\"NAME\") around it; see seqprof.h"
                           : did_you_mean(link.target.region, regions);
  }
  if (begins("several regions")) hint = "give each a name of its own";
  if (begins("region ")) hint = "call seqprof_begin and seqprof_end in one function, the one always before the other";
  if (what.find("variable number") != std::string::npos) hint = "profile a function that it calls";
  throw Error(begins("no debug") || begins("region ") ? Status::bad_data : Status::usage, what, hint);
}

}  // namespace

CompilerTools find_compiler_tools() {
  CompilerTools tools;
  std::vector<std::string> const llvm{"/usr/lib/llvm-19/bin"};
  tools.clang = find_program("clang-19", llvm);
  tools.clangxx = find_program("clang++-19", llvm);
  tools.link = find_program("llvm-link-19", llvm);
  if (tools.link.empty()) tools.link = find_program("llvm-link", llvm);
  tools.nm = find_program("llvm-nm-19", llvm);
  tools.env = find_program("env");
  tools.flang = find_program("flang-new-19", llvm);
  if (tools.flang.empty()) tools.flang = find_program("flang-19", llvm);
  tools.plugin = find_plugin("kernelcast-seqprof.so");
  auto const runtime = find_plugin("libkernelcast_seqprof.so");
  if (tools.clang.empty() || tools.clangxx.empty())
    throw Error(Status::unavailable, "clang-19 is not installed: nothing can be compiled", "apt-get install clang-19");
  if (tools.link.empty()) throw Error(Status::unavailable, "llvm-link-19 is not installed", "apt-get install llvm-19");
  if (tools.plugin.empty() || runtime.empty())
    throw Error(Status::unavailable, "the plug-in for clang-19 is not there: this build was made without LLVM 19",
                "apt-get install llvm-19-dev, then build again");
  tools.runtime_folder = fs::path(runtime).parent_path().string();
  tools.include_folder = include_folder();
  return tools;
}

std::string language_of(std::string const& path) {
  static std::pair<char const*, std::vector<std::string>> const languages[] = {
      {"c", {".c"}},
      {"cpp-output", {".i"}},
      {"c++", {".cpp", ".cc", ".cxx", ".C", ".c++", ".cp", ".CPP", ".CC"}},
      {"c++-cpp-output", {".ii"}},
      {"assembler", {".s"}},
      {"assembler-with-cpp", {".S", ".sx"}},
      {"f95", {".f", ".for", ".ftn", ".f77", ".f90", ".f95", ".f03", ".f08"}},
      {"f95-cpp-input", {".F", ".FOR", ".F77", ".fpp", ".F90", ".F95", ".F03", ".F08"}}};
  auto const extension = fs::path(path).extension().string();
  for (auto const& [language, extensions] : languages)
    if (std::find(extensions.begin(), extensions.end(), extension) != extensions.end()) return language;
  return "";
}
bool is_cxx(std::string const& language) {
  return language.starts_with("c++");
}
bool is_fortran(std::string const& language) {
  return language.starts_with("f95");
}
bool is_assembly(std::string const& language) {
  return language.starts_with("assembler");
}

bool is_bitcode(std::string const& path) {
  std::ifstream in(path, std::ios::binary);
  std::string magic(4, '\0');
  in.read(magic.data(), 4);
  return magic == "BC\xC0\xDE" || fs::path(path).extension() == ".ll";
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

std::string compile(CompilerTools const& tools, Source const& source, std::vector<std::string> const& flags,
                    std::string const& output) {
  auto const& [path, language] = source;
  bool const fortran = is_fortran(language), from_stdin = path == "-";
  if (std::error_code error; !from_stdin && !fs::exists(path, error))
    throw Error(Status::io, "cannot open '" + path + "': no such file", "");
  if (fortran && tools.flang.empty())
    throw Error(Status::unavailable, "flang-new-19 is not installed: '" + path + "' cannot be compiled",
                "apt-get install flang-19, or give LLVM code that another compiler wrote");
  std::vector<std::string> command{fortran ? tools.flang : is_cxx(language) ? tools.clangxx : tools.clang};
  if (!language.empty()) command.insert(command.end(), flags.begin(), flags.end());
  if (fortran) {
    command.insert(command.end(), {"-g", "-O0", "-ffp-contract=off", "-emit-llvm"});
  } else if (is_assembly(language)) {
    command.emplace_back("-Qunused-arguments");
  } else if (!language.empty()) {
    for (auto const& option : measuring_options()) command.push_back(option);
    if (auto const& own = tools.include_folder; !own.empty())
      command.insert(command.end(), {"-idirafter", own, "-idirafter", own + "/serial"});
    command.insert(command.end(), {"-Qunused-arguments", "-emit-llvm"});
  } else {
    command.insert(command.end(), {"-Xclang", "-disable-llvm-passes", "-Wno-override-module", "-emit-llvm"});
  }
  TemporaryFolder const scratch;
  auto file = path;
  if (from_stdin) {
    file = scratch.file("stdin");
    write_file(file, read_all(std::cin, "<stdin>"));
    command.insert(command.end(), {"-I", "."});
  }
  // The language by the ending needs no saying; flang would not take it.
  if (!language.empty() && language != language_of(file)) command.insert(command.end(), {"-x", language});
  command.insert(command.end(), {"-c", file, "-o", output});
  auto const result = run_process(command, time_limit_s);
  require(result, path, !language.empty());
  return result.errors;
}

Source marked(CompilerTools const& tools, Source const& source, std::vector<std::string> const& flags,
              std::string const& output) {
  bool const cxx = is_cxx(source.language);
  std::vector<std::string> command{cxx ? tools.clangxx : tools.clang};
  command.insert(command.end(), flags.begin(), flags.end());
  if (auto const& own = tools.include_folder; !own.empty())
    command.insert(command.end(), {"-idirafter", own, "-idirafter", own + "/serial"});
  command.insert(command.end(), {"-Qunused-arguments", "-x", source.language, "-E", source.path, "-o", output});
  require(run_process(command, time_limit_s), source.path);
  auto in = open_file(output);
  write_file(output, with_openmp_marks(read_all(in, output)));
  return {output, cxx ? "c++-cpp-output" : "cpp-output"};
}

void merge_bitcode(CompilerTools const& tools, std::vector<std::string> const& files, std::string const& output) {
  std::vector<std::string> command{tools.link, "-o", output};
  command.insert(command.end(), files.begin(), files.end());
  require(run_process(command, time_limit_s), "cannot link the bitcode");
}

void link_instrumented(CompilerTools const& tools, Link link) {
  TemporaryFolder const scratch;
  auto const whole = scratch.file("whole.bc"), object = scratch.file("whole.o"), names = scratch.file("names");
  unpack_archives(tools, link, scratch);
  if (link.bitcode.empty())
    throw Error(Status::usage, "nothing that seqprof-cc has compiled is linked", "compile the objects with it, too");
  merge_bitcode(tools, link.bitcode, whole);

  std::string const mode =
      std::string(link.target.all_dependences ? "all " : "") + (link.target.invocations ? "invocations" : "");
  auto const instrumented = run_process(
      {tools.env, fmt::format("{}={}", variables::seqprof_kernel, link.target.kernel),
       fmt::format("{}={}", variables::seqprof_region, link.target.region),
       fmt::format("{}={}", variables::seqprof_mode, mode), fmt::format("{}={}", variables::seqprof_names, names),
       fmt::format("{}={}", variables::seqprof_keep, link.keep),
       (variables::seqprof_without + std::string("=")) + (link.shared || link.without == Link::Without::all ? "all"
                                                          : link.without == Link::Without::declared         ? "declared"
                                                                                                            : ""),
       tools.clang, "-O2", "-g", "-fPIC", "-ffp-contract=off", "-Wno-override-module", "-fpass-plugin=" + tools.plugin,
       "-c", whole, "-o", object},
      time_limit_s);
  if (!instrumented.succeeded()) refuse(instrumented, link, names);

  std::vector<std::string> command{link.fortran ? tools.flang : link.cxx ? tools.clangxx : tools.clang, object};
  if (link.fortran && link.cxx) command.emplace_back("-lstdc++");
  command.insert(command.end(), link.others.begin(), link.others.end());
  command.insert(command.end(), {"-o", link.program, "-L" + tools.runtime_folder, "-Wl,--no-as-needed",
                                 "-lkernelcast_seqprof", "-Wl,-rpath," + tools.runtime_folder, "-lm"});
  require(run_process(command, time_limit_s), "cannot link the program");
}

}  // namespace kernelcast::seq
