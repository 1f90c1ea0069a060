#include "runtimes/attach/command_log.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace kernelcast::attach {

bool CommandLog::begins() {
  if (process_ == getpid()) return false;
  if (file_ != -1) close(file_);
  process_ = getpid();
  std::string path = folder_ + '/' + name_;
  path.replace(path.rfind('#'), 1, std::to_string(process_));
  file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  return true;
}

void CommandLog::line(std::string text) {
  text += '\n';
  if (file_ == -1 || write(file_, text.data(), text.size()) == static_cast<ssize_t>(text.size())) return;
  close(file_);
  file_ = -1;
}

}  // namespace kernelcast::attach
