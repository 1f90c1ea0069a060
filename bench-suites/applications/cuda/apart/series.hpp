// What the two files share.
#pragma once

using Term = double (*)(int);

extern __constant__ double scale;       // defined in series.cu
extern __device__ unsigned terms_used;  // likewise
__device__ double partial_sum(Term term, int first, int last);

// In both files: one of them stays.
template <int Base>
__device__ __noinline__ double power(int n) {
  double product = 1;
  for (int i = 0; i < n; ++i) product *= Base;
  return product;
}
