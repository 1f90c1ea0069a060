#include "emulator/passed_over.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace kernelcast::emu {

void PassedOver::add(Finding::Kind kind, std::uint32_t instruction, std::uint64_t group,
                     std::function<Finding()> const& make) {
  std::lock_guard const lock(mutex_);
  auto const [at, is_new] = places_.try_emplace({instruction, kind});
  Place& place = at->second;
  if (is_new || group < place.finding.group) place.finding = make();
  ++place.times;
}

std::vector<PassedOver::Place> PassedOver::take() {
  std::vector<Place> out;
  for (auto& [key, place] : std::exchange(places_, {})) out.push_back(std::move(place));
  return out;
}

void add_places(std::vector<PassedOver::Place>& all, std::vector<PassedOver::Place> later) {
  auto const key = [](PassedOver::Place const& p) {
    Finding const& f = p.finding;
    return std::tuple(f.kind, std::string_view(f.kernel), f.at.line, f.at.column);
  };
  for (PassedOver::Place& place : later) {
    auto const same =
        std::find_if(all.begin(), all.end(), [&](PassedOver::Place const& p) { return key(p) == key(place); });
    if (same == all.end())
      all.push_back(std::move(place));
    else
      same->times += place.times;
  }
}

std::string message_of(PassedOver::Place const& place) {
  return place.finding.message +
         (place.times == 1 ? ", passed over" : ", the first of " + std::to_string(place.times) + " passed over");
}

}  // namespace kernelcast::emu
