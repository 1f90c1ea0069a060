// Runs plans that others wrote on kernels of our own.
#pragma once

#include "emulator/launch/launch.hpp"

namespace kernelcast::fuzz {

// The first launches of a plan, with little memory and few steps, whatever kernel file it names. Plans that read files
// are left alone: the files are the host's.
void run_plan(launch::Plan plan);

}  // namespace kernelcast::fuzz
