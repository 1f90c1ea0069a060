// The kernels of histogram as nvbench runs them.
#include "histogram/histogram_kernels.cuh"
