#include "sequential/driver/execute.hpp"

#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diag/diag.hpp"
#include "base/process/call_place.hpp"
#include "base/process/process.hpp"
#include "base/process/variables.hpp"
#include "records/table/table.hpp"
#include "sequential/crash.hpp"
#include "sequential/distance.hpp"

namespace kernelcast::seq {

namespace {

// The wait status of the program.
int run(std::string const& program, std::vector<std::string> const& arguments, Settings const& settings) {
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  auto variables = environment_of(settings);
  for (auto& other : environment_without({variables::seqprof_prefix})) variables.push_back(std::move(other));
  auto argv = null_terminated(words), envp = null_terminated(variables);
  auto const child = fork();
  if (child < 0) throw Error(Status::io, std::string("cannot start the program: ") + std::strerror(errno));
  if (child == 0) {
    dup2(STDERR_FILENO, STDOUT_FILENO);
    // The same addresses in every run: a sample chooses blocks by them.
    personality(ADDR_NO_RANDOMIZE);
    execve(program.c_str(), argv.data(), envp.data());
    _exit(127);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

struct Failure {
  std::string error;                                        // of the run-time library
  std::vector<std::pair<std::string, std::string>> frames;  // module, offset
};

Failure read_failure(std::string const& path) {
  Failure out;
  if (std::error_code error; !std::filesystem::exists(path, error)) return out;
  auto in = open_file(path);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string kind, module, offset;
    words >> kind;
    if (kind == "error") out.error = line.substr(6);
    if (kind == "frame" && words >> module >> offset) out.frames.emplace_back(module, offset);
  }
  return out;
}

// Of the innermost frame in the program itself; empty where there is no tool to tell.
Where place_of(Failure const& failure, std::string const& program) {
  for (auto const& [module, offset] : failure.frames)
    if (module == program)
      if (auto place = source_place(module, offset); place.line.line > 0) return place.line;
  return {};
}

std::vector<record::Profile> read_profile(std::string const& path) {
  auto const never = Error(Status::finding, "the program never called the kernel", "give its arguments behind --");
  if (std::error_code error; !std::filesystem::exists(path, error)) throw never;
  auto in = open_file(path);
  if (in.peek() == std::ifstream::traits_type::eof()) throw never;
  return record::read_rows<record::Profile>(in, path);
}

}  // namespace

std::vector<std::string> environment_of(Settings const& settings) {
  std::vector<std::string> out{
      fmt::format("{}={}", variables::seqprof_output, settings.output),
      fmt::format("{}={}", variables::seqprof_granularity, fmt::join(settings.granularities_bytes, ",")),
      fmt::format("{}={}", variables::seqprof_sample, settings.sample),
      fmt::format("{}={}", variables::seqprof_case, settings.case_name)};
  if (settings.sync_of_source) out.push_back(fmt::format("{}=source", variables::seqprof_sync));
  if (settings.sync) out.push_back(fmt::format("{}={}", variables::seqprof_sync, *settings.sync));
  return out;
}

std::vector<record::Profile> execute(std::string const& program, std::vector<std::string> const& arguments,
                                     Settings const& settings) {
  TemporaryFolder const scratch;
  auto own = settings;
  own.output = scratch.file("profile.csv");
  auto const status = run(program, arguments, own);
  auto const failure = read_failure(failure_file(own.output));
  constexpr auto not_whole = "what was profiled until then is not written: it would pass for the whole";
  if (!failure.error.empty()) {
    auto const limit = failure.error.starts_with("limit reached");
    auto const level = failure.error.starts_with("instruction-set level");
    throw Error(limit ? Status::limit : Status::unavailable, failure.error,
                limit   ? "profile a smaller input"
                : level ? fmt::format("{} are", fmt::join(distance_levels(), ", "))
                        : "profile a sequential version of it");
  }
  if (WIFSIGNALED(status))
    throw Error(Status::finding, place_of(failure, program),
                fmt::format("the program ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status))),
                not_whole);
  if (WEXITSTATUS(status) != 0)
    throw Error(Status::finding, fmt::format("the program exited with status {}", WEXITSTATUS(status)), not_whole);
  return read_profile(own.output);
}

}  // namespace kernelcast::seq
