// Completion of command lines in bash, zsh and fish, from the options that a program declares.
//
// Method: `PROGRAM --completion SHELL` (hidden) writes the shell's own script: options with their texts, the values of
// those that have a closed list, devices by `kernelcast devices` at the time of completing, files for everything else.
// Limits: options that exclude each other are all offered.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace kernelcast::cli {

// `program`: "rank", or "kernelcast choose" for a verb of a program. `words`: what may stand first, such as verbs;
// `of_verbs`: the scripts of those that are the program's own. Throws Error(usage) for another shell.
std::string completion(CLI::App const& app, std::string const& program, std::string const& shell,
                       std::vector<std::string> const& words = {}, std::string const& of_verbs = {});

}  // namespace kernelcast::cli
