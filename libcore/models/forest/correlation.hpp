// Pearson's correlation coefficient, as tables 5.7 and 5.8 of [braun] have it.
#pragma once

#include <optional>
#include <vector>

namespace kernelcast::forest {

// Empty for fewer than two pairs, or when either side is constant.
std::optional<double> pearson(std::vector<double> const& a, std::vector<double> const& b);

}  // namespace kernelcast::forest
