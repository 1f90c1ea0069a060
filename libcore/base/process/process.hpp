// Outside programs: found on PATH, run without a shell, with a time limit, their output captured. And what lies beside
// this one.
#pragma once

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/process/ending.hpp"
#include "base/process/input.hpp"

namespace kernelcast {

struct ProcessResult {
  int exit_code = -1;      // 128 + signal where a signal ended it
  bool timed_out = false;  // it and its children were killed
  std::string output;      // stdout, at most output_limit_bytes; the rest is read and dropped
  std::string errors;      // stderr, likewise
  bool succeeded() const { return exit_code == 0 && !timed_out; }
};
inline constexpr std::size_t output_limit_bytes = std::size_t{8} << 20;
// The address space of each process that is started, and the size of each file that it writes, unless the user's limits
// are lower: 16 GiB, or half of the machine's memory where that is less, but never less than 4 GiB.
std::uint64_t process_memory_bytes();
inline constexpr std::uint64_t process_file_bytes = std::uint64_t{4} << 30;

// Runs argv[0] (a path) with stdin from /dev/null and messages in English, within the limits above. Thread safe.
// Throws Error(io) when the process cannot be started.
ProcessResult run_process(std::vector<std::string> const& argv, double time_limit_s,
                          std::uint64_t memory_bytes = process_memory_bytes());

// Throws Error(io) where the process failed because the folder of temporary files ($TMPDIR, default /tmp) is full: it
// says so, or nothing can be written there.
void require_space(ProcessResult const& failed);

// Runs a program of the user's, found on PATH, with standard streams of ours and these variables ("NAME=value") alone;
// its exit status when it has ended, 128 + signal where a signal ended it. Throws Error(io) when it cannot be started.
// `output`: the descriptor of ours that is its standard output.
int run_in_foreground(std::vector<std::string> command, std::vector<std::string> variables, int output = 1);

// The executable's path on $PATH, then in `more_folders`; empty when there is none.
std::string find_program(std::string_view name, std::vector<std::string> const& more_folders = {});

// This program's own file; empty where the system does not provide it.
std::filesystem::path program_path();
// For a shared library loaded by another program: sets the path that program_path() returns, from which the suite's
// files are searched. To be called before any other function of the library.
void set_program_path(std::filesystem::path path);

// A shared object that is built and installed with the suite, by its file name: in a build tree bin/ and lib/ are
// neighbours, installed ones have a folder of their own. Its path without links or dots; empty where it was not built.
std::string find_plugin(std::string_view name);

// "NAME=value" of all variables of this process but those that begin with one of `prefixes`.
std::vector<std::string> environment_without(std::initializer_list<std::string_view> prefixes);

// What exec and posix_spawn take: the words and a null pointer. Good until `words` changes.
std::vector<char*> null_terminated(std::vector<std::string>& words);

// A private folder, removed with its content at the end of its life, also when a signal ends a program that has called
// clean_up_at_signals(). A lock file beside it says that its process lives: what a killed process left behind is
// removed by the next one that makes a folder in the same place, or calls remove_abandoned(). A child made by
// fork() does not remove its parent's.
class TemporaryFolder {
 public:
  TemporaryFolder();  // in $TMPDIR/kernelcast-UID (default /tmp/kernelcast-UID). Throws Error(io)
  explicit TemporaryFolder(std::string place);  // in this folder, which is made where it is missing. Throws Error(io)
  ~TemporaryFolder();
  TemporaryFolder(TemporaryFolder const&) = delete;
  TemporaryFolder& operator=(TemporaryFolder const&) = delete;
  std::filesystem::path const& path() const { return path_; }
  std::string file(std::string_view name) const { return (path_ / name).string(); }

 private:
  bool make();
  bool try_to_make();
  void remove();

  std::filesystem::path path_;
  std::string place_, lock_file_;
  int lock_ = -1;
  pid_t owner_;
  RemovedAtSignal at_signal_;
};

// A private file, for what gets its name when it is complete; otherwise as a temporary folder.
class TemporaryFile {
 public:
  explicit TemporaryFile(
      std::string const& place);  // in this folder, which is made where it is missing. Throws Error(io)
  ~TemporaryFile();
  TemporaryFile(TemporaryFile const&) = delete;
  TemporaryFile& operator=(TemporaryFile const&) = delete;
  std::string const& path() const { return path_; }
  void move_to(std::string const& target);  // in place of what is there. Throws Error(io)

 private:
  std::string path_;
  int lock_ = -1;
  RemovedAtSignal at_signal_;
};

// Removes the temporary folders and files in this place (default: the user's own in $TMPDIR) whose processes are gone.
// Leaves alone what is locked, what belongs to others, and everything where the file system has no locks. Throws
// nothing but std::bad_alloc.
void remove_abandoned(std::string const& place = {});

// Removes a file whose lock (flock) is not held, if it is the user's own. Whether it is gone now.
bool remove_abandoned_file(std::string const& path);

// The names in a folder but "." and "..", in no order; with `error` instead of Error(io) those that could be read.
// Where memory is short std::bad_alloc is thrown: iterators of std::filesystem end the process.
std::vector<std::string> names_in(std::string const& folder);  // throws Error(io)
std::vector<std::string> names_in(std::string const& folder, std::error_code& error);

// Throws Error(io), and Error(bad_data) beyond the limit.
std::string read_file(std::string const& path, std::size_t limit_bytes = max_input_bytes);
// For files that are read row by row. Throws Error(io); what fails later throws std::ios_base::failure and is not taken
// for the end of the file.
std::ifstream open_file(std::string const& path);
void write_file(std::string const& path, std::string_view text);  // throws Error(io)
// The same, but the file has its new content as a whole or stays as it was: written beside and renamed. What is no
// regular file is written as it is. `mode`: of a new file, less the umask.
void replace_file(std::string const& path, std::string_view text, unsigned mode = 0666);

}  // namespace kernelcast
