// The commands of an application to its device, in order: the lines of a spool's file commands-PID, of which
// recorder.hpp makes a recording. Each line is written at once, so that a killed application leaves whole lines.
// Buffers have numbers from 0, launches those of their configurations (spool.hpp); parts of a buffer are places in the
// whole.
//
//   B buffer bytes initial                      a buffer is seen first; initial: 1 where it has contents from the start
//   S buffer address                            where it lies, if others may hold pointers into it
//   K number argument:buffer:offset ...         a launch, and where its arguments point to
//   L number x y z buffer:write:regular:first:sx:sy:sz:span:touched ...   a launch of x·y·z groups, and what they were
//                                               seen to touch (graph::Access), write and regular 0 or 1
//   W buffer begin end bytes                    from the host; `bytes` of that range where it is a rectangle
//   R buffer begin end bytes                    to the host
//   C buffer begin end bytes buffer begin end   from buffer to buffer
//   F buffer begin end bytes                    filled
#pragma once

#include <string>

namespace kernelcast::attach {

class CommandLog {
 public:
  // Of the file `name` with the process's number for its #.
  explicit CommandLog(std::string folder, std::string name = "commands-#")
      : folder_(std::move(folder)), name_(std::move(name)) {}
  CommandLog(CommandLog const&) = delete;

  // True where what follows begins a file: at first, and in a process after a fork, whose buffers have no numbers yet.
  bool begins();
  void line(std::string text);  // where the disk is full the file ends
  int process() const { return process_; }

 private:
  std::string folder_, name_;
  int process_ = 0, file_ = -1;
};

}  // namespace kernelcast::attach
