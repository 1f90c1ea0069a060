// A file that is complete or absent.
//
// Problem: a program that fails or is killed must not leave half a file, nor lose the old one.
// Method: a temporary file beside the target, synced and renamed by commit(); removed by the destructor and by a
// handler for the signals that end a program. What is no regular file (a pipe, /dev/full) is written directly;
// so is what others have opened (/dev/stdout, /dev/fd/3): it may be a log that grows.
#pragma once

#include <memory>
#include <ostream>
#include <string>

#include "cli/stdio.hpp"

namespace kernelcast::cli {

// The descriptor that a name such as /dev/stdout or /dev/fd/3 stands for, -1 for any other name.
int named_descriptor(std::string const& path);

// For a program that ends at once: what has not come to be a whole file. May be called by a signal's handler.
void remove_unfinished_files();

class OutputFile {
 public:
  explicit OutputFile(std::string path);  // throws Error(io)
  ~OutputFile();
  OutputFile(OutputFile const&) = delete;

  std::ostream& stream() { return *stream_; }
  void commit();  // throws Error(io)
  // For programs whose rows cost much: what is written so far stands under the file's name from now on, whatever
  // happens later; writing goes on in the same file.
  void publish();                                            // throws Error(io)
  bool can_be_replaced() const { return !target_.empty(); }  // a regular file, of which another can take the place

 private:
  void open_beside();
  void open_stream();
  void rename_into_place();
  [[noreturn]] void fail(std::string const& what, std::string hint) const;

  std::string path_;       // as the user named it
  std::string target_;     // with symbolic links resolved
  std::string temporary_;  // empty when written directly
  int descriptor_ = -1;
  int slot_ = -1;  // in the list that the signal handler removes
  std::unique_ptr<OutputBuffer> buffer_;
  std::unique_ptr<std::ostream> stream_;
};

}  // namespace kernelcast::cli
