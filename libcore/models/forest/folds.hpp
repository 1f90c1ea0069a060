// How samples are divided for cross-validation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kernelcast::forest {

// Rows to test in each fold; all others train. A row in no fold is never tested.
using Folds = std::vector<std::vector<std::size_t>>;

// Samples of one group are tested together: what is measured twice, or has the same features, must not be learnt and
// tested at once. [sample] -> group, 0 and up.
using Groups = std::vector<std::size_t>;

// `text` of each sample as groups, in order of appearance.
Groups groups_of(std::vector<std::string> const& text);

// `count` folds of about equal size, at random. Throws Error(bad_data) for fewer groups than folds.
Folds random_folds(Groups const&, std::size_t count, std::uint64_t seed);

// [braun] section 5.4.4: the groups with the five longest samples are always trained on, and each fold has a similar
// number of short (below 1 ms), medium and long (from 100 ms) ones. The paper's medium and long overlap; here medium
// ends at 100 ms. `seconds` of each sample.
Folds balanced_folds(Groups const&, std::vector<double> const& seconds, std::size_t count, std::uint64_t seed);

// Each group is a fold. Throws Error(bad_data) for a single group; `what` names it.
Folds leave_group_out(Groups const&, std::string const& what);

}  // namespace kernelcast::forest
