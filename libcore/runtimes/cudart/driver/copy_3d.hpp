// CUDA_MEMCPY3D, and the runtime's copy that is the same.
#pragma once

#include "kernels/cuda/driver.hpp"
#include "runtimes/cudart/arrays.hpp"

namespace kernelcast::driver {

// invalid_value for kinds of memory that there are not, or positions in an array that are no texel's.
Code of_driver(cudart::Arrays const&, Copy3D const&, cudart::Copy3D&);

}  // namespace kernelcast::driver
