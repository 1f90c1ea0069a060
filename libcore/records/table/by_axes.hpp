// Distinct memory by the axes of the grid that it depends on, as columns have it: "all:12;x:3;xy:4".
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace kernelcast::record {

using Axes = unsigned;  // a set: bit i is axis i of x, y, z
inline constexpr Axes all_axes = 7;
constexpr bool within(Axes part, Axes whole) {
  return (part & ~whole) == 0;
}
using ByAxes = std::array<double, all_axes + 1>;

std::string text_of(ByAxes const&);
bool read_by_axes(std::string_view text, ByAxes& sum);  // adds to `sum`; false where it is no such text

// What so many groups touch together that are one after the other in a grid of these sizes: each part once for each
// different coordinate that it depends on.
double union_of(ByAxes const&, std::array<double, 3> const& grid, double groups);

}  // namespace kernelcast::record
