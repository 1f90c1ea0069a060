// A file that is complete or absent.
//
// Problem: a program that fails or is killed must not leave half a file, nor lose the old one.
// Method: a file without a name in the target's folder (O_TMPFILE), synced and put in the target's place by commit():
// whatever ends the program before, nothing is left. Where the file system has no such files it is one named
// .TARGET.new-N beside the target, locked while its process lives; the destructor or a signal removes it, and what a
// killed process left behind is removed by the next one that writes the same target.
// What is not a regular file (a pipe, /dev/full) is written directly; so is what others have opened (/dev/stdout,
// /dev/fd/3): it may be a log that grows.
#pragma once

#include <memory>
#include <ostream>
#include <string>

#include "base/process/ending.hpp"
#include "records/cli/stdio.hpp"

namespace kernelcast::cli {

// The descriptor that a name such as /dev/stdout or /dev/fd/3 stands for, -1 for any other name.
int named_descriptor(std::string const& path);

class OutputFile {
 public:
  enum class Until { unnamed, named };  // what it is until it is complete; unnamed only where that is possible
  explicit OutputFile(std::string path, Until until = Until::unnamed);  // throws Error(io)
  ~OutputFile();
  OutputFile(OutputFile const&) = delete;

  std::ostream& stream() { return *stream_; }
  void commit();  // throws Error(io)
  // For programs whose rows cost much: what is written so far stands under the file's name from now on, whatever
  // happens later; writing goes on in the same file.
  void publish();                                            // throws Error(io)
  bool waits() const { return waits_; }                      // to take the place of what has its name
  bool can_be_replaced() const { return !target_.empty(); }  // a regular file, of which another can take the place

 private:
  OutputFile() = default;  // from here on the destructor runs, also where the other constructor throws
  void open_beside(Until until);
  void open_stream();
  std::string name_beside(int number) const;
  bool name_it();  // false, with errno, where it fails
  void take_its_place();
  [[noreturn]] void fail(std::string const& what, std::string hint) const;

  std::string path_;       // as the user named it
  std::string target_;     // with symbolic links resolved
  std::string temporary_;  // its name beside the target, while it has one
  bool waits_ = false;     // to take the target's place
  int descriptor_ = -1;
  RemovedAtSignal at_signal_;
  std::unique_ptr<OutputBuffer> buffer_;
  std::unique_ptr<std::ostream> stream_;
};

}  // namespace kernelcast::cli
