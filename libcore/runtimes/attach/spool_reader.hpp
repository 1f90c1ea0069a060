// What a layer has left in its spool (spool.hpp), seen from outside the application.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtimes/attach/usage.hpp"

namespace kernelcast::attach {

// A file of one launch: "launch-PID-N.toml".
struct Spooled {
  std::string file, process;
  std::uint64_t number = 0;
  std::pair<std::string, std::uint64_t> key() const { return {process, number}; }
};

class SpoolReader {
 public:
  explicit SpoolReader(std::string folder) : folder_(std::move(folder)) {}
  std::string const& folder() const { return folder_; }
  std::string path(Spooled const& spooled) const { return folder_ + '/' + spooled.file; }

  // The launch files, by process and number; those that are there by now.
  std::vector<Spooled> launches() const { return files("launch-", ".toml"); }
  std::vector<Spooled> files(std::string_view kind, std::string_view ending) const;

  // Kernel and reason of configurations that have no row, and of those that have one, but no launch file.
  struct Skipped {
    std::string kernel, why;
    Spooled of;
  };
  std::vector<Skipped> skipped() const { return reasons("skipped-"); }
  std::vector<Skipped> unkept() const { return reasons("unkept-"); }

  // What kernels did wrong by now, by the kind of runtimes/cudart/findings.hpp, how often, and the text.
  struct Told {
    std::string kind;
    std::uint64_t times = 0;
    std::string text;
  };
  std::vector<Told> findings() const;

  // How often each configuration of a process was launched by now, by its number.
  std::vector<std::uint64_t> counts(std::string const& process) const { return words("counts-", process); }
  // The most device memory that was allocated at a launch of each; 0 where the application did not say.
  std::vector<std::uint64_t> allocated_bytes(std::string const& process) const { return words("allocated-", process); }

  // The column of the row of a configuration, over all of its launches by now; empty where the application does not
  // say.
  std::string touched_before(std::string const& process, std::uint64_t number) const;

  // Of all processes together by now; empty where none is a CUDA application on the emulator.
  std::optional<Usage> usage() const;
  // Files of commands (record::Command), by process.
  std::vector<std::string> timelines() const;

  // Buffers of a launch that has been emulated: they are large.
  void remove_buffers(Spooled const&) const;

 private:
  std::vector<std::uint64_t> words(std::string const& kind, std::string const& process) const;
  std::vector<Skipped> reasons(std::string_view kind) const;

  std::string folder_;
};

// Ends a wait when a folder has something new.
class FolderWatch {
 public:
  explicit FolderWatch(std::string const& folder);
  ~FolderWatch();
  FolderWatch(FolderWatch const&) = delete;
  bool wait(int at_most_ms) const;  // whether there is

 private:
  int watch_;
};

}  // namespace kernelcast::attach
