#include "models/forest/folds.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "base/diag/diag.hpp"
#include "models/forest/random.hpp"

namespace kernelcast::forest {

namespace {

constexpr std::size_t always_trained = 5;

std::size_t count_of(Groups const& groups) {
  return groups.empty() ? 0 : *std::max_element(groups.begin(), groups.end()) + 1;
}

void refuse_too_few(std::size_t groups, std::size_t folds, bool balanced) {
  if (folds < 2) throw Error(Status::usage, "cross-validation needs at least two folds", "--folds 10 is common");
  if (groups < folds)
    throw Error(Status::bad_data,
                fmt::format("{} folds need as many kernels and cases to test, here {} {}", folds,
                            groups == 1 ? "is" : "are", groups),
                balanced ? "the five longest always train: --split random tests them, too"
                         : "ask for fewer with --folds, or give more samples");
}

// Deals groups to folds in turn, so that sizes differ by one.
void deal(std::vector<std::size_t> const& shuffled, std::vector<std::size_t>& fold_of, std::size_t folds,
          std::size_t& turn) {
  for (auto const group : shuffled) fold_of[group] = turn++ % folds;
}

Folds folds_from(Groups const& groups, std::vector<std::size_t> const& fold_of, std::size_t count) {
  Folds out(count);
  for (std::size_t i = 0; i < groups.size(); ++i)
    if (fold_of[groups[i]] < count) out[fold_of[groups[i]]].push_back(i);
  std::erase_if(out, [](auto const& fold) { return fold.empty(); });
  return out;
}

}  // namespace

Groups groups_of(std::vector<std::string> const& text) {
  std::map<std::string, std::size_t> known;
  Groups out;
  for (auto const& name : text) out.push_back(known.emplace(name, known.size()).first->second);
  return out;
}

Folds random_folds(Groups const& groups, std::size_t count, std::uint64_t seed) {
  auto const n = count_of(groups);
  refuse_too_few(n, count, false);
  std::vector<std::size_t> shuffled(n), fold_of(n);
  std::iota(shuffled.begin(), shuffled.end(), std::size_t{0});
  Random(seed, 1).shuffle(shuffled);
  std::size_t turn = 0;
  deal(shuffled, fold_of, count, turn);
  return folds_from(groups, fold_of, count);
}

Folds balanced_folds(Groups const& groups, std::vector<double> const& seconds, std::size_t count, std::uint64_t seed) {
  auto const n = count_of(groups);
  std::vector<double> longest(n);
  for (std::size_t i = 0; i < groups.size(); ++i) longest[groups[i]] = std::max(longest[groups[i]], seconds[i]);
  std::vector<std::size_t> by_length(n);
  std::iota(by_length.begin(), by_length.end(), std::size_t{0});
  std::sort(by_length.begin(), by_length.end(),
            [&](auto a, auto b) { return longest[a] != longest[b] ? longest[a] > longest[b] : a < b; });
  refuse_too_few(n - std::min(n, always_trained), count, true);
  by_length.erase(by_length.begin(), by_length.begin() + always_trained);
  std::vector<std::size_t> fold_of(n, count);  // count: in no fold
  std::vector<std::vector<std::size_t>> classes(3);
  for (auto const group : by_length) classes[longest[group] < 1e-3 ? 0 : longest[group] < 0.1 ? 1 : 2].push_back(group);
  Random random(seed, 2);
  std::size_t turn = 0;
  for (auto& one : classes) {
    std::sort(one.begin(), one.end());
    random.shuffle(one);
    deal(one, fold_of, count, turn);
  }
  return folds_from(groups, fold_of, count);
}

Folds leave_group_out(Groups const& groups, std::string const& what) {
  auto const n = count_of(groups);
  if (n < 2)
    throw Error(Status::bad_data, fmt::format("one {} alone cannot be left out: nothing remains to learn from", what),
                "leave out by a column with two or more values");
  std::vector<std::size_t> fold_of(n);
  std::iota(fold_of.begin(), fold_of.end(), std::size_t{0});
  return folds_from(groups, fold_of, n);
}

}  // namespace kernelcast::forest
