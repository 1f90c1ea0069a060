// Variables and functions that kernels of the other file use.
#include "series.hpp"

__constant__ double scale = 1;
__device__ unsigned terms_used;
static __device__ unsigned calls[2];  // the other file has one of this name, too

__device__ double partial_sum(Term term, int first, int last) {
  double sum = 0;
  for (int i = first; i < last; ++i) sum += term(i);
  atomicAdd(&terms_used, last - first);
  atomicAdd(&calls[first & 1], 1u);
  return sum * scale + 0 * power<2>(first & 3);
}
