// A counted launch on all devices, the fastest first.
#pragma once

#include <vector>

#include "device/device.hpp"
#include "model/queue.hpp"
#include "record/kernel.hpp"
#include "record/projection.hpp"
#include "record/ranking.hpp"

namespace kernelcast::advise {

struct Projections {
  std::vector<record::Projection> rows;  // by time; those without a time last, in the order of the devices
  std::vector<record::Ranking> ranking;  // of those with a time, in the same order: model::rank()
};

Projections project(record::Kernel const&, std::vector<device::Device const*> const&,
                    model::queue::Options const& = {});

}  // namespace kernelcast::advise
