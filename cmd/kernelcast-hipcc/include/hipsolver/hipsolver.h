#pragma once
#include <cusolverDn.h>
#include <hip/hip_complex.h>
#include <hip/hip_runtime_api.h>
#include <hip_names/solver.h>
#define hipsolverHandle_t cusolverDnHandle_t
