// Features of operators of neural networks from their sizes, for the forests trained on NeuSight's measurements.
//
// Method: the data set's features follow from operator and sizes alone: a test derives all of its rows. Every element
// has 4 bytes; a division counts half a special function, powu and tanh one. NeuSight's products are of M x N and N x
// K; the features that the forests were trained with have N and K exchanged (their bytes, inner, cols), and so have
// these.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "records/operator.hpp"

namespace kernelcast::forest {

// By name.
std::vector<std::string> operator_names();

// Throws Error(bad_data), without a place, for an unknown operator and for sizes that are not the operator's.
record::OperatorFeature operator_features(std::string const& kernel, std::string const& sizes);

}  // namespace kernelcast::forest
