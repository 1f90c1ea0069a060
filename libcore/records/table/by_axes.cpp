#include "records/table/by_axes.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include <fmt/format.h>

#include "records/table/histogram.hpp"

namespace kernelcast::record {

namespace {

constexpr std::string_view letters = "xyz";

}  // namespace

std::string text_of(ByAxes const& parts) {
  std::string out;
  for (Axes a = 0; a <= all_axes; ++a) {
    if (parts[a] <= 0) continue;
    std::string axes;
    for (unsigned i = 0; i < letters.size(); ++i)
      if (a >> i & 1) axes += letters[i];
    fmt::format_to(std::back_inserter(out), "{}{}:{}", out.empty() ? "" : ";", axes.empty() ? "all" : axes, parts[a]);
  }
  return out;
}

bool read_by_axes(std::string_view text, ByAxes& sum) {
  return read_histogram(text, [&](std::string_view axes, double n) {
    Axes set = 0;
    if (axes != "all")
      for (char const c : axes) {
        auto const at = letters.find(c);
        if (at == std::string_view::npos) return false;
        set |= 1u << at;
      }
    sum[set] += n;
    return true;
  });
}

double union_of(ByAxes const& parts, std::array<double, 3> const& grid, double groups) {
  std::array<double, 3> const extent{std::min(grid[0], groups), std::min(grid[1], std::ceil(groups / grid[0])),
                                     std::min(grid[2], std::ceil(groups / (grid[0] * grid[1])))};
  double sum = 0;
  for (Axes a = 0; a <= all_axes; ++a) {
    double different = 1;
    for (std::size_t i = 0; i < extent.size(); ++i)
      if (a >> i & 1) different *= extent[i];
    sum += parts[a] * std::min(different, groups);
  }
  return sum;
}

}  // namespace kernelcast::record
