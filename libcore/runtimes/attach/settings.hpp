// What a program of ours tells the libraries that it puts into an application, handed over in its environment:
// settings.def. Needs nothing but the standard library: it lives in other people's processes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace kernelcast::attach {

struct Settings {
#define KERNELCAST_SETTING(name, type, member, otherwise) type member = otherwise;
#include "runtimes/attach/settings.def"

  // Sets variables "NAME=value" of an application, in place of those that are there.
  void put_into(std::vector<std::string>& variables) const;
};

// Of this process, as they were when they were first asked for.
Settings const& settings();

}  // namespace kernelcast::attach
