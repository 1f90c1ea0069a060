// What an expression of an application file may name.
#pragma once

#include <array>
#include <span>
#include <string_view>

namespace kernelcast::graph {

// n: problem size; parts: their number, part_rows x part_columns; rows, columns: extent of the part at hand;
// iterations; edge: length of the side that two neighbours share, only in copies to neighbours.
inline constexpr std::array<std::string_view, 8> edge_variables{"n",    "parts",   "part_rows",  "part_columns",
                                                                "rows", "columns", "iterations", "edge"};
inline constexpr std::span<std::string_view const> part_variables(edge_variables.data(), 7);

}  // namespace kernelcast::graph
