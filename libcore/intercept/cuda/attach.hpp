// The CUDA runtime that goes into applications, seen from outside: putting it there, and reading what it left.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "intercept/cuda/settings.hpp"
#include "intercept/spool_reader.hpp"
#include "record/kernel.hpp"

namespace kernelcast::cudart {

// Where libcudart.so.12 and .13 of ours lie; empty where they were not built.
std::string folder_of_runtimes();

// Adds to the variables of an application what puts the runtime into it. Does nothing where there is none.
void add_runtime(std::vector<std::string>& variables, Settings const&);

// Adds what puts our look-out before the runtime of an application that has a GPU. Throws Error(unavailable) where it
// was not built.
void add_look_out(std::vector<std::string>& variables);

// The rows in a spool, by process and number, one launch each, with registers of the compilers that are there (and that
// are asked for). What cannot be read is told.
using RowsByLaunch = std::map<std::pair<std::string, std::uint64_t>, record::Kernel>;
RowsByLaunch rows_in(intercept::SpoolReader const&, bool cache, bool registers,
                     std::function<void(std::string_view)> const& tell);

}  // namespace kernelcast::cudart
