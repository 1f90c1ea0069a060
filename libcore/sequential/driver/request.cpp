#include "sequential/driver/request.hpp"

#include <bit>
#include <filesystem>

#include <fmt/format.h>

#include "base/diag/diag.hpp"
#include "base/diag/text.hpp"
#include "base/process/process.hpp"
#include "base/process/shell_words.hpp"
#include "sequential/driver/arguments.hpp"
#include "sequential/driver/execute.hpp"

namespace kernelcast::seq {

namespace q = record::quantity;

namespace {

// The instrumented program, made from sources and bitcode.
std::string build(Request const& request, TemporaryFolder const& scratch) {
  auto const tools = find_compiler_tools();
  Link link;
  link.target = request.target;
  link.program = scratch.file("program");
  link.keep = request.keep;
  auto const compiling = parse_compiler_call(shell_words(request.compile_flags), false),
             linking = parse_compiler_call(shell_words(request.link_flags), false);
  for (auto const* const call : {&compiling, &linking})
    link.others.insert(link.others.end(), call->objects.begin(), call->objects.end());
  std::vector<std::string> objects;
  for (auto const& file : request.files) {
    auto const language = language_of(file);
    link.cxx |= is_cxx(language);
    link.fortran |= is_fortran(language);
    if (language.empty() && !is_bitcode(file)) {
      objects.push_back(file);
      continue;
    }
    auto& list = is_assembly(language) ? objects : link.bitcode;
    list.push_back(scratch.file(fmt::format("{}{}", list.size(), is_assembly(language) ? ".o" : ".bc")));
    Source source{file, language};
    if (request.settings.sync_of_source && !language.empty() && !is_fortran(language) && !is_assembly(language))
      source = marked(tools, source, compiling.flags, list.back() + (is_cxx(language) ? ".ii" : ".i"));
    compile(tools, source, compiling.flags, list.back());
  }
  link.others.insert(link.others.begin(), objects.begin(), objects.end());
  if (link.bitcode.empty())
    throw Error(Status::usage, "there is no source among the files",
                "name files that end in .c, .cpp, .cc, .f90, .bc or .ll");
  link_instrumented(tools, link);
  return link.program;
}

}  // namespace

std::vector<record::Profile> profile(Request const& request) {
  if (request.files.empty())
    throw Error(Status::usage, "there is nothing to profile", "name sources, then -- and the program's arguments");
  for (auto const& file : request.files)
    if (std::error_code error; !std::filesystem::exists(file, error))
      throw Error(Status::io, "cannot open '" + file + "': no such file");
  TemporaryFolder const scratch;
  bool const built = request.files.size() == 1 && is_program(request.files.front());
  if (built && request.target != Target{})
    throw Error(Status::usage, "what is profiled of a program was chosen when it was linked",
                "link it again with SEQPROF_KERNEL, SEQPROF_REGION, SEQPROF_DEPENDENCES or SEQPROF_INVOCATIONS");
  auto const program = built ? std::filesystem::absolute(request.files.front()).string() : build(request, scratch);
  return execute(program, request.arguments, request.settings);
}

std::string sync_note(Request const& request, std::vector<record::Profile> const& rows) {
  if (!request.settings.sync_of_source) return {};
  for (auto const& file : request.files) {
    auto const language = language_of(file);
    if (language.empty() || is_fortran(language))
      return fmt::format("'{}' is not a source of C or C++: of its synchronizations only seqprof_sync() counts", file);
  }
  for (auto const& row : rows)
    if (row.invocation == "total" && row.quantity == q::sync && row.count == 0)
      return "no barrier of OpenMP's and no seqprof_sync() was passed: the number of synchronizations is 0";
  return {};
}

std::string sampling_note(std::vector<record::Profile> const& rows) {
  std::uint64_t rate = 0, loads = 0, stores = 0;
  std::string errors;
  for (auto const& row : rows) {
    if (row.invocation != "total") continue;
    if (row.quantity == q::load) loads = row.count;
    if (row.quantity == q::store) stores = row.count;
    if (row.quantity == q::sample_rate) rate = row.count;
    if (row.quantity != q::sample_error || loads + stores == 0) continue;
    errors += fmt::format("{}{:.2g} % in blocks of {} bytes", errors.empty() ? "" : ", ",
                          100 * static_cast<double>(row.count) / static_cast<double>(loads + stores),
                          row.granularity_bytes.value_or(0));
  }
  if (rate == 0) return {};
  return fmt::format(
      "stack distances are estimated from one block in {}; standard error of the references beyond any distance: {}",
      rate, errors);
}

std::vector<std::uint64_t> granularities(std::vector<std::string> const& texts) {
  std::vector<std::uint64_t> out;
  for (auto const& text : texts) {
    auto const bytes = to_number<std::uint64_t>(text).value_or(0);
    if (!std::has_single_bit(bytes) || bytes < 8 || bytes > 4096)
      throw Error(Status::usage, fmt::format("--granularity: '{}' is not a power of two from 8 to 4096", text),
                  "8 is a word, 64 the line of most CPUs, 128 that of NVIDIA's GPUs");
    out.push_back(bytes);
  }
  return out;
}

}  // namespace kernelcast::seq
