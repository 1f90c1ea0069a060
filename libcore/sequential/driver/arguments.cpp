#include "sequential/driver/arguments.hpp"

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/process/process.hpp"
#include "base/process/shell_words.hpp"

namespace kernelcast::seq {

namespace {

using Words = std::vector<std::string>;

bool starts_with(std::string const& text, char const* begin) {
  return text.starts_with(begin);
}
template <std::size_t N>
bool is_one_of(std::array<char const*, N> const& words, std::string const& text) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

// Options whose value is the next argument.
bool takes_value(std::string const& option) {
  static constexpr std::array values{
      "-I",           "-D",      "-U",         "-include",    "-imacros",     "-isystem",
      "-iquote",      "-MF",     "-idirafter", "-isysroot",   "-iprefix",     "-iwithprefix",
      "-MT",          "-MQ",     "-MJ",        "-Xclang",     "-arch",        "-Xpreprocessor",
      "-target",      "--param", "-mllvm",     "-Xassembler", "-include-pch", "-working-directory",
      "-resource-dir"};
  return is_one_of(values, option);
}
bool linker_takes_value(std::string const& option) {
  static constexpr std::array values{"-L", "-l", "-T", "-u", "-z", "-e", "-B", "-rpath", "-Xlinker"};
  return is_one_of(values, option);
}
bool is_for_linker(std::string const& option) {
  static constexpr std::array begins{"-l", "-L", "-Wl,", "-static-", "-stdlib=", "-fuse-ld=", "-B", "--ld-path="};
  static constexpr std::array whole{"-shared", "-pthread", "-rdynamic", "-nostartfiles", "-nodefaultlibs"};
  return is_one_of(whole, option) ||
         std::any_of(begins.begin(), begins.end(), [&](auto* begin) { return starts_with(option, begin); });
}
bool is_left_out(std::string const& option) {
  static constexpr std::array whole{"-static", "-openmp", "-qopenmp", "-lgomp", "-lomp", "-liomp5"};
  return is_one_of(whole, option) || starts_with(option, "-O") || starts_with(option, "-flto") ||
         starts_with(option, "-fno-lto") || (starts_with(option, "-fopenmp") && option != "-fopenmp-simd");
}
bool is_other(std::string const& option) {
  static constexpr std::array whole{"-E", "-S",     "-M",        "-MM",          "-v",           "-###",
                                    "-V", "--help", "--version", "-dumpversion", "-dumpmachine", "-fsyntax-only"};
  return is_one_of(whole, option) || starts_with(option, "-print-") || starts_with(option, "--print-") ||
         starts_with(option, "-dump");
}

Words without_response_files(Words const& arguments, int depth = 0) {
  Words out;
  std::error_code error;
  for (auto const& a : arguments) {
    if (a.size() < 2 || a[0] != '@' || depth == 10 || !std::filesystem::is_regular_file(a.substr(1), error)) {
      out.push_back(a);
      continue;
    }
    auto const inside = without_response_files(shell_words(read_file(a.substr(1))), depth + 1);
    out.insert(out.end(), inside.begin(), inside.end());
  }
  return out;
}

}  // namespace

CompilerCall parse_compiler_call(std::vector<std::string> const& given, bool cxx) {
  CompilerCall call;
  auto const arguments = without_response_files(given);
  std::string language;  // of -x
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    auto const& a = arguments[i];
    bool const last = i + 1 == arguments.size();
    if (a == "-o" && !last) {
      call.output = arguments[++i];
    } else if (starts_with(a, "-o") && a.size() > 2 && !starts_with(a, "-objc")) {
      call.output = a.substr(2);
    } else if (a == "-c") {
      call.compile_only = true;
    } else if (a == "-r") {
      call.relocatable = true;
    } else if (starts_with(a, "-x") && (a.size() > 2 || !last)) {
      language = a.size() > 2 ? a.substr(2) : arguments[++i];
      if (language == "none") language.clear();
    } else if (is_left_out(a)) {
      continue;
    } else if (is_other(a)) {
      call.other = true;
    } else if (linker_takes_value(a) && !last) {
      call.objects.push_back(a);
      call.objects.push_back(arguments[++i]);
    } else if (takes_value(a) && !last) {
      call.flags.push_back(a);
      call.flags.push_back(arguments[++i]);
    } else if (is_for_linker(a)) {
      call.shared |= a == "-shared";
      call.objects.push_back(a);
    } else if (starts_with(a, "-") && a != "-") {
      call.flags.push_back(a);
    } else if (auto own = language.empty() ? language_of(a) : language; !own.empty()) {
      if (cxx && own == "c" && language.empty()) own = "c++";
      call.sources.push_back({a, own});
    } else {
      call.objects.push_back(a);
    }
  }
  return call;
}

}  // namespace kernelcast::seq
