// The forests that the device database brings along: which one predicts these columns on this device, and how far it
// can be trusted.
//
// Problem: a prediction without training must say what the forest was trained on and whether it beats a trivial one.
// Method: devdb/forests/index.csv has a row for each forest, with the columns that it reads and the errors of its
// held-out predictions beside those of trivial predictors. The columns of the input decide between the forests of a
// device.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "records/shipped_forest.hpp"

namespace kernelcast::forest {

std::vector<std::string> features_of(record::ShippedForest const&);

// The forest of `device` all of whose features are columns of the input. Throws Error: unavailable where the device has
// none, bad_data where none reads these columns, usage where several do.
record::ShippedForest const& choose(std::vector<record::ShippedForest> const& index, std::string const& device,
                                    std::vector<std::string> const& columns);

// The kernels among `kernels` that a model with these samples, kernel/case, was trained on.
std::set<std::string> seen(std::vector<std::string> const& samples, std::set<std::string> const& kernels);

// What is said beside the predictions: of so many rows of kernels that it was trained on, and of others.
std::string trust(record::ShippedForest const&, std::uint64_t seen_rows, std::uint64_t unseen_rows);

}  // namespace kernelcast::forest
