// What the applications here share: calls that must succeed, and a count of what went wrong.
#pragma once

#include <cstdio>

static int failures = 0;
#define CHECK(call)                                                                  \
  do {                                                                               \
    cudaError_t const result = (call);                                               \
    if (result != cudaSuccess) {                                                     \
      std::printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(result)); \
      ++failures;                                                                    \
    }                                                                                \
  } while (false)
