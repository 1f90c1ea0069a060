// What the ways of counting on the emulator share. Internal to flux.
#pragma once

#include "emulator/launch/launch.hpp"
#include "records/count.hpp"

namespace kernelcast::flux {

record::CountedLaunch counted_launch(launch::LaunchView const&, std::uint64_t number);

}  // namespace kernelcast::flux
