// The median of numbers.
#pragma once

#include <span>

namespace kernelcast {

// The middle one of the values, or the mean of the two in the middle; 0 of none. Puts the values into another order.
double median(std::span<double> values);

}  // namespace kernelcast
