// What the features are worth to a forest. [braun] section 5.6.3.
#pragma once

#include <vector>

#include "models/forest/validation.hpp"

namespace kernelcast::forest {

// By how many percentage points the MAPE of held-out predictions grows when the tested rows exchange this feature's
// values at random: [feature], mean over `repeats` exchanges.
std::vector<double> permutation_importance(Data const&, Folds const&, Plan const&, std::size_t repeats);

}  // namespace kernelcast::forest
