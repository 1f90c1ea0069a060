#include "runtimes/attach/launch_policy.hpp"

#include <cstdlib>
#include <string>
#include <utility>

namespace kernelcast::attach {

std::size_t ConfigurationHash::operator()(Configuration const& c) const noexcept {
  std::uint64_t hash = c.dimensions;
  for (auto const part : {c.global[0], c.global[1], c.global[2], c.local[0], c.local[1], c.local[2], c.local_bytes})
    hash = (hash ^ part) * 0x9e3779b97f4a7c15U ^ hash >> 29;
  return hash;
}

LaunchPolicy::LaunchPolicy(Spool spool, std::string_view every)
    : spool_(std::move(spool)),
      kernels_once_(every == "kernel"),
      every_(every == "launch" ? 1 : std::strtoull(std::string(every).c_str(), nullptr, 10)) {}

LaunchPolicy::Counted LaunchPolicy::count(History& history, Configuration const& configuration,
                                          std::uint64_t allocated_bytes) {
  auto const counted = count(history, configuration);
  if (counted.launches) spool_.note_allocated(counted.launches, allocated_bytes);
  return counted;
}

LaunchPolicy::Counted LaunchPolicy::count(History& history, Configuration const& configuration) {
  history.launches += 1;
  auto const seen = kernels_once_ ? history.seen.begin() : history.seen.find(configuration);
  bool const due = every_ > 0 && (history.launches - 1) % every_ == 0;
  if (seen != history.seen.end() && !due) {
    ++*seen->second;
    return {&history, seen->second, std::nullopt};
  }
  std::uint64_t number = 0;
  std::uint64_t* const counter = spool_.next(number);
  if (!counter) return {&history, nullptr, std::nullopt};
  *counter = 1;
  if (seen != history.seen.end())
    seen->second = counter;
  else
    history.seen.emplace(configuration, counter);
  return {&history, counter, number};
}

void LaunchPolicy::take_back(Counted const& counted) {
  --counted.history->launches;
  if (counted.launches) --*counted.launches;
  if (counted.number)
    std::erase_if(counted.history->seen, [&](auto const& one) { return one.second == counted.launches; });
}

}  // namespace kernelcast::attach
