// Variables "NAME=value" that put a library of ours into an application.
#pragma once

#include <string>
#include <vector>

namespace kernelcast::attach {

// Adds one of ours to a list, such as LD_LIBRARY_PATH, before what is there.
void put_first(std::vector<std::string>& variables, std::string const& list, std::string const& item);

// One that the user has set stays as it is.
void put_unless_set(std::vector<std::string>& variables, std::string const& name, std::string const& value);
// In place of what is there.
void replace(std::vector<std::string>& variables, std::string const& name, std::string const& value);

// A library of the suite before all others. Throws Error(unavailable), with this hint, where it is not installed.
void preload(std::vector<std::string>& variables, std::string const& library, std::string const& hint);

}  // namespace kernelcast::attach
