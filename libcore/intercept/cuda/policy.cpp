#include "intercept/cuda/policy.hpp"

#include <algorithm>
#include <cstdlib>

namespace kernelcast::cudart {

namespace {

bool same(Dim3 const& a, Dim3 const& b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}
bool same(Sizes const& a, Sizes const& b) {
  return same(a.grid, b.grid) && same(a.block, b.block) && a.dynamic_shared_bytes == b.dynamic_shared_bytes;
}

}  // namespace

LaunchPolicy::LaunchPolicy(std::string const& spool, std::string const& every)
    : spool_(spool),
      kernels_once_(every == "kernel"),
      every_(every == "launch" ? 1 : std::strtoull(every.c_str(), nullptr, 10)) {}

LaunchPolicy::Counted LaunchPolicy::count(void const* kernel, Sizes const& sizes) {
  auto& history = histories_[kernel];
  history.launches += 1;
  auto const seen = std::find_if(history.seen.begin(), history.seen.end(),
                                 [&](Configuration const& c) { return kernels_once_ || same(c.sizes, sizes); });
  bool const due = every_ > 0 && (history.launches - 1) % every_ == 0;
  if (seen != history.seen.end() && !due) {
    ++*seen->launches;
    return {kernel, seen->launches, std::nullopt};
  }
  std::uint64_t number = 0;
  std::uint64_t* const counter = spool_.next(number);
  if (!counter) return {kernel, nullptr, std::nullopt};
  *counter = 1;
  if (seen != history.seen.end())
    seen->launches = counter;
  else
    history.seen.push_back({sizes, counter});
  return {kernel, counter, number};
}

void LaunchPolicy::take_back(Counted const& counted) {
  auto& history = histories_[counted.kernel];
  --history.launches;
  if (counted.launches) --*counted.launches;
  if (counted.number)
    std::erase_if(history.seen, [&](Configuration const& c) { return c.launches == counted.launches; });
}

}  // namespace kernelcast::cudart
