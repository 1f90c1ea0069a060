#include "models/forest/correlation.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kernelcast::forest {

std::optional<double> pearson(std::vector<double> const& a, std::vector<double> const& b) {
  auto const n = std::min(a.size(), b.size());
  if (n < 2) return std::nullopt;
  double const mean_a =
      std::accumulate(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n), 0.0) / static_cast<double>(n);
  double const mean_b =
      std::accumulate(b.begin(), b.begin() + static_cast<std::ptrdiff_t>(n), 0.0) / static_cast<double>(n);
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < n; ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  if (!(aa > 0) || !(bb > 0)) return std::nullopt;
  return std::clamp(ab / std::sqrt(aa * bb), -1.0, 1.0);
}

}  // namespace kernelcast::forest
