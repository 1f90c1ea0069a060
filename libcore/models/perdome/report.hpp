// What bounds come to: rows of records.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/perdome/partition.hpp"
#include "models/perdome/system.hpp"

namespace kernelcast::model::perdome {

// A division of a code of this intensity.
record::Bound bound_row(System const&, std::string partition, double intensity, Division const&,
                        double link_s_per_flop = 0);

// The perfect data partition, p-DP.
record::Bound data_partition_row(System const&, double intensity);

// A partition of the input. Throws Error(usage) where it is for another number of processors, or moves bytes across the
// link and `link_bytes_per_s` is 0.
record::Bound partition_row(System const&, PartitionedWork const&, double link_bytes_per_s);

// The surface of [perdome] Figures 2 and 3: all pairs of intensities on `axis` that two parts can have, row by row,
// then each processor alone, p-DP and the optimum. Throws Error(usage) where there are not two processors.
void each_surface_row(System const&, double intensity, std::vector<double> const& axis,
                      std::function<void(record::Bound const&)> const& visit);

// The corners of a system's roofline: where a processor turns from memory to compute bound, and both ends.
std::vector<record::Bound> roof_rows(System const&);

// The best division, a row for each processor.
std::vector<record::Optimum> optimum_rows(System const&, double intensity);

}  // namespace kernelcast::model::perdome
