// Schemes of validation: what is held out, how often. [braun] section 5.4.4
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "models/forest/study/dataset.hpp"
#include "models/forest/validation.hpp"

namespace kernelcast::forest {

struct Scheme {
  enum class Kind { k_fold, leave_one_out, leave_group_out, nested };
  Kind kind = Kind::k_fold;
  std::string group;           // leave_group_out: the column, whose values the data set has as groups
  std::size_t folds = 10;      // k_fold
  std::size_t iterations = 1;  // seeds
  std::size_t outer = 5, inner = 3;
  bool balanced = true;  // balanced_folds() instead of random_folds()

  std::string name() const;  // as records have it: k-fold, leave-kernel-out, …
};

// The predictions of a seed; of one outer fold and the settings chosen for it where the scheme is nested.
struct Round {
  std::size_t iteration = 0, fold = 0;
  std::vector<HeldOut> held_out;
  Choice choice;
};

// Calls visit(round) for each. Throws Error(bad_data) for too few groups.
void validate(Dataset const&, Plan const&, Scheme const&, std::function<void(Round const&)> const& visit);

}  // namespace kernelcast::forest
