// From a compiler's stderr to an Error with a place. clang prints `file:line:column: error: text`, nvcc
// `file(line): error: text`.
#include <fmt/format.h>

#include <regex>

#include "base/diag/diag.hpp"
#include "base/diag/text.hpp"
#include "kernels/frontend/build.hpp"

namespace kernelcast::frontend {
namespace {

struct Diagnostic {
  Where where;
  bool error = false;
  std::string text;
};

std::optional<Diagnostic> parse(std::string const& line) {
  static std::regex const clang(R"(^(.+?):(\d+):(\d+): (fatal error|error|warning): (.*)$)");
  static std::regex const nvcc(R"(^(.+)\((\d+)\): (error|catastrophic error|warning)(?: #[-\w]+)?: (.*)$)");
  static std::regex const bare(R"(^(?:clang[-+0-9]*: |nvcc )?(fatal error|error|fatal   |warning) ?: (.*)$)");
  std::smatch m;
  auto const number = [&](std::size_t part) { return to_number<std::size_t>(m[part].str()).value_or(0); };
  if (std::regex_match(line, m, clang)) return Diagnostic{{m[1], number(2), number(3)}, m[4] != "warning", m[5]};
  if (std::regex_match(line, m, nvcc)) return Diagnostic{{m[1], number(2), 0}, m[3] != "warning", m[4]};
  if (std::regex_match(line, m, bare)) return Diagnostic{{}, m[1] != "warning", m[2]};
  return std::nullopt;
}

std::vector<Diagnostic> parse_all(std::string const& text) {
  std::vector<Diagnostic> result;
  for (std::size_t begin = 0; begin < text.size();) {
    auto const end = std::min(text.find('\n', begin), text.size());
    // A regular expression on a very long line would exhaust the stack.
    if (auto d = parse(text.substr(begin, std::min<std::size_t>(end - begin, 2000)))) result.push_back(std::move(*d));
    begin = end + 1;
  }
  return result;
}

std::string line_of(std::string const& file, std::size_t number) {
  std::string text;
  try {
    text = read_file(file);
  } catch (Error const&) {
    return {};
  }
  std::size_t begin = 0;
  for (std::size_t line = 1; line < number && begin != std::string::npos; ++line) {
    begin = text.find('\n', begin);
    if (begin != std::string::npos) ++begin;
  }
  if (begin == std::string::npos || number == 0) return {};
  return text.substr(begin, std::min(text.find('\n', begin), text.size()) - begin);
}

std::string hint_for(std::string const& message) {
  for (char const* sign : {"undeclared", "unknown type", "file not found", "undefined", "cannot open source"})
    if (message.find(sign) != std::string::npos)
      return "give the macros (-D NAME=VALUE) and include folders (-I FOLDER) that the application gives its compiler";
  return "correct the source, or choose its language with -cl-std=CL1.2, CL2.0 or CL3.0 (OpenCL), -std=c++17 (CUDA)";
}

}  // namespace

std::vector<std::string> check_compiler(Build const& build, std::string_view compiler, ProcessResult const& result) {
  if (result.timed_out)
    throw Error(Status::limit, Where{build.request.path},
                fmt::format("{} did not end within {} s", compiler, build.request.time_limit_s),
                "simplify the source, or allow more time");
  std::vector<Diagnostic> const all = parse_all(result.errors + result.output);
  std::vector<std::string> warnings;
  constexpr std::size_t most = 10;
  if (result.succeeded()) {
    for (auto const& d : all)
      if (!d.error && warnings.size() < most)
        warnings.push_back(fmt::format("{}:{}:{}: warning: {}", d.where.file, d.where.line, d.where.column, d.text));
    return warnings;
  }
  require_space(result);
  Diagnostic const* first = nullptr;
  std::string more;
  std::size_t errors = 0;
  for (auto const& d : all) {
    if (!d.error) continue;
    if (++errors == 1) {
      first = &d;
    } else if (errors <= most) {
      more += fmt::format("\n{}:{}:{}: error: {}", d.where.file, d.where.line, d.where.column, d.text);
    }
  }
  if (!first) {
    auto const words = result.errors.substr(0, 2000);
    throw Error(Status::bad_data, Where{build.request.path},
                fmt::format("{} failed (exit status {}): {}", compiler, result.exit_code, words),
                "run the compiler by hand to see more, or pass a .ptx file");
  }
  Where where = first->where;
  if (where.file.empty()) where.file = build.request.path;
  throw Error(Status::bad_data, where, first->text + more, hint_for(first->text), line_of(where.file, where.line));
}

std::vector<std::string> parse_dependencies(std::string const& rule) {
  std::vector<std::string> result;
  auto const colon = rule.find(": ");
  std::string word;
  auto const flush = [&] {
    if (!word.empty()) result.push_back(std::move(word));
    word.clear();
  };
  for (std::size_t i = colon == std::string::npos ? rule.size() : colon + 2; i < rule.size(); ++i) {
    char const c = rule[i], next = i + 1 < rule.size() ? rule[i + 1] : '\0';
    if (c == '\\' && next == '\n') {
      flush();
      ++i;
    } else if ((c == '\\' && (next == ' ' || next == '#')) || (c == '$' && next == '$')) {
      word += next;
      ++i;
    } else if (c == ' ' || c == '\n') {
      flush();
    } else {
      word += c;
    }
  }
  flush();
  return result;
}

}  // namespace kernelcast::frontend
