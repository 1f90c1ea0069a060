// Records as --format json writes them, as CSV: an array of objects, one a row; null is an unknown value.
#pragma once

#include <iosfwd>
#include <string>

namespace kernelcast::cli {

// Columns are the names of all objects, in the order of their first use. Throws Error(bad_data) with the place of what
// is no JSON, and for what is no such array.
std::string csv_of_json(std::istream&, std::string const& file);

}  // namespace kernelcast::cli
