// Which configuration (case) of a kernel is the fastest, where cases are variants of it, such as the points of a sweep.
#pragma once

#include <vector>

#include "records/projection.hpp"
#include "records/ranking.hpp"

namespace kernelcast::model {

// The cases of each (model, kernel, device) from the fastest to the slowest; equal times share a rank. `top`: so many
// of each, 0: all. Projections without a time take no part.
std::vector<record::ConfigurationRanking> rank_configurations(std::vector<record::Projection> const& projections,
                                                              std::size_t top = 0);

// The cases of each (model, kernel) by what they lose over all devices that have times of every case: the least of the
// worst losses first. A case's loss on a device is its time beyond that of the device's fastest case.
std::vector<record::Portability> portable(std::vector<record::Projection> const& projections);

// How good each model's order of configurations is, against measured times of the same kernel, case and device, and
// beside it that of no model: `trivial:random` (the mean over all orders), `trivial:occupancy` (the highest first;
// where projections have it). Devices with fewer than two cases that are both projected and measured take no part.
std::vector<record::ConfigurationScore> score_configurations(std::vector<record::Projection> const& projections,
                                                             std::vector<record::Measured> const& measured);

// What the best of the first `top` of `times` loses against the best of all, as a part of it; times in the order of the
// choice, in s.
double loss_of_first(std::vector<double> const& times, std::size_t top);
// The same of the mean over all orders.
double loss_at_random(std::vector<double> times, std::size_t top);
// Kendall's tau-b of two lists of the same length; 0 where one of them is all ties.
double kendall_tau(std::vector<double> const& a, std::vector<double> const& b);

}  // namespace kernelcast::model
