#include "intercept/cuda/policy.hpp"

#include <cstdlib>

namespace kernelcast::cudart {

namespace {

bool same(Dim3 const& a, Dim3 const& b) {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}
}  // namespace

bool LaunchPolicy::SameSizes::operator()(Sizes const& a, Sizes const& b) const noexcept {
  return same(a.grid, b.grid) && same(a.block, b.block) && a.dynamic_shared_bytes == b.dynamic_shared_bytes;
}

std::size_t LaunchPolicy::SizesHash::operator()(Sizes const& sizes) const noexcept {
  std::uint64_t hash = sizes.dynamic_shared_bytes;
  for (auto const part : {sizes.grid.x, sizes.grid.y, sizes.grid.z, sizes.block.x, sizes.block.y, sizes.block.z})
    hash = (hash ^ part) * 0x9e3779b97f4a7c15U ^ hash >> 29;
  return hash;
}

LaunchPolicy::LaunchPolicy(std::string const& spool, std::string const& every)
    : spool_(spool),
      kernels_once_(every == "kernel"),
      every_(every == "launch" ? 1 : std::strtoull(every.c_str(), nullptr, 10)) {}

LaunchPolicy::Counted LaunchPolicy::count(void const* kernel, Sizes const& sizes) {
  auto& history = histories_[kernel];
  history.launches += 1;
  auto const key = kernels_once_ ? Sizes{} : sizes;
  auto const seen = history.seen.find(key);
  bool const due = every_ > 0 && (history.launches - 1) % every_ == 0;
  if (seen != history.seen.end() && !due) {
    ++*seen->second;
    return {kernel, seen->second, std::nullopt};
  }
  std::uint64_t number = 0;
  std::uint64_t* const counter = spool_.next(number);
  if (!counter) return {kernel, nullptr, std::nullopt};
  *counter = 1;
  history.seen[key] = counter;
  return {kernel, counter, number};
}

void LaunchPolicy::take_back(Counted const& counted) {
  auto& history = histories_[counted.kernel];
  --history.launches;
  if (counted.launches) --*counted.launches;
  if (counted.number) std::erase_if(history.seen, [&](auto const& one) { return one.second == counted.launches; });
}

}  // namespace kernelcast::cudart
