// The index of the forests that the device database brings along.
#pragma once

#include <string>
#include <vector>

#include "records/cli/cli.hpp"
#include "records/shipped_forest.hpp"

namespace kernelcast::forest {

// Throws Error(unavailable) where `database` has no forests.
std::vector<record::ShippedForest> shipped_index(cli::Streams& io, std::string const& database);
std::string shipped_path(std::string const& database, std::string const& file);

}  // namespace kernelcast::forest
