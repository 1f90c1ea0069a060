// A row of the `partition` record as parts of operations and bytes, with everything that can be wrong with it.
#pragma once

#include <optional>
#include <string>

#include "models/perdome/perdome.hpp"
#include "records/partition.hpp"
#include "records/table/table.hpp"

namespace kernelcast::model::perdome {

struct PartitionedWork {
  std::string name, system;
  double intensity = 0;
  // Empty: the perfect data partition, which depends on the processors.
  std::optional<Division> division;
  double link_bytes_per_flop = 0;
  std::vector<std::string> passed_through;  // cells of columns that the record does not have
};

using PartitionRows = record::Reader<record::Partition>;

// The current row. Throws Error(bad_data) at the cell that is wrong: intensities that violate a lemma, operations or
// bytes that are missing, below 0 or all 0, lists of different lengths.
PartitionedWork work_of(PartitionRows const& rows, record::Partition const& row);

// "0.25;0.75"
std::string joined(std::vector<double> const& numbers);

}  // namespace kernelcast::model::perdome
