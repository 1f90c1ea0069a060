// A counted launch on all devices, the fastest first.
#pragma once

#include <vector>

#include "models/queue.hpp"
#include "records/device/device.hpp"
#include "records/kernel.hpp"
#include "records/projection.hpp"
#include "records/ranking.hpp"

namespace kernelcast::advise {

struct Projections {
  std::vector<record::Projection> rows;  // by time; those without a time last, in the order of the devices
  std::vector<record::Ranking> ranking;  // of those with a time, in the same order: model::rank()
};

Projections project(record::Kernel const&, std::vector<device::Device const*> const&,
                    model::queue::Options const& = {});

}  // namespace kernelcast::advise
