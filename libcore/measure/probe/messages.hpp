// Messages of a run beside its rows: where they come from, how far it is, warnings about them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "measure/probe/probe.hpp"

namespace kernelcast::probe {

// Column `source` of rows that are measured now: program, driver and date (UTC).
std::string provenance(std::string_view program, Facts const&);

// "[######      ] 12/40 0:31 left  what is being measured"
std::string bar(Progress const&);

// One sentence each: that the machine was not idle, that rows are doubtful, that rows failed.
std::vector<std::string> remarks(Report const&);

}  // namespace kernelcast::probe
