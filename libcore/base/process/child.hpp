// What it takes to start a child of this process: a pipe to it, and its limits.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/diag/diag.hpp"

namespace kernelcast {

struct Pipe {
  int read_end = -1, write_end = -1;
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
      throw Error(Status::io, std::string("cannot open a pipe: ") + std::strerror(errno));
    read_end = ends[0];
    write_end = ends[1];
  }
  ~Pipe() {
    close_end(read_end);
    close_end(write_end);
  }
  Pipe(Pipe const&) = delete;
  Pipe& operator=(Pipe const&) = delete;
  static void close_end(int& end) {
    if (end >= 0) close(end);
    end = -1;
  }
};

// Of this process, where it is not lower already. Calls the system alone, so a child may call it before exec.
inline void lower_limit(decltype(RLIMIT_AS) resource, rlim_t most) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0) return;
  limit.rlim_cur = std::min(limit.rlim_cur, most);
  setrlimit(resource, &limit);
}

}  // namespace kernelcast
