#include "models/forest/study/scheme.hpp"

#include <numeric>

namespace kernelcast::forest {

namespace {

Folds divided(Dataset const& set, Scheme const& scheme, std::vector<std::size_t> const& rows, std::size_t count,
              std::uint64_t seed) {
  std::vector<std::string> names;
  std::vector<double> measured;
  for (auto const i : rows) {
    names.push_back(std::to_string(set.data.configurations[i]));
    measured.push_back(set.data.measured[i]);
  }
  auto const groups = groups_of(names);
  return scheme.balanced ? balanced_folds(groups, measured, count, seed) : random_folds(groups, count, seed);
}

Folds folds_of(Dataset const& set, Scheme const& scheme, std::uint64_t seed) {
  if (scheme.kind == Scheme::Kind::leave_one_out) return leave_group_out(set.data.configurations, "kernel and case");
  if (scheme.kind == Scheme::Kind::leave_group_out) return leave_group_out(groups_of(set.groups), scheme.group);
  std::vector<std::size_t> all(set.kernels.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return divided(set, scheme, all, scheme.folds, seed);
}

}  // namespace

std::string Scheme::name() const {
  switch (kind) {
    case Kind::k_fold:
      break;
    case Kind::leave_one_out:
      return "leave-one-out";
    case Kind::leave_group_out:
      return "leave-" + group + "-out";
    case Kind::nested:
      return "nested";
  }
  return "k-fold";
}

void validate(Dataset const& set, Plan const& plan, Scheme const& scheme,
              std::function<void(Round const&)> const& visit) {
  if (scheme.kind == Scheme::Kind::nested) {
    auto const divide = [&](auto const& rows, std::size_t count, std::uint64_t seed) {
      return divided(set, scheme, rows, count, seed);
    };
    nested_cross_validate(set.data, plan, {}, scheme.iterations, scheme.outer, scheme.inner, divide,
                          [&](Nested const& one) {
                            Round round{one.iteration, one.fold, one.predictions, one.choice};
                            for (auto& prediction : round.held_out) prediction.fold = one.fold;
                            visit(round);
                          });
    return;
  }
  for (std::size_t i = 0; i < scheme.iterations; ++i) {
    auto here = plan;
    here.forest.seed += i;
    visit({i, 0, cross_validate(set.data, folds_of(set, scheme, here.forest.seed), here), {here.forest, 0}});
  }
}

}  // namespace kernelcast::forest
