// Variables that one program of ours sets for our libraries in an application that it starts.
//
// Problem: an application may clear or change its environment before it uses what our library stands behind.
// Method: they are noted when the library is loaded, with those that the process was started with (/proc/self/environ)
// for a library that is loaded late.
// They are kept outside of the heap, whose layout stays the application's own.
// Limits: what the application starts with another environment is not reached.
// Alone in a header, so that libraries inside of other people's programs need nothing more of this folder.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "base/process/variables.hpp"

extern char** environ;

namespace kernelcast {

namespace settings {

// Variables as NAME=VALUE, each with its NUL, an empty one at the end.
inline char const* read_at_load() {
  constexpr std::size_t size = std::size_t{8} << 20;  // Linux passes 6 MiB at most
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return "";
  char* const begin = static_cast<char*>(memory);
  char* end = begin;
  auto const note = [&](char const* variable, std::size_t bytes) {
    if (std::strncmp(variable, variables::prefix, sizeof variables::prefix - 1) != 0 || end + bytes + 1 > begin + size)
      return;
    std::memmove(end, variable, bytes);
    end += bytes;
  };
  for (char** variable = environ; variable && *variable; ++variable) note(*variable, std::strlen(*variable) + 1);
  char* read_end = end;
  if (int const first = open("/proc/self/environ", O_RDONLY | O_CLOEXEC); first >= 0) {
    for (ssize_t n = 0; (n = read(first, read_end, static_cast<std::size_t>(begin + size - 1 - read_end))) > 0;)
      read_end += n;
    close(first);
  }
  std::size_t bytes = 0;  // what is noted moves to where it is no longer needed
  for (char const* variable = end; variable < read_end; variable += bytes)
    note(variable, bytes = std::strlen(variable) + 1);
  *end = '\0';
  return begin;
}

inline char const* at_load() {
  static char const* const noted = read_at_load();
  return noted;
}

inline bool const noted_at_load = (at_load(), true);

}  // namespace settings

// Null where a variable KERNELCAST_… is set neither now nor when this library was loaded.
inline char const* setting(char const* name) {
  if (char const* const now = std::getenv(name)) return now;
  std::size_t const length = std::strlen(name);
  for (char const* noted = settings::at_load(); *noted; noted += std::strlen(noted) + 1)
    if (std::strncmp(noted, name, length) == 0 && noted[length] == '=') return noted + length + 1;
  return nullptr;
}

}  // namespace kernelcast
