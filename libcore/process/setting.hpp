// Variables that one program of ours sets for our libraries in an application that it starts.
//
// Problem: an application may clear or change its environment before it uses what our library stands behind.
// Method: they are noted when the library is loaded, with those that the process was started with (/proc/self/environ)
// for a library that is loaded late.
// Limits: what the application starts with another environment is not reached.
// Alone in a header, so that libraries inside of other people's programs need nothing more of this folder.
#pragma once

#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <string_view>

extern char** environ;

namespace kernelcast {

namespace settings {

inline constexpr std::string_view prefix = "KERNELCAST_";

inline std::map<std::string, std::string, std::less<>> const& at_load() {
  static auto const* const noted = [] {
    auto* const made = new std::map<std::string, std::string, std::less<>>;  // never destroyed: used until the very end
    auto const note = [&](std::string_view variable) {
      auto const equal = variable.find('=');
      if (variable.starts_with(prefix) && equal != variable.npos)
        made->emplace(variable.substr(0, equal), variable.substr(equal + 1));
    };
    for (char** variable = environ; variable && *variable; ++variable) note(*variable);
    std::ifstream first("/proc/self/environ", std::ios::binary);
    for (std::string variable; std::getline(first, variable, '\0');) note(variable);
    return made;
  }();
  return *noted;
}

inline bool const noted_at_load = (at_load(), true);

}  // namespace settings

// Null where a variable KERNELCAST_… is set neither now nor when this library was loaded.
inline char const* setting(char const* name) {
  if (char const* const now = std::getenv(name)) return now;
  auto const found = settings::at_load().find(std::string_view(name));
  return found == settings::at_load().end() ? nullptr : found->second.c_str();
}

}  // namespace kernelcast
