// Outside programs: found on PATH, run without a shell, with a time limit, their output captured.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace kernelcast {

struct ProcessResult {
  int exit_code = -1;      // 128 + signal where a signal ended it
  bool timed_out = false;  // it and its children were killed
  std::string output;      // stdout, at most output_limit_bytes; the rest is read and dropped
  std::string errors;      // stderr, likewise
  bool succeeded() const { return exit_code == 0 && !timed_out; }
};
inline constexpr std::size_t output_limit_bytes = std::size_t{8} << 20;

// Runs argv[0] (a path) with stdin from /dev/null and messages in English. Thread safe.
// Throws Error(io) when the process cannot be started.
ProcessResult run_process(std::vector<std::string> const& argv, double time_limit_s);

// The executable's path on $PATH, then in `more_folders`; empty when there is none.
std::string find_program(std::string_view name, std::vector<std::string> const& more_folders = {});

// A private folder under $TMPDIR (default /tmp), removed with its content at the end of its life.
class TemporaryFolder {
 public:
  TemporaryFolder();  // throws Error(io)
  ~TemporaryFolder();
  TemporaryFolder(TemporaryFolder const&) = delete;
  TemporaryFolder& operator=(TemporaryFolder const&) = delete;
  std::filesystem::path const& path() const { return path_; }
  std::string file(std::string_view name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

std::string read_file(std::string const& path);                   // throws Error(io)
void write_file(std::string const& path, std::string_view text);  // throws Error(io)

}  // namespace kernelcast
