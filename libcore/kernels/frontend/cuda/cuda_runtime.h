// Stands for the CUDA toolkit's header of this name where no toolkit is installed: enough of CUDA C++ for clang-19 to
// compile whole .cu files for the device. Host functions are declared, not defined: host code is checked and dropped.
#pragma once

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __grid_constant__
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define CUDART_VERSION 12000
#define CUDA_VERSION 12000
#define CUDARTAPI
#define CUDART_CB

// As the toolkit's own header does: many programs rely on these.
#include <limits.h>
#include <math.h>
#include <cmath>
#include <cstdlib>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernelcast_types.h"
#ifdef __AMDGCN__
#include "kernelcast_amdgcn.h"
#endif
#include "kernelcast_math.h"
#include <utility>
#include <__clang_cuda_builtin_vars.h>
#ifndef __AMDGCN__
#include <__clang_cuda_intrinsics.h>
#endif
#include "kernelcast_device.h"
#include "kernelcast_texture.h"
#include "kernelcast_host.h"
