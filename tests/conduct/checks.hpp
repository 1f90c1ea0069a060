// The checks, each a function that throws Failure or Skip.
#pragma once

#include <span>

#include "bench.hpp"

namespace conduct {

struct Check {
  char const* name;
  void (*run)(Bench const&);
};

std::span<Check const> checks_of_programs();   // whatever a program computes
std::span<Check const> checks_of_csv_input();  // for programs that read CSV

}  // namespace conduct
