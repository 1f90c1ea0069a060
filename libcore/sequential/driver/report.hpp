// A profile in words: what parallelism there is, which loops can run in parallel and why the others cannot, and what
// bounds each device.
#pragma once

#include <string>
#include <vector>

#include "records/device/device.hpp"
#include "records/profile.hpp"

namespace kernelcast::seq {

std::string report(std::vector<record::Profile> const&, std::vector<device::Device> const&);

}  // namespace kernelcast::seq
